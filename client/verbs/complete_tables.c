/* complete_tables: owns the candidates that need no daemon: from the tables, signals, keys and the
 * environment. */
#include "base/mem.h"
#include "base/utf8.h"
#include "base/value.h"
#include "client/rpc/schemas.h"
#include "client/verbs/complete.h"
#include "wire/event.h"
#include "wire/keynames.h"
#include "wire/tool.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DESCRIPTION_BYTES_MAX 60
#define FEW 10 /* longer ranges of numbers are not listed */

extern char **environ;

static char *shortened(const char *text)
{
    struct buf safe = BUF_INIT;
    size_t len = strlen(text), keep = utf8_cut(text, len, DESCRIPTION_BYTES_MAX);
    utf8_append_escaped(&safe, text, keep, false);
    char *short_text = xasprintf("%s%s", safe.data ? safe.data : "",
                                 keep < len ? "\xe2\x80\xa6" : "");
    buf_fini(&safe);
    return short_text;
}

void candidates_add(struct candidates *all, const char *word, const char *description)
{
    for (size_t i = 0; i < all->count; i++)
        if (strcmp(all->list[i].word, word) == 0)
            return;
    all->list = xreallocarray(all->list, all->count + 1, sizeof *all->list);
    all->list[all->count].word = xstrdup(word);
    all->list[all->count++].description = shortened(description ? description : "");
}

void candidates_remove(struct candidates *all, const char *word)
{
    size_t kept = 0;
    for (size_t i = 0; i < all->count; i++) {
        if (strcmp(all->list[i].word, word) == 0) {
            free(all->list[i].word);
            free(all->list[i].description);
        } else {
            all->list[kept++] = all->list[i];
        }
    }
    all->count = kept;
}

void candidates_fini(struct candidates *all)
{
    for (size_t i = 0; i < all->count; i++) {
        free(all->list[i].word);
        free(all->list[i].description);
    }
    free(all->list);
    *all = (struct candidates){0};
}

static void add_verbs(struct candidates *all)
{
    for (size_t i = VERB_GLOBAL + 1; i < VERB_COUNT_; i++)
        if (!verbs[i].hidden)
            candidates_add(all, verbs[i].name, verbs[i].summary);
}

/* Options that were given are not offered again, and none that they exclude. */
static bool is_possible(const struct place *place, const struct verb_option *row)
{
    for (size_t i = 0; i < place->given_count; i++) {
        const struct verb_option *given = place->given[i];
        if ((given == row && !row->repeats) || verb_option_excludes(given, row))
            return false;
    }
    return true;
}

static void add_options_of(struct candidates *all, const struct place *place,
                           const struct verb *verb, bool letters)
{
    for (const struct verb_option *row = verb->options; row->name; row++) {
        char word[64];
        if (!is_possible(place, row) || (letters && !row->letter))
            continue;
        if (letters)
            snprintf(word, sizeof word, "-%c", row->letter);
        else
            snprintf(word, sizeof word, "--%s", row->name);
        candidates_add(all, word, verb_option_full(verb, row).help);
    }
}

static void add_options(struct candidates *all, const struct place *place)
{
    const struct verb *global = &verbs[VERB_GLOBAL],
                      *own = place->verb && place->verb != global ? place->verb : NULL;
    for (int letters = 0; letters < 2; letters++) {
        if (own)
            add_options_of(all, place, own, letters);
        add_options_of(all, place, global, letters);
    }
}

static void add_words(struct candidates *all, const char *words)
{
    for (const char *at = words; at && *at; at += strspn(at, " ")) {
        size_t span = strcspn(at, " ");
        char *word = xstrndup(at, span);
        candidates_add(all, word, "");
        free(word);
        at += span;
    }
}

/* The choices of an argument, or its range when that is short. */
static void add_choices(struct candidates *all, const struct tool_arg *arg)
{
    char number[24];
    if (!arg)
        return;
    add_words(all, arg->choices);
    for (int64_t i = arg->min; arg->max > 0 && arg->max - arg->min < FEW && i <= arg->max; i++) {
        snprintf(number, sizeof number, "%lld", (long long)i);
        candidates_add(all, number, "");
    }
}

static void add_signals(struct candidates *all)
{
    for (int signo = 1; signo < SIGRTMIN; signo++)
        if (value_signal_name(signo))
            candidates_add(all, value_signal_name(signo), sigdescr_np(signo));
}

static void add_key(void *all, const char *name)
{
    candidates_add(all, name, "");
}

static void add_tools(struct candidates *all)
{
    for (size_t i = 0; i < TOOL_COUNT_; i++)
        if (tools[i].kind != TOOL_INNER)
            candidates_add(all, tools[i].name, tools[i].description);
}

static void add_events(struct candidates *all)
{
    for (size_t i = 0; i < EVENT_COUNT_; i++)
        candidates_add(all, event_rows[i].name, event_rows[i].help);
    candidates_add(all, "all", "all of them");
}

static void add_formats(struct candidates *all)
{
    for (size_t i = 0; i < SCHEMA_FORMAT_COUNT; i++)
        candidates_add(all, schemas_formats[i], "");
}

static void add_shells(struct candidates *all)
{
    char line[256];
    FILE *file = fopen("/etc/shells", "re");
    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        if (line[0] == '/')
            candidates_add(all, line, "");
    }
    if (file)
        fclose(file);
}

static void add_variables(struct candidates *all)
{
    for (char **at = environ; at && *at; at++) {
        size_t len = strcspn(*at, "=");
        char *word = xstrndup(*at, len + 1);
        if (value_env_name(*at, len))
            candidates_add(all, word, "");
        free(word);
    }
}

/* Also the policies, where one can stand in place of the size. */
static void add_sizes(struct candidates *all, const struct verb *verb)
{
    add_words(all, "24x80 40x120 50x160 60x200");
    add_choices(all, verb_argument(verb, "policy"));
}

static void add_kind(struct candidates *all, const struct place *place)
{
    switch (place_kind(place)) {
    case COMPLETE_SHELL: add_shells(all); break;
    case COMPLETE_SIGNAL: add_signals(all); break;
    case COMPLETE_KEY: keyname_each(add_key, all); break;
    case COMPLETE_SIZE: add_sizes(all, place->verb); break;
    case COMPLETE_VERB: add_verbs(all); break;
    case COMPLETE_TOOL: add_tools(all); break;
    case COMPLETE_ENV: add_variables(all); break;
    case COMPLETE_EVENT: add_events(all); break;
    case COMPLETE_FORMAT: add_formats(all); break;
    case COMPLETE_NONE:
        if (place->option && place->verb)
            add_choices(all, verb_argument(place->verb, place->option->argument));
        break;
    case COMPLETE_SESSION: /* the daemon knows these */
    case COMPLETE_ENDED:
    case COMPLETE_CONFIGURED:
    case COMPLETE_STARTABLE:
    case COMPLETE_FILE: /* the shell does */
    case COMPLETE_DIR:
    case COMPLETE_COMMAND: break;
    }
}

void candidates_of_place(struct candidates *all, const struct place *place)
{
    if (place->wants_option)
        add_options(all, place);
    else if (!place->option && !place->verb)
        add_verbs(all);
    else
        add_kind(all, place);
}
