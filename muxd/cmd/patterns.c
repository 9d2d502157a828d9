/* patterns: owns the compiled patterns of a call, and the words about a match. */
#include "cmd/patterns.h"
#include "base/bug.h"
#include "wire/schema.h"
#include <string.h>

static int add_one(struct patterns *patterns, const struct json *text, const char *name, bool fails,
                   struct err *err)
{
    size_t len = 0;
    unsigned at = patterns->sought.count;
    const char *expression = json_str(text, &len);
    if (at == RACE_PATTERNS_MAX)
        return err_set(err, ERR_ARGUMENTS,
                       "failed to parse function arguments: more than %d patterns in `until` and "
                       "`fail_on`; join some with |",
                       RACE_PATTERNS_MAX);
    patterns->owned[at] = pattern_new(expression, len, err);
    if (!patterns->owned[at])
        return err->code;
    patterns->rows[at] = (struct race_pattern){.pattern = patterns->owned[at], .fails = fails};
    patterns->names[at] = name;
    patterns->sought.count++;
    return 0;
}

/* One text, or the items or members of a container. */
static int add_all(struct patterns *patterns, const struct json *value, bool fails, struct err *err)
{
    int code = 0;
    if (json_type(value) == JSON_STRING)
        return add_one(patterns, value, NULL, fails, err);
    for (const struct json *it = json_first(value); it && code == 0; it = json_next(it))
        code = add_one(patterns, it, json_key(it), fails, err);
    return code;
}

int patterns_init(struct patterns *patterns, const struct tool *tool, const struct json *params,
                  struct err *err)
{
    *patterns = (struct patterns){.sought = {.count = 0}};
    if (!tool_arg_by_name(tool, "until"))
        return 0;
    int code = add_all(patterns, json_get(params, "until"), false, err);
    if (code == 0)
        code = add_all(patterns, json_get(params, "fail_on"), true, err);
    patterns->sought.patterns = patterns->rows;
    patterns->sought.nth = (unsigned)schema_int(tool, params, "count", 1);
    patterns->sought.line = schema_bool(tool, params, "line", false);
    return code;
}

void patterns_fini(struct patterns *patterns)
{
    for (unsigned i = 0; i < RACE_PATTERNS_MAX; i++)
        pattern_free(patterns->owned[i]);
    *patterns = (struct patterns){.sought = {.count = 0}};
}

static bool patterns_has(const struct patterns *patterns, bool fails)
{
    for (unsigned i = 0; i < patterns->sought.count; i++)
        if (patterns->rows[i].fails == fails)
            return true;
    return false;
}

bool patterns_have_aim(const struct patterns *patterns)
{
    return patterns_has(patterns, false);
}

bool patterns_have_failures(const struct patterns *patterns)
{
    return patterns_has(patterns, true);
}

int patterns_costly(const struct patterns *patterns, unsigned index, struct err *err)
{
    BUG_UNLESS(index < patterns->sought.count);
    return err_set(err, ERR_PATTERN,
                   "'%s': this pattern%s takes too long on the session's output; write a simpler "
                   "one",
                   pattern_text(patterns->owned[index]),
                   patterns->rows[index].fails ? " of fail_on" : "");
}

/* Which one of its argument. */
static int64_t patterns_place_of(const struct patterns *patterns, unsigned index)
{
    int64_t place = 0;
    for (unsigned i = 0; i < index; i++)
        place += patterns->rows[i].fails == patterns->rows[index].fails;
    return place;
}

static void add_text(struct json *into, const char *key, const struct race_text *text)
{
    if (text->set)
        json_add_str(into, key, text->text, text->size);
    else
        json_add_null(into, key);
}

/* The same name twice ((?J)): the first that has a part in the match. */
static const struct race_text *named(const struct race_match *match, unsigned index)
{
    const struct race_text *text = &match->groups[index];
    for (unsigned i = 0; text->name && i < match->ngroups; i++) {
        const struct race_text *other = &match->groups[i];
        if (!other->name || strcmp(other->name, text->name) != 0)
            continue;
        if (i < index)
            return NULL; /* told already */
        if (other->set)
            return other;
    }
    return text->name ? text : NULL;
}

void patterns_describe(struct json *answer, const struct patterns *patterns,
                       const struct race_match *match)
{
    BUG_UNLESS(match->index < patterns->sought.count);
    struct json *into = json_add_object(answer, "match");
    bool names = false;
    if (patterns->names[match->index])
        json_add_text(into, "name", patterns->names[match->index]);
    json_add_text(into, "pattern", pattern_text(patterns->owned[match->index]));
    json_add_int(into, "index", patterns_place_of(patterns, match->index));
    json_add_int(into, "from", (int64_t)match->whole.from);
    json_add_int(into, "to", (int64_t)match->whole.to);
    add_text(into, "text", &match->whole);
    if (match->line.set)
        add_text(into, "line", &match->line);
    struct json *groups = json_add_array(into, "groups");
    for (unsigned i = 0; i < match->ngroups; i++) {
        add_text(groups, NULL, &match->groups[i]);
        names |= match->groups[i].name != NULL;
    }
    struct json *by_name = names ? json_add_object(into, "named") : NULL;
    for (unsigned i = 0; by_name && i < match->ngroups; i++) {
        const struct race_text *text = named(match, i);
        if (text)
            add_text(by_name, match->groups[i].name, text);
    }
}
