/* help: the tables of verbs as text for people. */
#include "wire/help.h"
#include "base/bug.h"
#include "base/utf8.h"
#include "wire/attach.h"
#include <string.h>

#define WIDTH 80 /* columns, one for each character: the tables have no wide ones */
#define COLUMN 26 /* where the second column begins */

static void pad(struct buf *out, size_t count)
{
    for (size_t i = 0; i < count; i++)
        buf_append_byte(out, ' ');
}

/* Appends text word by word. at: the present column; further lines begin at indent. */
static void help_wrap(struct buf *out, const char *text, size_t at, size_t indent)
{
    bool first = true;
    while (*text != '\0') {
        size_t len = strcspn(text, " "), cols = utf8_count(text, len);
        if (!first && at + 1 + cols > WIDTH) {
            buf_append_byte(out, '\n');
            pad(out, indent);
            at = indent;
        } else if (!first) {
            buf_append_byte(out, ' ');
            at++;
        }
        buf_append(out, text, len);
        at += cols;
        first = false;
        text += len;
        text += strspn(text, " ");
    }
    buf_append_byte(out, '\n');
}

/* "  left        right, wrapped". */
static void two_columns(struct buf *out, const char *left, const char *right)
{
    size_t cols = utf8_count(left, strlen(left)) + 2;
    buf_printf(out, "  %s", left);
    if (cols + 2 > COLUMN) {
        buf_append_byte(out, '\n');
        cols = 0;
    }
    pad(out, COLUMN - cols);
    help_wrap(out, right, COLUMN, COLUMN);
}

static void option_row(struct buf *out, const struct verb *verb, const struct verb_option *option)
{
    struct buf left = BUF_INIT;
    if (option->letter != 0)
        buf_printf(&left, "-%c, ", option->letter);
    else
        buf_append_text(&left, "    ");
    buf_printf(&left, "--%s%s%s", option->name, option->metavar != NULL ? " " : "",
               option->metavar != NULL ? option->metavar : "");
    two_columns(out, left.data, verb_option_full(verb, option).help);
    buf_fini(&left);
}

/* Stands for the blank in "[-n NAME]", so that wrapping keeps the item together; replaced by a
 * blank afterwards. */
#define GLUE '\x01'

static void usage_item(struct buf *items, const struct verb_option *option)
{
    buf_append_text(items, " [");
    if (option->letter != 0)
        buf_printf(items, "-%c", option->letter);
    else
        buf_printf(items, "--%s", option->name);
    if (option->metavar != NULL)
        buf_printf(items, "%c%s", GLUE, option->metavar);
    buf_append_text(items, option->repeats ? "]…" : "]");
}

void help_usage(struct buf *out, const struct verb *verb)
{
    struct buf items = BUF_INIT;
    size_t mark = out->len;
    buf_printf(&items, "usage: ue%s%s", verb->name[0] != '\0' ? " " : "", verb->name);
    size_t indent = utf8_count(items.data, items.len) + 1;
    for (const struct verb_option *option = verb->options; option->name != NULL; option++)
        usage_item(&items, option);
    if (verb->name[0] == '\0')
        buf_append_text(&items, " VERB …");
    if (verb->operands_end_options)
        buf_append_text(&items, " [--]");
    if (verb->operands != NULL)
        buf_printf(&items, " %s", verb->operands);
    help_wrap(out, items.data, 0, indent);
    for (size_t i = mark; i < out->len; i++) {
        if (out->data[i] == GLUE)
            out->data[i] = ' ';
    }
    buf_fini(&items);
}

static void options_of(struct buf *out, const char *title, const struct verb *verb)
{
    if (verb->options[0].name == NULL)
        return;
    buf_printf(out, "\n%s\n", title);
    for (const struct verb_option *option = verb->options; option->name != NULL; option++)
        option_row(out, verb, option);
}

/* Each line of text is a paragraph. */
static void paragraphs(struct buf *out, const char *text)
{
    struct buf line = BUF_INIT;
    while (text != NULL && *text != '\0') {
        size_t len = strcspn(text, "\n");
        buf_clear(&line);
        buf_append(&line, text, len);
        buf_append_byte(out, '\n');
        help_wrap(out, line.data, 0, 0);
        text += len + (text[len] == '\n');
    }
    buf_fini(&line);
}

static void examples_of(struct buf *out, const struct verb *verb)
{
    const char *line = verb->examples;
    if (line == NULL)
        return;
    buf_append_text(out, "\nexamples:\n");
    while (*line != '\0') {
        size_t command = strcspn(line, "\t"), whole = strcspn(line, "\n");
        BUG_UNLESS(command < whole); /* "command\twhat it does" */
        buf_printf(out, "  %.*s\n      %.*s\n", (int)command, line, (int)(whole - command - 1),
                   line + command + 1);
        line += whole + (line[whole] == '\n');
    }
}

static void keys_of(struct buf *out, const char *title, const struct attach_key *keys)
{
    buf_printf(out, "\n%s\n", title);
    for (; keys->keys != NULL; keys++)
        two_columns(out, keys->keys, keys->help);
}

void help_verb(struct buf *out, const struct verb *verb)
{
    help_usage(out, verb);
    buf_printf(out, "\n%s\n", verb->summary);
    paragraphs(out, verb->help);
    options_of(out, "options:", verb);
    if (verb == &verbs[VERB_ATTACH]) {
        keys_of(out, "keys after the prefix key (C-\\):", attach_keys);
        keys_of(out, "keys of the scrolled view:", attach_view_keys);
    }
    examples_of(out, verb);
    buf_append_text(out,
                    "\n'ue help' lists the options that every verb takes: -S, -f, --no-start.\n");
}

void help_all(struct buf *out)
{
    help_usage(out, &verbs[VERB_GLOBAL]);
    buf_printf(out, "\n%s\n\nverbs:\n", verbs[VERB_GLOBAL].summary);
    for (size_t i = VERB_GLOBAL + 1; i < VERB_COUNT_; i++) {
        if (!verbs[i].hidden)
            two_columns(out, verbs[i].name, verbs[i].summary);
    }
    options_of(out, "options of every verb:", &verbs[VERB_GLOBAL]);
    buf_append_text(out, "\n'ue VERB -h' explains one verb.\n");
}
