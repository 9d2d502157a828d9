/* play_vars: owns the variables of a running script. A value is bytes; nothing in it is read again
 * as a command, a pattern or a variable. */
#include "base/bug.h"
#include "base/mem.h"
#include "base/value.h"
#include "client/play/playing.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct play_variable *find_variable(const struct play *play, const char *name)
{
    for (size_t i = 0; i < play->variable_count; i++)
        if (strcmp(play->variables[i].name, name) == 0)
            return &play->variables[i];
    return NULL;
}

void play_set(struct play *play, const char *name, const char *data, size_t len)
{
    struct play_variable *variable = find_variable(play, name);
    if (!variable) {
        play->variables = xreallocarray(play->variables, play->variable_count + 1,
                                        sizeof *play->variables);
        variable = &play->variables[play->variable_count++];
        *variable = (struct play_variable){.name = xstrdup(name)};
    }
    char *copy = xmalloc(len + 1);
    if (len > 0)
        memcpy(copy, data, len);
    copy[len] = 0;
    free(variable->data);
    variable->data = copy;
    variable->len = len;
}

void play_unset(struct play *play, const char *name)
{
    struct play_variable *variable = find_variable(play, name);
    if (!variable)
        return;
    free(variable->name);
    free(variable->data);
    *variable = play->variables[--play->variable_count];
}

void play_set_number(struct play *play, const char *name, int64_t number)
{
    char text[32];
    int len = snprintf(text, sizeof text, "%lld", (long long)number);
    play_set(play, name, text, (size_t)len);
}

static void play_forget_match(struct play *play)
{
    size_t kept = 0;
    for (size_t i = 0; i < play->variable_count; i++) {
        struct play_variable *variable = &play->variables[i];
        if (strncmp(variable->name, "match", 5) == 0 &&
            (variable->name[5] == '.' || !variable->name[5])) {
            free(variable->name);
            free(variable->data);
        } else {
            play->variables[kept++] = *variable;
        }
    }
    play->variable_count = kept;
}

/* The members of an object by their names, the items of an array by their numbers from 1. A group
 * that took no part is null, and not set. */
static void set_groups(struct play *play, const struct json *groups)
{
    int number = 0;
    for (const struct json *it = json_first(groups); it; it = json_next(it)) {
        char name[SCRIPT_NAME_MAX + 8];
        size_t len = 0;
        const char *key = json_key(it), *value = json_str(it, &len);
        number++;
        if (key)
            snprintf(name, sizeof name, "match.%s", key);
        else
            snprintf(name, sizeof name, "match.%d", number);
        if (value)
            play_set(play, name, value, len);
    }
}

void play_set_match(struct play *play, const struct json *match)
{
    size_t len = 0;
    const char *text = json_get_str(match, "text", &len);
    play_forget_match(play);
    play_set(play, "match", text, text ? len : 0);
    set_groups(play, json_get(match, "groups"));
    set_groups(play, json_get(match, "named"));
}

void play_set_captured(struct play *play, const char *name)
{
    const struct play_variable *found = find_variable(play, "match.1");
    if (!found)
        found = find_variable(play, "match");
    if (!found)
        return;
    struct buf copy = BUF_INIT; /* play_set may move the variables */
    buf_append(&copy, found->data, found->len);
    play_set(play, name, copy.data, copy.len);
    buf_fini(&copy);
}

void play_vars_fini(struct play *play)
{
    for (size_t i = 0; i < play->variable_count; i++) {
        free(play->variables[i].name);
        free(play->variables[i].data);
    }
    free(play->variables);
    play->variables = NULL;
    play->variable_count = 0;
}

/* NULL: there is none. */
static const char *play_operand(const struct play *play, const char *name)
{
    int64_t number;
    if (!value_int(name, 0, INT64_MAX, &number))
        return NULL;
    if (number == 0)
        return play->script->name;
    return (uint64_t)number <= play->operand_count ? play->operands[number - 1] : NULL;
}

/* NULL: it is not set. */
static const char *play_value(const struct play *play, const char *name, size_t *len)
{
    const char *text = strncmp(name, "env.", 4) == 0 ? getenv(name + 4) : play_operand(play, name);
    if (!text) {
        const struct play_variable *variable = find_variable(play, name);
        *len = variable ? variable->len : 0;
        return variable ? variable->data : NULL;
    }
    *len = strlen(text);
    return text;
}

static int not_set(const char *name, struct err *err)
{
    if (strspn(name, "0123456789") == strlen(name))
        return err_set(err, ERR_USAGE,
                       "${%s}: the script was given no operand %s; give one, or write ${%s:-TEXT}",
                       name, name, name);
    if (strncmp(name, "match.", 6) == 0)
        return err_set(err, ERR_USAGE,
                       "${%s}: the last match has no such group, or it took no part", name);
    return err_set(err, ERR_USAGE, "${%s}: is not set; write ${%s:-TEXT} where that may be", name,
                   name);
}

int play_expand(struct play *play, const struct script_word *word, struct buf *out, struct err *err)
{
    for (size_t i = 0; i < word->count; i++) {
        const struct script_part *part = &word->parts[i];
        BUG_UNLESS(part->text);
        size_t len = part->len;
        const char *text = part->variable ? play_value(play, part->text, &len) : part->text;
        if (part->variable && part->fallback && (!text || len == 0)) {
            text = part->fallback;
            len = strlen(text);
        }
        if (!text)
            return not_set(part->text, err);
        if (!buf_append(out, text, len))
            return err_set(err, ERR_TOO_LARGE, "a word of more than %u bytes", PLAY_VALUE_MAX);
    }
    return 0;
}
