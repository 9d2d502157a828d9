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
    TOOL_MODEL,   /* a tool that models are given, too */
    TOOL_CONTROL, /* a verb of ue, and what clients need besides */
    TOOL_INNER,   /* no method: rows of an object inside the others (_meta) */
};

enum arg_type {
    ARG_STRING = 1,
    ARG_UINT,     /* integer from .min to .max (both 0: 0 to 2^53) */
    ARG_BOOL,
    ARG_COMMAND,  /* string for a shell, or array of strings = argv */
    ARG_SESSION,  /* number, or name */
    ARG_SESSIONS, /* array of ARG_SESSION */
    ARG_STRINGS,  /* array of strings */
    ARG_ENV,      /* object of strings, keys are names of variables */
    ARG_OBJECTS,  /* array of objects, each the handler's to check */
    ARG_OBJECT,   /* any object */
    ARG_ID,       /* a request's id: integer or string */
};

enum arg_flags {
    ARG_REQUIRED = 1, /* its absence is refused */
    /* the schema lists it as required, but its absence is the handler's to answer (own text) */
    ARG_ADVERTISED = 2,
    ARG_MUXD = 4, /* an addition of muxd's; without it: a field of Codex */
    /* part of the schema; anything but .fallback is ERR_NOT_AVAILABLE in this version */
    ARG_DEFAULT_ONLY = 8,
    ARG_PLUMBING = 32, /* for programs, not for models: left out where tokens count (MCP) */
    /* a string that becomes a C string in the kernel: NUL refused (the parser refuses the escape
     * already) */
    ARG_NO_NUL = 16,
};

enum tool_hints { /* what MCP calls annotations */
    TOOL_READ_ONLY = 1,
    TOOL_DESTRUCTIVE = 2,
    TOOL_IDEMPOTENT = 4,
    TOOL_OPEN_WORLD = 8,
};

struct tool_arg {
    const char *name;
    const char *alias;     /* another name for it; renamed to .name by schema_check */
    enum arg_type type;
    unsigned flags;
    /* ARG_UINT: bounds; strings and arrays: .max bytes or items, 0: only the request's cap */
    int64_t min, max;
    /* default as text ("10000", "false", "use_default"); NULL: none, or it depends (help says on
     * what) */
    const char *fallback;
    const char *choices;   /* words separated by blanks, the only values of a string; NULL: any */
    const char *needs;     /* another argument that must be there too … */
    const char *needs_text; /* … and the text of the refusal when it isn't */
    const char *help;      /* for schemas and documentation */
};

struct tool {
    const char *name;
    enum tool_kind kind;
    /* muxd's tool, unknown to Codex: its schema has muxd's arguments always */
    bool own;
    const char *title;     /* for people, in two or three words; models' tools only */
    unsigned hints;        /* enum tool_hints */
    const char *description;
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
