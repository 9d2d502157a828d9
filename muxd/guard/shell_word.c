/* shell_word: owns the grammar of words. */
#include "guard/shell_word.h"
#include "base/mem.h"
#include "base/value.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

void shell_not_plain(struct shell_cursor *at, const char *why)
{
    if (at->scan->plain)
        at->scan->why = why;
    at->scan->plain = false;
    at->other |= strcmp(why, SHELL_WHY_HEREDOC) != 0;
}

static void take_byte(struct shell_cursor *at, struct buf *text)
{
    buf_append_byte(text, *at->at++);
}

static void take_single(struct shell_cursor *at, struct buf *text)
{
    size_t len = strcspn(++at->at, "'");
    buf_append(text, at->at, len);
    at->at += len;
    if (*at->at)
        at->at++;
    else
        shell_not_plain(at, "an unclosed quote");
}

/* $'…': the escapes of C, so that a name can't hide behind them. */
static void take_ansi(struct shell_cursor *at, struct buf *text)
{
    const char *begin = at->at += 2, *bad;
    shell_not_plain(at, "a quote of the form $'…'");
    while (*at->at && *at->at != '\'')
        at->at += *at->at == '\\' && at->at[1] ? 2 : 1;
    char *raw = xstrndup(begin, (size_t)(at->at - begin)), *decoded = xstrdup(raw);
    long size = value_unescape(raw, decoded, &bad);
    buf_append(text, size < 0 ? raw : decoded, size < 0 ? strlen(raw) : strlen(decoded));
    free(raw);
    free(decoded);
    at->at += *at->at == '\'';
}

/* `…`: the text between the quotes is a script once its backslashes are resolved. */
static void take_backquoted(struct shell_cursor *at)
{
    struct buf script = BUF_INIT;
    shell_not_plain(at, "a command substitution");
    for (at->at++; *at->at && *at->at != '`'; at->at++) {
        if (*at->at == '\\' && at->at[1] && strchr("`\\$", at->at[1]))
            at->at++;
        buf_append_byte(&script, *at->at);
    }
    at->at += *at->at == '`';
    struct shell_cursor inner = {.scan = at->scan, .at = script.data ? script.data : "",
                                 .depth = at->depth};
    shell_scan_list(&inner, '\0');
    for (size_t i = 0; i < inner.nheredocs; i++)
        free(inner.heredocs[i].end);
    buf_fini(&script);
}

static void take_double(struct shell_cursor *at, struct buf *text);

/* ${…}: up to the brace that closes it; what it may run is looked at, too. */
static void take_braced(struct shell_cursor *at, struct buf *text);

static void take_expansion(struct shell_cursor *at, struct buf *text, bool in_quotes)
{
    char next = at->at[1];
    if (!in_quotes && next == '\'') {
        take_ansi(at, text);
        return;
    }
    shell_not_plain(at, next == '(' ? "a command substitution" : "an expansion");
    if (!in_quotes && next == '"') {
        at->at++;
        take_double(at, text);
    } else if (next == '(') {
        at->at += 2;
        buf_append_text(text, "$(");
        shell_scan_list(at, ')');
    } else if (next == '{') {
        take_braced(at, text);
    } else {
        take_byte(at, text);
    }
}

static void take_braced(struct shell_cursor *at, struct buf *text)
{
    at->at += 2;
    buf_append_text(text, "${");
    if (++at->depth > SHELL_SCAN_MAX_DEPTH) {
        at->scan->overflow = true;
        at->at += strlen(at->at);
    }
    while (*at->at && *at->at != '}') {
        if (*at->at == '\\' && at->at[1])
            at->at += 2;
        else if (*at->at == '\'')
            take_single(at, text);
        else if (*at->at == '"')
            take_double(at, text);
        else if (*at->at == '`')
            take_backquoted(at);
        else if (*at->at == '$')
            take_expansion(at, text, true);
        else
            take_byte(at, text);
    }
    at->at += *at->at == '}';
    at->depth--;
}

