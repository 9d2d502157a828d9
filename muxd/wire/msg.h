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
/* what `hello` answers as protocol; grows only when an old client would misread us */
#define MSG_PROTOCOL 1

enum msg_id_kind { MSG_ID_NONE, MSG_ID_NUMBER, MSG_ID_STRING };

/* A request's id by value: it outlives the line it came in. */
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

/* One request line. 0, ERR_PARSE or ERR_INVALID_REQUEST. Fill-in of id is the best that is known
 * also after a failure, so that the error can be sent to the right request (kind NONE then means
 * "id": null). */
int msg_parse(struct msg *msg, const char *line, size_t size, struct err *err);
void msg_fini(struct msg *msg); /* safe on a zeroed one */
bool msg_id_equal(const struct msg_id *a, const struct msg_id *b);
/* false: neither an integer nor a string of at most 128 bytes */
bool msg_id_from_json(struct msg_id *id, const struct json *value);

/* Whole lines, with their newline, appended to out. False when out went over its max; out is then
 * as it was before. */
bool msg_reply(struct buf *out, const struct msg_id *id, const struct json *result);
/* data.code is err_name(err->code); more is an object whose members go into data too, or NULL.
 * err->text is the message. */
bool msg_error(struct buf *out, const struct msg_id *id, const struct err *err,
               const struct json *more);
/* params may be NULL */
bool msg_request(struct buf *out, int64_t id, const char *method, const struct json *params);
bool msg_notification(struct buf *out, const char *method, const struct json *params);

/* A reply line, as the client reads it. Unknown fields are ignored. */
struct msg_answer {
    /* NONE: the daemon could not tell which request it was; or a notification when method is set */
    struct msg_id id;
    const char *method;        /* a notification from the daemon; NULL for replies. Borrowed */
    const struct json *result; /* borrowed; NULL when it is an error */
    /* code 0: result holds. Unknown data.code names become ERR_INTERNAL with the text kept */
    struct err err;
    const struct json *data;   /* error.data, params of a notification, or NULL; borrowed */
    struct json *root;         /* owned */
};
/* 0 or ERR_PARSE */
int msg_parse_answer(struct msg_answer *answer, const char *line, size_t size, struct err *err);
void msg_answer_fini(struct msg_answer *answer);
#endif
