/* secret.c: owns staged secrets, and the typing of secrets. */
#include "parts/keyboard/secret.h"
#include "base/bug.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "base/log.h"
#include "base/mem.h"
#include "journal/inputlog.h"
#include "parts/keyboard/keyboard_state.h"
#include "parts/keyboard/secret_page.h"
#include "sys/pty.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HIDE_MIN 4 /* bytes: shorter ones are parts of many words */

struct staged {
    struct session *session;
    char *page; /* a struct secret_staged, and the secret behind it */
    int fd;     /* of the page, for the keeper; -1: the page is this worker's alone */
    struct loop_timer expiry;
};

static struct staged *staged_of(const struct session *session)
{
    return keyboard_of(session) ? keyboard_of(session)->staged : NULL;
}

static struct secret_staged *facts_of(const struct staged *staged)
{
    return (struct secret_staged *)(void *)staged->page;
}

static char *text_of(const struct staged *staged)
{
    return staged->page + sizeof(struct secret_staged);
}

static void set_lost(struct session *session, bool lost)
{
    if (lost || keyboard_of(session))
        keyboard_get(session)->staged_lost = lost;
}

/* Types the page's `size` bytes, to which it adds the line end. */
static int type_page(struct session *session, const struct author *author, char *page, size_t size,
                     struct err *err)
{
    BUG_UNLESS(size <= SECRET_MAX);
    struct pty_mode mode;
    bool translated = pty_get_mode(session->out.fd, &mode) != 0 || mode.icrnl || !mode.canonical;
    const struct input input = {
        .size = size + 1, .kind = INPUT_SECRET, .author = author, .direct = true};
    /* first: refused input is neither recorded nor told */
    int code = session_check_direct(session, err);
    if (code)
        return code;
    page[size] = translated ? '\r' : '\n';
    part_input(session, &input);
    code = session_type_direct(session, page, size + 1, err);
    if (code)
        return code;
    inputlog_note(session->journal, &input, journal_in_head(session->journal));
    keyboard_tell(session, KEYBOARD_INPUT);
    keyboard_answered(session);
    set_lost(session, false);
    return 0;
}

static int secret_check_size(const struct session *session, size_t size, struct err *err)
{
    if (!session_is_tty(session))
        return err_set(err, ERR_NOT_AVAILABLE,
                       "'%s' has no terminal that could hide a secret; use ue write",
                       session_name(session));
    if (size > SECRET_MAX)
        return err_set(err, ERR_TOO_LARGE,
                       "a secret of %zu bytes is too long; at most %d fit a line", size,
                       SECRET_MAX);
    return 0;
}

int secret_check(struct session *session, struct err *err)
{
    if (session_reads_secret(session))
        return 0;
    return err_set(err, ERR_SECRET_PROMPT,
                   "'%s' does not ask for a secret now; stage it (--stage), or type it all the "
                   "same (--blind) when what asks runs elsewhere or hides it by itself",
                   session_name(session));
}

int secret_type(struct session *session, const struct author *author, const char *data, size_t size,
                bool blind, struct err *err)
{
    int code = secret_check_size(session, size, err);
    if (!code && !blind)
        code = secret_check(session, err);
    if (code)
        return code;
    char *page = secret_page_new(err);
    if (!page)
        return err->code;
    memcpy(page, data, size);
    code = type_page(session, author, page, size, err);
    secret_page_free(page);
    return code;
}

/* In the journal, so that a successor knows that one was staged. */
static void note_staged(struct session *session, bool staged)
{
    session->journal->header->staged = staged;
    set_lost(session, false);
}

/* A worker that only ends leaves the page to its successor, who gets it from the keeper. */
static void secret_drop(struct staged *staged, bool for_good)
{
    struct session *session = staged->session;
    BUG_UNLESS(staged_of(session) == staged);
    keyboard_of(session)->staged = NULL;
    loop_timer_stop(&staged->expiry);
    if (for_good || staged->fd < 0)
        secret_page_free(staged->page); /* wiped: the keeper holds the same page */
    else
        munmap(staged->page, SECRET_PAGE_BYTES);
    if (for_good && staged->fd >= 0 && session->registry->link)
        link_release(session->registry->link, session_number(session), 1u << KEEP_FD_SECRET);
    fd_close(&staged->fd);
    free(staged);
}

bool secret_forget(struct session *session)
{
    set_lost(session, false);
    if (!staged_of(session))
        return false;
    note_staged(session, false);
    secret_drop(staged_of(session), true);
    keyboard_want_secrets(session, false);
    return true;
}

static void secret_on_expiry(void *arg)
{
    struct staged *staged = arg;
    log_info("session %llu: a staged secret has expired",
             (unsigned long long)session_number(staged->session));
    secret_forget(staged->session);
}

static void secret_tell_keeper(struct session *session)
{
    int fds[KEEP_FD_COUNT] = KEEP_NO_FDS;
    secret_hold(session, fds);
    /* without a keeper: secret_hold, once there is one */
    if (fds[KEEP_FD_SECRET] >= 0 && session->registry->link)
        link_hold(session->registry->link, session_number(session), fds);
}

static void secret_begin(struct session *session, char *page, int fd, int64_t expire_ms)
{
    BUG_UNLESS(page && !staged_of(session));
    struct staged *staged = xcalloc(1, sizeof *staged);
    *staged = (struct staged){.session = session, .page = page, .fd = fd};
    loop_timer_init(&staged->expiry, session->registry->loop, secret_on_expiry, staged);
    loop_timer_set_ms(&staged->expiry, expire_ms);
    keyboard_get(session)->staged = staged;
    keyboard_want_secrets(session, true);
}

