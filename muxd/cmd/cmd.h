/* cmd: one function per row of tools.def. A handler answers at once or parks the request with a
 * wait; nothing else may delay the answer. The arguments have been checked against the row. A
 * missing handler is a link error. */
#ifndef MUXD_CMD_CMD_H
#define MUXD_CMD_CMD_H
#include "config/config.h"
#include "peer/peer.h"
#include "session/registry.h"
#include "sys/loop.h"

struct server;
struct cmd_ops { /* what only the server can do; it lies above this room */
    int (*reload)(struct server *server, struct json *into, struct err *err);
    /* parks the request; answered when all sessions have ended */
    void (*stop)(struct server *server, struct request *request);
    /* parks it; a failure is answered here, a success by the successor */
    void (*upgrade)(struct server *server, struct request *request);
    /* reads the config file as a reload would, and changes nothing: its path (the caller's; NULL:
     * there is none), how many values differ, and what is wrong with it (code 0: nothing) */
    char *(*look_at_config)(struct server *server, size_t *changes, struct err *mistake);
    /* adds what only the server knows */
    void (*status)(struct server *server, struct json *into);
};

struct cmd_context {
    struct loop *loop;
    struct registry *registry;
    const struct config *config; /* the one in force; a reload replaces it */
    const char *socket_path, *state_dir, *log_path;
    const struct cmd_ops *ops;
    struct server *server;
    struct attachment *attachments; /* attach.c: all connections that show a session */
    struct approvals *approvals;    /* approvals.c; NULL: there were none */
    struct gate_default *models;    /* gate_default.c; NULL: nobody has asked */
    const struct hidden_ahead *hidden; /* hidden.c: of the request that is handled; NULL: none */
};

#define TOOL(ident, ...) void cmd_##ident(struct cmd_context *ctx, struct request *request);
#define ARG(...)
#define END(ident)
#include "wire/tools.def"
#undef TOOL
#undef ARG
#undef END
#endif
