/* script: a file of `ue script` as a tree of commands. Pure: text in, tree out; nothing is run,
 * read or asked here. ue-script(7) is the language. A tree owns everything in it. */
#ifndef MUXD_CLIENT_SCRIPT_H
#define MUXD_CLIENT_SCRIPT_H
#include "base/buf.h"
#include "base/err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A script is foreign text: whatever it can make grow has a cap. */
#define SCRIPT_BYTES_MAX (1u << 20)
#define SCRIPT_LINE_MAX 65536 /* bytes */
#define SCRIPT_COMMANDS_MAX 20000
#define SCRIPT_WORDS_MAX 256      /* of a command */
#define SCRIPT_NESTING_MAX 32     /* blocks in each other */
#define SCRIPT_REPEAT_MAX 1000000 /* rounds of a `repeat` */
#define SCRIPT_AGAIN_MAX 100000   /* of an `expect` */
#define SCRIPT_ARMS_MAX 16        /* alternatives of an `expect` */
#define SCRIPT_NAME_MAX 63        /* bytes of a variable's name */

enum script_id {
#define WORD(ident, ...) SCRIPT_##ident,
#include "client/script/words.def"
#undef WORD
    SCRIPT_ID_COUNT
};

enum script_block { SCRIPT_BLOCK_NONE, SCRIPT_BLOCK_ALLOWED, SCRIPT_BLOCK_NEEDED };

struct script_row {
    const char *name, *usage;
    bool session;        /* acts on a session: @NAME may stand before it */
    bool arm;            /* an alternative of `expect` */
    int min, max;        /* operands behind its options; max -1: any number */
    const char *options; /* names, separated by blanks; NULL: none */
    enum script_block block;
};
extern const struct script_row script_rows[SCRIPT_ID_COUNT];

/* Literal bytes, or the name of a variable with what stands for it when it is empty. */
struct script_part {
    bool variable;
    char *text; /* NUL-terminated, too; may hold NULs unless it is a name */
    size_t len;
    char *fallback; /* of a variable; NULL: none */
};

struct script_word {
    struct script_part *parts;
    size_t count; /* 0: the empty word */
    bool quoted;
};

struct script_given { /* an option that was given */
    const char *name; /* static */
    struct script_word value;
};

struct script_node {
    enum script_id id;
    unsigned line; /* from 1 */
    bool has_session;
    struct script_word session; /* of @NAME */
    struct script_given *options;
    size_t option_count;
    struct script_word *words; /* operands */
    size_t count;
    bool has_block;
    struct script_node *body;   /* of a block; NULL: an empty one */
    struct script_node *branch; /* of `if`: the `if` or `else` behind its block */
    struct script_node *next;
};

struct script {
    char *name; /* of the file, for messages */
    struct script_node *first;
    size_t commands;
    bool uses_before; /* ${before} is read somewhere */
};

/* Parses and checks a whole script: words, options, numbers, blocks, variables. 0; or ERR_USAGE
 * with a text that begins with the quoted 'NAME:LINE', ERR_TOO_LARGE over a cap. Call script_fini
 * in any case. */
int script_parse(struct script *script, const char *name, const char *data, size_t size,
                 struct err *err);
void script_fini(struct script *script); /* safe on a zeroed one */

/* The value of a word without variables; NULL: it has some, or a NUL byte. */
const char *script_literal(const struct script_word *word);
/* The value of an option of this command; NULL: not given. last: as in args_next. */
const struct script_given *script_option(const struct script_node *node, const char *name,
                                         const struct script_given *last);
/* script_check.c: whether values, which may have come from variables, are what the command takes.
 * count: without options. 0 or ERR_USAGE; the text names no line. */
int script_check_values(enum script_id id, const char *const *values, size_t count,
                        struct err *err);
int script_check_option(const char *name, const char *value, struct err *err);
int script_check_session(const char *name, struct err *err);
/* Which alternatives an expect has: not too many, and something to wait for. */
int script_check_arms(const struct script_node *expect, struct err *err);
/* script_names.c: each variable that is read is set somewhere. The text names file and line. */
int script_check_names(struct script *script, struct err *err);
/* [A-Za-z_][A-Za-z0-9_]*, and none that the language sets itself */
bool script_is_variable(const char *name);

/* script_show.c: one command in its shortest form, in one line without a newline, not its block.
 * Parsed again it gives the same. */
void script_show(struct buf *out, const struct script_node *node);
void script_show_options(struct buf *out, const struct script_node *node);
/* A value as a word, quoted where it has to be. */
void script_show_value(struct buf *out, const char *data, size_t len);
#endif
