/* config_words: splitting and joining. Joined words split into the same words again. */
#include "config/config_words.h"
#include "base/bug.h"
#include "base/mem.h"
#include "base/utf8.h"
#include <stdlib.h>
#include <string.h>

#define BLANKS " \t"

static void add(struct config_words *words, char *word)
{
    BUG_UNLESS(words->count == 0 || !words->items[words->count]);
    words->items = xreallocarray(words->items, words->count + 2, sizeof(*words->items));
    words->items[words->count++] = word;
    words->items[words->count] = NULL;
}

void config_words_fini(struct config_words *words)
{
    for (size_t i = 0; i < words->count; i++)
        free(words->items[i]);
    free(words->items);
    *words = (struct config_words){0};
}

static bool replace(struct config_words *words, struct config_words *with, bool ok)
{
    config_words_fini(ok ? words : with);
    if (ok)
        *words = *with;
    return ok;
}

static bool config_words_has(const struct config_words *words, const char *word)
{
    for (size_t i = 0; i < words->count; i++)
        if (strcmp(words->items[i], word) == 0)
            return true;
    return false;
}

bool config_words_split(struct config_words *words, const char *text)
{
    struct config_words found = {0};
    bool ok = true;
    for (text += strspn(text, BLANKS ","); ok && *text; text += strspn(text, BLANKS ",")) {
        size_t len = strcspn(text, BLANKS ",");
        char *word = xstrndup(text, len);
        ok = !config_words_has(&found, word);
        add(&found, word);
        text += len;
    }
    return replace(words, &found, ok);
}

bool config_words_split_globs(struct config_words *words, const char *text)
{
    for (const char *at = text; *at; at++) {
        bool letter = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') ||
                      (*at >= '0' && *at <= '9');
        if (!letter && !strchr("_*?," BLANKS, *at))
            return false;
    }
    return config_words_split(words, text);
}

/* Takes the part of a word at *text up to where its quoting changes; *text moves behind it. */
static bool take_part(const char **text, struct buf *word)
{
    const char *at = *text;
    char quote = *at == '\'' || *at == '"' ? *at++ : '\0';
    while (*at && (quote ? *at != quote : !strchr(BLANKS "'\"", *at))) {
        bool escape = *at == '\\' && quote != '\'';
        /* Inside double quotes a backslash stands for itself unless a quote or another one
         * follows. */
        if (escape && (quote != '"' || at[1] == '"' || at[1] == '\\'))
            at++;
        if (!*at)
            return false;
        buf_append_byte(word, *at++);
    }
    if (quote && *at++ != quote)
        return false;
    *text = at;
    return true;
}

static bool looks_like_json(const char *text)
{
    return text[0] == '[' && strchr("\"'", text[1 + strspn(text + 1, BLANKS)]) &&
           text[strlen(text) - 1] == ']';
}

bool config_words_split_quoted(struct config_words *words, const char *text)
{
    struct config_words found = {0};
    bool ok = !looks_like_json(text);
    for (text += strspn(text, BLANKS); ok && *text; text += strspn(text, BLANKS)) {
        struct buf word = BUF_INIT;
        while (ok && *text && !strchr(BLANKS, *text))
            ok = take_part(&text, &word);
        add(&found, buf_take(&word));
        buf_fini(&word);
    }
    return replace(words, &found, ok && (found.count == 0 || *found.items[0]));
}

void config_words_format(const struct config_words *words, struct buf *out)
{
    for (size_t i = 0; i < words->count; i++)
        buf_printf(out, "%s%s", i ? " " : "", words->items[i]);
}

void config_words_format_quoted(const struct config_words *words, struct buf *out)
{
    for (size_t i = 0; i < words->count; i++) {
        const char *word = words->items[i];
        if (i)
            buf_append_byte(out, ' ');
        /* a list of JSON is refused when it is read, so this must not look like one */
        bool like_json = i == 0 && *word == '[';
        if (*word && !like_json && !strpbrk(word, BLANKS "'\"\\")) {
            buf_append_text(out, word);
            continue;
        }
        buf_append_byte(out, '"');
        for (; *word; word++) {
            if (*word == '"' || *word == '\\')
                buf_append_byte(out, '\\');
            buf_append_byte(out, *word);
        }
        buf_append_byte(out, '"');
    }
}

void config_words_format_typed(const struct config_typed *typed, struct buf *out)
{
    bool text = utf8_valid(typed->data, typed->size); /* a file must not hold other bytes */
    for (size_t i = 0; i < typed->size; i++) {
        unsigned char byte = (unsigned char)typed->data[i];
        bool blank_at_end = byte == ' ' && (i == 0 || i + 1 == typed->size);
        switch (byte) {
        case '\n': buf_append_text(out, "\\n"); break;
        case '\t': buf_append_text(out, "\\t"); break;
        case '\r': buf_append_text(out, "\\r"); break;
        case '\\': buf_append_text(out, "\\\\"); break;
        default:
            if (byte < 0x20 || byte == 0x7f || (byte >= 0x80 && !text) || blank_at_end)
                buf_printf(out, "\\x%02x", byte);
            else
                buf_append_byte(out, (char)byte);
        }
    }
}