static void take_double(struct shell_cursor *at, struct buf *text)
{
    for (at->at++; *at->at && *at->at != '"';) {
        if (*at->at == '\\' && at->at[1] && strchr("$`\"\\\n", at->at[1])) {
            if (*++at->at == '\n')
                at->at++;
            else
                take_byte(at, text);
        } else if (*at->at == '$') {
            take_expansion(at, text, true);
        } else if (*at->at == '`') {
            take_backquoted(at);
        } else {
            take_byte(at, text);
        }
    }
    if (*at->at)
        at->at++;
    else
        shell_not_plain(at, "an unclosed quote");
}

void shell_scan_expansions(struct shell_cursor *at, const char *text)
{
    struct buf skipped = BUF_INIT;
    struct shell_cursor inner = {.scan = at->scan, .at = text, .depth = at->depth};
    while (*inner.at) {
        if (*inner.at == '\\' && inner.at[1])
            inner.at += 2;
        else if (*inner.at == '$')
            take_expansion(&inner, &skipped, true);
        else if (*inner.at == '`')
            take_backquoted(&inner);
        else
            inner.at++;
    }
    at->other |= inner.other;
    for (size_t i = 0; i < inner.nheredocs; i++)
        free(inner.heredocs[i].end);
    buf_fini(&skipped);
}

static bool begins_assignment(const char *text)
{
    size_t len = 0;
    while ((text[len] >= 'a' && text[len] <= 'z') || (text[len] >= 'A' && text[len] <= 'Z') ||
           text[len] == '_' || (len > 0 && text[len] >= '0' && text[len] <= '9'))
        len++;
    if (len > 0 && text[len] == '[')
        len += strcspn(text + len, "] \t\n") + 1;
    if (len == 0 || len > strlen(text))
        return false;
    return text[len] == '=' || (text[len] == '+' && text[len + 1] == '=');
}

static bool ends_word(char c)
{
    return !c || strchr(" \t\n;&|<>()", c);
}

static void take_unquoted(struct shell_cursor *at, struct shell_word *word)
{
    char c = *at->at;
    bool first = word->text.len == 0 && !word->quoted;
    if (c == '=' && first && !ends_word(at->at[1]))
        shell_not_plain(at, "a name behind =, for which zsh puts a path");
    else if (c == '*' || c == '?' || c == '[')
        shell_not_plain(at, "a wildcard");
    else if (c == '{' && at->at[1] && !strchr(" \t\n;", at->at[1]))
        shell_not_plain(at, "braces");
    else if (c == '~' && word->text.len == 0)
        shell_not_plain(at, "a tilde");
    else if ((unsigned char)c < ' ' || c == 0x7f)
        shell_not_plain(at, "a control character"); /* some shells take it for a blank */
    take_byte(at, &word->text);
}

/* $IFS or ${IFS…} where no quotes are: its value is what separates words. */
static bool begins_separator(const char *text)
{
    if (text[0] != '$')
        return false;
    const char *name = text + (text[1] == '{' ? 2 : 1);
    return strncmp(name, "IFS", 3) == 0 && !isalnum((unsigned char)name[3]) && name[3] != '_';
}

static void take_separator(struct shell_cursor *at)
{
    struct buf name = BUF_INIT;
    if (at->at[1] == '{') {
        take_expansion(at, &name, false);
    } else {
        shell_not_plain(at, "an expansion");
        at->at += strlen("$IFS");
    }
    buf_fini(&name);
}

static void take_escaped(struct shell_cursor *at, struct shell_word *word)
{
    shell_not_plain(at, "a backslash");
    at->at++;
    if (*at->at == '\n') {
        at->at++;
        return;
    }
    word->quoted = true;
    if (*at->at)
        take_byte(at, &word->text);
}

void shell_word_take(struct shell_cursor *at, struct shell_word *word)
{
    *word = (struct shell_word){.text = BUF_INIT, .assignment = begins_assignment(at->at)};
    while (!ends_word(*at->at)) {
        char c = *at->at;
        if (begins_separator(at->at)) {
            take_separator(at);
            if (word->text.len > 0 || word->quoted)
                break; /* what follows is the next word */
            word->blank = ends_word(*at->at);
        } else if (c == '\'' || c == '"') {
            word->quoted = true;
            (c == '"' ? take_double : take_single)(at, &word->text);
        } else if (c == '\\') {
            take_escaped(at, word);
        } else if (c == '$') {
            take_expansion(at, &word->text, false);
        } else if (c == '`') {
            take_backquoted(at);
        } else {
            take_unquoted(at, word);
        }
    }
}
