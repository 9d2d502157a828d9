/* paint_sent: owns what has passed to a terminal beside the drawing. Sources: xterm ctlseqs
 * (OSC 12, 52, 112), "Hyperlinks in terminal emulators" (OSC 8). */
#include "term/paint_sent.h"
#include "base/bug.h"

static void send_cursor(struct paint_sent *sent, uint32_t colour, bool fresh, struct buf *out)
{
    if (colour == sent->cursor && !(fresh && colour != COLOR_DEFAULT))
        return;
    sent->cursor = colour;
    if (colour == COLOR_DEFAULT)
        buf_append_text(out, "\033]112\033\\");
    else
        buf_printf(out, "\033]12;rgb:%02x/%02x/%02x\033\\", colour >> 16 & 255,
                   colour >> 8 & 255, colour & 255);
}

void paint_sent_draw(struct paint_sent *sent, const struct paint_pass *pass,
                     const struct screen *screen, bool fresh, struct buf *out)
{
    uint64_t copies, bells = screen_bells(screen);
    const char *copied = screen_copied(screen, &copies);
    bool rings = sent->began && pass->bell && bells != sent->bells;
    bool copied_now = sent->began && pass->copies && copies != sent->copies;
    BUG_UNLESS(!copied_now || *copied);
    *sent = (struct paint_sent){
        .began = true, .bells = bells, .copies = copies, .cursor = sent->cursor};
    if (pass->cursor)
        send_cursor(sent, colours_get(screen_colours(screen), COLOURS_CURSOR), fresh, out);
    if (rings)
        buf_append_byte(out, '\a');
    if (copied_now)
        buf_printf(out, "\033]52;%s\033\\", copied);
}

/* The number as id joins the parts of a link that are drawn apart. */
void paint_sent_link(const struct screen *screen, uint32_t link, struct buf *out)
{
    const char *target = out->len < PAINT_BYTES ? screen_link(screen, link) : NULL;
    if (target)
        buf_printf(out, "\033]8;id=muxd%u;%s\033\\", (unsigned)link, target);
    else
        buf_append_text(out, "\033]8;;\033\\");
}
