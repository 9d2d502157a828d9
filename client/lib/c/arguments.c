/* arguments: the argument structs of ue.h as JSON, by tables: a member has the name of the tool's
 * argument. */
#include "base/bug.h"
#include "client/lib/c/client.h"
#include "client/rpc/input.h"
#include <stddef.h>
#include <string.h>

enum kind {
    TEXT = 1, /* const char * */
    SESSION,  /* const char *: a number in digits, or a name */
    LIST,     /* const char *const *, NULL at the end */
    ENV,      /* the same, of "NAME=VALUE" */
    JSON,     /* const char *: a JSON value */
    CHARS,    /* const char *, and its size_t at .other */
    YES,      /* bool: only true is told */
    EXACT,    /* bool: the encoding of output: base64 where it is true */
    CHOICE,   /* int: UE_YES, UE_NO or 0 */
    COUNT,    /* int64_t: 0 is not told */
    YIELD,    /* int64_t: UE_AT_ONCE, UE_FOREVER, 0 is not told */
    OFFSET,   /* int64_t: 0 is told when the bool at .other is set */
};

struct field {
    const char *name;
    enum kind kind;
    size_t at, other;
};

#define AT(member) offsetof(struct ARGS, member)
#define FIELD(member, kind)                                                                        \
    {                                                                                              \
#member, kind, AT(member), 0                                                               \
    }
#define WAIT_FIELDS                                                                                \
    FIELD(until, TEXT), FIELD(fail_on, TEXT), {"until", LIST, AT(until_any), 0},                   \
        {"fail_on", LIST, AT(fail_on_any), 0}, FIELD(ready, CHOICE), FIELD(exit, YES),             \
        FIELD(line, YES), FIELD(count, COUNT), FIELD(quiet_ms, COUNT),                             \
        FIELD(yield_time_ms, YIELD), FIELD(max_bytes, COUNT), FIELD(text, YES)

#define ARGS ue_exec_command_args
static const struct field of_exec_command[] = {FIELD(cmd, TEXT),
                                               {"cmd", LIST, AT(argv), 0},
                                               WAIT_FIELDS,
                                               FIELD(tty, YES),
                                               {"stdin", YES, AT(stdin_open), 0},
                                               FIELD(name, TEXT),
                                               FIELD(workdir, TEXT),
                                               FIELD(shell, TEXT),
                                               FIELD(sandbox, TEXT),
                                               FIELD(env, ENV),
                                               FIELD(login, CHOICE),
                                               FIELD(rows, COUNT),
                                               FIELD(cols, COUNT),
                                               {0}};
#undef ARGS
#define ARGS ue_write_stdin_args
static const struct field of_write_stdin[] = {FIELD(session_id, SESSION),
                                              {"chars", CHARS, AT(chars), AT(chars_size)},
                                              FIELD(keys, LIST),
                                              WAIT_FIELDS,
                                              FIELD(submit, YES),
                                              FIELD(paste, YES),
                                              FIELD(eof, YES),
                                              FIELD(peek, YES),
                                              {"since", OFFSET, AT(since), AT(has_since)},
                                              {0}};
#undef ARGS
#define ARGS ue_read_output_args
static const struct field of_read_output[] = {FIELD(session_id, SESSION),
                                              WAIT_FIELDS,
                                              FIELD(peek, YES),
                                              {"since", OFFSET, AT(since), AT(has_since)},
                                              {"to", OFFSET, AT(to), AT(has_to)},
                                              {0}};
#undef ARGS
#define ARGS ue_run_command_args
static const struct field of_run_command[] = {
    FIELD(session_id, SESSION),        FIELD(command, TEXT),
    {"encoding", EXACT, AT(exact), 0}, FIELD(interrupt_incomplete, YES),
    FIELD(yield_time_ms, YIELD),       {0}};
