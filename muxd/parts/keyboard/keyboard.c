/* keyboard.c: owns who holds a keyboard. The holder's time is checked whenever the holder is
 * asked for, and by a timer while a person holds it. */
#include "parts/keyboard/keyboard.h"
#include "base/bug.h"
#include "base/clock.h"
#include "base/mem.h"
#include "journal/inputlog.h"
#include "parts/keyboard/keyboard_state.h"
#include "parts/keyboard/secret.h"
#include <stdlib.h>
#include <string.h>

/* for a person to come back: their terminal reconnects by itself after a restart of the worker */
#define RETURN_MS 10000

static int64_t idle_ms(const struct keyboard *keyboard)
{
    return keyboard->session->registry->cfg->defaults.keyboard_idle_ms;
}

static void keyboard_save(struct keyboard *keyboard)
{
    struct input_holder *holder = inputlog_holder(keyboard->session->journal, true);
    if (!holder)
        return;
    holder->kind = 0; /* free, until all of it is written */
    __atomic_thread_fence(__ATOMIC_RELEASE);
    holder->uid = keyboard->uid;
    holder->pid = keyboard->pid;
    holder->since_real_ms = keyboard->since_real_ms;
    holder->last_boot_ms = keyboard->last_boot_ms;
    memcpy(holder->client, keyboard->client, sizeof holder->client);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    holder->kind = keyboard->kind;
}

static void keyboard_load(struct keyboard *keyboard)
{
    const struct input_holder *holder = inputlog_holder(keyboard->session->journal, false);
    if (!holder || holder->kind > HOLDER_PERSON || keyboard->session->finished)
        return;
    keyboard->kind = (enum keyboard_holder_kind)holder->kind;
    keyboard->uid = holder->uid;
    keyboard->pid = holder->pid;
    keyboard->since_real_ms = holder->since_real_ms;
    keyboard->last_boot_ms = holder->last_boot_ms;
    memcpy(keyboard->client, holder->client, sizeof keyboard->client - 1);
    keyboard->return_by_boot_ms = keyboard->kind == HOLDER_PERSON ? clock_boot_ms() + RETURN_MS : 0;
}

static void keyboard_on_idle(void *arg)
{
    struct keyboard *keyboard = arg;
    keyboard_settle(keyboard);
    session_dirty(keyboard->session);
}

struct keyboard *keyboard_of(const struct session *session)
{
    return session->part[PART_KEYBOARD];
}

const struct keyboard_told *keyboard_told_of(const struct session *session)
{
    return ((const struct keyboards *)session->registry->part[PART_KEYBOARD])->told;
}

struct keyboard *keyboard_get(struct session *session)
{
    struct keyboard *keyboard = keyboard_of(session);
    if (keyboard)
        return keyboard;
    session->part[PART_KEYBOARD] = keyboard = xcalloc(1, sizeof *keyboard);
    keyboard->session = session;
    loop_timer_init(&keyboard->idle, session->registry->loop, keyboard_on_idle, keyboard);
    keyboard_turns_init(keyboard);
    keyboard_load(keyboard);
    return keyboard;
}

/* NULL: no one has typed yet, or the session has ended. */
static struct keyboard *keyboard_peek(struct session *session)
{
    bool untouched = !keyboard_of(session) && journal_in_head(session->journal) == 0;
    return untouched || session->finished ? NULL : keyboard_get(session);
}

static void tell_changed(struct keyboard *keyboard)
{
    keyboard_tell(keyboard->session, KEYBOARD_CHANGED);
    keyboard_told_of(keyboard->session)->changed(keyboard->session);
}

static void set_free(struct keyboard *keyboard)
{
    BUG_UNLESS(keyboard->kind != HOLDER_NOBODY);
    keyboard->kind = HOLDER_NOBODY;
    keyboard->peer = 0;
    keyboard->return_by_boot_ms = 0;
    loop_timer_stop(&keyboard->idle);
    keyboard_save(keyboard);
    tell_changed(keyboard);
    session_dirty(keyboard->session); /* wakes the turns that wait for it */
}

