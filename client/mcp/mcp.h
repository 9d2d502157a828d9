/* mcp: `ue mcp`, a Model Context Protocol server on standard input and output: the tools of the
 * tables, with the daemon behind them. It keeps nothing that matters: sessions belong to muxd, and
 * any number of such servers may come and go.
 *
 * Two eras in one process (modelcontextprotocol.io): `initialize` begins the older one; a request
 * that names its protocol version in params._meta belongs to the stateless one. */
#ifndef MUXD_CLIENT_MCP_H
#define MUXD_CLIENT_MCP_H
#include "client/rpc/ue.h"
#include "wire/json.h"
#include "wire/msg.h"
#include "wire/tool.h"

enum mcp_version {
    MCP_NONE = -1,
    MCP_2024_11_05,
    MCP_2025_03_26,
    MCP_2025_06_18,
    MCP_2025_11_25,
    MCP_2026_07_28,
    MCP_VERSION_COUNT
};

enum mcp_code { /* of JSON-RPC and of MCP */
    MCP_PARSE = -32700,
    MCP_INVALID_REQUEST = -32600,
    MCP_NO_METHOD = -32601,
    MCP_INVALID_PARAMS = -32602,
    MCP_INTERNAL = -32603,
    MCP_UNSUPPORTED_VERSION = -32022,
};

struct mcp_out { /* what goes to standard output */
    struct buf queue;
    size_t at, piece; /* the first byte that was not written; as many at once as don't wait */
    bool is_socket;
};

/* The answers to an array of requests go out as one array. */
struct mcp_batch {
    struct buf out;
    size_t left; /* answers to come, and one while the array is being read */
};

struct mcp_to { /* whom an answer goes to */
    struct msg_id id;
    enum mcp_version version;
    struct mcp_batch *batch; /* NULL: none */
};

struct mcp_problem { /* why a request can't be taken */
    int code; /* enum mcp_code */
    const char *text;
    struct json *data; /* the receiver's; NULL: nothing more to tell */
};

struct mcp_call { /* a request to the daemon that has no answer yet */
    int64_t number; /* its id there; those below mcp.sent were sent, in the order of the list */
    struct mcp_to to;
    const struct tool *tool; /* &tools[TOOL_TOOLS]: for tools/list */
    struct buf line;         /* owned; sent again when the connection was lost */
    bool once;               /* but not this one: it may have been done */
    /* owned; of the progress that its client wants to hear of; NULL: none */
    struct json *token;
    int64_t begun_ms, beat_ms; /* clock_mono_ms; of its next progress */
};

#define MCP_CLIENT_ROOM 64
#define MCP_CALLS_MAX 4096
#define MCP_CALLS_BYTES_MAX (64u << 20) /* of all their lines */

struct mcp {
    struct ue *ue;
    struct frame in;
    struct mcp_out out;
    enum mcp_version version; /* of initialize; MCP_NONE before */
    struct mcp_call **calls;  /* owned */
    size_t count, bytes;      /* of their lines */
    /* how many of them the daemon has, and may have: it takes so many of one connection and refuses
     * more */
    size_t sent, window;
    int64_t hello;            /* the number of the question for the window; 0: it was answered */
    struct buf to_daemon;     /* not yet sent */
    /* who speaks, as initialize said: "NAME/VERSION"; "": it did not */
    char client[MCP_CLIENT_ROOM];
};

/* mcp_out.c */
void mcp_out_init(struct mcp_out *out);
void mcp_out_fini(struct mcp_out *out);
void mcp_out_add(struct mcp_out *out, const void *data, size_t size);
size_t mcp_out_left(const struct mcp_out *out); /* bytes that the client has not taken */
/* Writes what can be written without waiting; true when it was something. A client that went away
 * ends ue (say_lost). */
bool mcp_out_flush(struct mcp_out *out);

/* mcp_message.c: a line of the client */
void mcp_message(struct mcp *mcp, const char *line, size_t size);

/* mcp_answer.c */
void mcp_reply(struct mcp *mcp, const struct mcp_to *to, struct json *result); /* takes result */
/* takes data, may be NULL */
void mcp_fail(struct mcp *mcp, const struct mcp_to *to, int code, const char *text,
              struct json *data);
void mcp_unanswered(struct mcp *mcp, const struct mcp_to *to); /* nothing is sent for it */

/* mcp_protocol.c: what needs no daemon */
/* The era of a request, or MCP_NONE: then *problem says what is wrong. */
enum mcp_version mcp_version_of(const struct mcp *mcp, const struct json *params,
                                struct mcp_problem *problem);
/* "NAME/VERSION" of the request's own clientInfo, else of that of initialize. */
void mcp_client_of(const struct mcp *mcp, const struct json *params, char client[MCP_CLIENT_ROOM]);
struct json *mcp_initialize(struct mcp *mcp, const struct json *params);
struct json *mcp_discover(void);
/* The daemon's list of tools in the words of that revision. */
struct json *mcp_tools(const struct json *listed, enum mcp_version version);
/* What a stateless result must say besides. */
void mcp_complete(struct json *result);

/* mcp_call.c: what the daemon does */
void mcp_list(struct mcp *mcp, const struct mcp_to *to);
void mcp_call(struct mcp *mcp, const struct json *params, const struct mcp_to *to);
/* the wait ends, the process goes on; nothing is answered */
void mcp_cancel(struct mcp *mcp, const struct msg_id *id);
bool mcp_is_in_flight(const struct mcp *mcp, const struct msg_id *id);
void mcp_drop(struct mcp *mcp, size_t at);
void mcp_answered(struct mcp *mcp, const char *line, size_t size); /* a line of the daemon */
/* the client has closed standard input: what is still open is answered with that */
void mcp_give_up(struct mcp *mcp);
void mcp_lost(struct mcp *mcp); /* the connection is gone: asks the successor again */
void mcp_flush(struct mcp *mcp);
/* mcp_progress.c: a sign of life for calls that take long, to those who gave a token for it. */
void mcp_progress_begin(struct mcp_call *call, const struct json *params);
int64_t mcp_progress_due(const struct mcp *mcp); /* clock_mono_ms; INT64_MAX: never */
void mcp_progress(struct mcp *mcp);              /* what is due */

/* mcp_coerce.c: some clients send numbers, booleans, lists and objects as strings: turns those that
 * have to be none into what they say. */
void mcp_coerce(const struct tool *tool, struct json *arguments);
#endif
