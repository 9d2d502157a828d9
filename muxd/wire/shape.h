/* shape: the rows of answers.def as data: what answers, events and notifications have in them. Read
 * by the schemas of answers and by the documentation, by which the tests of the daemon go. */
#ifndef MUXD_WIRE_SHAPE_H
#define MUXD_WIRE_SHAPE_H
#include "wire/event.h"
#include "wire/tool.h"
#include <stdbool.h>

enum shape_id {
    SHAPE_IS_ANY, /* nothing is said about it */
#define SHAPE(ident, ...) SHAPE_IS_##ident,
#define MEMBER(...)
#define END(ident)
#define ANSWERS(tool, shape, other)
#include "wire/answers.def"
#undef SHAPE
#undef MEMBER
#undef END
#undef ANSWERS
    SHAPE_COUNT_
};

enum shape_type {
    SHAPE_NOT, /* no type */
    SHAPE_STRING,
    SHAPE_INTEGER,
    SHAPE_NUMBER,
    SHAPE_BOOLEAN,
    SHAPE_NULL,
    SHAPE_OBJECT,   /* .of */
    SHAPE_ARRAY,    /* of objects, .of */
    SHAPE_STRINGS,  /* array of strings, or null in place of one */
    SHAPE_INTEGERS, /* array of them */
    SHAPE_LISTS,    /* array of arrays of strings or integers */
    SHAPE_MAP,      /* object whose keys are not known before, of strings, or of objects .of */
};

struct shape_member {
    const char *name;
    enum shape_type type, other; /* other: what it may be besides; SHAPE_NOT: nothing */
    enum shape_id of;
    bool shown; /* in the schemas for MCP */
    const char *help;
};

struct shape {
    const char *name;
    const char *help;                   /* NULL: that of the event */
    enum shape_id also;                 /* has all that this one has, too; ANY: none */
    const struct shape_member *members; /* ends with a row whose name is NULL */
};

extern const struct shape shapes[SHAPE_COUNT_];       /* from 1 */
enum shape_id shape_of_tool(enum tool_id tool);       /* of its answer; ANY: inner rows */
enum shape_id shape_other_of_tool(enum tool_id tool); /* that it may be as well; ANY: none */
enum shape_id shape_of_event(enum event_type type);   /* what it has besides EVENT */
/* "string", "array of objects", …; SHAPE_NOT is a bug */
const char *shape_type_words(enum shape_type type);
const char *shape_json_type(enum shape_type type); /* as JSON Schema has it */
#endif
