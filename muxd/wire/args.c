/* args: the one parser for all verbs. An error names the word as it was typed and what would be
 * right. */
#include "wire/args.h"
#include "base/bug.h"
#include "base/mem.h"
#include "base/value.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct parser {
    struct args *args;
    const struct verb *verb; /* VERB_GLOBAL until the verb has come */
    int argc, at;
    char *const *argv;
    bool ended; /* the rest are operands */
    struct err *err;
};

static const char *verb_label(const struct parser *p)
{
    return p->args->verb != NULL ? p->args->verb->name : "help";
}

static int usage(struct parser *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int usage(struct parser *p, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int rc = err_vset(p->err, ERR_USAGE, format, args);
    va_end(args);
    return rc;
}

/* ---- values ---- */

static int bad_value(struct parser *p, const char *word, const char *value, const char *allowed)
{
    return usage(p, "'%s %s': not a value for it; give %s", word, value, allowed);
}

static int parse_uint(struct parser *p, struct args_option *option, const struct verb_option *row,
                      const char *word)
{
    if (value_int(option->value, row->min, row->max, &option->number))
        return 0;
    return usage(p, "'%s %s': not a value for it; give a whole number from %lld to %lld", word,
                 option->value, (long long)row->min, (long long)row->max);
}

static int parse_ms(struct parser *p, struct args_option *option, const struct verb_option *row,
                    const char *word)
{
    if (value_ms(option->value, &option->number) && option->number >= row->min &&
        (row->max == 0 || option->number <= row->max))
        return 0;
    if (row->max == 0)
        return bad_value(p, word, option->value, "milliseconds, 10s, 5m or inf");
    return usage(p, "'%s %s': not a value for it; give %lld to %lld milliseconds, 10s or 5m", word,
                 option->value, (long long)row->min, (long long)row->max);
}

static int parse_env(struct parser *p, struct args_option *option, const char *word)
{
    const char *equals = strchr(option->value, '=');
    if (equals != NULL && value_env_name(option->value, (size_t)(equals - option->value)))
        return 0;
    return bad_value(p, word, option->value, "NAME=VALUE");
}

static int parse_signal(struct parser *p, struct args_option *option, const char *word)
{
    int signo = 0;
    const char *nearest = value_signal(option->value, &signo) ? NULL
                                                              : value_nearest_signal(option->value);
    if (nearest)
        return usage(p, "'%s %s': no signal of that name; did you mean '%s'?", word, option->value,
                     nearest);
    if (signo == 0)
        return bad_value(p, word, option->value,
                         "a signal's name or number, such as INT, TERM or 9");
    option->number = signo;
    return 0;
}

static int parse_value(struct parser *p, struct args_option *option, const char *word)
{
    struct verb_option row = verb_option_full(p->verb, option->row);
    option->type = row.type;
    switch (row.type) {
    case OPTION_UINT: return parse_uint(p, option, &row, word);
    case OPTION_MS: return parse_ms(p, option, &row, word);
    case OPTION_ENV: return parse_env(p, option, word);
    case OPTION_SIGNAL: return parse_signal(p, option, word);
    case OPTION_SIZE:
        if (!value_size(option->value, &option->rows, &option->cols))
            return bad_value(p, word, option->value,
                             "ROWSxCOLS, each from 1 to 1000, such as 24x80");
        return 0;
    case OPTION_FLAG:
    case OPTION_TEXT: return 0;
    }
    BUG("'%s' is an option of type %d", word, (int)row.type);
}

static int add_option(struct parser *p, const struct verb_option *row, const char *value,
                      const char *word)
{
    struct args *args = p->args;
    struct args_option option = {.row = row, .value = value};
    int rc = parse_value(p, &option, word);
    if (rc < 0)
        return rc;
    args->options = xreallocarray(args->options, args->option_count + 1, sizeof(*args->options));
    args->options[args->option_count++] = option;
    args->wants_help |= row == verb_option_by_letter(&verbs[VERB_GLOBAL], 'h');
    args->wants_version |= row == verb_option_by_letter(&verbs[VERB_GLOBAL], 'V');
    return 0;
}

/* The value of an option that takes one: attached, or the next word. */
static int take_value(struct parser *p, const struct verb_option *row, const char *attached,
                      const char *word)
{
    if (attached == NULL && p->at >= p->argc)
        return usage(p, "'%s': needs a value: %s", word, row->metavar);
    return add_option(p, row, attached != NULL ? attached : p->argv[p->at++], word);
}

/* ---- options ---- */

static bool any_verb_has(const char *name, size_t len)
{
    for (size_t i = 0; i < VERB_COUNT_; i++) {
        if (verb_option_by_name(&verbs[i], name, len) != NULL)
            return true;
    }
    return false;
}

static const char *nearest_option(const struct verb *verb, const char *name)
{
    const char *names[64];
    size_t count = 0;
    for (const struct verb_option *row = verb->options; row->name != NULL && count < 48; row++)
        names[count++] = row->name;
    for (const struct verb_option *row = verbs[VERB_GLOBAL].options;
         verb != &verbs[VERB_GLOBAL] && row->name != NULL && count < 64; row++)
        names[count++] = row->name;
    return value_nearest(name, names, count);
}

static int unknown_option(struct parser *p, const char *word, const char *name, size_t len)
{
    bool before_verb = p->args->verb == NULL;
    if (before_verb && any_verb_has(name, len))
        return usage(p, "'%s': stands before the verb; put it behind", word);
    char *asked = xstrndup(name, len);
    const char *nearest = nearest_option(p->verb, asked);
    free(asked);
    if (nearest != NULL)
        return usage(p, "'%s': unknown option; did you mean '--%s'?", word, nearest);
    if (before_verb)
        return usage(p, "'%s': unknown option; 'ue help' lists all", word);
    return usage(p, "'%s': unknown option; 'ue %s -h' lists those of '%s', '--' ends options", word,
                 verb_label(p), verb_label(p));
}

static int parse_long(struct parser *p, const char *word)
{
    const char *name = word + 2, *equals = strchr(name, '=');
    size_t len = equals != NULL ? (size_t)(equals - name) : strlen(name);
    const struct verb_option *row = verb_option_by_name(p->verb, name, len);
    if (row == NULL)
        return unknown_option(p, word, name, len);
    if (row->metavar != NULL) {
        char label[64];
        snprintf(label, sizeof(label), "--%s", row->name);
        return take_value(p, row, equals != NULL ? equals + 1 : NULL, label);
    }
    if (equals != NULL)
        return usage(p, "'%s': takes no value; write '--%s'", word, row->name);
    return add_option(p, row, "", word);
}

static const struct verb_option *find_signal_option(const struct verb *verb)
{
    for (const struct verb_option *row = verb->options; row->name != NULL; row++) {
        if (row->type == OPTION_SIGNAL)
            return row;
    }
    return NULL;
}

static int unknown_letter(struct parser *p, const char *word, const char *at)
{
    if (p->args->verb == NULL) {
        for (size_t i = 0; i < VERB_COUNT_; i++) {
            if (verb_option_by_letter(&verbs[i], *at) != NULL)
                return usage(p, "'%s': stands before the verb; put it behind", word);
        }
        return usage(p, "'%s': unknown option; 'ue help' lists all", word);
    }
    int signo = 0;
    if (find_signal_option(p->verb) != NULL && value_signal(word + 1, &signo))
        return usage(p, "'%s': unknown option; did you mean '-%c %s'?", word,
                     find_signal_option(p->verb)->letter, word + 1);
    return usage(p, "'%s': unknown option; 'ue %s -h' lists those of '%s', '--' ends options", word,
                 verb_label(p), verb_label(p));
}

/* "-t", "-tl", "-nNAME", "-tnNAME". */
static int parse_letters(struct parser *p, const char *word)
{
    for (const char *at = word + 1; *at != '\0'; at++) {
        const struct verb_option *row = verb_option_by_letter(p->verb, *at);
        if (row == NULL)
            return unknown_letter(p, word, at);
        if (row->metavar != NULL) {
            char name[3] = {'-', *at, '\0'};
            return take_value(p, row, at[1] != '\0' ? at + 1 : NULL, at[1] != '\0' ? name : word);
        }
        int rc = add_option(p, row, "", word);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* ---- words ---- */

static int take_verb(struct parser *p, const char *word)
{
    const struct verb *verb = verb_by_name(word);
    if (verb == NULL)
        return verb_unknown(word, p->err);
    p->args->verb = p->verb = verb;
    return 0;
}

static int parse_word(struct parser *p, const char *word)
{
    bool is_option = !p->ended && word[0] == '-' && word[1] != '\0';
    if (is_option && strcmp(word, "--") == 0) {
        p->ended = p->args->verb != NULL;
        return 0;
    }
    if (is_option)
        return word[1] == '-' ? parse_long(p, word) : parse_letters(p, word);
    if (p->args->verb == NULL)
        return take_verb(p, word);
    BUG_UNLESS(p->args->operand_count < (size_t)p->argc);
    p->args->operands[p->args->operand_count++] = word;
    p->ended |= p->verb->operands_end_options;
    return 0;
}

/* ---- the whole ---- */

/* The first of the words in list that was given; NULL: none. */
static const char *given_of(const struct args *args, const char *list)
{
    for (const char *at = list; at != NULL && *at != '\0'; at += strspn(at, " ")) {
        size_t span = strcspn(at, " ");
        for (size_t i = 0; i < args->option_count; i++) {
            const char *name = args->options[i].row->name;
            if (strlen(name) == span && memcmp(name, at, span) == 0)
                return name;
        }
        at += span;
    }
    return NULL;
}

static int check_operands(struct parser *p)
{
    const struct args *args = p->args;
    const struct verb *verb = args->verb;
    const char *unless = given_of(args, verb->unless);
    if (args->operand_count < (size_t)verb->operands_min && unless == NULL)
        return usage(p, "'%s': needs %s; 'ue %s -h' explains it", verb->name, verb->operands,
                     verb->name);
    if (verb->operands_max >= 0 && args->operand_count > (size_t)verb->operands_max) {
        const char *extra = args->operands[verb->operands_max];
        if (verb->operands == NULL)
            return usage(p, "'%s': '%s' takes no operands", extra, verb->name);
        return usage(
            p, "'%s': one operand too many for '%s'; it takes %s, quote what belongs together",
            extra, verb->name, verb->operands);
    }
    return 0;
}

static int check_options(struct parser *p)
{
    const struct args *args = p->args;
    bool object = given_of(args, "args") != NULL;
    for (size_t i = 0; i < args->option_count; i++) {
        const struct verb_option *row = args->options[i].row;
        const char *other = given_of(args, row->excludes);
        if (other != NULL)
            return usage(p, "'--%s': can't stand beside '--%s'; give one of them", row->name,
                         other);
        if (object && row->argument != NULL)
            return usage(p, "'--%s': '--args' stands in place of it; put `%s` into the object",
                         row->name, row->argument);
    }
    if (object && args->operand_count > 0)
        return usage(p, "'%s': '--args' stands in place of operands; put it into the object",
                     args->operands[0]);
    return 0;
}

int args_parse(struct args *args, int argc, char *const *argv, struct err *err)
{
    struct parser p = {
        .args = args, .verb = &verbs[VERB_GLOBAL], .argc = argc, .at = 1, .argv = argv, .err = err};
    *args = (struct args){0};
    args->operands = xcalloc((size_t)(argc > 0 ? argc : 0) + 1, sizeof(*args->operands));
    while (p.at < argc) {
        const char *word = argv[p.at++];
        int rc = parse_word(&p, word);
        if (rc < 0)
            return rc;
    }
    if (args->wants_help || args->wants_version)
        return 0;
    args->bare = args->verb == NULL;
    if (args->bare)
        return usage(&p, "no verb; 'ue help' lists them");
    int rc = check_options(&p);
    return rc < 0 ? rc : check_operands(&p);
}

void args_fini(struct args *args)
{
    free(args->options);
    free(args->operands);
    *args = (struct args){0};
}

/* ---- reading ---- */

const struct args_option *args_next(const struct args *args, const char *name,
                                    const struct args_option *last)
{
    BUG_UNLESS(last == NULL ||
               (last >= args->options && last < args->options + args->option_count));
    for (size_t i = last != NULL ? (size_t)(last - args->options) + 1 : 0; i < args->option_count;
         i++) {
        if (strcmp(args->options[i].row->name, name) == 0)
            return &args->options[i];
    }
    return NULL;
}

static const struct args_option *last_of(const struct args *args, const char *name)
{
    const struct verb *verb = args->verb != NULL ? args->verb : &verbs[VERB_GLOBAL];
    if (verb_option_by_name(verb, name, strlen(name)) == NULL)
        BUG("'%s' has no option '%s'", verb->name, name);
    for (size_t i = args->option_count; i > 0; i--) {
        if (strcmp(args->options[i - 1].row->name, name) == 0)
            return &args->options[i - 1];
    }
    return NULL;
}

bool args_has(const struct args *args, const char *name)
{
    return last_of(args, name) != NULL;
}

const char *args_get(const struct args *args, const char *name)
{
    const struct args_option *option = last_of(args, name);
    return option != NULL ? option->value : NULL;
}

int64_t args_int(const struct args *args, const char *name, int64_t fallback)
{
    const struct args_option *option = last_of(args, name);
    BUG_UNLESS(option == NULL || option->type == OPTION_UINT || option->type == OPTION_MS ||
               option->type == OPTION_SIGNAL);
    return option != NULL ? option->number : fallback;
}

bool args_size(const struct args *args, const char *name, int *rows, int *cols)
{
    const struct args_option *option = last_of(args, name);
    if (option == NULL)
        return false;
    BUG_UNLESS(option->type == OPTION_SIZE);
    *rows = option->rows;
    *cols = option->cols;
    return true;
}
