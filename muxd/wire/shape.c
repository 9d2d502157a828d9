/* shape: answers.def as tables. */
#include "wire/shape.h"
#include "base/bug.h"
#include <stddef.h>

#define SHAPE(ident, ...) static const struct shape_member members_of_##ident[] = {
#define MEMBER(...) {__VA_ARGS__},
#define END(ident)                                                                                 \
    {                                                                                              \
        .name = NULL                                                                               \
    }                                                                                              \
    }                                                                                              \
    ;
#define ANSWERS(tool, shape, other)
#include "wire/answers.def"
#undef SHAPE
#undef MEMBER
#undef END
#undef ANSWERS

const struct shape shapes[SHAPE_COUNT_] = {
#define SHAPE(ident, ...) [SHAPE_IS_##ident] = {__VA_ARGS__, .members = members_of_##ident},
#define MEMBER(...)
#define END(ident)
#define ANSWERS(tool, shape, other)
#include "wire/answers.def"
#undef SHAPE
#undef ANSWERS
};

static const enum shape_id of_tools[TOOL_COUNT_][2] = {
#define SHAPE(...)
#define ANSWERS(tool, shape, other) [TOOL_##tool] = {SHAPE_IS_##shape, SHAPE_IS_##other},
#include "wire/answers.def"
#undef ANSWERS
#undef SHAPE
#undef MEMBER
#undef END
};

static const enum shape_id of_events[EVENT_COUNT_] = {
#define EVENT(ident, ...) [EVENT_##ident] = SHAPE_IS_EVENT_##ident,
#include "wire/events.def"
#undef EVENT
};

enum shape_id shape_of_tool(enum tool_id tool)
{
    BUG_UNLESS(tool < TOOL_COUNT_ && (of_tools[tool][0] || tools[tool].kind == TOOL_INNER));
    return of_tools[tool][0];
}

enum shape_id shape_other_of_tool(enum tool_id tool)
{
    BUG_UNLESS(tool < TOOL_COUNT_);
    return of_tools[tool][1];
}

enum shape_id shape_of_event(enum event_type type)
{
    BUG_UNLESS(type < EVENT_COUNT_);
    return of_events[type];
}

const char *shape_type_words(enum shape_type type)
{
    static const char *const words[] = {[SHAPE_STRING] = "string",
                                        [SHAPE_INTEGER] = "integer",
                                        [SHAPE_NUMBER] = "number",
                                        [SHAPE_BOOLEAN] = "boolean",
                                        [SHAPE_NULL] = "null",
                                        [SHAPE_OBJECT] = "object",
                                        [SHAPE_ARRAY] = "array of objects",
                                        [SHAPE_STRINGS] = "array of strings",
                                        [SHAPE_INTEGERS] = "array of integers",
                                        [SHAPE_LISTS] = "array of arrays",
                                        [SHAPE_MAP] = "object by name"};
    BUG_UNLESS(type > SHAPE_NOT && type <= SHAPE_MAP);
    return words[type];
}

const char *shape_json_type(enum shape_type type)
{
    switch (type) {
    case SHAPE_OBJECT:
    case SHAPE_MAP: return "object";
    case SHAPE_ARRAY:
    case SHAPE_STRINGS:
    case SHAPE_INTEGERS:
    case SHAPE_LISTS: return "array";
    default: return shape_type_words(type);
    }
}
