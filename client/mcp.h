/* mcp: `ue mcp`, a Model Context Protocol server on standard input and output: the tools of the tables, with the daemon behind them. It
 * keeps nothing that matters: sessions belong to muxd, and any number of such servers may come and go.
 *
 * Two eras in one process (modelcontextprotocol.io): `initialize` begins the older one; a request that names its protocol version in
 * params._meta belongs to the stateless one. */
#ifndef MUXD_CLIENT_MCP_H
#define MUXD_CLIENT_MCP_H
#include "client/ue.h"
#include "wire/json.h"
#include "wire/msg.h"
#include "wire/tool.h"

enum mcp_version { MCP_NONE = -1, MCP_2024_11_05, MCP_2025_03_26, MCP_2025_06_18, MCP_2025_11_25, MCP_2026_07_28, MCP_VERSION_COUNT };

enum mcp_code { /* of JSON-RPC and of MCP */
    MCP_PARSE = -32700,
    MCP_INVALID_REQUEST = -32600,
    MCP_NO_METHOD = -32601,
    MCP_INVALID_PARAMS = -32602,
    MCP_INTERNAL = -32603,
    MCP_UNSUPPORTED_VERSION = -32022,
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

struct mcp_call { /* a request to the daemon that has no answer yet */
    int64_t number; /* its id there */
    struct mcp_to to;
    const struct tool *tool; /* &tools[TOOL_TOOLS]: for tools/list */
    struct buf line;         /* owned; sent again when the connection was lost */
    bool once;               /* but not this one: it may have been done */
    struct json *token;      /* owned; of the progress that its client wants to hear of; NULL: none */
    int64_t begun_ms, beat_ms; /* clock_mono_ms; of its next progress */
};

#define MCP_CALLS_MAX 256

struct mcp {
    struct ue *ue;
    struct frame in;
    enum mcp_version version; /* of initialize; MCP_NONE before */
    struct mcp_call *calls;   /* owned */
    size_t count;
    struct buf to_daemon; /* not yet sent */
    char client[64];      /* who speaks, as initialize said: "NAME/VERSION"; "": it did not */
};

/* mcp_message.c: a line of the client */
void mcp_message(struct mcp *mcp, const char *line, size_t size);
void mcp_reply(struct mcp *mcp, const struct mcp_to *to, struct json *result); /* takes result */
void mcp_fail(struct mcp *mcp, const struct mcp_to *to, int code, const char *text, struct json *data); /* takes data, may be NULL */
void mcp_unanswered(const struct mcp_to *to); /* nothing is sent for it */

/* mcp_protocol.c: what needs no daemon */
const char *mcp_version_word(enum mcp_version version);
/* The era of a request, or MCP_NONE: it was answered with what is wrong. */
enum mcp_version mcp_version_of(struct mcp *mcp, const struct json *params, const struct mcp_to *to);
struct json *mcp_initialize(struct mcp *mcp, const struct json *params);
struct json *mcp_discover(void);
/* The daemon's list of tools in the words of that revision. */
struct json *mcp_tools(const struct json *listed, enum mcp_version version);
/* What a stateless result must say besides. */
void mcp_complete(struct json *result);

/* mcp_call.c: what the daemon does */
void mcp_list(struct mcp *mcp, const struct mcp_to *to);
void mcp_call(struct mcp *mcp, const struct json *params, const struct mcp_to *to);
void mcp_cancel(struct mcp *mcp, const struct msg_id *id); /* the wait ends, the process goes on; nothing is answered */
bool mcp_is_in_flight(const struct mcp *mcp, const struct msg_id *id);
void mcp_drop(struct mcp *mcp, size_t at);
void mcp_answered(struct mcp *mcp, const char *line, size_t size); /* a line of the daemon */
void mcp_lost(struct mcp *mcp); /* the connection is gone: asks the successor again */
void mcp_flush(struct mcp *mcp);
/* mcp_progress.c: a sign of life for calls that take long, to those who gave a token for it. */
void mcp_progress_begin(struct mcp_call *call, const struct json *params);
int64_t mcp_progress_due(const struct mcp *mcp); /* clock_mono_ms; INT64_MAX: never */
void mcp_progress(struct mcp *mcp);              /* what is due */

/* mcp_coerce.c: some clients send numbers, booleans, lists and objects as strings: turns those that have to be none into what they say. */
void mcp_coerce(const struct tool *tool, struct json *arguments);
#endif
