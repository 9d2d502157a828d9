/* literal: owns the reading of literal values of Starlark. */
#include "guard/literal.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/value.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

int literal_fail(struct literal *in, int line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    err_vset(&in->err, ERR_CONFIG, format, args);
    va_end(args);
    in->err_line = line;
    return ERR_CONFIG;
}

void literal_skip_space(struct literal *in)
{
    for (;; in->at++) {
        if (*in->at == '#')
            in->at += strcspn(in->at, "\n");
        if (*in->at == '\n')
            in->line++;
        if (!*in->at || !strchr(" \t\r\n", *in->at))
            return;
    }
}

bool literal_takes(struct literal *in, char c)
{
    literal_skip_space(in);
    if (*in->at != c)
        return false;
    in->at++;
    return true;
}

int literal_expect(struct literal *in, char c, const char *where)
{
    return literal_takes(in, c)
               ? 0
               : literal_fail(in, in->line, "expected '%c' %s; only literal calls of "
                                                   "prefix_rule and host_executable are taken",
                             c, where);
}

/* A string in single or double quotes on one line; the caller's. */
int literal_string(struct literal *in, char **out)
{
    char *decoded;
    const char *bad;
    literal_skip_space(in);
    char quote = *in->at;
    if ((quote != '"' && quote != '\'') || (in->at[1] == quote && in->at[2] == quote))
        return literal_fail(in, in->line,
                           "not a string in simple quotes; write it as one");
    const char *begin = ++in->at;
    while (*in->at && *in->at != quote && *in->at != '\n')
        in->at += *in->at == '\\' && in->at[1] ? 2 : 1;
    if (*in->at != quote)
        return literal_fail(in, in->line, "the string has no end in its line");
    char *raw = xstrndup(begin, (size_t)(in->at++ - begin));
    decoded = xstrdup(raw);
    long size = value_unescape(raw, decoded, &bad);
    bool fits = size >= 0 && (size_t)size == strlen(decoded) && !strpbrk(decoded, "\n\r");
    if (!fits) {
        literal_fail(in, in->line, "'%s': muxd.ini has no way to say this string", raw);
        free(decoded);
    } else {
        *out = decoded;
    }
    free(raw);
    return fits ? 0 : ERR_CONFIG;
}

/* A word with the mark in it would be read as alternatives. */
static int check_word(struct literal *in, char alternatives, const char *word)
{
    if (!alternatives || (*word && !strchr(word, alternatives)))
        return 0;
    return literal_fail(in, in->line,
                        "'%s': muxd.ini has no way to say this word: it is empty, or holds '%c'",
                        word, alternatives);
}

static int literal_word(struct literal *in, char alternatives, char **out)
{
    int result = literal_string(in, out);
    return result < 0 ? result : check_word(in, alternatives, *out);
}

int literal_list(struct literal *in, struct strv *into, char alternatives)
{
    int result = literal_expect(in, '[', "before a list");
    while (result == 0 && !literal_takes(in, ']')) {
        char *text = NULL;
        struct strv inner = {0};
        literal_skip_space(in);
        if (alternatives && *in->at == '[') {
            result = literal_list(in, &inner, '\0');
            struct buf joined = BUF_INIT;
            if (result == 0 && inner.count == 0)
                result = literal_fail(in, in->line, "pattern alternatives cannot be empty");
            for (size_t i = 0; i < inner.count && result == 0; i++) {
                result = check_word(in, alternatives, inner.items[i]);
                if (i > 0)
                    buf_append_byte(&joined, alternatives);
                buf_append_text(&joined, inner.items[i]);
            }
            text = buf_take(&joined);
        } else {
            result = literal_word(in, alternatives, &text);
        }
        if (result == 0)
            strv_add(into, text);
        free(text);
        strv_fini(&inner);
        if (result == 0 && !literal_takes(in, ',')) {
            result = literal_expect(in, ']', "or ',' in a list");
            break;
        }
    }
    return result;
}

/* match and not_match: a list of strings or of lists of words. */
int literal_examples(struct literal *in, struct strv *into)
{
    int result = literal_expect(in, '[', "before the examples");
    while (result == 0 && !literal_takes(in, ']')) {
        struct strv words = {0};
        char *text = NULL;
        literal_skip_space(in);
        if (*in->at == '[') {
            result = literal_list(in, &words, '\0');
            text = words.items ? strv_quoted(words.items) : xstrdup("");
        } else {
            result = literal_string(in, &text);
        }
        if (result == 0)
            strv_add(into, text);
        free(text);
        strv_fini(&words);
        if (result == 0 && !literal_takes(in, ',')) {
            result = literal_expect(in, ']', "or ',' in the examples");
            break;
        }
    }
    return result;
}
