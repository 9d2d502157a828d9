/* server: what the worker is made of: connections, dispatch, the end of a turn. */
#ifndef MUXD_SERVER_SERVER_H
#define MUXD_SERVER_SERVER_H
#include "cmd/cmd.h"
#include "keep/link.h"
#include "peer/room.h"
#include "server/listen.h"
#include "server/worker.h"

struct server {
    struct loop *loop;
    struct link *link;
    struct loop_io *link_io;
    struct loop_timer keeper_retry; /* when a new keeper could not be started */
    struct loop_timer give_again;   /* when there was no room for all that the keeper must hold */
    struct loop_timer link_again;   /* the kernel had no room for a message */
    int64_t keeper_backoff_ms;
    /* finds out what the kernel tells of waiting programs, once clients were let in */
    struct loop_timer readiness;
    struct config *config;
    struct hooks *hooks;
    struct registry *registry;
    char *socket_path, *config_path, *state_dir, *log_path;
    const char *given_config; /* as on the command line; NULL: by the rules */
    struct cmd_context cmd;
    /* connections */
    int watch_fd; /* of the socket's directory; the keeper holds it, too (listen.h) */
    int listen_fd, lock_fd, config_fd; /* config_fd: memfd with the text of the config in force */
    /* systemd has passed it on: we do not remove it; the keeper tells a successor */
    bool socket_given;
    struct loop_io *listen_io;
    struct loop_timer accept_retry, silence, watch_again;
    bool starved;   /* we have waited once for a free descriptor, and none came */
    bool unbound;   /* the path leads elsewhere, and a new socket could not be bound */
    bool newcomers; /* a connection was accepted in this turn */
    struct listen_watch *watch;
    struct peer_limits peer_limits;
    struct room unread; /* of all peers together (peer_limits) */
    /* peers that were closed because all together held too much, and why the last one */
    unsigned long expelled;
    struct err expelled_why;
    int64_t expelled_ms, expelled_told_ms; /* told: clock_mono_ms, by the log */
    struct loop_timer expel_again;
    /* a peer is in peers until it is closed, then in dead until the end of the turn */
    struct peer **peers, **dead, **dirty;
    size_t npeers, ndead, room, ndirty, dirty_room;
    uint64_t next_peer;
    unsigned long accepted, refused;
    /* the end */
    struct request **stoppers, *upgrader;
    struct err upgrade_failed; /* why the last upgrade failed; code 0: it did not */
    size_t nstoppers;
    int generation, exit_status;
    bool handed, stopping, served, told_served, done;
    bool giving;         /* the keeper has not yet been given everything */
    bool keeper_unnamed; /* systemd does not know the pid of the new keeper yet */
    bool keeper_is_new;  /* and was not given everything yet: not told as the keeper */
    int64_t started_real_ms;
};

/* keeping.c */
/* Gives the keeper our lock file and config, which it holds for a successor. */
void server_hold_own(struct server *server);
/* handing.c */
/* Before anything is opened: the listening socket, if our predecessors had one; else -1. The keeper
 * gives it once more in its hand-over. */
int handing_listener(void);
/* Waits for the keeper's hand-over. When that can't come, clients are told why as far as there is a
 * socket; without one it is an error. */
int handing_take(struct server *server, struct err *err);
/* connections.c */
void connections_open(struct server *server); /* watches listen_fd */
/* loop_fn: binds the socket again if its path has vanished */
void connections_bind_again(void *server);
void connections_close(struct server *server); /* all, at once */
void connections_stop_listening(struct server *server);
/* refuses the client that waits longest at listen_fd, which does not block; false: none waits */
bool connections_turn_away(struct server *server, const struct err *err);
void connections_flush(struct server *server); /* end of turn: sends, frees the dead */
void connections_apply_limits(struct server *server);
/* confined.c */
/* Whether the process at the other end may use muxd: ERR_DENIED for one in a sandbox. */
int confined_check(struct server *server, int fd, pid_t pid, struct err *err);
/* expel.c */
/* end of turn: makes the next large answer, and disconnects the worst of those that do not read,
 * while all together hold too much or somebody waits for room */
void expel_serve(struct server *server);
void expel_init(struct server *server);
void expel_status(const struct server *server, struct json *into);
/* dispatch.c */
void dispatch(struct server *server, struct request *request);
/* control.c */
extern const struct cmd_ops control_ops;
/* Checks what the config room can't: that the patterns of a config compile, and that its rules
 * match their examples. 0, or ERR_CONFIG
 * naming file and line. */
int control_check_config(const struct config *config, struct err *err);
void control_use_config(struct server *server, struct config *fresh); /* takes fresh over */
/* Keeps the text of the config in force where a successor finds it; reads what a predecessor
 * kept. */
void control_hold_config(struct server *server);
struct config *control_held_config(struct server *server, struct err *err);
void control_signal_stop(void *server);
void control_signal_reload(void *server);
void control_all_ended(void *server);
void control_upgrade_failed(void *server, int error); /* of struct link_handlers */
/* nobody answers the upgrade that is under way, if there is one */
void control_keeper_lost(struct server *server);
/* the end of a turn of a server that stops: leaves once every client that asked for the stop was
 * answered */
void control_finish(struct server *server);
#endif
