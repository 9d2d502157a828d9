/* script_show: commands as text again, for traces and reports. */
#include "base/utf8.h"
#include "client/script/script.h"
#include <string.h>

static bool script_show_is_plain(const char *data, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                    "_-.,:/=+%^<>!?*&|~;",
                    data[i]) ||
            !data[i])
            return false;
    return len > 0;
}

/* The inside of "…". */
static void show_escaped(struct buf *out, const char *data, size_t len)
{
    static const char letters[] = "nrtea\\\"$", values[] = "\n\r\t\033\a\\\"$";
    for (size_t at = 0; at < len;) {
        int32_t rune;
        size_t size = utf8_decode(data + at, len - at, &rune);
        const char *known = data[at] ? strchr(values, data[at]) : NULL;
        bool dollar = data[at] == '$' && !(at + 1 < len && data[at + 1] == '{');
        if (known && !dollar)
            buf_printf(out, "\\%c", letters[known - values]);
        else if (size > 0 && rune >= 0 && !utf8_is_obeyed(rune))
            buf_append(out, data + at, size);
        else
            for (size_t i = 0; i < (size ? size : len - at); i++)
                buf_printf(out, "\\x%02x", (unsigned char)data[at + i]);
        at += size ? size : len - at;
    }
}

static bool is_shown_as_it_is(const char *data, size_t len)
{
    for (size_t at = 0; at < len;) {
        int32_t rune;
        size_t size = utf8_decode(data + at, len - at, &rune);
        if (size == 0 || rune < 0 || rune == '\'' || utf8_is_obeyed(rune))
            return false;
        at += size;
    }
    return true;
}

void script_show_value(struct buf *out, const char *data, size_t len)
{
    if (script_show_is_plain(data, len)) {
        buf_append(out, data, len);
    } else if (is_shown_as_it_is(data, len)) {
        buf_append_byte(out, '\'');
        buf_append(out, data, len);
        buf_append_byte(out, '\'');
    } else {
        buf_append_byte(out, '"');
        show_escaped(out, data, len);
        buf_append_byte(out, '"');
    }
}

static void show_part(struct buf *out, const struct script_part *part)
{
    if (part->variable && part->fallback)
        buf_printf(out, "${%s:-%s}", part->text, part->fallback);
    else if (part->variable)
        buf_printf(out, "${%s}", part->text);
    else
        show_escaped(out, part->text, part->len);
}

static void script_show_word(struct buf *out, const struct script_word *word)
{
    bool quotes = word->quoted || word->count > 1;
    if (word->count == 0) {
        buf_append_text(out, "''");
        return;
    }
    if (word->count == 1 && !word->parts[0].variable) {
        script_show_value(out, word->parts[0].text, word->parts[0].len);
        return;
    }
    if (quotes)
        buf_append_byte(out, '"');
    for (size_t i = 0; i < word->count; i++)
        show_part(out, &word->parts[i]);
    if (quotes)
        buf_append_byte(out, '"');
}

void script_show_options(struct buf *out, const struct script_node *node)
{
    for (size_t i = 0; i < node->option_count; i++) {
        buf_printf(out, " --%s ", node->options[i].name);
        script_show_word(out, &node->options[i].value);
    }
}

/* -- ends the options where the word behind it would be one. */
static void show_operand(struct buf *out, const struct script_node *node, size_t at)
{
    const char *text = script_rows[node->id].options ? script_literal(&node->words[at]) : NULL;
    bool behind_options = at == (node->id == SCRIPT_START ? 1 : 0);
    if (text && behind_options && strncmp(text, "--", 2) == 0)
        buf_append_text(out, " --");
    buf_append_byte(out, ' ');
    script_show_word(out, &node->words[at]);
    if (node->id == SCRIPT_START && at == 0)
        script_show_options(out, node);
}

void script_show(struct buf *out, const struct script_node *node)
{
    if (node->has_session) {
        buf_append_byte(out, '@');
        for (size_t i = 0; i < node->session.count; i++)
            show_part(out, &node->session.parts[i]);
        buf_append_byte(out, ' ');
    }
    buf_append_text(out, script_rows[node->id].name);
    if (node->id != SCRIPT_START)
        script_show_options(out, node);
    for (size_t i = 0; i < node->count; i++)
        show_operand(out, node, i);
}
