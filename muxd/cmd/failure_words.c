/* failure_words: owns the quotes of the texts of failed starts. */
#include "cmd/failure_words.h"
#include "base/buf.h"
#include "base/mem.h"
#include <stdlib.h>
#include <string.h>

enum quotes { QUOTES_NONE = 1, QUOTES_SINGLE = 2, QUOTES_DOUBLE = 4 };

/* In which quotes a byte keeps its meaning, in every shell and with history. */
static unsigned quotes_for(unsigned char byte)
{
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-./:@]_";
    if (byte >= 0x80)
        return QUOTES_SINGLE | QUOTES_DOUBLE;
    return (strchr(plain, byte) ? QUOTES_NONE : 0) |
           (strchr("'^\\", byte) ? 0 : QUOTES_SINGLE) | (strchr("`$!^", byte) ? 0 : QUOTES_DOUBLE);
}

static void append_piece(struct buf *out, const char *text, size_t len, unsigned quotes)
{
    char quote = quotes & QUOTES_SINGLE ? '\'' : '"';
    if (quotes & QUOTES_NONE) {
        buf_append(out, text, len);
        return;
    }
    buf_append_byte(out, quote);
    for (size_t i = 0; i < len; i++) {
        if (quote == '"' && strchr("$`\"\\", text[i]))
            buf_append_byte(out, '\\');
        buf_append_byte(out, text[i]);
    }
    buf_append_byte(out, quote);
}

/* One word in pieces, each as long as one kind of quotes holds. */
static void failure_words_append(struct buf *out, const char *word)
{
    if (!*word)
        buf_append_text(out, "''");
    while (*word) {
        /* a caret needs single quotes and can only begin a piece */
        unsigned fits = *word == '^' ? QUOTES_SINGLE : QUOTES_NONE | QUOTES_SINGLE | QUOTES_DOUBLE;
        size_t len = *word == '^';
        while (word[len] && (fits & quotes_for((unsigned char)word[len])))
            fits &= quotes_for((unsigned char)word[len++]);
        append_piece(out, word, len, fits);
        word += len;
    }
}

char *failure_words_joined(char *const *argv)
{
    struct buf out = BUF_INIT;
    for (char *const *at = argv; *at; at++) {
        if (at != argv)
            buf_append_byte(&out, ' ');
        failure_words_append(&out, *at);
    }
    return buf_take(&out);
}

/* A string as Rust's {:?} shows it. */
static char *debug_form(const char *text)
{
    struct buf out = BUF_INIT;
    buf_append_byte(&out, '"');
    for (; *text; text++) {
        const char *plain = "\"\\\n\r\t", *at = strchr(plain, *text);
        if (at)
            buf_printf(&out, "\\%c", "\"\\nrt"[at - plain]);
        else if ((unsigned char)*text < 0x20 || *text == 0x7f)
            buf_printf(&out, "\\u{%x}", (unsigned)*text);
        else
            buf_append_byte(&out, *text);
    }
    buf_append_byte(&out, '"');
    return buf_take(&out);
}

char *failure_words_create_process(const char *reason)
{
    char *text = xasprintf("Failed to create unified exec process: %s", reason),
         *words = failure_words_rejected(text);
    free(text);
    return words;
}

char *failure_words_rejected(const char *text)
{
    char *inner = debug_form(text), *rejected = xasprintf("Rejected(%s)", inner),
         *message = debug_form(rejected),
         *words = xasprintf("CreateProcess { message: %s }", message);
    free(inner);
    free(rejected);
    free(message);
    return words;
}
