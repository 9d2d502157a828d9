/* events: `ue events`: prints the daemon's events, one JSON object in each line. Each request
 * begins where the last answer ended, so that nothing is missed while a worker is replaced. */
#include "base/clock.h"
#include "client/rpc/call.h"
#include "client/rpc/params.h"
#include "client/print/say.h"
#include "client/rpc/talk.h"
#include "wire/event.h"
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define ASK_MS 300000 /* longest wait of one request; between two we check for a reader */
#define READER_GONE 141

struct following {
    struct ue *ue;
    struct json *params; /* owned */
    int64_t end_ms;      /* clock_mono_ms; INT64_MAX: none */
    int64_t left;        /* events still to print; -1: all */
};

static bool has_reader(void)
{
    struct pollfd fd = {.fd = STDOUT_FILENO};
    return poll(&fd, 1, 0) <= 0 || !(fd.revents & (POLLERR | POLLNVAL));
}

static int check_types(const struct args *args, struct err *err)
{
    for (const struct args_option *at = args_next(args, "type", NULL); at;
         at = args_next(args, "type", at)) {
        const char *nearest = event_nearest(at->value);
        if (event_by_name(at->value) >= 0 || strcmp(at->value, "all") == 0)
            continue;
        if (nearest)
            return err_set(err, ERR_USAGE, "'--type %s': no such event; did you mean '%s'?",
                           at->value, nearest);
        return err_set(err, ERR_USAGE, "'--type %s': no such event; 'ue help events' lists them",
                       at->value);
    }
    return 0;
}

static void events_print(struct following *following, const struct json *events)
{
    struct buf out = BUF_INIT;
    for (const struct json *it = json_first(events); it && following->left != 0;
         it = json_next(it)) {
        say_append_json(&out, it);
        following->left -= following->left > 0;
    }
    sigset_t interrupt, before; /* ^C must not cut a line */
    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT);
    sigprocmask(SIG_BLOCK, &interrupt, &before);
    say_buf(&out);
    sigprocmask(SIG_SETMASK, &before, NULL);
}

/* The first request only asks for the number of the next event, so that a lost connection loses
 * none. 0 or an error. */
static int events_ask(struct following *following, bool first, struct err *err)
{
    struct msg_answer answer = {0};
    int64_t left_ms = following->end_ms == INT64_MAX ? ASK_MS : following->end_ms - clock_mono_ms(),
            next = 0;
    left_ms = first || left_ms < 0 ? 0 : left_ms < ASK_MS ? left_ms : ASK_MS;
    params_set(following->params, "yield_time_ms", json_int_new(left_ms));
    if (following->left > 0)
        params_set(following->params, "max_events",
                   json_int_new(following->left < 1024 ? following->left : 1024));
    int result = call_run(&following->ue->conn, "events", following->params, CALL_WAITS, &answer,
                          err);
    if (result == 0) {
        events_print(following, json_get(answer.result, "events"));
        if (json_get_int(answer.result, "next", &next))
            params_set(following->params, "since", json_int_new(next));
    }
    msg_answer_fini(&answer);
    return result;
}

int verb_EVENTS(struct ue *ue)
{
    struct err err = {0};
    const struct args *args = &ue->args;
    int64_t yield_ms = args_int(args, "yield", INT64_MAX);
    if (check_types(args, &err) < 0 || raw_check_wait(ue, &err) < 0)
        return ue_fail(ue, &err);
    struct following following = {
        .ue = ue, .params = params_map(args), .left = args_int(args, "count", -1)};
    following.end_ms = yield_ms == INT64_MAX ? INT64_MAX : clock_mono_ms() + yield_ms;
    params_meta(ue, following.params, META_VERB);
    int result = 0, status = 0;
    for (bool first = true; result == 0 && following.left != 0 && status == 0; first = false) {
        if (!first && clock_mono_ms() >= following.end_ms)
            break;
        result = events_ask(&following, first, &err);
        status = has_reader() ? 0 : READER_GONE;
    }
    json_free(following.params);
    if (result == ERR_CANCELLED)
        return UE_INTERRUPTED;
    return result < 0 ? ue_fail(ue, &err) : status;
}
