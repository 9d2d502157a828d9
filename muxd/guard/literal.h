/* literal: the values that a call of Starlark may have here: strings, and lists of them. Each
 * function reads what stands at `at`, behind blanks and comments, and goes behind it. */
#ifndef MUXD_GUARD_LITERAL_H
#define MUXD_GUARD_LITERAL_H
#include "base/err.h"
#include "base/strv.h"
#include <stdbool.h>

struct literal {
    const char *text, *at; /* at: what is read next */
    int line;
    struct err err; /* of literal_fail */
    int err_line;
};
int literal_fail(struct literal *in, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void literal_skip_space(struct literal *in);
bool literal_takes(struct literal *in, char c);
/* where: for the error, as in "behind the name" */
int literal_expect(struct literal *in, char c, const char *where);
/* In single or double quotes on one line; the caller's. */
int literal_string(struct literal *in, char **out);
/* [ITEM, …]; each item is a string, or, where alternatives is set, a list of strings that is
 * joined by it. */
int literal_list(struct literal *in, struct strv *into, char alternatives);
/* A list of strings or of lists of words, which become one string each. */
int literal_examples(struct literal *in, struct strv *into);
#endif
