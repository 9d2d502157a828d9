/* gen_library: owns the generated part of ue.h: the errors, as C constants. Their numbers are those
 * of the wire, of which each belongs to one error only; what only a command line can meet has
 * none. */
#include "base/bug.h"
#include "client/verbs/gen.h"
#include <string.h>

static const struct {
    const char *ident, *name, *help;
    int exit, rpc;
} rows[] = {
#define ERROR(text, ...) {.ident = #text, __VA_ARGS__},
#include "base/errors.def"
#undef ERROR
};

static void append_codes(struct buf *out)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(rows[i].name, "usage") == 0)
            continue;
        for (size_t j = 0; j < i; j++)
            BUG_UNLESS(rows[i].rpc != rows[j].rpc);
        buf_printf(out, "    /* %s */\n    UE_ERR_%s = %d,\n", rows[i].help, rows[i].ident,
                   rows[i].rpc);
    }
}

int gen_library(struct buf *out, const char *dir, struct err *err)
{
    static const struct gen_part parts[] = {{"errors", append_codes}, {0}};
    return gen_fill(out, dir, GEN_LIBRARY_HEADER, &(struct gen_marks){"    /* ", " */", 0}, parts,
                    err);
}
