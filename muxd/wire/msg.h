/* msg: JSON-RPC 2.0 (jsonrpc.org/specification), one object per line. Both sides: the daemon parses
 * requests and writes replies, the client writes requests and parses replies. No batches. */
#ifndef MUXD_WIRE_MSG_H
#define MUXD_WIRE_MSG_H
#include "base/buf.h"
#include "base/err.h"
#include "wire/json.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MSG_ID_BYTES_MAX 128
/* the protocol in the answer of `hello`; it grows only when an old client would misread the
 * daemon */
#define MSG_PROTOCOL 1

enum msg_id_kind { MSG_ID_NONE, MSG_ID_NUMBER, MSG_ID_STRING };

/* A request's id by value: it outlives the line in which it came. */
struct msg_id {
    enum msg_id_kind kind; /* NONE: a notification, or the id of a line that could not be read */
    int64_t number;
    char text[MSG_ID_BYTES_MAX + 1];
};

struct msg {
    struct msg_id id;
    bool notification;   /* a valid line without id: it gets no reply, not even an error */
    const char *method;  /* borrowed from root */
    /* borrowed from root; always an object after msg_parse returned 0. schema_check may edit it */
    struct json *params;
    struct json *root;   /* owned */
};

/* Parses one request line. 0, ERR_PARSE or ERR_INVALID_REQUEST. After a failure id is still set
 * as far as it is known, so that the error can be sent to the right request (kind NONE: "id":
 * null). */
int msg_parse(struct msg *msg, const char *line, size_t size, struct err *err);
void msg_fini(struct msg *msg); /* safe on a zeroed one */
bool msg_id_equal(const struct msg_id *a, const struct msg_id *b);
/* false: neither an integer nor a string of at most 128 bytes */
bool msg_id_from_json(struct msg_id *id, const struct json *value);
/* The id of a line that is no strict JSON, or the beginning of one, as far as it can be told; else
 * its kind is NONE. */
void msg_id_find(struct msg_id *id, const char *line, size_t size);

/* Each appends a whole line with its newline to out. False, and out as before: out would go over
 * its max. */
bool msg_reply(struct buf *out, const struct msg_id *id, const struct json *result);
/* err->text is the message, data.code is err_name(err->code). more: an object whose members go into
 * data, too, or NULL. */
bool msg_error(struct buf *out, const struct msg_id *id, const struct err *err,
               const struct json *more);
/* params may be NULL */
bool msg_request(struct buf *out, int64_t id, const char *method, const struct json *params);
bool msg_notification(struct buf *out, const char *method, const struct json *params);

/* A reply line, as the client reads it. Unknown fields are ignored. */
struct msg_answer {
    /* NONE: a notification when method is set, else the daemon could not read the request's id */
    struct msg_id id;
    const char *method;        /* a notification from the daemon; NULL for replies. Borrowed */
    const struct json *result; /* borrowed; NULL: an error */
    /* code 0: result is set. An unknown data.code becomes ERR_INTERNAL and keeps its text */
    struct err err;
    const struct json *data;   /* error.data, params of a notification, or NULL; borrowed */
    struct json *root;         /* owned */
};
/* 0 or ERR_PARSE */
int msg_parse_answer(struct msg_answer *answer, const char *line, size_t size, struct err *err);
void msg_answer_fini(struct msg_answer *answer);
#endif
