/* subscribe: owns subscriptions: each asks for events again and again, from where the last answer
 * ended, so that none is missed while a worker is replaced. */
#include "base/bug.h"
#include "base/mem.h"
#include "client/lib/c/client.h"
#include <stdlib.h>
#include <string.h>

#define ASK_MS 300000 /* longest wait of one request */

static void subscription_free(struct subscription *subscription)
{
    json_free(subscription->params);
    free(subscription);
}

/* At once, or behind the callback that runs. */
static void subscription_end(struct ue_client *client, struct subscription *subscription)
{
    size_t at = 0;
    while (at < client->subscribed && client->subscriptions[at] != subscription)
        at++;
    if (at < client->subscribed)
        memmove(client->subscriptions + at, client->subscriptions + at + 1,
                (--client->subscribed - at) * sizeof(struct subscription *));
    subscription->over = true;
    if (!subscription->telling)
        subscription_free(subscription);
}

/* The first request only asks for the number of the next event, where the caller has given none. */
static int subscription_ask(struct subscription *subscription, struct err *err)
{
    struct json *params = json_copy(subscription->params);
    bool known = json_get(params, "since") != NULL;
    json_add_int(params, "yield_time_ms", known ? ASK_MS : 0);
    int64_t number = calls_add(subscription->client, "events", params, subscribe_on_answer,
                               subscription, err);
    subscription->call = number < 0 ? 0 : number;
    return number < 0 ? (int)number : 0;
}

static void subscription_tell(struct subscription *subscription, const struct json *event)
{
    struct buf text = BUF_INIT;
    struct ue_event told = {.seq = -1,
                            .type = json_get_str(event, "type", NULL),
                            .session_id = -1,
                            .name = json_get_str(event, "name", NULL)};
    json_get_int(event, "seq", &told.seq);
    json_get_int(event, "session_id", &told.session_id);
    json_print(&text, event);
    told.json = text.data;
    subscription->client->called_back++;
    subscription->fn(subscription->arg, &told, NULL);
    buf_fini(&text);
}

static void subscription_failed(struct subscription *subscription, struct ue_error *error)
{
    subscription->client->called_back++;
    subscription->fn(subscription->arg, NULL, error);
}

void subscribe_on_answer(void *arg, struct msg_answer *answer)
{
    struct subscription *subscription = arg;
    struct ue_error error;
    struct err err = answer->err;
    int64_t next;
    subscription->call = 0;
    subscription->telling = true;
    const struct json *it = json_first(json_get(answer->result, "events"));
    for (; it && !subscription->over; it = json_next(it))
        subscription_tell(subscription, it);
    if (!subscription->over && err.code == 0 && json_get_int(answer->result, "next", &next)) {
        json_free(json_detach(subscription->params, "since"));
        json_add_int(subscription->params, "since", next);
        subscription_ask(subscription, &err);
    }
    if (!subscription->over && err.code < 0) {
        error_of_answer(&error, &(struct msg_answer){.err = err, .data = answer->data});
        subscription_failed(subscription, &error);
    }
    subscription->telling = false;
    msg_answer_fini(answer);
    if (subscription->over)
        subscription_free(subscription);
    else if (err.code < 0)
        subscription_end(subscription->client, subscription);
}

static struct subscription *subscription_find(struct ue_client *client, int64_t number)
{
    for (size_t at = 0; at < client->subscribed; at++)
        if (client->subscriptions[at]->number == number)
            return client->subscriptions[at];
    return NULL;
}

bool subscribe_cancel(struct ue_client *client, int64_t number)
{
    struct subscription *subscription = subscription_find(client, number);
    if (!subscription)
        return false;
    if (subscription->call)
        calls_forget(client, subscription->call);
    subscription_end(client, subscription);
    return true;
}

int64_t ue_subscribe_sized(struct ue_client *client, const struct ue_subscribe_args *args,
                           size_t args_size, ue_event_fn *fn, void *arg, struct ue_error *error)
{
    struct err err = {0};
    struct json *params = arguments_make(&tools[TOOL_EVENTS], args, args ? args_size : 0, &err);
    if (!params)
        return error_tell(error, &err);
    struct subscription *subscription = xcalloc(1, sizeof *subscription);
    *subscription = (struct subscription){.params = params, .client = client, .fn = fn, .arg = arg};
    if (subscription_ask(subscription, &err) < 0) {
        subscription_free(subscription);
        return error_tell(error, &err);
    }
    int64_t number = subscription->number = subscription->call;
    client->subscriptions = xreallocarray(client->subscriptions, client->subscribed + 1,
                                          sizeof(struct subscription *));
    client->subscriptions[client->subscribed++] = subscription;
    foreign_watch(client);
    return number;
}
