/* script: owns the tree of a script: lines become commands, braces become blocks. */
#include "client/script/script.h"
#include "base/bug.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "base/value.h"
#include "client/script/script_lex.h"
#include <stdlib.h>
#include <string.h>

const struct script_row script_rows[SCRIPT_ID_COUNT] = {
#define WORD(ident, ...) [SCRIPT_##ident] = {__VA_ARGS__},
#include "client/script/words.def"
#undef WORD
};

#define NAME_LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-"

struct parser {
    struct script *script;
    const char *at, *end;
    unsigned number; /* of line */
    struct script_line line;
    bool has_line;
    struct err *err;
};

struct frame { /* a block that is being read */
    const struct frame *outer;
    const struct script_node *node; /* whose block it is; NULL: the whole script */
    int depth;
};

/* Puts the place in front of the text, which may quote a part of a character. */
static int at_line(const struct parser *parser, unsigned number)
{
    struct buf text = BUF_INIT;
    utf8_append_lossy(&text, parser->err->text, strlen(parser->err->text));
    int code = err_set(parser->err, parser->err->code, "'%.200s:%u': %s", parser->script->name,
                       number, text.data ? text.data : "");
    buf_fini(&text);
    return code;
}

static int script_check_bytes(struct parser *parser, const char *line, size_t len)
{
    if (len > SCRIPT_LINE_MAX)
        return err_set(parser->err, ERR_TOO_LARGE, "a line of %zu bytes; at most %d", len,
                       SCRIPT_LINE_MAX);
    if (memchr(line, 0, len))
        return err_set(parser->err, ERR_USAGE,
                       "a NUL byte, so this is no text; \"\\x00\" is one that a command types");
    if (!utf8_valid(line, len))
        return err_set(parser->err, ERR_USAGE,
                       "no valid UTF-8; \"\\xHH\" is a byte that a command types");
    return 0;
}

/* 1: parser->line is the next line; 0: there is none; or an error. */
static int script_next_line(struct parser *parser)
{
    script_line_fini(&parser->line);
    if (parser->at == parser->end)
        return 0;
    const char *from = parser->at, *newline = memchr(from, '\n', (size_t)(parser->end - from)),
               *to = newline ? newline : parser->end;
    parser->at = newline ? newline + 1 : parser->end;
    parser->number++;
    if (to > from && to[-1] == '\r') /* written on Windows */
        to--;
    int code = script_check_bytes(parser, from, (size_t)(to - from));
    if (code == 0)
        code = script_lex(&parser->line, from, (size_t)(to - from), parser->err);
    return code < 0 ? at_line(parser, parser->number) : 1;
}

static int script_unknown(struct parser *parser, const char *word)
{
    const char *names[SCRIPT_ID_COUNT];
    for (size_t i = 0; i < SCRIPT_ID_COUNT; i++)
        names[i] = script_rows[i].name;
    const char *near = value_nearest(word, names, SCRIPT_ID_COUNT);
    return err_set(parser->err, ERR_USAGE, "'%.64s': no command; %s%s%s", word,
                   near ? "did you mean '" : "ue-script(7) lists them", near ? near : "",
                   near ? "'?" : "");
}

static int script_find_row(struct parser *parser, const struct script_word *word,
                           enum script_id *id)
{
    const char *name = word->quoted ? NULL : script_literal(word);
    if (!name)
        return err_set(parser->err, ERR_USAGE,
                       "a line begins with a command, as it is and without quotes");
    for (size_t i = 0; i < SCRIPT_ID_COUNT; i++)
        if (strcmp(script_rows[i].name, name) == 0) {
            *id = (enum script_id)i;
            return 0;
        }
    return script_unknown(parser, name);
}

/* Takes the word out of the line. */
static struct script_word script_take_word(struct script_line *line, size_t at)
{
    struct script_word word = line->words[at];
    line->words[at] = (struct script_word){0};
    return word;
}

/* @NAME: the session of this line. */
static int take_session(struct parser *parser, struct script_node *node)
{
    BUG_UNLESS(node->session.count > 0);
    struct script_part *first = node->session.parts;
    BUG_UNLESS(!first->variable && first->text[0] == '@');
    memmove(first->text, first->text + 1, first->len--);
    if (first->len == 0 && node->session.count == 1)
        return err_set(parser->err, ERR_USAGE, "'@': the session's name is missing, as in @NAME");
    for (size_t i = 0; i < node->session.count; i++) /* also in front of and behind a variable */
        if (!node->session.parts[i].variable && node->session.parts[i].len > 0 &&
            node->session.parts[i].text[strspn(node->session.parts[i].text, NAME_LETTERS)])
            return script_check_session(node->session.parts[i].text, parser->err);
    const char *name = script_literal(&node->session);
    return name ? script_check_session(name, parser->err) : 0;
}

static bool is_at_session(const struct script_word *word)
{
    return !word->quoted && word->count > 0 && !word->parts[0].variable &&
           word->parts[0].text[0] == '@';
}

