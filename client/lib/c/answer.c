/* answer: owns the answers that the caller of the library has. Their texts are borrowed from the
 * JSON of the line, which lives as long. */
#include "base/bug.h"
#include "base/mem.h"
#include "client/lib/c/client.h"
#include "wire/base64.h"
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct answer_box {
    struct ue_answer shown; /* first: the caller's pointer is ours */
    struct msg_answer from;
    struct buf output, json;
    struct ue_session *sessions; /* and the pointers to them */
    const struct ue_session **session_list;
    struct ue_match match;
    const char **groups;
    struct ue_answer *steps;
    const struct ue_answer **step_list;
};

enum kind {
    TEXT = 1, /* const char * */
    SIZED,    /* const char *, and its size_t at .other */
    COUNT,    /* int64_t */
    NUMBER,   /* int */
    TRUTH,    /* bool */
    SECONDS,  /* double */
};

struct member {
    const char *name;
    enum kind kind;
    size_t at, other;
};

#define OF(struct_name, member, kind)                                                              \
    {                                                                                              \
#member, kind, offsetof(struct struct_name, member), 0                                     \
    }
static const struct member of_answer[] = {
    {"output", SIZED, offsetof(struct ue_answer, output), offsetof(struct ue_answer, output_size)},
    {"screen", SIZED, offsetof(struct ue_answer, screen), offsetof(struct ue_answer, screen_size)},
    OF(ue_answer, from, COUNT),
    OF(ue_answer, to, COUNT),
    OF(ue_answer, omitted_bytes, COUNT),
    OF(ue_answer, number, COUNT),
    OF(ue_answer, name, TEXT),
    OF(ue_answer, state, TEXT),
    OF(ue_answer, exit_code, NUMBER),
    OF(ue_answer, signal, TEXT),
    OF(ue_answer, reason, TEXT),
    OF(ue_answer, evidence, TEXT),
    OF(ue_answer, waiting_for, TEXT),
    OF(ue_answer, children_left, COUNT),
    OF(ue_answer, wall_time_seconds, SECONDS),
    OF(ue_answer, command, TEXT),
    OF(ue_answer, cwd, TEXT),
    OF(ue_answer, start, TEXT),
    OF(ue_answer, end, TEXT),
    OF(ue_answer, by, TEXT),
    OF(ue_answer, status, NUMBER),
    OF(ue_answer, id, COUNT),
    OF(ue_answer, incomplete, TRUTH),
    OF(ue_answer, title, TEXT),
    OF(ue_answer, hash, TEXT),
    OF(ue_answer, rows, NUMBER),
    OF(ue_answer, cols, NUMBER),
    OF(ue_answer, completed, COUNT),
    {0}};
static const struct member of_match[] = {
    {"text", SIZED, offsetof(struct ue_match, text), offsetof(struct ue_match, text_size)},
    {"line", SIZED, offsetof(struct ue_match, line), offsetof(struct ue_match, line_size)},
    OF(ue_match, name, TEXT),
    OF(ue_match, pattern, TEXT),
    OF(ue_match, index, COUNT),
    OF(ue_match, from, COUNT),
    OF(ue_match, to, COUNT),
    {0}};
static const struct member of_session[] = {OF(ue_session, session_id, COUNT),
                                           OF(ue_session, name, TEXT),
                                           OF(ue_session, state, TEXT),
                                           OF(ue_session, waiting_for, TEXT),
                                           OF(ue_session, cmd, TEXT),
                                           OF(ue_session, cwd, TEXT),
                                           OF(ue_session, created, TEXT),
                                           OF(ue_session, ended, TEXT),
                                           OF(ue_session, signal, TEXT),
                                           OF(ue_session, ended_by, TEXT),
                                           OF(ue_session, exit_code, NUMBER),
                                           OF(ue_session, pid, NUMBER),
                                           OF(ue_session, output_bytes, COUNT),
                                           OF(ue_session, unread_bytes, COUNT),
                                           OF(ue_session, survivors, COUNT),
                                           OF(ue_session, tty, TRUTH),
                                           {0}};

/* value: NULL: not told. */
static void answer_set(char *into, const struct member *member, const struct json *value)
{
    int64_t count = -1;
    int number;
    double seconds = 0;
    bool truth = false;
    size_t size = 0;
    const char *text = json_str(value, &size);
    if (member->kind == SIZED)
        memcpy(into + member->other, &size, sizeof size);
    switch (member->kind) {
    case SIZED:
    case TEXT: memcpy(into + member->at, &text, sizeof text); break;
    case COUNT:
        json_int(value, &count);
        memcpy(into + member->at, &count, sizeof count);
        break;
    case NUMBER:
        number = json_int(value, &count) && count >= INT32_MIN && count <= INT32_MAX ? (int)count
                                                                                     : -1;
        memcpy(into + member->at, &number, sizeof number);
        break;
    case TRUTH:
        json_bool(value, &truth);
        memcpy(into + member->at, &truth, sizeof truth);
        break;
    case SECONDS: json_double(value, &seconds); memcpy(into + member->at, &seconds, sizeof seconds);
    }
}