void keyboard_settle(struct keyboard *keyboard)
{
    int64_t now = clock_boot_ms(), idle = idle_ms(keyboard), due = INT64_MAX;
    if (keyboard->kind == HOLDER_NOBODY)
        return;
    if (idle > 0)
        due = keyboard->last_boot_ms + idle;
    if (keyboard->return_by_boot_ms && keyboard->return_by_boot_ms < due)
        due = keyboard->return_by_boot_ms;
    if (due <= now)
        set_free(keyboard);
    else if (due != INT64_MAX && keyboard->kind == HOLDER_PERSON &&
             !loop_timer_is_set(&keyboard->idle))
        loop_timer_set_ms(&keyboard->idle, due - now);
}

void keyboard_holder_get(struct session *session, struct keyboard_holder *state)
{
    struct keyboard *keyboard = keyboard_peek(session);
    *state = (struct keyboard_holder){.client = ""};
    if (!keyboard)
        return;
    keyboard_settle(keyboard);
    if (keyboard->kind == HOLDER_NOBODY)
        return;
    *state = (struct keyboard_holder){.kind = keyboard->kind,
                                      .uid = keyboard->uid,
                                      .pid = keyboard->pid,
                                      .peer = keyboard->peer,
                                      .client = keyboard->client,
                                      .since_real_ms = keyboard->since_real_ms};
}

const char *keyboard_holder_word(enum keyboard_holder_kind kind)
{
    static const char *const words[] = {"nobody", "agent", "person"};
    BUG_UNLESS((size_t)kind < sizeof words / sizeof *words);
    return words[kind];
}

static void keyboard_hold(struct keyboard *keyboard, enum keyboard_holder_kind kind,
                          const struct author *author)
{
    BUG_UNLESS(kind != HOLDER_NOBODY);
    size_t size = author->client ? strnlen(author->client, sizeof keyboard->client - 1) : 0;
    bool changed = keyboard->kind != kind ||
                   (kind == HOLDER_PERSON && keyboard->peer != author->peer);
    if (changed)
        keyboard->since_real_ms = clock_real_ms();
    keyboard->kind = kind;
    keyboard->uid = author->uid;
    keyboard->pid = author->pid;
    keyboard->peer = author->peer;
    keyboard->return_by_boot_ms = 0;
    memset(keyboard->client, 0, sizeof keyboard->client);
    if (size > 0)
        memcpy(keyboard->client, author->client, size);
    keyboard->last_boot_ms = clock_boot_ms();
    keyboard_save(keyboard);
    keyboard_settle(keyboard); /* sets its timer */
    if (changed)
        tell_changed(keyboard);
}

void keyboard_typed(struct session *session, const struct author *author)
{
    struct keyboard *keyboard = keyboard_get(session);
    keyboard_settle(keyboard);
    if (author->who == INPUT_BY_PERSON)
        keyboard_hold(keyboard, HOLDER_PERSON, author);
    else if (author->who == INPUT_BY_AGENT && keyboard->kind != HOLDER_PERSON)
        keyboard_hold(keyboard, HOLDER_AGENT, author);
}

static void keyboard_note(struct session *session, enum input_kind kind,
                          const struct author *author)
{
    const struct input input = {.kind = kind, .author = author};
    inputlog_note(session->journal, &input, journal_in_head(session->journal));
    keyboard_tell(session, KEYBOARD_INPUT);
}

void keyboard_take(struct session *session, const struct author *author)
{
    BUG_UNLESS(author->who == INPUT_BY_PERSON && author->peer);
    keyboard_note(session, INPUT_TAKE, author);
    keyboard_hold(keyboard_get(session), HOLDER_PERSON, author);
}

bool keyboard_give(struct session *session, const struct author *author)
{
    struct keyboard *keyboard = keyboard_get(session);
    keyboard_settle(keyboard);
    if (keyboard->kind != HOLDER_PERSON || keyboard->peer != author->peer)
        return false;
    keyboard_note(session, INPUT_GIVE, author);
    set_free(keyboard);
    return true;
}