/* Uses the page of the secret staged before: the amount of locked memory is limited. */
static int make_place(struct session *session, int64_t expire_ms, struct err *err)
{
    struct staged *staged = staged_of(session);
    if (staged) {
        __atomic_store_n(&facts_of(staged)->phase, SECRET_FILLING, __ATOMIC_SEQ_CST);
        mem_wipe(text_of(staged), facts_of(staged)->size);
        loop_timer_set_ms(&staged->expiry, expire_ms);
        return 0;
    }
    int fd;
    char *page = secret_page_new_kept(&fd, err);
    if (!page)
        return ERR_LIMIT; /* err is set */
    secret_begin(session, page, fd, expire_ms);
    return 0;
}

int secret_stage(struct session *session, const struct author *author, const char *data,
                 size_t size, int64_t expire_ms, struct err *err)
{
    int code = secret_check_size(session, size, err);
    if (!code && (session->exited || session->finished))
        code = err_set(err, ERR_ENDED, "'%s' has ended; start a new one", session_name(session));
    bool fresh = !staged_of(session);
    if (!code)
        code = make_place(session, expire_ms, err);
    if (code)
        return code;
    struct secret_staged *facts = facts_of(staged_of(session));
    facts->size = (uint32_t)size;
    facts->uid = author->uid;
    facts->pid = author->pid;
    facts->until_boot_ms = clock_boot_ms() + expire_ms;
    snprintf(facts->client, sizeof facts->client, "%s", author->client ? author->client : "");
    memcpy(text_of(staged_of(session)), data, size);
    __atomic_store_n(&facts->phase, SECRET_WAITS, __ATOMIC_SEQ_CST);
    note_staged(session, true);
    if (fresh)
        secret_tell_keeper(session);
    return 0;
}

void secret_hold(const struct session *session, int fds[])
{
    if (staged_of(session))
        fds[KEEP_FD_SECRET] = staged_of(session)->fd;
}

/* A secret in the predecessor's own memory is lost. */
void secret_take_over(struct session *session)
{
    int fd = session_take_part_fd(session);
    bool was_staged = session->journal->header->staged;
    char *page = was_staged && !session->exited ? secret_page_adopt(fd) : NULL;
    if (page) {
        int64_t left_ms = ((struct secret_staged *)(void *)page)->until_boot_ms - clock_boot_ms();
        secret_begin(session, page, fd, left_ms > 0 ? left_ms : 0);
        return;
    }
    if (fd >= 0 && session->registry->link)
        link_release(session->registry->link, session_number(session), 1u << KEEP_FD_SECRET);
    fd_close(&fd);
    if (!was_staged)
        return;
    note_staged(session, false);
    if (session->exited)
        return;
    set_lost(session, true);
    log_warn("session %llu: the staged secret was lost with the restart",
             (unsigned long long)session_number(session));
    keyboard_told_of(session)->secret_lost(session);
}

static const struct staged *first_in(struct registry *registry, const char *text, size_t size,
                                     const char **at)
{
    const struct staged *first = NULL;
    for (struct list *it = registry->order.next; it != &registry->order; it = it->next) {
        const struct staged *staged = staged_of(LIST_OWNER(it, struct session, order));
        size_t want = staged ? facts_of(staged)->size : 0;
        const char *found = want >= HIDE_MIN ? memmem(text, size, text_of(staged), want) : NULL;
        if (found && (!first || found < *at)) {
            first = staged;
            *at = found;
        }
    }
    return first;
}

bool secret_hide(struct registry *registry, const char *text, size_t size, struct buf *out)
{
    const char *at = NULL, *end = text + size;
    const struct staged *staged = first_in(registry, text, size, &at);
    if (!staged)
        return false;
    for (; staged; staged = first_in(registry, text, (size_t)(end - text), &at)) {
        buf_append(out, text, (size_t)(at - text));
        buf_append_text(out, "[secret]");
        text = at + facts_of(staged)->size;
    }
    buf_append(out, text, (size_t)(end - text));
    return true;
}

bool secret_was_lost(const struct session *session)
{
    return keyboard_of(session) && keyboard_of(session)->staged_lost;
}

bool secret_is_staged(const struct session *session)
{
    return staged_of(session) != NULL;
}

bool secret_prompt(struct session *session)
{
    struct staged *staged = staged_of(session);
    struct err err = {0};
    if (!staged || session->exited || session->prompt.waiting_for != WAITING_SECRET)
        return false;
    struct secret_staged *facts = facts_of(staged);
    const struct author author = {
        .who = INPUT_BY_PERSON, .uid = facts->uid, .pid = facts->pid, .client = facts->client};
    facts->phase = SECRET_TYPING;
    if (type_page(session, &author, text_of(staged), facts->size, &err) == ERR_INPUT_FULL) {
        facts->phase = SECRET_WAITS;
        return false; /* input that was typed before goes first */
    }
    if (err.code)
        log_warn("session %llu: a staged secret can't be typed: %s",
                 (unsigned long long)session_number(session), err.text);
    secret_forget(session);
    return true; /* the program goes on, and waits for it are not ready */
}

void secret_free(struct keyboard *keyboard)
{
    if (keyboard->staged)
        secret_drop(keyboard->staged, false);
}