static const struct member *answer_member(const struct member *members, const char *name)
{
    while (members->name && (members->name[0] != name[0] || strcmp(members->name, name) != 0))
        members++;
    return members->name ? members : NULL;
}

/* The answer has fewer members than the struct: each of them is looked at once. */
static void answer_fill(void *into, const struct member *members, const struct json *from)
{
    const struct member *member;
    for (member = members; member->name; member++)
        if (member->kind == COUNT || member->kind == NUMBER) /* all else is 0 already */
            answer_set(into, member, NULL);
    for (const struct json *it = json_first(from); it; it = json_next(it))
        if ((member = answer_member(members, json_key(it))))
            answer_set(into, member, it);
}

static void fill_answer(struct ue_answer *shown, const struct json *from)
{
    int64_t row = -1, col = -1;
    const struct json *cursor = json_get(from, "cursor");
    answer_fill(shown, of_answer, from);
    shown->running = shown->state && strcmp(shown->state, "running") == 0;
    json_get_int(cursor, "row", &row);
    json_get_int(cursor, "col", &col);
    shown->cursor_row = (int)row;
    shown->cursor_col = (int)col;
}

static void fill_output(struct answer_box *box)
{
    size_t len = 0;
    const char *text = json_get_str(box->from.result, "output_base64", &len);
    if (!text)
        return;
    buf_reserve(&box->output, len);
    if (!base64_decode(&box->output, text, len))
        return;
    box->shown.output = box->output.data ? box->output.data : "";
    box->shown.output_size = box->output.len;
}

static void fill_match(struct answer_box *box, const struct json *match)
{
    const struct json *groups = json_get(match, "groups");
    size_t count = json_count(groups), at = 0;
    if (!match)
        return;
    answer_fill(&box->match, of_match, match);
    box->groups = xcalloc(count + 1, sizeof *box->groups);
    for (const struct json *it = json_first(groups); it; it = json_next(it))
        box->groups[at++] = json_str(it, NULL);
    box->match.groups = box->groups;
    box->match.group_count = count;
    box->shown.match = &box->match;
}

static void fill_sessions(struct answer_box *box, const struct json *rows)
{
    size_t count = json_count(rows), at = 0;
    if (count == 0)
        return;
    box->sessions = xcalloc(count, sizeof *box->sessions);
    box->session_list = xcalloc(count, sizeof *box->session_list);
    for (const struct json *it = json_first(rows); it; it = json_next(it), at++) {
        answer_fill(&box->sessions[at], of_session, it);
        box->session_list[at] = &box->sessions[at];
    }
    box->shown.sessions = box->session_list;
    box->shown.session_count = count;
}

static void fill_steps(struct answer_box *box, const struct json *rows)
{
    size_t count = json_count(rows), at = 0;
    if (count == 0)
        return;
    box->steps = xcalloc(count, sizeof *box->steps);
    box->step_list = xcalloc(count, sizeof *box->step_list);
    for (const struct json *it = json_first(rows); it; it = json_next(it), at++) {
        fill_answer(&box->steps[at], it);
        box->step_list[at] = &box->steps[at];
    }
    box->shown.steps = box->step_list;
    box->shown.step_count = count;
}

struct ue_answer *answer_make(struct msg_answer *answer)
{
    struct answer_box *box = xcalloc(1, sizeof *box);
    BUG_UNLESS(answer->err.code == 0);
    box->from = *answer;
    box->output = box->json = BUF_INIT;
    fill_answer(&box->shown, answer->result);
    fill_output(box);
    fill_match(box, json_get(answer->result, "match"));
    fill_sessions(box, json_get(answer->result, "sessions"));
    fill_steps(box, json_get(answer->result, "steps"));
    return &box->shown;
}

void ue_answer_free(struct ue_answer *answer)
{
    struct answer_box *box = (struct answer_box *)answer;
    if (!box)
        return;
    msg_answer_fini(&box->from);
    buf_fini(&box->output);
    buf_fini(&box->json);
    free(box->groups);
    free(box->sessions);
    free(box->session_list);
    free(box->steps);
    free(box->step_list);
    free(box);
}

const char *ue_answer_json(struct ue_answer *answer, size_t *size)
{
    struct answer_box *box = (struct answer_box *)answer;
    if (box->json.len == 0)
        json_print(&box->json, box->from.result);
    if (size)
        *size = box->json.len;
    return box->json.data;
}
