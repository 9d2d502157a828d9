/* A program's output on its way to a person's terminal: what comes out holds no sequence but those on the list, however it was cut. */
#include "base/bug.h"
#include "client/print/lines.h"
#include "client/print/safe.h"
#include <stdint.h>
#include <string.h>

struct told {
    struct buf text;
    size_t lines;
};

/* Escape sequences in a line are colours. */
static void on_line(void *arg, const char *text, size_t size)
{
    struct told *told = arg;
    for (size_t i = 0; i < size; i++) {
        unsigned char byte = (unsigned char)text[i];
        BUG_UNLESS(byte >= 0x20 || byte == '\t' || byte == 033);
        BUG_UNLESS(byte != 0x7f);
        if (byte != 033)
            continue;
        BUG_UNLESS(i + 1 < size && text[i + 1] == '[');
        for (i += 2; i < size && strchr("0123456789;:", text[i]) && text[i]; i++)
            ;
        BUG_UNLESS(i < size && text[i] == 'm');
    }
    buf_append(&told->text, text, size);
    buf_append_byte(&told->text, '\n');
}

static void run(const uint8_t *data, size_t size, size_t piece, struct told *told)
{
    struct lines lines = {.fn = on_line, .arg = told, .colors = true};
    for (size_t at = 0; at < size; at += piece)
        lines_feed(&lines, (const char *)data + at, size - at < piece ? size - at : piece);
    lines_end(&lines);
    lines_fini(&lines);
}

static void check_safe(const uint8_t *data, size_t size)
{
    struct safe safe = {0};
    struct buf out = BUF_INIT;
    safe_feed(&safe, (const char *)data, size, &out);
    for (size_t i = 0; i + 1 < out.len; i++)
        if (out.data[i] == 033)
            BUG_UNLESS(strchr("[()#DEHM78", out.data[i + 1]) && out.data[i + 1]);
    BUG_UNLESS(out.len == 0 || (!memchr(out.data, 7, out.len) && !memchr(out.data, 0x18, out.len)));
    safe_end(&safe, &out);
    buf_fini(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct told whole = {.text = BUF_INIT}, pieces = {.text = BUF_INIT};
    run(data, size, size ? size : 1, &whole);
    run(data, size, 3, &pieces);
    BUG_UNLESS(whole.text.len == pieces.text.len && (whole.text.len == 0 || memcmp(whole.text.data, pieces.text.data, whole.text.len) == 0));
    buf_fini(&whole.text);
    buf_fini(&pieces.text);
    check_safe(data, size);
    return 0;
}
