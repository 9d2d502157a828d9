/* part.c: owns the calling of the parts. */
#include "session/part.h"
#include "base/bug.h"
#include "session/internal.h"

/* For all rows that have the event. */
#define EACH(registry, row, event) \
    for (const struct part *const *row = (registry)->above.parts; row && *row; row++) \
        if ((*row)->event)

static size_t part_count(const struct registry *registry)
{
    size_t n = 0;
    while (registry->above.parts && registry->above.parts[n])
        n++;
    return n;
}

void part_init(struct registry *registry)
{
    EACH(registry, row, init) (*row)->init(registry);
}

void part_close(struct registry *registry)
{
    EACH(registry, row, close) (*row)->close(registry);
}

void part_fini(struct registry *registry)
{
    for (size_t i = part_count(registry); i-- > 0;)
        if (registry->above.parts[i]->fini)
            registry->above.parts[i]->fini(registry);
    for (int id = 0; id < PART_COUNT; id++)
        BUG_UNLESS(!registry->part[id]);
}

void part_reload(struct registry *registry)
{
    EACH(registry, row, reload) (*row)->reload(registry);
}

void part_boot(struct registry *registry)
{
    EACH(registry, row, boot) (*row)->boot(registry);
}

void part_stopping(struct registry *registry)
{
    EACH(registry, row, stopping) (*row)->stopping(registry);
}

bool part_is_idle(const struct registry *registry)
{
    EACH(registry, row, is_idle)
        if (!(*row)->is_idle(registry))
            return false;
    return true;
}

void part_turn_end(struct registry *registry)
{
    EACH(registry, row, turn_end) (*row)->turn_end(registry);
}

bool part_take_slot(struct registry *registry, uint64_t slot, int fds[])
{
    EACH(registry, row, take_slot) {
        if ((*row)->slot != slot)
            continue;
        (*row)->take_slot(registry, fds);
        return true;
    }
    return false;
}

bool part_has_slot(const struct registry *registry, uint64_t slot)
{
    EACH(registry, row, slot)
        if ((*row)->slot == slot)
            return true;
    return false;
}

void part_hold(struct registry *registry)
{
    EACH(registry, row, hold) (*row)->hold(registry);
}

int part_admit(struct session *session, const struct session_spec *spec, struct err *err)
{
    EACH(session->registry, row, admit) {
        int code = (*row)->admit(session, spec, err);
        if (code)
            return code;
    }
    return 0;
}

void part_began(struct session *session)
{
    EACH(session->registry, row, began) (*row)->began(session);
}

void part_adopt(struct session *session)
{
    EACH(session->registry, row, adopt) (*row)->adopt(session);
}

bool part_prompt(struct session *session)
{
    EACH(session->registry, row, prompt)
        if ((*row)->prompt(session))
            return true;
    return false;
}

void part_look(struct session *session, uint64_t seen_head)
{
    EACH(session->registry, row, look) (*row)->look(session, seen_head);
}

void part_late_look(struct session *session)
{
    EACH(session->registry, row, late_look) (*row)->late_look(session);
}

void part_ended(struct session *session)
{
    EACH(session->registry, row, ended) (*row)->ended(session);
}

bool part_holds_leader(const struct session *session)
{
    EACH(session->registry, row, holds_leader)
        if ((*row)->holds_leader(session))
            return true;
    return false;
}

void part_forget(struct session *session, bool told)
{
    EACH(session->registry, row, forget) (*row)->forget(session, told);
}

void part_free(struct session *session)
{
    const struct registry *registry = session->registry;
    for (size_t i = part_count(registry); i-- > 0;)
        if (registry->above.parts[i]->free)
            registry->above.parts[i]->free(session);
    for (int id = 0; id < PART_COUNT; id++)
        BUG_UNLESS(!session->part[id]);
}

void part_hold_session(const struct session *session, int fds[])
{
    EACH(session->registry, row, hold_session) (*row)->hold_session(session, fds);
}

void part_answer(struct session *session)
{
    EACH(session->registry, row, answer) (*row)->answer(session);
}

bool part_answer_late(struct session *session)
{
    EACH(session->registry, row, answer_late)
        if ((*row)->answer_late(session))
            return true;
    return false;
}

int part_check_input(struct session *session, const struct input *input, struct err *err)
{
    int code = 0;
    EACH(session->registry, row, check_input)
        if ((code = (*row)->check_input(session, input, err)) != 0)
            break;
    return code;
}

void part_input(struct session *session, const struct input *input)
{
    EACH(session->registry, row, input) (*row)->input(session, input);
}

void part_typed(struct session *session, const char *data, size_t size, const struct author *author)
{
    EACH(session->registry, row, typed) (*row)->typed(session, data, size, author);
}

void part_resized(struct session *session, const struct part_resize *resize)
{
    EACH(session->registry, row, resized) (*row)->resized(session, resize);
}

void part_renamed(struct session *session, const char *old_name)
{
    EACH(session->registry, row, renamed) (*row)->renamed(session, old_name);
}

void part_end_read(struct session *session)
{
    EACH(session->registry, row, end_read) (*row)->end_read(session);
}

void part_end(struct session *session, enum session_killer killer)
{
    EACH(session->registry, row, end) (*row)->end(session, killer);
}

void part_killed(struct session *session, const char *by, int signo)
{
    EACH(session->registry, row, killed) (*row)->killed(session, by, signo);
}