void keyboard_joined(struct session *session, const struct author *author)
{
    struct keyboard *keyboard = keyboard_peek(session);
    if (!keyboard || keyboard->kind != HOLDER_PERSON || keyboard->peer ||
        keyboard->pid != author->pid || keyboard->uid != author->uid)
        return;
    keyboard->peer = author->peer;
    keyboard->return_by_boot_ms = 0;
}

void keyboard_left(struct session *session, uint64_t peer)
{
    struct keyboard *keyboard = keyboard_of(session);
    if (keyboard && keyboard->kind == HOLDER_PERSON && keyboard->peer == peer)
        set_free(keyboard);
}

int keyboard_check(struct session *session, const struct author *author, struct err *err)
{
    char since[32];
    struct keyboard_holder state;
    if (author->who != INPUT_BY_AGENT)
        return 0;
    keyboard_holder_get(session, &state);
    if (state.kind != HOLDER_PERSON)
        return 0;
    keyboard_tell(session, KEYBOARD_WANTED);
    clock_format_iso(state.since_real_ms, since);
    return err_set(err, ERR_KEYBOARD_HELD,
                   "'%s': the keyboard is held by a person since %s; wait for it (--wait-keyboard, "
                   "wait_keyboard), or ask for it",
                   session_name(session), since);
}

static void keyboard_free(struct session *session)
{
    struct keyboard *keyboard = keyboard_of(session);
    if (!keyboard)
        return;
    secret_free(keyboard);
    keyboard_turns_free(keyboard);
    loop_timer_stop(&keyboard->idle);
    session->part[PART_KEYBOARD] = NULL;
    free(keyboard);
}

/* The row of the part. */

static int keyboard_check_input(struct session *session, const struct input *input, struct err *err)
{
    int code = input->steal ? 0 : keyboard_check(session, input->author, err);
    if (code || input->author->who != INPUT_BY_AGENT || input->kind == INPUT_SECRET ||
        session->registry->cfg->defaults.agent_secrets)
        return code;
    if (input_has_text(input->data, input->size) && session_reads_secret(session))
        return err_set(err, ERR_SECRET_PROMPT,
                       "'%s' reads a secret, which is for a person to type: `ue secret %s`",
                       session_name(session), session_name(session));
    return 0;
}

/* Input past the queue does not take the keyboard. A secret is told once it is in the log. */
static void keyboard_on_input(struct session *session, const struct input *input)
{
    if (!input->direct)
        keyboard_typed(session, input->author);
    if (!input->direct || input->kind != INPUT_SECRET)
        keyboard_tell(session, KEYBOARD_INPUT);
}

/* A person who held it may come back for a while; the timer tells when that is over. */
static void keyboard_adopt(struct session *session)
{
    const struct input_holder *holder = inputlog_holder(session->journal, false);
    secret_take_over(session);
    if (holder && holder->kind == HOLDER_PERSON && keyboard_peek(session))
        keyboard_settle(keyboard_of(session)); /* sets its timer */
}

static void keyboard_look(struct session *session, uint64_t seen_head)
{
    (void)seen_head;
    if (!keyboard_of(session))
        return;
    if (session->exited && secret_is_staged(session))
        secret_forget(session);
    keyboard_turns_look(keyboard_of(session));
}

static void keyboard_init(struct registry *registry)
{
    registry->part[PART_KEYBOARD] = xcalloc(1, sizeof(struct keyboards));
}

void keyboard_join(struct registry *registry, const struct keyboard_told *told)
{
    struct keyboards *keyboards = registry->part[PART_KEYBOARD];
    BUG_UNLESS(keyboards && !keyboards->told && told->changed && told->secret_lost);
    keyboards->told = told;
}

static void keyboard_fini(struct registry *registry)
{
    free(registry->part[PART_KEYBOARD]);
    registry->part[PART_KEYBOARD] = NULL;
}

const struct part keyboard_part = {
    .init = keyboard_init,
    .fini = keyboard_fini,
    .adopt = keyboard_adopt,
    .prompt = secret_prompt,
    .look = keyboard_look,
    .free = keyboard_free,
    .hold_session = secret_hold,
    .check_input = keyboard_check_input,
    .input = keyboard_on_input,
};
