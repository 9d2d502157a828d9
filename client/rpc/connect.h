/* connect: the connection to the daemon: finds the socket, checks who listens there, and starts
 * muxd when no daemon listens. */
#ifndef MUXD_CLIENT_CONNECT_H
#define MUXD_CLIENT_CONNECT_H
#include "base/buf.h"
#include "base/err.h"
#include "wire/frame.h"
#include <stdbool.h>
#include <stdint.h>

struct connection {
    int fd;     /* -1: not connected */
    char *path; /* absolute; owned */
    /* -S or $MUXD_SOCKET names path; else all places of our daemons are tried (path_socket_look) */
    bool named;
    bool joined;        /* a daemon was found at path: no other place is tried during a request */
    const char *config; /* -f, borrowed; NULL: none */
    bool may_start;     /* false: --no-start */
    bool started;       /* this ue started the daemon */
    /* the process is another program's, which may have threads: its umask and its standard
     * descriptors are let alone, and nothing takes signals or children from it */
    bool guest;
    const char *program; /* borrowed; muxd to start; NULL: the one beside us, or in PATH */
    bool shows_person;   /* requests of call_run show that a person is here (own_terminal.h) */
    int why;             /* errno of the last attempt that failed */
    int64_t next_id;
    int64_t cancelled;     /* session whose call ^C has ended; 0: not known */
    bool told_asked;       /* that a call waits for a person was printed */
    const char *slow_note; /* borrowed; printed once when a CALL_WAITS takes longer than slow_ms */
    int slow_ms;
    bool unread_looked; /* unread.c; set: nobody looks whether the daemon reads */
    struct frame in;
    unsigned losses;     /* in a row, without an answer in between */
    int64_t reopened_ms; /* clock_mono_ms of the last one that was made good */
};

/* given: -S or NULL; config: -f or NULL. */
void connection_init(struct connection *conn, const char *given, const char *config,
                     bool may_start);
void connection_fini(struct connection *conn); /* safe on a zeroed one */
/* Connects; starts muxd first when no daemon listens and may_start is set. 0, also when it is
 * connected already, or ERR_NO_DAEMON. */
int connection_open(struct connection *conn, struct err *err);
/* Connects to a daemon that is restarting: retries until deadline_ms (clock_mono_ms) and starts
 * none. It is closed before. 0, ERR_NO_DAEMON, or another error that a retry does not mend:
 * ERR_INTERNAL when the daemon has ended over the same request again and again. */
int connection_reopen(struct connection *conn, int64_t deadline_ms, struct err *err);
void connection_heard(struct connection *conn); /* the daemon has answered something */
#define CONNECTION_RESTART_MS 10000             /* how long to wait for a restart of the daemon */
void connection_close(struct connection *conn);
/* Sends all of it; blocks until the daemon has taken it. 0, or -1 with errno: the connection is
 * lost, but what the daemon sent before can still be read. */
int connection_send(struct connection *conn, const void *data, size_t size);
/* The same for the line of a request, with which the terminal goes where it is to be shown. */
int connection_send_line(struct connection *conn, const void *data, size_t size);
/* One attempt. 0; ERR_NO_DAEMON when no daemon listens; another error that a retry does not
 * mend. */
int connection_try(struct connection *conn, struct err *err);
/* Between two attempts: no event tells when a daemon begins to listen. */
void connection_pause(int ms);

/* launch.c: runs `muxd -d` and waits until it listens or has failed. 0: this or another daemon
 * listens, or did so a moment ago. */
int launch_daemon(const struct connection *conn, struct err *err);
/* Runs `muxd OPTION`, which starts no daemon, with the environment that one would have, and appends
 * what it prints. 0, or an error with its words. */
int launch_ask(const struct connection *conn, const char *option, struct buf *out, struct err *err);
/* path, made absolute by the working directory. The caller's. */
char *launch_absolute(const char *path);
/* The clean environment of a daemon; freed by strv_free. */
char **launch_environment(const char *socket_path);
#endif
