/* keyboard_turn.c: owns who waits for a keyboard, and who is told of it and of prompts for a
 * secret. */
#include "base/bug.h"
#include "base/mem.h"
#include "parts/keyboard/keyboard_state.h"
#include <stdlib.h>

#define PAUSE_MS 60 /* of silence, before it is asked whether the program reads a secret */

struct keyboard_turn {
    struct list link;      /* of the keyboard; until it fires */
    struct deferred fired;
    struct registry *registry;
    struct session *session; /* NULL: fired */
    bool keyboard, granted;
    size_t room;      /* the bytes of the input queue that it waits for; 0: none */
    uint64_t read_to; /* with room */
    int64_t deadline_ns;
    keyboard_turn_fn *fn;
    void *arg;
    struct loop_timer timer;
};

struct keyboard_watch {
    struct list link;
    struct keyboard *of; /* NULL: the session was removed */
    unsigned wanted;
    keyboard_watch_fn *fn;
    void *arg;
};

/* Watches. */

static void keyboard_turn_on_pause(void *arg)
{
    struct keyboard *keyboard = arg;
    struct session *session = keyboard->session;
    if (loop_now_ns(session->registry->loop) - session->last_output_ns < PAUSE_MS * NS_PER_MS) {
        loop_timer_set_ns(&keyboard->pause, session->last_output_ns + PAUSE_MS * NS_PER_MS);
        return;
    }
    keyboard->due = true;
    session_dirty(session);
}

/* Any callback may take away any watch: the walk starts again after each. */
static void keyboard_turn_tell(void *arg)
{
    struct keyboard *keyboard = arg;
    unsigned events = keyboard->events;
    struct list batch;
    keyboard->events = 0;
    list_take(&keyboard->watches, &batch);
    while (!list_is_empty(&batch)) {
        struct keyboard_watch *watch = LIST_OWNER(batch.next, struct keyboard_watch, link);
        list_remove(&watch->link);
        list_append(&keyboard->watches, &watch->link);
        if (events & watch->wanted)
            watch->fn(watch->arg, events & watch->wanted);
    }
}

void keyboard_turns_init(struct keyboard *keyboard)
{
    list_init(&keyboard->watches);
    list_init(&keyboard->turns);
    keyboard->told = (struct deferred){.fn = keyboard_turn_tell, .arg = keyboard};
    keyboard->seen_head = UINT64_MAX;
    loop_timer_init(&keyboard->pause, keyboard->session->registry->loop, keyboard_turn_on_pause,
                    keyboard);
}

struct keyboard_watch *keyboard_watch(struct session *session, unsigned wanted,
                                      keyboard_watch_fn *fn, void *arg)
{
    struct keyboard_watch *watch = xcalloc(1, sizeof *watch);
    *watch = (struct keyboard_watch){
        .of = keyboard_get(session), .wanted = wanted, .fn = fn, .arg = arg};
    list_append(&watch->of->watches, &watch->link);
    if (wanted & KEYBOARD_SECRET) {
        watch->of->secret_watches++;
        watch->of->seen_head = UINT64_MAX; /* the program may read one already */
        watch->of->in_secret = false;
    }
    keyboard_settle(watch->of);
    session_dirty(session);
    return watch;
}

void keyboard_unwatch(struct keyboard_watch *watch)
{
    if (!watch)
        return;
    if (watch->of && (watch->wanted & KEYBOARD_SECRET)) {
        BUG_UNLESS(watch->of->secret_watches > 0);
        watch->of->secret_watches--;
    }
    list_remove(&watch->link);
    free(watch);
}

void keyboard_tell(struct session *session, unsigned events)
{
    struct keyboard *keyboard = keyboard_of(session);
    if (!keyboard || list_is_empty(&keyboard->watches))
        return;
    keyboard->events |= events;
    registry_defer(session->registry, &keyboard->told);
}

void keyboard_want_secrets(struct session *session, bool wanted)
{
    struct keyboard *keyboard = keyboard_get(session);
    BUG_UNLESS(wanted || keyboard->nstaged > 0);
    keyboard->nstaged += wanted ? 1 : -1u;
    keyboard->due = wanted || keyboard->due;
    session_dirty(session);
}

void keyboard_answered(struct session *session)
{
    struct keyboard *keyboard = keyboard_of(session);
    if (!keyboard)
        return;
    keyboard->in_secret = false;
    keyboard->seen_head = UINT64_MAX;
    session_dirty(session);
}

/* A prompt is told once, however much the program prints meanwhile. */
static void look_for_secret(struct keyboard *keyboard)
{
    struct session *session = keyboard->session;
    uint64_t head = journal_head(session->journal), tail = journal_in_tail(session->journal);
    if (keyboard->secret_watches == 0 && keyboard->nstaged == 0) {
        keyboard->due = false;
        return;
    }
    if (head != keyboard->seen_head || tail != keyboard->seen_tail) {
        keyboard->in_secret &= tail == keyboard->seen_tail && session_reads_secret(session);
        keyboard->seen_head = head;
        keyboard->seen_tail = tail;
        if (keyboard->nstaged > 0)
            keyboard->due = true;
        else if (!loop_timer_is_set(&keyboard->pause))
            loop_timer_set_ms(&keyboard->pause, PAUSE_MS);
    }
    if (session->prompt.evidence == EVIDENCE_NONE)
        return;
    bool secret = session->prompt.waiting_for == WAITING_SECRET;
    keyboard->due = false;
    if (secret && !keyboard->in_secret)
        keyboard_tell(session, KEYBOARD_SECRET);
    keyboard->in_secret = secret;
}

/* Turns. */

