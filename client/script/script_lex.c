/* script_lex: owns the rules of quoting: bare words, '…' as it stands, "…" with escapes and
 * ${variables}. A value is never read a second time. */
#include "client/script/script_lex.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "base/value.h"
#include <stdlib.h>
#include <string.h>

struct lexer {
    const char *at, *end;
    struct buf text;         /* literal bytes that are not yet a part */
    struct script_word word; /* that is being read */
    struct err *err;
};

void script_word_fini(struct script_word *word)
{
    for (size_t i = 0; i < word->count; i++) {
        free(word->parts[i].text);
        free(word->parts[i].fallback);
    }
    free(word->parts);
    *word = (struct script_word){0};
}

void script_line_fini(struct script_line *line)
{
    for (size_t i = 0; i < line->count; i++)
        script_word_fini(&line->words[i]);
    free(line->words);
    *line = (struct script_line){0};
}

static struct script_part *add_part(struct lexer *lexer)
{
    struct script_word *word = &lexer->word;
    word->parts = xreallocarray(word->parts, word->count + 1, sizeof *word->parts);
    word->parts[word->count] = (struct script_part){0};
    return &word->parts[word->count++];
}

static void end_literal(struct lexer *lexer)
{
    if (lexer->text.len == 0)
        return;
    struct script_part *part = add_part(lexer);
    part->len = lexer->text.len;
    part->text = buf_take(&lexer->text);
    lexer->text = BUF_INIT;
}

static size_t name_length(const char *at, const char *end)
{
    const char *from = at;
    if (at < end && *at == '@')
        return 1;
    while (at < end && ((*at >= '0' && *at <= '9') || (*at >= 'A' && *at <= 'Z') ||
                        (*at >= 'a' && *at <= 'z') || *at == '_' || *at == '.'))
        at++;
    return (size_t)(at - from);
}

/* at stands behind "${". */
static int lex_variable(struct lexer *lexer)
{
    size_t len = name_length(lexer->at, lexer->end);
    const char *name = lexer->at, *behind = name + len;
    const char *close = behind < lexer->end ? memchr(behind, '}', (size_t)(lexer->end - behind))
                                            : NULL;
    bool plain = close && close == behind,
         falls_back = close && close - behind >= 2 && memcmp(behind, ":-", 2) == 0;
    if (len == 0 || len > SCRIPT_NAME_MAX || !(plain || falls_back))
        return err_set(lexer->err, ERR_USAGE,
                       "'${%.*s': no variable; write ${NAME} or ${NAME:-TEXT}, or '…' around a "
                       "text that has ${ in it",
                       (int)(lexer->end - name < 20 ? lexer->end - name : 20), name);
    end_literal(lexer);
    struct script_part *part = add_part(lexer);
    part->variable = true;
    part->text = xstrndup(name, len);
    part->len = len;
    if (falls_back)
        part->fallback = xstrndup(behind + 2, (size_t)(close - behind - 2));
    lexer->at = close + 1;
    return 0;
}

static bool begins_variable(const struct lexer *lexer)
{
    return lexer->end - lexer->at >= 2 && lexer->at[0] == '$' && lexer->at[1] == '{';
}

static int bad_escape(struct lexer *lexer, const char *from)
{
    return err_set(lexer->err, ERR_USAGE,
                   "'%.*s': no escape; \\\\ is a backslash, and '…' takes a text as it stands",
                   (int)utf8_cut(from, (size_t)(lexer->end - from), 8), from);
}

/* \u{…}: at stands behind the u. */
static int lex_rune(struct lexer *lexer, const char *from)
{
    int32_t rune = 0;
    int digits = 0, digit;
    if (lexer->at == lexer->end || *lexer->at++ != '{')
        return bad_escape(lexer, from);
    while (lexer->at < lexer->end && digits < 6 && (digit = value_hex_digit(*lexer->at)) >= 0) {
        rune = rune * 16 + digit;
        digits++;
        lexer->at++;
    }
    if (digits == 0 || lexer->at == lexer->end || *lexer->at++ != '}' ||
        !utf8_append_rune(&lexer->text, rune))
        return bad_escape(lexer, from);
    return 0;
}

/* at stands behind the backslash. */
static int lex_escape(struct lexer *lexer)
{
    static const char letters[] = "nrtea\\\"$", values[] = "\n\r\t\033\a\\\"$";
    const char *from = lexer->at - 1;
    if (lexer->at == lexer->end)
        return bad_escape(lexer, from);
    char letter = *lexer->at++;
    const char *known = letter ? strchr(letters, letter) : NULL;
    if (known) {
        buf_append_byte(&lexer->text, values[known - letters]);
        return 0;
    }
    if (letter == 'u')
        return lex_rune(lexer, from);
    int high = letter == 'x' && lexer->at < lexer->end ? value_hex_digit(lexer->at[0]) : -1,
        low = high >= 0 && lexer->end - lexer->at >= 2 ? value_hex_digit(lexer->at[1]) : -1;
    if (low < 0)
        return bad_escape(lexer, from);
    buf_append_byte(&lexer->text, (char)(high * 16 + low));
    lexer->at += 2;
    return 0;
}

