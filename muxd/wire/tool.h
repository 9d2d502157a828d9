/* tool: the rows of tools.def as data: every method of the wire with its arguments. Read by
 * validation, the schemas, the dispatch table and the documentation. */
#ifndef MUXD_WIRE_TOOL_H
#define MUXD_WIRE_TOOL_H
#include <stdbool.h>
#include <stdint.h>

enum tool_id {
#define TOOL(ident, ...) TOOL_##ident,
#define ARG(...)
#define END(ident)
#include "wire/tools.def"
#undef TOOL
#undef ARG
#undef END
    TOOL_COUNT_
};

enum tool_kind {
    TOOL_MODEL,   /* a tool for models as well as for clients */
    TOOL_CONTROL, /* a method for clients: the verbs of ue, and others that they need */
    TOOL_INNER,   /* no method: the rows of an object inside the others (_meta) */
};

enum arg_type {
    ARG_STRING = 1,
    ARG_UINT,     /* integer from .min to .max (both 0: 0 to 2^53) */
    ARG_BOOL,
    ARG_COMMAND,  /* string for a shell, or array of strings = argv */
    ARG_SESSION,  /* number, or name */
    ARG_SESSIONS, /* array of ARG_SESSION */
    ARG_STRINGS,  /* array of strings */
    ARG_PATTERNS, /* string, array of strings, or object of strings by name */
    ARG_ENV,      /* object of strings, keys are names of variables */
    ARG_OBJECTS,  /* array of objects, which the handler checks */
    ARG_OBJECT,   /* any object */
    ARG_ID,       /* a request's id: integer or string */
};

enum arg_flags {
    ARG_REQUIRED = 1, /* its absence is refused, but where .unless is given */
    /* taken as Codex takes it, and in a schema only where the daemon's policy gives it an effect */
    ARG_UNSHOWN = 2,
    ARG_MUXD = 4, /* an addition of muxd; without this flag: a field of Codex */
    /* a string that becomes a C string in the kernel: a NUL is refused */
    ARG_NO_NUL = 16,
    ARG_PLUMBING = 32, /* for programs, not for models: left out where tokens count (MCP) */
};

enum tool_hints { /* what MCP calls annotations */
    TOOL_READ_ONLY = 1,
    TOOL_DESTRUCTIVE = 2,
    TOOL_IDEMPOTENT = 4,
    TOOL_OPEN_WORLD = 8,
};

struct tool_arg {
    const char *name;
    const char *alias;     /* another name, which schema_check renames to .name */
    enum arg_type type;
    unsigned flags;
    /* ARG_UINT: bounds; strings and arrays: .max bytes or items, 0: only the request's cap */
    int64_t min, max;
    /* default as text ("10000", "false", "use_default"); NULL: none, or the help explains it */
    const char *fallback;
    const char *choices;    /* words separated by blanks, the only values of a string; NULL: any */
    const char *needs;      /* another argument that must be there, too … */
    const char *needs_text; /* … and the refusal when it is missing */
    const char *unless;     /* another argument in whose place this one is required */
    const char *help;       /* for schemas and documentation */
    const char *plain_help; /* for schemas that show one type or choice; NULL: help */
};

struct tool {
    const char *name;
    enum tool_kind kind;
    bool own; /* a tool of muxd, unknown to Codex: its schema always has muxd's arguments */
    const char *title;     /* for people, in two or three words; models' tools only */
    unsigned hints;        /* enum tool_hints */
    const char *description;
    const char *grammar; /* of a tool whose whole input is text: in Lark's notation; NULL: none */
    const struct tool_arg *args; /* ends with a row whose name is NULL */
};

extern const struct tool tools[TOOL_COUNT_];
/* NULL: no method of that name (inner rows are none) */
const struct tool *tool_by_name(const char *name);
/* the nearest method's name, NULL: none is near */
const char *tool_nearest(const char *name);
/* by name or alias; NULL */
const struct tool_arg *tool_arg_by_name(const struct tool *tool, const char *name);
#endif
