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

#define MCP_APPROVAL_ROOM 24
#define MCP_STATE_ROOM 33 /* 128 random bits in hex */

/* The answers to an array of requests go out as one array. */
struct mcp_batch {
    struct buf out;
    size_t left; /* answers to come, plus one while the array is being read */
};

/* A request of the stateless revision that was answered with a question (input_required). The
 * answer comes with another request, which names `state`. */
struct mcp_round {
    char state[MCP_STATE_ROOM];
    struct json *asked; /* owned: name and arguments of the call */
    struct json *end;   /* owned: what the call came to; NULL: it is under way */
    bool failed;        /* end is an error */
};

struct mcp_to { /* where an answer goes */
    struct msg_id id; /* MSG_ID_NONE in a round */
    enum mcp_version version;
    struct mcp_batch *batch; /* NULL: none */
    struct mcp_round *round; /* there, until the client comes back; NULL: to the client */
    bool elicits;            /* the client can ask its person (elicitation) */
    /* the client shows its model structuredContent alone, as JSON, and never content */
    bool shows_structured;
};

struct mcp_problem { /* why a request is refused */
    int code; /* enum mcp_code */
    const char *text;
    struct json *data; /* the receiver's; NULL: no details */
};


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
    struct json *asked;      /* owned: name and arguments of a call that may go over rounds */
    struct json *question;   /* owned: what a person is asked, if the client may ask it */
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
    bool elicits;                 /* its client can ask its person (elicitation) */
    struct mcp_round **rounds;    /* owned; the oldest first */
    size_t nrounds;
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
void mcp_fail_with(struct mcp *mcp, const struct mcp_to *to, struct json *error); /* takes error */
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
/* Adds what every result of the stateless revision has. type: "complete", "input_required". */
void mcp_complete(struct json *result, const char *type);
/* Whether the client of that request can ask its person. */
bool mcp_elicits(const struct mcp *mcp, const struct json *params, enum mcp_version version);

/* mcp_call.c: requests that the daemon answers. */
void mcp_list(struct mcp *mcp, const struct mcp_to *to);
void mcp_call(struct mcp *mcp, const struct json *params, const struct mcp_to *to);
/* Ends the wait of a call without an answer; the process goes on. */
void mcp_cancel(struct mcp *mcp, const struct msg_id *id);
bool mcp_is_in_flight(const struct mcp *mcp, const struct msg_id *id);
/* The same of the call at that place. */
void mcp_cancel_at(struct mcp *mcp, size_t at);
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
void mcp_progress_end(struct mcp_call *call); /* its request has got an answer */

/* mcp_ask.c: a person is asked about a call. */
bool mcp_can_elicit(const struct json *capabilities, enum mcp_version version);
/* The daemon's notification. */
void mcp_asked(struct mcp *mcp, const struct json *told);
/* A reply of the client to a request of ours. */
void mcp_ask_answered(struct mcp *mcp, const struct json *reply);
/* The question is over, or the call is: takes it back from the client. */
void mcp_ask_end(struct mcp *mcp, struct mcp_call *call);
/* The question about a call as a member of inputRequests. */
void mcp_ask_form(struct json *into, const struct mcp_call *call);
/* Passes on what inputResponses says to that question; false: nothing. */
bool mcp_ask_take(struct mcp *mcp, struct mcp_call *call, const struct json *responses);

/* mcp_rounds.c: the same in the stateless revision, where the question answers a request. */
struct json *mcp_rounds_facts(const struct json *params); /* name and arguments of a call */
/* Asks the client with the answer to its request, when it has one open. */
void mcp_rounds_ask(struct mcp *mcp, struct mcp_call *call);
/* True: the request comes back from a question; it has got its answer, or waits for it. */
bool mcp_rounds_back(struct mcp *mcp, const struct json *params, const struct mcp_to *to);
/* The round of a call is over with that; takes end. */
void mcp_rounds_end(struct mcp_round *round, struct json *end, bool failed);
void mcp_rounds_drop(struct mcp *mcp, struct mcp_round *round);
/* The client has closed standard input, and can't come back. */
void mcp_rounds_leave(struct mcp *mcp);

/* mcp_coerce.c: some clients send numbers, booleans, lists and objects as strings: parses those
 * where the tool doesn't take a string. */
void mcp_coerce(const struct tool *tool, struct json *arguments);
#endif
