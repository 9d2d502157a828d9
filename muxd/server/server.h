/* server: the worker's rooms put together: connections, dispatch, the end of a turn. */
#ifndef MUXD_SERVER_SERVER_H
#define MUXD_SERVER_SERVER_H
#include "cmd/cmd.h"
#include "keep/link.h"
#include "server/listen.h"
#include "server/worker.h"

struct server {
    struct loop *loop;
    struct link *link;
    struct loop_io *link_io;
    struct loop_timer keeper_retry; /* when a new keeper could not be started */
    struct loop_timer hold_retry;   /* when it had no descriptors for what we hold */
    int64_t keeper_backoff_ms;
    struct loop_timer readiness; /* the look at what the kernel tells, after clients were let in */
    struct config *config;
    struct hooks *hooks;
    struct registry *registry;
    char *socket_path, *config_path, *state_dir, *log_path;
    const char *given_config; /* as on the command line; NULL: by the rules */
    struct cmd_context cmd;
    /* connections */
    int watch_fd; /* of the socket's directory; the keeper holds it too, see listen.h */
    int listen_fd, lock_fd, config_fd; /* config_fd: memfd with the text of the config in force */
    /* by systemd: not ours to remove; the keeper tells a successor */
    bool socket_given;
    struct loop_io *listen_io;
    struct loop_timer accept_retry, silence, watch_again;
    bool starved;   /* that a descriptor comes free was waited for once, in vain */
    bool unbound;   /* the path leads elsewhere, and it could not be bound anew */
    bool newcomers; /* accepted in this turn */
    struct listen_watch *watch;
    struct peer_limits peer_limits;
    /* a peer is in peers until it is closed, then in dead until the end of the turn */
    struct peer **peers, **dead, **dirty;
    size_t npeers, ndead, room, ndirty, dirty_room;
    uint64_t next_peer;
    unsigned long accepted, refused;
    /* the end */
    struct request **stoppers, *upgrader;
    struct err upgrade_failed; /* why the last upgrade came to nothing; code 0: it did not */
    size_t nstoppers;
    int generation, exit_status;
    bool handed, stopping, served, told_served, done;
    bool keeper_unnamed; /* a new one, whose pid systemd has not been told */
    int64_t started_real_ms;
};

/* keeping.c */
/* the keeper holds our lock file and config for a successor */
void server_hold_own(struct server *server);
/* connections.c */
void connections_open(struct server *server);  /* watches listen_fd */
void connections_bind_again(void *server);     /* where the socket's path has vanished; loop_fn */
void connections_close(struct server *server); /* all, at once */
void connections_stop_listening(struct server *server);
void connections_flush(struct server *server); /* end of turn: sends, frees the dead */
void connections_apply_limits(struct server *server);
/* dispatch.c */
void dispatch(struct server *server, struct request *request);
/* control.c */
extern const struct cmd_ops control_ops;
/* What only the daemon can tell of a config: its patterns compile. 0, or ERR_CONFIG naming file and
 * line. */
int control_check_patterns(const struct config *config, struct err *err);
void control_use_config(struct server *server, struct config *fresh); /* takes fresh over */
/* The text of the config in force, kept where a successor finds it. */
void control_hold_config(struct server *server);
struct config *control_held_config(struct server *server, struct err *err);
void control_signal_stop(void *server);
void control_signal_reload(void *server);
void control_all_ended(void *server);
void control_upgrade_failed(void *server, int error); /* of struct link_handlers */
/* end of turn of a stopping server: leaves when everybody has been told */
void control_finish(struct server *server);
#endif
