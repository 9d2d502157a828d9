/* doctor: the rows of `ue doctor`. The daemon makes those about itself, `muxd --doctor` the same
 * ones where none runs, and ue those about its caller. A row is an object: name (doctor.def),
 * state, found, and, where there is something to say or to do, means and do. */
#ifndef MUXD_WIRE_DOCTOR_H
#define MUXD_WIRE_DOCTOR_H
#include "wire/json.h"

enum doctor_id {
#define DOCTOR(ident, ...) DOCTOR_##ident,
#include "wire/doctor.def"
#undef DOCTOR
    DOCTOR_COUNT_
};
struct doctor_row {
    const char *name, *help;
};
extern const struct doctor_row doctor_rows[DOCTOR_COUNT_];

enum doctor_state { DOCTOR_OK, DOCTOR_ADVICE, DOCTOR_BAD };
/* "ok", "advice", "bad" */
const char *doctor_state_word(enum doctor_state state);

/* What a row says beside what was found. NULL: nothing. Both borrowed. */
struct doctor_say {
    enum doctor_state state;
    const char *means; /* what follows from it */
    const char *todo;  /* what to type or to set */
};
/* Adds a row to an array; format: what was found. */
void doctor_add(struct json *rows, enum doctor_id id, struct doctor_say say, const char *format,
                ...) __attribute__((format(printf, 4, 5)));
#define DOCTOR_FINE ((struct doctor_say){DOCTOR_OK, NULL, NULL})

/* The row PERSON. why: what is missing, as the rest of a sentence; NULL: a person is here. */
void doctor_person(struct json *rows, const char *why);

/* Puts the rows of both arrays, either of which may be NULL, into a new one, in the table's
 * order. */
struct json *doctor_sorted(const struct json *some, const struct json *others);
/* How many rows are in that state. */
size_t doctor_count(const struct json *rows, enum doctor_state state);
#endif