static void keyboard_turn_fire(struct keyboard_turn *turn, bool granted)
{
    BUG_UNLESS(turn->session);
    turn->granted = granted;
    turn->session = NULL;
    loop_timer_stop(&turn->timer);
    list_remove(&turn->link);
    registry_defer(turn->registry, &turn->fired);
}

static void keyboard_turn_on_fired(void *arg)
{
    struct keyboard_turn *turn = arg;
    keyboard_turn_fn *fn = turn->fn;
    void *fn_arg = turn->arg;
    bool granted = turn->granted;
    keyboard_wait_cancel(turn);
    fn(fn_arg, granted);
}

/* Its time is over: it is told, and before it those that have waited longer for the same, so that
 * their input stands before its own. */
static void keyboard_turn_on_deadline(void *arg)
{
    struct keyboard_turn *turn = arg;
    struct keyboard *keyboard = keyboard_of(turn->session);
    struct list *next;
    BUG_UNLESS(keyboard);
    for (struct list *at = keyboard->turns.next; at != &turn->link; at = next) {
        struct keyboard_turn *before = LIST_OWNER(at, struct keyboard_turn, link);
        next = at->next;
        if (!turn->room && !before->room &&
            (!before->keyboard || keyboard->kind != HOLDER_PERSON))
            keyboard_turn_fire(before, false);
    }
    keyboard_turn_fire(turn, false);
}

static struct keyboard_turn *queue_turn(struct keyboard *keyboard, int64_t deadline_ns,
                                        keyboard_turn_fn *fn, void *arg)
{
    struct session *session = keyboard->session;
    struct keyboard_turn *turn = xcalloc(1, sizeof *turn);
    *turn = (struct keyboard_turn){.registry = session->registry,
                                   .session = session,
                                   .deadline_ns = deadline_ns,
                                   .fn = fn,
                                   .arg = arg,
                                   .fired = {.fn = keyboard_turn_on_fired, .arg = turn}};
    loop_timer_init(&turn->timer, session->registry->loop, keyboard_turn_on_deadline, turn);
    if (deadline_ns != INT64_MAX)
        loop_timer_set_ns(&turn->timer, deadline_ns);
    list_append(&keyboard->turns, &turn->link);
    session_dirty(session);
    return turn;
}

struct keyboard_turn *keyboard_wait_room(struct session *session, size_t room, uint64_t read_to,
                                         int64_t deadline_ns, keyboard_turn_fn *fn, void *arg)
{
    BUG_UNLESS(room > 0);
    struct keyboard_turn *turn = queue_turn(keyboard_get(session), deadline_ns, fn, arg);
    turn->room = room;
    turn->read_to = read_to;
    return turn;
}

struct keyboard_turn *keyboard_wait(struct session *session, bool wants_keyboard,
                                    int64_t deadline_ns, keyboard_turn_fn *fn, void *arg)
{
    struct keyboard *keyboard = keyboard_get(session);
    struct keyboard_turn *turn = queue_turn(keyboard, deadline_ns, fn, arg);
    turn->keyboard = wants_keyboard;
    if (keyboard->kind == HOLDER_PERSON && wants_keyboard)
        keyboard_tell(session, KEYBOARD_WANTED);
    keyboard_settle(keyboard);
    session_want_hold_end(session);
    return turn;
}

struct keyboard_turn *keyboard_wait_behind(struct session *session, keyboard_turn_fn *fn, void *arg)
{
    struct keyboard *keyboard = keyboard_get(session);
    if (list_is_empty(&keyboard->turns))
        return NULL;
    struct keyboard_turn *turn = queue_turn(keyboard, INT64_MAX, fn, arg);
    keyboard_turn_on_deadline(turn);
    return turn;
}

void keyboard_wait_cancel(struct keyboard_turn *turn)
{
    if (!turn)
        return;
    list_remove(&turn->link);
    defer_cancel(&turn->fired);
    loop_timer_stop(&turn->timer);
    free(turn);
}

static void look_at_turns(struct keyboard *keyboard)
{
    struct session *session = keyboard->session;
    struct list *next;
    size_t room = journal_input_free(session->journal);
    if (list_is_empty(&keyboard->turns))
        return;
    keyboard_settle(keyboard);
    for (struct list *at = keyboard->turns.next; at != &keyboard->turns; at = next) {
        struct keyboard_turn *turn = LIST_OWNER(at, struct keyboard_turn, link);
        next = at->next;
        if (turn->room) {
            bool fits = turn->room <= room;
            if (session->exited || fits)
                keyboard_turn_fire(turn, true);
            else if (turn->read_to < journal_head(session->journal))
                keyboard_turn_fire(turn, false);
            room = fits ? room - turn->room : 0; /* later turns do not overtake it */
            continue;
        }
        if (session->exited ||
            (!session->input.held && (!turn->keyboard || keyboard->kind != HOLDER_PERSON)))
            keyboard_turn_fire(turn, true);
    }
}

void keyboard_turns_look(struct keyboard *keyboard)
{
    look_for_secret(keyboard);
    look_at_turns(keyboard);
    if (!list_is_empty(&keyboard->turns))
        session_want_room(keyboard->session);
    if (keyboard->due && (keyboard->secret_watches > 0 || keyboard->nstaged > 0))
        prompt_ask(keyboard->session);
}

void keyboard_turns_free(struct keyboard *keyboard)
{
    while (!list_is_empty(&keyboard->turns))
        keyboard_turn_fire(LIST_OWNER(keyboard->turns.next, struct keyboard_turn, link), true);
    while (!list_is_empty(&keyboard->watches)) {
        struct keyboard_watch *watch = LIST_OWNER(keyboard->watches.next, struct keyboard_watch,
                                                  link);
        list_remove(&watch->link);
        watch->of = NULL;
    }
    defer_cancel(&keyboard->told);
    loop_timer_stop(&keyboard->pause);
}

