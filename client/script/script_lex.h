/* script_lex: a line of a script as words. */
#ifndef MUXD_CLIENT_SCRIPT_LEX_H
#define MUXD_CLIENT_SCRIPT_LEX_H
#include "client/script/script.h"

struct script_line {
    bool closes, opens; /* begins with }, ends with { */
    struct script_word *words;
    size_t count;
};

/* Without its line end. 0 or an error, whose text names no line. script_line_fini in any case. */
int script_lex(struct script_line *line, const char *data, size_t size, struct err *err);
void script_line_fini(struct script_line *line);
void script_word_fini(struct script_word *word);
#endif