static const char *option_of(const struct script_row *row, const char *word)
{
    static const char *const names[] = {"timeout", "size", "dir", "env"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], word) == 0 && strstr(row->options, names[i]))
            return names[i];
    return NULL;
}

/* --NAME VALUE pairs in front of the operands. *at moves behind them. */
static int take_options(struct parser *parser, struct script_node *node, size_t *at)
{
    const struct script_row *row = &script_rows[node->id];
    struct script_line *line = &parser->line;
    while (row->options && *at < line->count) {
        const char *word = line->words[*at].quoted ? NULL : script_literal(&line->words[*at]);
        if (!word || strncmp(word, "--", 2) != 0)
            break;
        if (!word[2]) {
            ++*at;
            break;
        }
        const char *name = option_of(row, word + 2);
        if (!name)
            return err_set(parser->err, ERR_USAGE, "'%.64s': no option of '%s'; %s", word,
                           row->name, row->usage);
        if (*at + 1 == line->count)
            return err_set(parser->err, ERR_USAGE, "'%s': its value is missing; %s", word,
                           row->usage);
        node->options = xreallocarray(node->options, node->option_count + 1, sizeof *node->options);
        struct script_given *given = &node->options[node->option_count++];
        *given = (struct script_given){name, script_take_word(line, *at + 1)};
        const char *value = script_literal(&given->value);
        if (value && script_check_option(name, value, parser->err) < 0)
            return parser->err->code;
        *at += 2;
    }
    return 0;
}

static int check_shape(struct parser *parser, const struct script_node *node)
{
    const struct script_row *row = &script_rows[node->id];
    bool block_needed = row->block == SCRIPT_BLOCK_NEEDED ||
                        (node->id == SCRIPT_EXPECT && node->count == 0);
    if (node->has_session && !row->session)
        return err_set(parser->err, ERR_USAGE, "'%s': acts on no session; leave out the @NAME",
                       row->name);
    if (node->count < (size_t)row->min || (row->max >= 0 && node->count > (size_t)row->max))
        return err_set(parser->err, ERR_USAGE, "'%s': %s; it is %s%s", row->name,
                       node->count < (size_t)row->min ? "something is missing" : "too many words",
                       row->usage,
                       node->count < (size_t)row->min ? "" : "; quotes make one word of several");
    if (node->has_block &&
        (row->block == SCRIPT_BLOCK_NONE || (node->id == SCRIPT_EXPECT && node->count > 0)))
        return err_set(parser->err, ERR_USAGE, "'%s': has no block here; it is %s", row->name,
                       row->usage);
    if (!node->has_block && block_needed)
        return err_set(parser->err, ERR_USAGE, "'%s': its block is missing; it is %s", row->name,
                       row->usage);
    return 0;
}

static int check_literals(struct parser *parser, const struct script_node *node)
{
    const char *values[SCRIPT_WORDS_MAX];
    for (size_t i = 0; i < node->count; i++)
        values[i] = script_literal(&node->words[i]);
    return script_check_values(node->id, values, node->count, parser->err);
}

/* Fills node from the words of the line from `at` on. */
static int fill_node(struct parser *parser, struct script_node *node, size_t at)
{
    struct script_line *line = &parser->line;
    node->line = parser->number;
    node->has_block = line->opens;
    if (++parser->script->commands > SCRIPT_COMMANDS_MAX)
        return err_set(parser->err, ERR_TOO_LARGE, "more than %d commands; make it two scripts",
                       SCRIPT_COMMANDS_MAX);
    if (is_at_session(&line->words[at])) {
        node->has_session = true;
        node->session = script_take_word(line, at++);
        if (take_session(parser, node) < 0)
            return parser->err->code;
        if (at == line->count)
            return err_set(parser->err, ERR_USAGE, "@NAME stands before a command");
    }
    int code = script_find_row(parser, &line->words[at++], &node->id);
    if (code == 0)
        code = take_options(parser, node, &at);
    if (code < 0)
        return code;
    node->words = xcalloc(line->count - at + 1, sizeof *node->words);
    if (node->id == SCRIPT_START && at < line->count) { /* options may stand behind the name, too */
        node->words[node->count++] = script_take_word(line, at++);
        if (take_options(parser, node, &at) < 0)
            return parser->err->code;
    }
    while (at < line->count)
        node->words[node->count++] = script_take_word(line, at++);
    code = check_shape(parser, node);
    return code ? code : check_literals(parser, node);
}

static bool is_inside(const struct frame *frame, enum script_id id, enum script_id other)
{
    for (; frame && frame->node; frame = frame->outer)
        if (frame->node->id == id || frame->node->id == other)
            return true;
    return false;
}

