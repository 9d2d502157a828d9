/* Any bytes as muxd.ini. Either an error names the line, or what was read can be written down and means the same again. */
#include "base/buf.h"
#include "config/config.h"
#include "config/ini_lines.h"
#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct rewrite {
    struct buf text;
    char heading[200];
    bool fits; /* quoting can make a value longer than a file may hold */
};

static void rewrite_item(void *ctx, const struct config_item *item)
{
    struct rewrite *rewrite = ctx;
    char heading[200];
    snprintf(heading, sizeof(heading), "[%s%s%s]", item->section, item->name ? " " : "", item->name ? item->name : "");
    if (strcmp(heading, rewrite->heading) != 0)
        buf_printf(&rewrite->text, "%s\n", heading);
    memcpy(rewrite->heading, heading, sizeof(heading));
    rewrite->fits = rewrite->fits && strlen(item->value) <= INI_LINES_MAX_VALUE;
    buf_printf(&rewrite->text, "%s = %s\n", item->key, item->value);
}

static void check_rewrite(const struct config *cfg)
{
    struct rewrite rewrite = {.text = BUF_INIT, .fits = true};
    struct err err = {0};
    if (cfg->env.vars.count == 0) /* a section without keys counts too */
        buf_append_text(&rewrite.text, "[env]\n");
    config_each(cfg, NULL, rewrite_item, &rewrite);
    if (rewrite.fits && rewrite.text.len <= CONFIG_MAX_FILE) {
        struct config *again = config_parse("again.ini", rewrite.text.data, rewrite.text.len, &err);
        if (!again || config_diff(cfg, again, NULL, NULL) != 0)
            abort();
        config_free(again);
    }
    buf_fini(&rewrite.text);
}

static void check_error(const struct err *err)
{
    const char *at = err->text;
    if (err->code != ERR_CONFIG || strncmp(at, "f.ini:", 6) != 0 || !isdigit((unsigned char)at[6]))
        abort();
    at += 6 + strspn(at + 6, "0123456789");
    if (strncmp(at, ": ", 2) != 0 || !at[2] || memchr(err->text, '\n', strlen(err->text)))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err err = {0};
    struct config *cfg = config_parse("f.ini", (const char *)data, size, &err);
    if (cfg)
        check_rewrite(cfg);
    else
        check_error(&err);
    config_free(cfg);
    return 0;
}