#undef ARGS
#define ARGS ue_list_sessions_args
static const struct field of_list_sessions[] = {FIELD(all, YES), {0}};
#undef ARGS
#define ARGS ue_kill_session_args
static const struct field of_kill_session[] = {
    FIELD(session_id, SESSION), FIELD(signal, TEXT), FIELD(all, YES), {0}};
#undef ARGS
#define ARGS ue_read_screen_args
static const struct field of_read_screen[] = {
    FIELD(session_id, SESSION), FIELD(format, TEXT),
    FIELD(wait_change, TEXT),   FIELD(history, COUNT),
    FIELD(stable_ms, COUNT),    FIELD(yield_time_ms, YIELD),
    FIELD(join, YES),           {0}};
#undef ARGS
#define ARGS ue_run_steps_args
static const struct field of_run_steps[] = {FIELD(session_id, SESSION), FIELD(steps, JSON), {0}};
#undef ARGS
#define ARGS ue_subscribe_args
static const struct field of_events[] = {FIELD(types, LIST),
                                         FIELD(session_id, SESSION),
                                         {"since", OFFSET, AT(since), AT(has_since)},
                                         {0}};
#undef ARGS

static const struct row {
    enum tool_id tool;
    const struct field *fields;
    size_t size;
} rows[] = {
    {TOOL_EXEC_COMMAND, of_exec_command, sizeof(struct ue_exec_command_args)},
    {TOOL_WRITE_STDIN, of_write_stdin, sizeof(struct ue_write_stdin_args)},
    {TOOL_RUN_COMMAND, of_run_command, sizeof(struct ue_run_command_args)},
    {TOOL_READ_OUTPUT, of_read_output, sizeof(struct ue_read_output_args)},
    {TOOL_LIST_SESSIONS, of_list_sessions, sizeof(struct ue_list_sessions_args)},
    {TOOL_KILL_SESSION, of_kill_session, sizeof(struct ue_kill_session_args)},
    {TOOL_READ_SCREEN, of_read_screen, sizeof(struct ue_read_screen_args)},
    {TOOL_RUN_STEPS, of_run_steps, sizeof(struct ue_run_steps_args)},
    {TOOL_EVENTS, of_events, sizeof(struct ue_subscribe_args)},
};

static const char *text_at(const char *args, size_t at)
{
    const char *text;
    memcpy(&text, args + at, sizeof text);
    return text;
}

static int64_t number_at(const char *args, size_t at)
{
    int64_t number;
    memcpy(&number, args + at, sizeof number);
    return number;
}

/* No name consists of digits. */
static struct json *session_json(const char *text)
{
    int64_t number = 0;
    size_t len = strlen(text);
    if (len == 0 || len > 15 || strspn(text, "0123456789") != len)
        return json_string_new(text, len);
    for (const char *at = text; *at; at++)
        number = number * 10 + (*at - '0');
    return json_int_new(number);
}

static struct json *list_json(const char *const *list)
{
    struct json *array = json_array_new();
    for (; *list; list++)
        json_add_text(array, NULL, *list);
    return array;
}

static int env_json(struct json *params, const char *const *list, struct err *err)
{
    struct json *env = json_add_object(params, "env");
    for (; *list; list++) {
        const char *equals = strchr(*list, '=');
        struct buf name = BUF_INIT;
        if (!equals)
            return err_set(err, ERR_ARGUMENTS, "'%s': no variable; write NAME=VALUE", *list);
        buf_append(&name, *list, (size_t)(equals - *list));
        json_free(json_detach(env, name.data ? name.data : ""));
        json_add_text(env, name.data ? name.data : "", equals + 1);
        buf_fini(&name);
    }
    return 0;
}

static int steps_json(struct json *params, const char *name, const char *text, struct err *err)
{
    struct json *value = json_parse(text, strlen(text), err);
    if (!value) {
        err_prefix(err, "`%s`", name);
        return err->code = ERR_ARGUMENTS;
    }
    json_add(params, name, value);
    return 0;
}

