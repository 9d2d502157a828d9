/* safe: owns the list of sequences that may reach a person's terminal (xterm ctlseqs; ECMA-48). All
 * others are left out. */
#include "client/print/safe.h"
#include "base/bug.h"
#include "base/utf8.h"
#include <string.h>

static void safe_on_text(void *arg, const int32_t *runes, size_t count)
{
    struct safe *safe = arg;
    char bytes[4];
    for (size_t i = 0; i < count; i++) {
        size_t size = utf8_encode(runes[i], bytes);
        /* escapes characters that change the direction of text */
        utf8_append_escaped(safe->out, bytes, size, false);
    }
}

static void safe_on_control(void *arg, char byte)
{
    struct safe *safe = arg;
    if (strchr("\b\t\n\v\f\r\016\017", byte))
        buf_append_byte(safe->out, byte);
}

static void safe_on_escape(void *arg, char intermediate, char final)
{
    struct safe *safe = arg;
    /* a full reset would also clear the person's scrollback and settings */
    if (!intermediate && final == 'c') {
        buf_append_text(safe->out, safe->alternate ? "\033[?1049l" : "");
        buf_append_text(safe->out, "\033[!p\033[r\033(B\017\033[?7h\033[m\033[2J\033[H");
        safe->alternate = false;
    } else if (!intermediate && strchr("DEHM78", final)) {
        buf_printf(safe->out, "\033%c", final);
    } else if ((intermediate == '(' || intermediate == ')') && strchr("B0", final)) {
        buf_printf(safe->out, "\033%c%c", intermediate, final);
    } else if (intermediate == '#' && final == '8') {
        buf_append_text(safe->out, "\033#8");
    }
}

static void append_csi(struct buf *out, const struct token_csi *csi)
{
    buf_append_text(out, "\033[");
    if (csi->leader)
        buf_append_byte(out, csi->leader);
    for (int i = 0; i < csi->count; i++) {
        if (i > 0)
            buf_append_byte(out, csi->joined[i] ? ':' : ';');
        if (csi->args[i] >= 0)
            buf_printf(out, "%d", csi->args[i]);
    }
    if (csi->intermediate)
        buf_append_byte(out, csi->intermediate);
    buf_append_byte(out, csi->final);
}

static void safe_set_modes(struct safe *safe, const struct token_csi *csi)
{
    static const int private_modes[] = {5, 6, 7, 25, 47, 1047, 1048, 1049}, modes[] = {4, 20};
    const int *allowed = csi->leader == '?' ? private_modes : modes;
    size_t count = csi->leader == '?' ? sizeof private_modes / sizeof *private_modes
                                      : sizeof modes / sizeof *modes;
    for (int i = 0; i < csi->count; i++) {
        for (size_t k = 0; k < count; k++) {
            if (csi->args[i] != allowed[k])
                continue;
            buf_printf(safe->out, "\033[%s%d%c", csi->leader ? "?" : "", csi->args[i], csi->final);
            if (csi->leader && (allowed[k] == 47 || allowed[k] == 1047 || allowed[k] == 1049))
                safe->alternate = csi->final == 'h';
        }
    }
}

static void safe_on_csi(void *arg, const struct token_csi *csi)
{
    struct safe *safe = arg;
    int first = csi->count > 0 ? csi->args[0] : -1;
    if ((csi->final == 'h' || csi->final == 'l') && !csi->intermediate &&
        (!csi->leader || csi->leader == '?')) {
        safe_set_modes(safe, csi);
    } else if (csi->leader) {
        return;
    } else if (csi->intermediate) {
        bool shape = csi->intermediate == ' ' && csi->final == 'q';
        safe->shape |= shape;
        if (shape || (csi->intermediate == '!' && csi->final == 'p'))
            append_csi(safe->out, csi);
    } else if (strchr("@ABCDEFGHIKLMPSXZ`abdefgmrsu", csi->final) ||
               (csi->final == 'J' && first < 3) || (csi->final == 'T' && csi->count <= 1)) {
        append_csi(safe->out, csi);
    }
}

static const struct token_sink sink = {
    .text = safe_on_text, .control = safe_on_control, .escape = safe_on_escape, .csi = safe_on_csi};

void safe_feed(struct safe *safe, const char *data, size_t size, struct buf *out)
{
    BUG_UNLESS(out && !safe->out); /* not from within its own callbacks */
    safe->out = out;
    tokens_feed(&safe->tokens, data, size, &sink, safe);
    safe->out = NULL;
}

void safe_end(struct safe *safe, struct buf *out)
{
    tokens_reset(&safe->tokens);
    if (safe->alternate)
        buf_append_text(out, "\033[?1049l");
    buf_append_text(
        out,
        "\0337\033[r\033[?6l\0338\033[4l\033[20l\033[?5l\033[?7h\033[?25h\033(B\033)B\017\033[m");
    if (safe->shape)
        buf_append_text(out, "\033[0 q");
    safe->alternate = safe->shape = false;
}