/* What may stand where. */
static int check_place(struct parser *parser, const struct frame *frame,
                       const struct script_node *node)
{
    const struct script_row *row = &script_rows[node->id];
    bool in_expect = frame->node && frame->node->id == SCRIPT_EXPECT,
         loops = node->id == SCRIPT_BREAK || node->id == SCRIPT_CONTINUE;
    if (in_expect && !row->arm)
        return err_set(parser->err, ERR_USAGE,
                       "'%s': in the block of an expect stand only 'on', 'on-quiet', 'on-exit' "
                       "and 'on-timeout'; commands go into their blocks",
                       row->name);
    if (row->arm && !in_expect)
        return err_set(parser->err, ERR_USAGE, "'%s': belongs into the block of an expect",
                       row->name);
    if (node->id == SCRIPT_ELSE)
        return err_set(parser->err, ERR_USAGE,
                       "'else': belongs behind the } of an if, as in '} else {'");
    if (loops && !is_inside(frame, SCRIPT_REPEAT, SCRIPT_EACH))
        return err_set(parser->err, ERR_USAGE, "'%s': is in no repeat and in no each", row->name);
    if (node->id == SCRIPT_AGAIN && !is_inside(frame, SCRIPT_EXPECT, SCRIPT_EXPECT))
        return err_set(parser->err, ERR_USAGE, "'again': is in no alternative of an expect");
    if (node->has_block && frame->depth == SCRIPT_NESTING_MAX)
        return err_set(parser->err, ERR_TOO_LARGE, "more than %d blocks in each other",
                       SCRIPT_NESTING_MAX);
    return 0;
}

static int parse_list(struct parser *parser, const struct frame *frame, struct script_node **list);

/* `} else {` and `} else if … {`: the line that has closed the block of node. */
static int parse_branch(struct parser *parser, struct script_node *node, size_t *at)
{
    const char *first = script_literal(&parser->line.words[0]),
               *second = parser->line.count > 1 ? script_literal(&parser->line.words[1]) : NULL;
    bool is_else = first && strcmp(first, "else") == 0 && !parser->line.words[0].quoted;
    if (!is_else || (node->id != SCRIPT_IF))
        return err_set(parser->err, ERR_USAGE,
                       "behind a } stands nothing, or behind that of an if 'else'");
    *at = second && strcmp(second, "if") == 0 ? 1 : 0;
    return 0;
}

static int parse_block(struct parser *parser, const struct frame *outer, struct script_node *node)
{
    for (;;) {
        struct frame frame = {.outer = outer, .node = node, .depth = outer->depth + 1};
        size_t at = 0;
        int code = parse_list(parser, &frame, &node->body);
        if (code < 0 || parser->line.count == 0)
            return code;
        if (parse_branch(parser, node, &at) < 0)
            return at_line(parser, parser->number);
        node->branch = xcalloc(1, sizeof *node);
        node = node->branch;
        if (fill_node(parser, node, at) < 0)
            return at_line(parser, parser->number);
        if (node->id != SCRIPT_IF && node->id != SCRIPT_ELSE) {
            err_set(parser->err, ERR_USAGE, "behind 'else' stands 'if' or {");
            return at_line(parser, parser->number);
        }
    }
}

static int parse_node(struct parser *parser, const struct frame *frame, struct script_node *node)
{
    int code = fill_node(parser, node, 0);
    if (code == 0)
        code = check_place(parser, frame, node);
    if (code < 0)
        return at_line(parser, parser->number);
    code = node->has_block ? parse_block(parser, frame, node) : 0;
    if (code == 0 && node->id == SCRIPT_EXPECT && node->has_block &&
        script_check_arms(node, parser->err) < 0)
        return at_line(parser, node->line);
    return code;
}

static int end_of_text(struct parser *parser, const struct frame *frame)
{
    if (!frame->node)
        return 0;
    err_set(parser->err, ERR_USAGE, "the block of this '%s' is never closed; a } is missing",
            script_rows[frame->node->id].name);
    return at_line(parser, frame->node->line);
}

/* Up to the line that closes the frame, which stays in parser->line. */
static int parse_list(struct parser *parser, const struct frame *frame, struct script_node **list)
{
    int code;
    while ((code = script_next_line(parser)) > 0) {
        if (parser->line.closes && !frame->node) {
            err_set(parser->err, ERR_USAGE, "this } closes no block");
            return at_line(parser, parser->number);
        }
        if (parser->line.closes)
            return 0;
        if (parser->line.count == 0 && !parser->line.opens)
            continue;
        if (parser->line.count == 0) {
            err_set(parser->err, ERR_USAGE, "a { ends the line of the command that it belongs to");
            return at_line(parser, parser->number);
        }
        *list = xcalloc(1, sizeof **list);
        code = parse_node(parser, frame, *list);
        if (code < 0)
            return code;
        list = &(*list)->next;
    }
    return code < 0 ? code : end_of_text(parser, frame);
}

int script_parse(struct script *script, const char *name, const char *data, size_t size,
                 struct err *err)
{
    struct parser parser = {.script = script, .at = data, .end = data + size, .err = err};
    const struct frame whole = {0};
    *script = (struct script){.name = xstrdup(name)};
    if (size > SCRIPT_BYTES_MAX)
        return err_set(err, ERR_TOO_LARGE, "'%.200s': %zu bytes; a script has at most %u", name,
                       size, SCRIPT_BYTES_MAX);
    int code = parse_list(&parser, &whole, &script->first);
    script_line_fini(&parser.line);
    return code < 0 ? code : script_check_names(script, err);
}