static int unclosed(struct lexer *lexer, char quote)
{
    return err_set(lexer->err, ERR_USAGE,
                   "'%c': this quote is not closed on its line; a line ends a command", quote);
}

static int lex_literal(struct lexer *lexer)
{
    const char *from = lexer->at, *close = memchr(from, '\'', (size_t)(lexer->end - from));
    if (!close)
        return unclosed(lexer, '\'');
    buf_append(&lexer->text, from, (size_t)(close - from));
    lexer->at = close + 1;
    return 0;
}

static int lex_double(struct lexer *lexer)
{
    int code = 0;
    while (code == 0 && lexer->at < lexer->end && *lexer->at != '"') {
        if (begins_variable(lexer)) {
            lexer->at += 2;
            code = lex_variable(lexer);
        } else if (*lexer->at == '\\') {
            lexer->at++;
            code = lex_escape(lexer);
        } else {
            buf_append_byte(&lexer->text, *lexer->at++);
        }
    }
    if (code == 0 && lexer->at == lexer->end)
        return unclosed(lexer, '"');
    lexer->at++;
    return code;
}

static bool script_lex_is_blank(char byte)
{
    return byte == ' ' || byte == '\t';
}

static int lex_bare(struct lexer *lexer)
{
    int code = 0;
    while (code == 0 && lexer->at < lexer->end && !script_lex_is_blank(*lexer->at)) {
        if (begins_variable(lexer)) {
            lexer->at += 2;
            code = lex_variable(lexer);
        } else if (*lexer->at == '"' || *lexer->at == '\'') {
            return err_set(lexer->err, ERR_USAGE,
                           "'%c': a quote inside of a word; put the whole word in quotes",
                           *lexer->at);
        } else {
            buf_append_byte(&lexer->text, *lexer->at++);
        }
    }
    return code;
}

static int lex_word(struct lexer *lexer)
{
    char first = *lexer->at;
    int code;
    lexer->word = (struct script_word){.quoted = first == '\'' || first == '"'};
    if (lexer->word.quoted)
        lexer->at++;
    code = first == '\'' ? lex_literal(lexer) : first == '"' ? lex_double(lexer) : lex_bare(lexer);
    end_literal(lexer);
    if (code == 0 && lexer->at < lexer->end && !script_lex_is_blank(*lexer->at))
        code = err_set(lexer->err, ERR_USAGE, "'%c': a blank is missing behind the closing quote",
                       first);
    return code;
}

static bool is_brace(const struct script_word *word, const char *brace)
{
    const char *text = word->quoted ? NULL : script_literal(word);
    return text && strcmp(text, brace) == 0;
}

/* A brace stands for a block at one place only; elsewhere it is refused, so that a slip is seen. */
static int take_braces(struct script_line *line, struct err *err)
{
    if (line->count > 0 && is_brace(&line->words[0], "}")) {
        line->closes = true;
        script_word_fini(&line->words[0]);
        memmove(line->words, line->words + 1, --line->count * sizeof *line->words);
    }
    if (line->count > 0 && is_brace(&line->words[line->count - 1], "{")) {
        line->opens = true;
        script_word_fini(&line->words[--line->count]);
    }
    for (size_t i = 0; i < line->count; i++)
        if (is_brace(&line->words[i], "{") || is_brace(&line->words[i], "}"))
            return err_set(err, ERR_USAGE,
                           "'%s': a { ends a line and a } begins one; as a word it needs quotes",
                           script_literal(&line->words[i]));
    return 0;
}

int script_lex(struct script_line *line, const char *data, size_t size, struct err *err)
{
    struct lexer lexer = {.at = data, .end = data + size, .text = BUF_INIT, .err = err};
    int code = 0;
    *line = (struct script_line){0};
    while (code == 0) {
        while (lexer.at < lexer.end && script_lex_is_blank(*lexer.at))
            lexer.at++;
        if (lexer.at == lexer.end || *lexer.at == '#')
            break;
        if (line->count == SCRIPT_WORDS_MAX) {
            code = err_set(err, ERR_TOO_LARGE, "more than %d words; make it two commands",
                           SCRIPT_WORDS_MAX);
            break;
        }
        code = lex_word(&lexer);
        line->words = xreallocarray(line->words, line->count + 1, sizeof *line->words);
        line->words[line->count++] = lexer.word;
    }
    buf_fini(&lexer.text);
    return code ? code : take_braces(line, err);
}
