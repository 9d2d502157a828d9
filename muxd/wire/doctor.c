/* doctor: owns the form of the rows of `ue doctor`, and their order. */
#include "wire/doctor.h"
#include "base/bug.h"
#include <string.h>

const struct doctor_row doctor_rows[DOCTOR_COUNT_] = {
#define DOCTOR(ident, ...) [DOCTOR_##ident] = {__VA_ARGS__},
#include "wire/doctor.def"
#undef DOCTOR
};

const char *doctor_state_word(enum doctor_state state)
{
    static const char *const words[] = {"ok", "advice", "bad"};
    BUG_UNLESS(state <= DOCTOR_BAD);
    return words[state];
}

void doctor_add(struct json *rows, enum doctor_id id, struct doctor_say say, const char *format,
                ...)
{
    struct buf found = BUF_INIT;
    va_list args;
    BUG_UNLESS(id < DOCTOR_COUNT_);
    struct json *row = json_add_object(rows, NULL);
    va_start(args, format);
    buf_vprintf(&found, format, args);
    va_end(args);
    json_add_text(row, "name", doctor_rows[id].name);
    json_add_text(row, "state", doctor_state_word(say.state));
    json_add_str(row, "found", found.data ? found.data : "", found.len);
    if (say.means)
        json_add_text(row, "means", say.means);
    if (say.todo)
        json_add_text(row, "do", say.todo);
    buf_fini(&found);
}

void doctor_person(struct json *rows, const char *why)
{
    const struct doctor_say say = {
        DOCTOR_ADVICE,
        "ue attach only looks on from here, and ue secret, approve and deny are refused, as for "
        "scripts and agents",
        "use a terminal of your own, outside of all sessions"};
    if (why)
        doctor_add(rows, DOCTOR_PERSON, say, "you don't count as one: %s", why);
    else
        doctor_add(rows, DOCTOR_PERSON, DOCTOR_FINE, "you count as one, at a terminal");
}

static void take_named(struct json *into, const struct json *rows, const char *name)
{
    for (const struct json *it = json_first(rows); it; it = json_next(it)) {
        const char *own = json_get_str(it, "name", NULL);
        if (own && strcmp(own, name) == 0)
            json_add(into, NULL, json_copy(it));
    }
}

struct json *doctor_sorted(const struct json *some, const struct json *others)
{
    struct json *all = json_array_new();
    for (size_t id = 0; id < DOCTOR_COUNT_; id++) {
        take_named(all, some, doctor_rows[id].name);
        take_named(all, others, doctor_rows[id].name);
    }
    return all;
}

size_t doctor_count(const struct json *rows, enum doctor_state state)
{
    size_t count = 0;
    for (const struct json *it = json_first(rows); it; it = json_next(it)) {
        const char *word = json_get_str(it, "state", NULL);
        count += word && strcmp(word, doctor_state_word(state)) == 0;
    }
    return count;
}
