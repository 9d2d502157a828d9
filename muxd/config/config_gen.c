/* config_gen: the sample file that `make gen` makes of config.def, and the writing of all files.
 * The man page is made in config_man. */
#include "base/bug.h"
#include "base/fdio.h"
#include "base/path.h"
#include "config/config_row.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 110 /* columns of the sample's explanations */

/* The default that the sample shows for a row. */
static const char *shown_default(const struct config_row *row)
{
    const char *text = row->from != 0 ? config_rows[row->from].fallback : row->fallback;
    return row->sample ? row->sample : text;
}

static void sample_vars(struct buf *out, const struct config_row *row)
{
    /* The fallback consists of NAME=VALUE words, see config_row_reset. */
    for (const char *at = row->fallback; *at; at += strspn(at, " ")) {
        size_t len = strcspn(at, " "), name_len = strcspn(at, "=");
        buf_printf(out, "#%.*s =%s%.*s\n", (int)name_len, at, len > name_len + 1 ? " " : "",
                   (int)(len - name_len - 1), at + name_len + 1);
        at += len;
    }
}

const char *config_reload_note(enum config_reload reload)
{
    switch (reload) {
    case CONFIG_NOW: return "";
    case CONFIG_NEW_SESSIONS: return " A change is for new sessions.";
    case CONFIG_RESTART: return " A change needs a new daemon.";
    }
    BUG("no such reload: %d", reload);
}

/* Text as comment lines, broken at blanks. */
static void config_gen_explain(struct buf *out, const char *text)
{
    size_t column = 0;
    while (*text) {
        size_t len = strcspn(text, " ");
        if (column > 0 && column + 1 + len > WIDTH) {
            buf_append_byte(out, '\n');
            column = 0;
        }
        buf_append_text(out, column == 0 ? "# " : " ");
        buf_append(out, text, len);
        column += len + (column == 0 ? 2 : 1);
        text += len + strspn(text + len, " ");
    }
    buf_append_byte(out, '\n');
}

static void sample_help(struct buf *out, const struct config_row *row)
{
    struct buf text = BUF_INIT;
    buf_append_text(&text, row->help);
    if (row->type != CONFIG_TEXT && row->type != CONFIG_VARS) {
        buf_append_text(&text, " Allowed: ");
        config_row_allowed(row, &text);
        buf_append_byte(&text, '.');
    }
    if (row->from != 0)
        buf_printf(&text, " Without a value it is that of [%s].", config_rows[row->from].section);
    /* For a named section the note would say nothing new. */
    if (!config_row_is_named(row))
        buf_append_text(&text, config_reload_note(row->reload));
    config_gen_explain(out, text.data);
    buf_fini(&text);
}

static void sample_row(struct buf *out, const struct config_row *row)
{
    buf_append_byte(out, '\n');
    sample_help(out, row);
    if (row->type != CONFIG_VARS)
        buf_printf(out, "#%s =%s%s\n", row->key, *shown_default(row) ? " " : "",
                   shown_default(row));
    else if (*row->fallback)
        sample_vars(out, row);
    else
        buf_printf(out, "# %sNAME = VALUE\n", row->prefix);
}

static void sample_section(struct buf *out, const struct config_section *section)
{
    size_t first, end;
    config_section_rows(section->name, &first, &end);
    buf_append_byte(out, '\n');
    config_gen_explain(out, section->help);
    buf_printf(out, "#[%s%s]\n", section->name,
               section->named && !section->optional ? " NAME" : "");
    for (size_t i = first; i < end; i++)
        if (i != CONFIG_ROW_session_argv)
            sample_row(out, &config_rows[i]);
    /* A session has either a command line or an argument vector, so the second needs a section of
     * its own. */
    if (first <= CONFIG_ROW_session_argv && CONFIG_ROW_session_argv < end) {
        buf_append_text(out, "\n#[session NAME2]\n");
        sample_row(out, &config_rows[CONFIG_ROW_session_argv]);
    }
}

bool config_sample(struct buf *out)
{
    buf_append_text(
        out,
        "# muxd.ini: every key with its default. Made from muxd/config/config.def by make gen.\n"
        "# A value is everything behind '=' up to the end of its line, without the blanks around "
        "it;\n"
        "# the characters ; # = and quotes belong to it. A comment needs a line of its own.\n"
        "# ue reload reads the file again, muxd --check-config tests it.\n");
    for (size_t i = 0; i < CONFIG_SECTION_COUNT; i++)
        sample_section(out, &config_sections[i]);
    return out->len < out->max;
}

static int config_gen_write_file(const char *dir, const char *name, bool (*make)(struct buf *),
                                 struct err *err)
{
    struct buf text = BUF_INIT;
    char *path = path_join(dir, name);
    int result = 0, fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    make(&text);
    if (fd < 0 || fd_write_all(fd, text.data, text.len) < 0)
        result = err_set(err, ERR_SYSTEM, "'%s': %s; check the directory", path, strerror(errno));
    fd_close(&fd);
    buf_fini(&text);
    free(path);
    return result;
}

int config_gen(const char *dir, struct err *err)
{
    int result = config_gen_write_file(dir, "conf/muxd.ini", config_sample, err);
    return result ? result : config_gen_write_file(dir, "conf/muxd.ini.5", config_man, err);
}
