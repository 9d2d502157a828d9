/* paste: owns which bytes of a text a paste lets through. */
#include "term/paste.h"
#include <string.h>

/* C1 controls as UTF-8: U+0080 to U+009F; U+009B is CSI. */
static bool is_c1(const char *text, size_t size, size_t at)
{
    return (unsigned char)text[at] == 0xc2 && at + 1 < size &&
           (unsigned char)text[at + 1] >= 0x80 && (unsigned char)text[at + 1] <= 0x9f;
}

void paste_append(struct buf *out, const char *text, size_t size, bool bracketed)
{
    if (bracketed)
        buf_append_text(out, "\033[200~");
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '\n' && i > 0 && text[i - 1] == '\r')
            continue;
        if (c == '\n' || c == '\r')
            buf_append_byte(out, '\r');
        else if (is_c1(text, size, i))
            i++;
        else if (c == '\t' || (c >= ' ' && c != 0177))
            buf_append_byte(out, (char)c);
    }
    if (bracketed)
        buf_append_text(out, "\033[201~");
}
