/* connect: the one connection of a ue: finds the socket, checks who listens, starts muxd when
 * nobody does. */
#ifndef MUXD_CLIENT_CONNECT_H
#define MUXD_CLIENT_CONNECT_H
#include "base/err.h"
#include "wire/frame.h"
#include <stdbool.h>
#include <stdint.h>

struct connection {
    int fd;             /* -1: not connected */
    char *path;         /* absolute; owned */
    /* path, by -S or $MUXD_SOCKET; else any daemon of ours is the one, see path_socket_look */
    bool named;
    /* found at path; it is not looked for elsewhere while a request is under way */
    bool joined;
    const char *config; /* -f, borrowed; NULL: none */
    bool may_start;     /* false: --no-start */
    bool started;       /* this ue started the daemon */
    int why;            /* errno of the last attempt that failed */
    int64_t next_id;
    /* borrowed; said once, when an answer that may take long has not come after slow_ms; NULL:
     * nothing */
    const char *slow_note;
    int slow_ms;
    struct frame in;
};

/* given: -S or NULL; config: -f or NULL. */
void connection_init(struct connection *conn, const char *given, const char *config,
                     bool may_start);
void connection_fini(struct connection *conn); /* safe on a zeroed one */
/* Connects, and starts muxd when nobody listens and that is allowed. 0 at once when connected.
 * ERR_NO_DAEMON otherwise. */
int connection_open(struct connection *conn, struct err *err);
/* Connects to a daemon that must be there already: tried again and again until deadline_ms
 * (clock_mono_ms). ERR_NO_DAEMON. */
int connection_reopen(struct connection *conn, int64_t deadline_ms, struct err *err);
#define CONNECTION_RESTART_MS 10000 /* how long a restart of the daemon is waited for */
void connection_close(struct connection *conn);
/* All of it, waiting for the daemon to take it. 0, or -1 with errno: the connection is lost (what
 * came before is still to be read). */
int connection_send(struct connection *conn, const void *data, size_t size);
/* One attempt. 0, ERR_NO_DAEMON when nobody listens there, another error when trying again is in
 * vain. */
int connection_try(struct connection *conn, struct err *err);
/* between two attempts: nothing tells when somebody begins to listen */
void connection_pause(int ms);

/* launch.c: runs `muxd -d` and waits until it listens or has failed. 0: somebody listens now, or
 * did a moment ago. */
int launch_daemon(const struct connection *conn, struct err *err);
char *launch_absolute(const char *path); /* the caller's; against the working directory */
/* the clean environment of a daemon; freed by strv_free */
char **launch_environment(const char *socket_path);
#endif
