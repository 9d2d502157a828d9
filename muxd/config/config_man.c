/* config_man: muxd.ini(5) in roff, man(7). The prose stands here, the lists come from
 * config.def. */
#include "config/config_row.h"
#include "wire/attach.h"

static const char head[] =
    ".\\\" Made from muxd/config by make gen.\n"
    ".TH MUXD.INI 5 2026-11-27 \"muxd " MUXD_VERSION "\" \"File formats\"\n"
    ".SH NAME\n"
    "muxd.ini \\- configuration of muxd\n"
    ".SH DESCRIPTION\n"
    ".BR muxd (8)\n"
    "reads this file when it starts. It is the first of: the argument of\n"
    ".BR \\-f ,\n"
    ".BR $MUXD_CONFIG ,\n"
    ".IR $XDG_CONFIG_HOME/muxd/muxd.ini ,\n"
    ".IR ~/.config/muxd/muxd.ini ,\n"
    ".IR /etc/muxd/muxd.ini .\n"
    "Without a file everything has its default.\n"
    ".PP\n"
    ".B ue reload\n"
    "and the signal HUP make the daemon read it again: what was removed goes back to its default, "
    "and a file with a\n"
    "mistake changes nothing.\n"
    ".B muxd \\-\\-check\\-config\n"
    "only tests the file.\n"
    ".B ue config\n"
    "shows every value and where it comes from.\n"
    ".SS Lines\n"
    "A line is a\n"
    ".BR [section] ,\n"
    ".IR key \" = \" value ,\n"
    "a comment, whose first character is ; or #, or blank. A value is everything between the first "
    "= and the end of the\n"
    "line without the blanks around it, at most 4096 bytes; the characters ; # = and quotes are "
    "part of it. Lines are not\n"
    "continued. The file is UTF\\-8; a byte order mark and CRLF are understood.\n"
    ".PP\n"
    "An unknown section or key, a value that is not allowed, a key or section that stands there "
    "twice: each is an error\n"
    "that names the file, the line and what is allowed.\n"
    ".SS Values\n"
    "Sizes are bytes, or take k, M or G (powers of 1024). Times are milliseconds, or take ms, s, "
    "m, h or d. Yes and no may\n"
    "also be spelled true and false, on and off, 1 and 0.\n"
    ".SH SECTIONS\n";

static const char tail[] =
    ".SH EXAMPLE\n"
    ".EX\n"
    "[limits]\n"
    "journal = 8M\n"
    "\n"
    "[session py]\n"
    "cmd = python3 \\-q\n"
    "on_start = import math\\en\n"
    "idle = 1h\n"
    ".EE\n"
    ".SH SEE ALSO\n"
    ".BR ue (1),\n"
    ".BR muxd (8),\n"
    ".BR muxd (7)\n";

/* Text into roff: no request at the start of a line, no escapes. */
static void roff(struct buf *out, const char *text)
{
    if (*text == '.' || *text == '\'')
        buf_append_text(out, "\\&");
    for (; *text; text++)
        switch (*text) {
        case '\\': buf_append_text(out, "\\e"); break;
        case '-': buf_append_text(out, "\\-"); break;
        case '~': buf_append_text(out, "\\(ti"); break;
        case '\'': buf_append_text(out, "\\(aq"); break;
        default: buf_append_byte(out, *text);
        }
}

static void man_row(struct buf *out, const struct config_row *row)
{
    struct buf allowed = BUF_INIT;
    config_row_allowed(row, &allowed);
    buf_append_text(out, ".TP\n.B ");
    roff(out, row->type == CONFIG_VARS ? row->prefix : row->key);
    buf_append_text(out, row->type == CONFIG_VARS ? "NAME\n" : "\n");
    roff(out, row->help);
    buf_append_text(out, "\nAllowed: ");
    roff(out, allowed.data);
    if (row->from != 0)
        buf_printf(out, ". Default: that of [%s]", config_rows[row->from].section);
    else if (*row->fallback) {
        buf_append_text(out, ". Default: ");
        roff(out, row->fallback);
    }
    buf_printf(out, ".%s\n", config_row_is_named(row) ? "" : config_reload_note(row->reload));
    buf_fini(&allowed);
}

static void man_keys(struct buf *out, const char *title, const struct attach_key *keys)
{
    buf_printf(out, ".PP\n%s\n", title);
    for (; keys->keys; keys++) {
        buf_append_text(out, ".TP\n.B \"");
        roff(out, keys->keys);
        buf_append_text(out, "\"\n");
        roff(out, keys->help);
        buf_append_text(out, "\n");
    }
}

bool config_man(struct buf *out)
{
    buf_append_text(out, head);
    for (size_t i = 0; i < CONFIG_SECTION_COUNT; i++) {
        const struct config_section *section = &config_sections[i];
        size_t first, end;
        config_section_rows(section->name, &first, &end);
        buf_printf(out, ".SS [%s%s%s%s]\n", section->name, section->optional ? "] or [" : "",
                   section->optional ? section->name : "", section->named ? " NAME" : "");
        roff(out, section->help);
        buf_append_text(out, "\n");
        for (size_t row = first; row < end; row++)
            man_row(out, &config_rows[row]);
        if (i == CONFIG_SECTION_attach) {
            man_keys(out, "Keys after that of attached terminals:", attach_keys);
            man_keys(out, "Keys of the scrolled view:", attach_view_keys);
        }
    }
    return buf_append_text(out, tail);
}
