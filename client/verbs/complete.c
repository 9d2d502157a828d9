/* complete: `ue complete`: owns the candidates that only the daemon knows. It starts no daemon,
 * gives up soon on one that doesn't answer, and reports no errors. */
#include "client/verbs/complete.h"
#include "base/strv.h"
#include "client/print/say.h"
#include "client/rpc/call.h"
#include "client/rpc/params.h"
#include <string.h>
#include <sys/socket.h>

#define ANSWER_MS 500 /* longest wait for the daemon: a person waits for the list */

/* The result of a call to a running daemon; NULL: there is none, or it doesn't answer in time. */
static const struct json *complete_ask(struct ue *ue, const char *method, const struct json *params,
                                       struct msg_answer *answer)
{
    struct err err = {0};
    struct timeval patience = {.tv_sec = ANSWER_MS / 1000, .tv_usec = ANSWER_MS % 1000 * 1000};
    *answer = (struct msg_answer){0};
    ue->conn.may_start = false;
    ue->conn.unread_looked = true; /* a word on standard error would be in the way */
    if (connection_try(&ue->conn, &err) < 0)
        return NULL;
    if (setsockopt(ue->conn.fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) < 0)
        return NULL;
    return call_run(&ue->conn, method, params, CALL_ONCE, answer, &err) == 0 ? answer->result
                                                                             : NULL;
}

/* The verb takes any number of sessions, and this one is on the line already. */
static bool stands_there(const struct place *place, const char *name)
{
    if (place->option || place->verb->operands_max >= 0)
        return false;
    for (size_t i = 0; i + 1 < place->count; i++)
        if (strcmp(place->words[i], name) == 0)
            return true;
    return false;
}

static void add_sessions(struct ue *ue, struct candidates *all, const struct place *place,
                         bool running)
{
    struct msg_answer answer;
    struct json *params = json_object_new();
    json_add_bool(params, "all", !running);
    params_meta(ue, params, META_VERB);
    const struct json *result = complete_ask(ue, "list_sessions", params, &answer);
    for (const struct json *it = json_first(json_get(result, "sessions")); it; it = json_next(it)) {
        const char *name = json_get_str(it, "name", NULL), *state = json_get_str(it, "state", NULL);
        bool runs = state && strcmp(state, "running") == 0;
        if (name && runs == running && !stands_there(place, name))
            candidates_add(all, name, json_get_str(it, "cmd", NULL));
    }
    msg_answer_fini(&answer);
    json_free(params);
}

static bool complete_is_word(const struct json *object, const char *key, const char *word)
{
    const char *text = json_get_str(object, key, NULL);
    return text && word && strcmp(text, word) == 0;
}

/* The value of a key of [session NAME]; NULL: none. */
static const char *configured_value(const struct json *values, const char *name, const char *key)
{
    for (const struct json *it = json_first(values); it; it = json_next(it))
        if (complete_is_word(it, "key", key) && complete_is_word(it, "name", name) &&
            complete_is_word(it, "section", "session"))
            return json_get_str(it, "value", NULL);
    return NULL;
}

/* Adds the sessions of the config; their cmd or argv is the description. by_name: without those
 * that their name alone doesn't start. */
static void add_configured(struct ue *ue, struct candidates *all, bool by_name)
{
    struct msg_answer answer;
    struct json *params = json_object_new();
    json_add_text(params, "section", "session");
    const struct json *values = json_get(complete_ask(ue, "config", params, &answer), "values");
    for (const struct json *it = json_first(values); it; it = json_next(it)) {
        const char *name = json_get_str(it, "name", NULL), *value = json_get_str(it, "value", NULL);
        bool what = complete_is_word(it, "key", "cmd") || complete_is_word(it, "key", "argv");
        if (!what || !name || !value || !*value || !complete_is_word(it, "section", "session"))
            continue;
        const char *start = by_name ? configured_value(values, name, "start") : NULL;
        if (!start || strcmp(start, "manual") != 0)
            candidates_add(all, name, value);
    }
    msg_answer_fini(&answer);
    json_free(params);
}

static void remove_running(struct candidates *all, const struct candidates *running)
{
    for (size_t i = 0; i < running->count; i++)
        candidates_remove(all, running->list[i].word);
}

static void add_configured_only(struct ue *ue, struct candidates *all, const struct place *place)
{
    struct candidates running = {0};
    add_configured(ue, all, false);
    if (all->count > 0)
        add_sessions(ue, &running, place, true);
    remove_running(all, &running);
    candidates_fini(&running);
}

static void add_from_daemon(struct ue *ue, struct candidates *all, const struct place *place)
{
    switch (place_kind(place)) {
    case COMPLETE_SESSION: add_sessions(ue, all, place, true); break;
    case COMPLETE_ENDED: add_sessions(ue, all, place, false); break;
    case COMPLETE_CONFIGURED: add_configured_only(ue, all, place); break;
    case COMPLETE_STARTABLE:
        add_sessions(ue, all, place, true);
        add_configured(ue, all, true);
        break;
    default: break;
    }
}

static void complete_answer(struct ue *ue, const struct asked *asked, const char *const *words,
                            size_t count)
{
    struct place place;
    struct candidates all = {0};
    struct buf out = BUF_INIT;
    place_find(&place, words, count);
    if (place.socket && *place.socket) {
        connection_fini(&ue->conn);
        connection_init(&ue->conn, place.socket, NULL, false);
    }
    candidates_of_place(&all, &place);
    add_from_daemon(ue, &all, &place);
    complete_append(&out, asked, &place, &all);
    say_buf(&out);
    candidates_fini(&all);
}

static int answer_bash(struct ue *ue)
{
    const struct args *args = &ue->args;
    if (args->operand_count != 4)
        return -1;
    struct asked asked = {.shell = COMPLETE_BASH,
                          .lists = strcmp(args->operands[1], "63") == 0,
                          .behind = args->operands[2]};
    char **words = bash_words(args->operands[3]);
    size_t count = strv_len((const char *const *)words);
    if (count > 1) /* the first one is ue */
        complete_answer(ue, &asked, (const char *const *)words + 1, count - 1);
    strv_free(words);
    return 0;
}

static int answer_words(struct ue *ue, enum complete_shell shell)
{
    struct asked asked = {.shell = shell};
    if (ue->args.operand_count < 2)
        return -1;
    complete_answer(ue, &asked, ue->args.operands + 1, ue->args.operand_count - 1);
    return 0;
}

int verb_COMPLETE(struct ue *ue)
{
    const char *shell = ue->args.operands[0];
    struct err err;
    int result = -1;
    if (strcmp(shell, "bash") == 0)
        result = answer_bash(ue);
    else if (strcmp(shell, "zsh") == 0)
        result = answer_words(ue, COMPLETE_ZSH);
    else if (strcmp(shell, "fish") == 0)
        result = answer_words(ue, COMPLETE_FISH);
    if (result == 0)
        return 0;
    err_set(&err, ERR_USAGE,
            "'%s': give bash TYPE WORD LINE, zsh WORD\xe2\x80\xa6 or fish WORD\xe2\x80\xa6", shell);
    return ue_fail(ue, &err);
}