static void yield_json(struct json *params, const char *name, int64_t yield_ms)
{
    if (yield_ms > JSON_INTEGER_MAX)
        json_add_bool(json_add_object(params, "_meta"), "no_deadline", true);
    else
        json_add_int(params, name, yield_ms < 0 ? 0 : yield_ms);
}

static int arguments_text(struct json *params, const struct field *field, const char *args,
                          struct err *err)
{
    const char *text = text_at(args, field->at);
    const char *const *list;
    memcpy(&list, args + field->at, sizeof list);
    if (!text)
        return 0;
    if (json_get(params, field->name))
        return err_set(err, ERR_ARGUMENTS, "`%s` is given twice: as one, and as several",
                       field->name);
    switch (field->kind) {
    case SESSION: json_add(params, field->name, session_json(text)); return 0;
    case LIST: json_add(params, field->name, list_json(list)); return 0;
    case ENV: return env_json(params, list, err);
    case JSON: return steps_json(params, field->name, text, err);
    case CHARS: {
        size_t size;
        memcpy(&size, args + field->other, sizeof size);
        input_add_chars(params, text, size ? size : strlen(text));
        return 0;
    }
    default: json_add_text(params, field->name, text); return 0;
    }
}

static int arguments_number(struct json *params, const struct field *field, const char *args,
                            struct err *err)
{
    int choice;
    int64_t number;
    switch (field->kind) {
    case YES:
        if (args[field->at])
            json_add_bool(params, field->name, true);
        return 0;
    case EXACT: json_add_text(params, field->name, args[field->at] ? "base64" : "utf8"); return 0;
    case CHOICE:
        memcpy(&choice, args + field->at, sizeof choice);
        if (choice)
            json_add_bool(params, field->name, choice > 0);
        return 0;
    default: number = number_at(args, field->at);
    }
    if (number == 0 && !(field->kind == OFFSET && args[field->other]))
        return 0;
    if (field->kind == YIELD)
        yield_json(params, field->name, number);
    else if (number < 0 || number > JSON_INTEGER_MAX)
        return err_set(err, ERR_ARGUMENTS, "`%s`: %lld is out of range", field->name,
                       (long long)number);
    else
        json_add_int(params, field->name, number);
    return 0;
}

/* The caller's struct as ours: members that it has not are 0; what it has more must be 0, too. */
static int arguments_fit(char *room, size_t wanted, const void *args, size_t size, struct err *err)
{
    for (size_t at = wanted; at < size; at++)
        if (((const char *)args)[at])
            return err_set(err, ERR_ARGUMENTS,
                           "this libue (" MUXD_VERSION ") is older than the program that uses it, "
                           "and does not know an argument; install the newer one");
    memset(room, 0, wanted);
    if (args)
        memcpy(room, args, size < wanted ? size : wanted);
    return 0;
}

static const struct row *arguments_row(const struct tool *tool)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (&tools[rows[i].tool] == tool)
            return &rows[i];
    BUG("'%s' has no struct of arguments", tool->name);
}

struct json *arguments_make(const struct tool *tool, const void *args, size_t size, struct err *err)
{
    _Alignas(max_align_t) char room[512];
    const struct row *row = arguments_row(tool);
    BUG_UNLESS(row->size <= sizeof room);
    int result = arguments_fit(room, row->size, args, size, err);
    struct json *params = json_object_new();
    for (const struct field *it = row->fields; result == 0 && it->name; it++)
        result = it->kind <= CHARS ? arguments_text(params, it, room, err)
                                   : arguments_number(params, it, room, err);
    if (result == 0 && !json_get(params, "text") && !json_get(params, "encoding") &&
        tool_arg_by_name(tool, "encoding"))
        json_add_text(params, "encoding", "base64");
    if (result == 0)
        return params;
    json_free(params);
    return NULL;
}
