/* verb: commands.def turned into tables, and looking things up in them. */
#include "wire/verb.h"
#include "base/value.h"
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

const struct verb *verb_by_name(const char *name)
{
    for (size_t i = VERB_GLOBAL + 1; i < VERB_COUNT_; i++) {
        if (strcmp(verbs[i].name, name) == 0)
            return &verbs[i];
    }
    return NULL;
}

const char *verb_nearest(const char *name)
{
    const char *names[VERB_COUNT_];
    size_t count = 0;
    for (size_t i = VERB_GLOBAL + 1; i < VERB_COUNT_; i++) {
        if (!verbs[i].hidden)
            names[count++] = verbs[i].name;
    }
    return value_nearest(name, names, count);
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
