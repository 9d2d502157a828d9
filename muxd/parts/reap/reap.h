/* reap: the end of a session on purpose: of its program and of everything that stems from it. */
#ifndef MUXD_PARTS_REAP_H
#define MUXD_PARTS_REAP_H
#include "session/part.h"
#include "session/session.h"
#include <sys/types.h>

#define REAP_SHOWN 4
struct reap_survivor {
    pid_t pid;
    char command[64];
};
struct reap_result {
    uint64_t number;
    int ended_by; /* signal that ended it, 0: it had ended by itself or exited */
    int exit_code, signo, survivors;
    struct reap_survivor shown[REAP_SHOWN]; /* the first survivors */
};
typedef void reap_fn(void *arg, const struct reap_result *result);

/* The ladder HUP+CONT, TERM, KILL with graces of [muxd] kill_grace, then every descendant until
 * none is left; fn (may be NULL) is called at the end of a turn, when the exit stands in the
 * journal and the output is drained. signo > 0: sends just that one to the foreground and the
 * leader's group and calls fn at the end of this turn. Of an ended session: what it has left. */
void reap_kill(struct session *session, int signo, enum session_killer killer, reap_fn *fn,
               void *arg);
/* Without graces: SIGKILL to the groups at once, then to every descendant, as the ladder's last
 * step does. */
void reap_kill_hard(struct session *session, enum session_killer killer, reap_fn *fn, void *arg);
/* Ends what is alive of a session that the registry does not have (registry_each_left). */
void reap_kill_left(struct registry *registry, uint64_t number, reap_fn *fn, void *arg);
/* Who has survived a stop, so far: survivors and the first of them. */
const struct reap_result *reap_stopped(const struct registry *registry);

extern const struct part reap_part;
#endif
