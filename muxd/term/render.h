/* render: a screen as text, text with colours, HTML or SVG. Of the program's bytes the result holds
 * only characters: it is safe to print. */
#ifndef MUXD_TERM_RENDER_H
#define MUXD_TERM_RENDER_H
#include "term/screen.h"

enum render_format { RENDER_TEXT, RENDER_ANSI, RENDER_HTML, RENDER_SVG };

struct render_options {
    enum render_format format;
    bool join;      /* joins wrapped lines */
    bool cursor;    /* shown in HTML and SVG */
    size_t history; /* lines of the scrollback before the screen (main screen only) */
};

#define RENDER_LINE_MAX (512u << 10) /* bytes of one line at most */
/* Blanks at the ends of lines and empty lines at the end are left out; each line ends with a
 * newline. False: out was within RENDER_LINE_MAX of its max, and the drawing is not whole. */
bool render(const struct screen *screen, const struct render_options *options, struct buf *out);
bool render_format(const char *word, enum render_format *format); /* text, ansi, html, svg */
#endif
