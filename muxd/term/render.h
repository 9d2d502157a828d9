/* render: a screen as text, as text with colours, as a page, as a picture. What comes out holds no
 * byte that a program wrote but characters: safe to print. */
#ifndef MUXD_TERM_RENDER_H
#define MUXD_TERM_RENDER_H
#include "term/screen.h"

enum render_format { RENDER_TEXT, RENDER_ANSI, RENDER_HTML, RENDER_SVG };

struct render_options {
    enum render_format format;
    bool join;      /* wrapped lines in one */
    bool cursor;    /* HTML, SVG: show it */
    size_t history; /* so many lines of the scrollback before the screen (main screen only) */
};

#define RENDER_LINE_MAX (512u << 10) /* bytes of one line at most, in any format */
/* Blanks at the ends of lines and empty lines at the end are left out; each line ends with a
 * newline. False: out's max came nearer than RENDER_LINE_MAX, and the drawing is not whole. */
bool render(const struct screen *screen, const struct render_options *options, struct buf *out);
bool render_format(const char *word, enum render_format *format); /* text, ansi, html, svg */
#endif
