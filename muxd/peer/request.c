/* request: owns the requests of a connection, each from its line to its one answer. */
#include "base/bug.h"
#include "base/mem.h"
#include "peer/internal.h"
#include <stdlib.h>
#include <string.h>

void request_forget(struct request *request)
{
    struct peer *peer = request->peer;
    BUG_UNLESS(!request->inner && peer->in_flight > 0);
    if (request->prev)
        request->prev->next = request->next;
    else
        peer->requests = request->next;
    if (request->next)
        request->next->prev = request->prev;
    peer->in_flight--;
    msg_fini(&request->msg);
    free(request);
}

/* The reply was queued last: it is written once `queued` bytes are. */
static void request_done(struct request *request)
{
    struct peer *peer = request->peer;
    BUG_UNLESS(!peer->closed);
    if (request->written) {
        struct receipt *receipt = xmalloc(sizeof *receipt);
        *receipt = (struct receipt){
            .end = peer->queued, .fn = request->written, .arg = request->written_arg};
        *peer->last = receipt;
        peer->last = &receipt->next;
    }
    request_forget(request);
    peer_mark_dirty(peer);
}

static void inner_done(struct request *request, struct json *result, const struct err *err)
{
    request_inner_fn *fn = request->inner;
    void *arg = request->inner_arg;
    const struct request_answer answer = {.result = result,
                                          .err = err,
                                          .written = request->written,
                                          .written_arg = request->written_arg};
    msg_fini(&request->msg);
    free(request);
    fn(arg, &answer);
}

struct request *request_inner(struct request *outer, const char *method, struct json *params,
                              request_inner_fn *fn, void *arg)
{
    BUG_UNLESS(fn && params && !outer->inner);
    struct request *request = xcalloc(1, sizeof *request);
    *request = (struct request){.peer = outer->peer, .inner = fn, .inner_arg = arg};
    request->msg = (struct msg){.method = method, .params = params, .root = params};
    return request;
}

void request_drop_inner(struct request *inner)
{
    BUG_UNLESS(inner->inner);
    request_call_cancel(inner);
    msg_fini(&inner->msg);
    free(inner);
}

void request_reply(struct request *request, struct json *result)
{
    BUG_UNLESS(result);
    if (request->inner) {
        inner_done(request, result, NULL);
        return;
    }
    struct peer *peer = request->peer;
    size_t before = peer->out.len;
    if (!request->msg.notification)
        msg_reply(&peer->out, &request->msg.id, result);
    json_free(result);
    peer->queued += peer->out.len - before;
    request_done(request);
}

void request_notify(struct request *request, const char *method, struct json *params)
{
    struct peer *peer = request->peer;
    const struct msg_id *id = &request->msg.id;
    if (!request->inner && !request->msg.notification && id->kind != MSG_ID_NONE) {
        size_t before = peer->out.len;
        json_add(params, "request",
                 id->kind == MSG_ID_NUMBER ? json_int_new(id->number)
                                           : json_string_new(id->text, strlen(id->text)));
        msg_notification(&peer->out, method, params);
        peer->queued += peer->out.len - before;
        peer_mark_dirty(peer);
    }
    json_free(params);
}

void peer_queue_error(struct peer *peer, const struct msg_id *id, const struct err *err,
                      const struct json *data)
{
    size_t before = peer->out.len;
    msg_error(&peer->out, id, err, data);
    peer->queued += peer->out.len - before;
    peer_mark_dirty(peer);
}

void request_fail_with(struct request *request, const struct err *err, struct json *data)
{
    BUG_UNLESS(err->code < 0);
    if (request->inner) {
        json_free(data);
        inner_done(request, NULL, err);
        return;
    }
    if (!request->msg.notification)
        peer_queue_error(request->peer, &request->msg.id, err, data);
    json_free(data);
    request_done(request);
}

void request_fail(struct request *request, const struct err *err)
{
    request_fail_with(request, err, NULL);
}

const char *request_method(const struct request *request)
{
    return request->msg.method;
}

struct json *request_params(struct request *request)
{
    return request->msg.params;
}

struct peer *request_peer(const struct request *request)
{
    return request->peer;
}

void request_on_cancel(struct request *request, void (*fn)(void *arg), void *arg)
{
    request->cancel = fn;
    request->cancel_arg = arg;
}

void request_mark(struct request *request)
{
    BUG_UNLESS(!request->marked);
    request->marked = true;
}

bool request_is_marked(const struct request *request)
{
    return request->marked;
}

void request_set_session(struct request *request, uint64_t number)
{
    request->session = number;
}

void request_on_written(struct request *request, void (*fn)(void *arg, bool written), void *arg)
{
    BUG_UNLESS(!request->written);
    request->written = fn;
    request->written_arg = arg;
}

void request_call_cancel(struct request *request)
{
    if (request->cancel) {
        void (*fn)(void *) = request->cancel;
        request->cancel = NULL;
        fn(request->cancel_arg);
    }
}

bool peer_cancel(struct peer *peer, const struct msg_id *id)
{
    for (struct request *request = peer->requests; request; request = request->next) {
        if (request->cancel && msg_id_equal(&request->msg.id, id)) {
            struct err err;
            struct json *data = NULL;
            request_call_cancel(request);
            err_set(&err, ERR_CANCELLED, "cancelled by the client; the session goes on");
            if (request->session) {
                data = json_object_new();
                json_add_int(data, "session_id", (int64_t)request->session);
            }
            request_fail_with(request, &err, data);
            return true;
        }
    }
    return false;
}
