/* verb: commands.def as tables, and the search in them. */
#include "wire/verb.h"
#include "base/value.h"
#include "wire/json.h"
#include "wire/tool.h"
#include <string.h>

#define VERB(ident, ...) static const struct verb_option options_of_##ident[] = {
#define OPTION(...) {__VA_ARGS__},
#define END(ident) {.name = NULL}};
#include "wire/commands.def"
#undef VERB
#undef OPTION
#undef END

const struct verb verbs[VERB_COUNT_] = {
#define VERB(ident, ...) [VERB_##ident] = {.options = options_of_##ident, __VA_ARGS__},
#define OPTION(...)
#define END(ident)
#include "wire/commands.def"
#undef VERB
#undef OPTION
#undef END
};

/* What people type who come from tmux, screen or the shell. */
static const struct {
    const char *word;
    enum verb_id verb;
} aliases[] = {{"ls", VERB_LIST}, {"ps", VERB_LIST}, {"a", VERB_ATTACH}};

static const struct {
    const char *word, *hint;
} hints[] = {
    {"new-session", "'ue new NAME' begins a shell in a session and shows it"},
    {"attach-session", "'ue attach SESSION' shows a session"},
    {"list-sessions", "'ue list' lists sessions"},
    {"kill-session", "'ue kill SESSION' ends a session"},
    {"kill-server", "'ue stop' ends all sessions and the daemon"},
    {"rename-session", "'ue rename SESSION NAME' gives a session another name"},
    {"capture-pane", "'ue screen SESSION' prints what a session shows"},
    {"run", "'ue exec CMD' runs a command"},
    {"send", "'ue write SESSION TEXT' types into a session"},
    {"send-keys", "'ue write SESSION -k KEY' presses keys in a session"},
    {"capture", "'ue screen SESSION' prints what a session shows"},
    {"detach", "press C-\\ d in the attached terminal; 'ue attach -x' sends the others away"},
    {"quit", "C-\\ d leaves an attached session, 'ue kill SESSION' ends one, 'ue stop' the daemon"},
    {"exit", "C-\\ d leaves an attached session, 'ue kill SESSION' ends one, 'ue stop' the daemon"},
};

/* NULL: none is near. */
static const char *nearest_verb(const char *name)
{
    const char *names[VERB_COUNT_];
    size_t count = 0;
    for (size_t i = VERB_GLOBAL + 1; i < VERB_COUNT_; i++) {
        if (!verbs[i].hidden)
            names[count++] = verbs[i].name;
    }
    const char *nearest = value_nearest(name, names, count);
    /* people seldom mistype the first letter: another one is another word */
    return nearest && nearest[0] == name[0] ? nearest : NULL;
}

int verb_unknown(const char *word, struct err *err)
{
    const char *nearest = nearest_verb(word);
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
        if (strcmp(hints[i].word, word) == 0)
            return err_set(err, ERR_USAGE, "'%s': unknown verb; %s", word, hints[i].hint);
    if (nearest)
        return err_set(err, ERR_USAGE, "'%s': unknown verb; did you mean '%s'?", word, nearest);
    return err_set(err, ERR_USAGE, "'%s': unknown verb; 'ue help' lists them", word);
}

const struct verb *verb_by_name(const char *name)
{
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
        if (strcmp(aliases[i].word, name) == 0)
            return &verbs[aliases[i].verb];
    for (size_t i = VERB_GLOBAL + 1; i < VERB_COUNT_; i++) {
        if (strcmp(verbs[i].name, name) == 0)
            return &verbs[i];
    }
    return NULL;
}

static const struct verb_option *find_name(const struct verb *verb, const char *name, size_t len)
{
    for (const struct verb_option *option = verb->options; option->name != NULL; option++) {
        if (strlen(option->name) == len && memcmp(option->name, name, len) == 0)
            return option;
    }
    return NULL;
}

static const struct verb_option *find_letter(const struct verb *verb, char letter)
{
    for (const struct verb_option *option = verb->options; option->name != NULL; option++) {
        if (letter != 0 && option->letter == letter)
            return option;
    }
    return NULL;
}

const struct verb_option *verb_option_by_name(const struct verb *verb, const char *name, size_t len)
{
    const struct verb_option *option = find_name(verb, name, len);
    return option != NULL ? option : find_name(&verbs[VERB_GLOBAL], name, len);
}

const struct verb_option *verb_option_by_letter(const struct verb *verb, char letter)
{
    const struct verb_option *option = find_letter(verb, letter);
    return option != NULL ? option : find_letter(&verbs[VERB_GLOBAL], letter);
}

const struct tool_arg *verb_argument(const struct verb *verb, const char *name)
{
    const struct tool *tool = name != NULL && verb->tool != NULL ? tool_by_name(verb->tool) : NULL;
    return tool != NULL ? tool_arg_by_name(tool, name) : NULL;
}

static bool ends_with(const char *text, const char *end)
{
    size_t len = strlen(text), tail = strlen(end);
    return len >= tail && strcmp(text + len - tail, end) == 0;
}

static enum option_type type_for(const struct tool_arg *arg)
{
    switch (arg->type) {
    case ARG_BOOL: return OPTION_FLAG;
    case ARG_UINT: return ends_with(arg->name, "_ms") ? OPTION_MS : OPTION_UINT;
    case ARG_ENV: return OPTION_ENV;
    default: return OPTION_TEXT;
    }
}

struct verb_option verb_option_full(const struct verb *verb, const struct verb_option *row)
{
    struct verb_option full = *row;
    const struct tool_arg *arg = verb_argument(verb, row->argument);
    if (arg == NULL)
        return full;
    if (full.type == 0)
        full.type = type_for(arg);
    if (full.min == 0 && full.max == 0) {
        full.min = arg->min;
        full.max = arg->max;
    }
    if (full.max == 0 && full.type == OPTION_UINT)
        full.max = JSON_INTEGER_MAX;
    if (full.help == NULL)
        full.help = arg->help;
    return full;
}

static bool names(const char *list, const char *name)
{
    size_t len = strlen(name);
    for (const char *at = list; at != NULL && *at != '\0'; at += strspn(at, " ")) {
        size_t span = strcspn(at, " ");
        if (span == len && memcmp(at, name, len) == 0)
            return true;
        at += span;
    }
    return false;
}

bool verb_option_excludes(const struct verb_option *row, const struct verb_option *other)
{
    return names(row->excludes, other->name) || names(other->excludes, row->name);
}
