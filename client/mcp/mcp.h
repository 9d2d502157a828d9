/* mcp: `ue mcp`, a Model Context Protocol server on standard input and output, which offers the
 * daemon's tools. It has no lasting state: sessions belong to muxd, and any number of such servers
 * may come and go.
 *
 * It serves two kinds of revisions (modelcontextprotocol.io): older ones, which begin with
 * `initialize`, and the stateless one, whose requests name their protocol version in
 * params._meta. */
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

struct mcp_out { /* standard output */
    struct buf queue;
    size_t at;    /* in queue: the first byte that was not written */
    size_t piece; /* most bytes that one write takes without blocking */
    bool is_socket;
};

/* The answers to an array of requests go out as one array. */
struct mcp_batch {
    struct buf out;
    size_t left; /* answers to come, plus one while the array is being read */
};

struct mcp_to { /* where an answer goes */
    struct msg_id id;
    enum mcp_version version;
    struct mcp_batch *batch; /* NULL: none */
    /* the client shows its model structuredContent alone, as JSON, and never content */
    bool shows_structured;
};

struct mcp_problem { /* why a request is refused */
    int code; /* enum mcp_code */
    const char *text;
    struct json *data; /* the receiver's; NULL: no details */
};

#define MCP_APPROVAL_ROOM 24

struct mcp_call { /* a request to the daemon that has no answer yet */
    int64_t number; /* id of the request to the daemon */
    struct mcp_to to;
    const struct tool *tool; /* &tools[TOOL_TOOLS]: for tools/list */
    struct buf line;         /* owned: the request */
    bool once;               /* not sent again when the connection is lost: it may be done */
    struct json *token;      /* owned: progressToken; NULL: the client wants no progress */
    int64_t begun_ms;        /* clock_mono_ms */
    int64_t beat_ms;         /* of the next progress; INT64_MAX: never */
    int64_t progress;        /* as told last; -1: nothing yet */
    char approval[MCP_APPROVAL_ROOM]; /* what a person is asked now; "": nothing */
    bool elicits;            /* the client was asked about it, and has not answered */
};

#define MCP_CLIENT_ROOM 64
#define MCP_CALLS_MAX 4096
#define MCP_CALLS_BYTES_MAX (64u << 20) /* sum of their lines */

struct mcp {
    struct ue *ue;
    struct frame in;
    struct mcp_out out;
    enum mcp_version version; /* of initialize; MCP_NONE before */
    struct mcp_call **calls;  /* owned; the first `sent` of them were sent, in that order */
    size_t count, bytes;      /* bytes: sum of their lines */
    size_t sent, window;      /* window: most requests that the daemon takes of a connection */
    int64_t hello;            /* id of the request that asks for the window; 0: it was answered */
    bool told_policy;         /* what calls may do stands in the log, once */
    struct buf to_daemon;     /* not yet sent */
    char client[MCP_CLIENT_ROOM]; /* "NAME/VERSION" from initialize; "": not given */
    bool elicits;                 /* the client can ask its person (elicitation) */
};

/* mcp_out.c */
void mcp_out_init(struct mcp_out *out);
void mcp_out_fini(struct mcp_out *out);
void mcp_out_add(struct mcp_out *out, const void *data, size_t size);
size_t mcp_out_left(const struct mcp_out *out); /* bytes that the client has not taken */
/* Writes what it can without blocking; true when that was something. When the client has gone, ue
 * exits (say_lost). */
bool mcp_out_flush(struct mcp_out *out);

/* mcp_message.c: handles a line of the client. */
void mcp_message(struct mcp *mcp, const char *line, size_t size);
/* A line that can't be read as a message: the error goes to the id that it seems to have. */
void mcp_message_unread(struct mcp *mcp, const char *line, size_t size, int code, const char *why);

/* mcp_answer.c */
/* Takes result, an object. */
void mcp_reply(struct mcp *mcp, const struct mcp_to *to, struct json *result);
/* Takes data, which may be NULL. */
void mcp_fail(struct mcp *mcp, const struct mcp_to *to, int code, const char *text,
              struct json *data);
void mcp_unanswered(struct mcp *mcp, const struct mcp_to *to); /* it gets no answer */

/* mcp_protocol.c: requests that need no daemon. */
/* The revision of a request; MCP_NONE: *problem says what is wrong. */
enum mcp_version mcp_version_of(const struct mcp *mcp, const struct json *params,
                                struct mcp_problem *problem);
/* "NAME/VERSION" from the request's clientInfo, else from that of initialize. */
void mcp_client_of(const struct mcp *mcp, const struct json *params, char client[MCP_CLIENT_ROOM]);
/* Whether a client of that name shows models only structuredContent. */
bool mcp_shows_structured(const char *client);
struct json *mcp_initialize(struct mcp *mcp, const struct json *params);
struct json *mcp_discover(void);
/* The daemon's list of tools in the form of that revision. */
struct json *mcp_tools(const struct json *listed, enum mcp_version version);
/* Adds what every result of the stateless revision has. */
void mcp_complete(struct json *result);

/* mcp_call.c: requests that the daemon answers. */
void mcp_list(struct mcp *mcp, const struct mcp_to *to);
void mcp_call(struct mcp *mcp, const struct json *params, const struct mcp_to *to);
/* Ends the wait of a call without an answer; the process goes on. */
void mcp_cancel(struct mcp *mcp, const struct msg_id *id);
bool mcp_is_in_flight(const struct mcp *mcp, const struct msg_id *id);
void mcp_drop(struct mcp *mcp, size_t at); /* frees a call, which gets no answer */
void mcp_answered(struct mcp *mcp, const char *line, size_t size); /* a line of the daemon */
/* The client has closed standard input: answers all open calls with that. */
void mcp_give_up(struct mcp *mcp);
void mcp_lost(struct mcp *mcp); /* the connection is lost: sends the calls to the successor */
void mcp_flush(struct mcp *mcp); /* sends to the daemon what it takes */
/* mcp_progress.c: progress of long calls, for clients that gave a token. */
void mcp_progress_begin(struct mcp_call *call, const struct json *params);
int64_t mcp_progress_due(const struct mcp *mcp); /* clock_mono_ms; INT64_MAX: never */
void mcp_progress(struct mcp *mcp);              /* sends what is due */
/* What the call waits for has changed: tells it at once. */
void mcp_progress_now(struct mcp *mcp, struct mcp_call *call);

/* mcp_ask.c: a person is asked about a call. */
bool mcp_can_elicit(const struct json *capabilities, enum mcp_version version);
/* The daemon's notification. */
void mcp_asked(struct mcp *mcp, const struct json *told);
/* A reply of the client to a request of ours. */
void mcp_ask_answered(struct mcp *mcp, const struct json *reply);
/* The question is over, or the call is: takes it back from the client. */
void mcp_ask_end(struct mcp *mcp, struct mcp_call *call);

/* mcp_coerce.c: some clients send numbers, booleans, lists and objects as strings: parses those
 * where the tool doesn't take a string. */
void mcp_coerce(const struct tool *tool, struct json *arguments);
#endif
