/* complete_shell: owns the answer for each shell, and the splitting of bash's line into words. */
#include "base/bug.h"
#include "base/mem.h"
#include "base/strv.h"
#include "base/utf8.h"
#include "client/verbs/complete.h"
#include <stdlib.h>
#include <string.h>

static const char *kind_word(const struct place *place)
{
    switch (place_kind(place)) {
    case COMPLETE_FILE: return "file";
    case COMPLETE_DIR: return "dir";
    case COMPLETE_COMMAND: return "command";
    case COMPLETE_ENV: return "open";
    default: return "words";
    }
}

/* The words behind a command are its own: zsh and fish complete them as such. */
static const char *complete_shell_kind_of(const struct asked *asked, const struct place *place)
{
    bool command = place->verb && place->verb->operands_end_options && place->operand > 0;
    if (command && asked->shell != COMPLETE_BASH)
        return "command";
    return kind_word(place);
}

/* Bytes of the word that readline keeps: it replaces only what follows the last word break, such as
 * an equals sign. */
static size_t kept_by_readline(const struct asked *asked, const struct place *place)
{
    BUG_UNLESS(asked->shell == COMPLETE_BASH && asked->behind);
    char *behind = bash_unquote(asked->behind);
    size_t whole = place->lead + strlen(place->word), len = strlen(behind);
    free(behind);
    return whole > len ? whole - len : 0;
}

static void append_for_bash(struct buf *out, const struct asked *asked, const struct place *place,
                            const struct candidates *all)
{
    const char *lead = place->words[place->count - 1];
    size_t typed = strlen(place->word), kept = kept_by_readline(asked, place), found = 0;
    buf_printf(out, "%s\n", place->word);
    for (size_t i = 0; i < all->count; i++)
        found += strncmp(all->list[i].word, place->word, typed) == 0;
    for (size_t i = 0; i < all->count; i++) {
        const struct candidate *one = &all->list[i];
        if (strncmp(one->word, place->word, typed) != 0)
            continue;
        char *whole = xasprintf("%.*s%s", (int)place->lead, lead, one->word);
        buf_append_text(out, whole + kept);
        free(whole);
        if (asked->lists && found > 1 && *one->description)
            buf_printf(out, "  (%s)", one->description);
        buf_append_byte(out, '\n');
    }
}

void complete_append(struct buf *out, const struct asked *asked, const struct place *place,
                     const struct candidates *all)
{
    const char *whole = place->words[place->count - 1];
    size_t lead = place->lead;
    BUG_UNLESS(lead <= strlen(whole));
    if (asked->shell == COMPLETE_BASH) { /* the part of a file's name that readline keeps */
        size_t kept = kept_by_readline(asked, place);
        lead = kept > place->lead ? utf8_count(place->word, kept - place->lead) : 0;
    }
    buf_printf(out, "%s %zu %zu\n", complete_shell_kind_of(asked, place), lead, place->command + 1);
    if (asked->shell == COMPLETE_BASH) {
        append_for_bash(out, asked, place, all);
        return;
    }
    for (size_t i = 0; i < all->count; i++) {
        int shown = asked->shell == COMPLETE_FISH ? (int)place->lead : 0;
        buf_printf(out, "%.*s%s\t%s\n", shown, whole, all->list[i].word, all->list[i].description);
    }
}

/* Appends what the quote or backslash at *at quotes, and advances *at. */
static void take_quoted(struct buf *word, const char **at)
{
    char quote = **at;
    if (quote == '\\') {
        *at += (*at)[1] != 0;
        buf_append_byte(word, *(*at)++);
        return;
    }
    for ((*at)++; **at && **at != quote; (*at)++) {
        if (quote == '"' && **at == '\\' && (*at)[1] && strchr("\"\\$`", (*at)[1]))
            (*at)++;
        buf_append_byte(word, **at);
    }
    *at += **at != 0;
}

static void complete_shell_take_word(struct buf *word, const char **at, const char *ends)
{
    while (**at && !strchr(ends, **at)) {
        if (strchr("'\"\\", **at))
            take_quoted(word, at);
        else
            buf_append_byte(word, *(*at)++);
    }
}

char *bash_unquote(const char *word)
{
    struct buf out = BUF_INIT;
    complete_shell_take_word(&out, &word, "");
    char *plain = xstrndup(out.data ? out.data : "", out.len);
    buf_fini(&out);
    return plain;
}

char **bash_words(const char *line)
{
    static const char blanks[] = " \t\n";
    struct strv words = {0};
    bool more = true;
    while (more) {
        struct buf word = BUF_INIT;
        line += strspn(line, blanks);
        complete_shell_take_word(&word, &line, blanks);
        more = *line != 0;
        strv_add(&words, word.data ? word.data : "");
        buf_fini(&word);
    }
    return strv_take(&words);
}
