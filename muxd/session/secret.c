/* secret.c: owns staged secrets, and the typing of secrets. */
#include "session/secret.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "base/log.h"
#include "base/mem.h"
#include "journal/inputlog.h"
#include "session/internal.h"
#include "session/news.h"
#include "session/owner.h"
#include "session/recorder.h"
#include "session/secret_page.h"
#include "sys/pty.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct staged {
    struct session *session;
    char *page; /* a struct secret_staged, and the secret behind it */
    int fd;     /* of the page, for the keeper; -1: it is ours alone */
    struct loop_timer expiry;
};

static struct secret_staged *facts_of(const struct staged *staged)
{
    return (struct secret_staged *)(void *)staged->page;
}

static char *text_of(const struct staged *staged)
{
    return staged->page + sizeof(struct secret_staged);
}

/* The page holds `size` bytes; the line's end is put behind them. */
static int type_page(struct session *session, const struct author *author, char *page, size_t size, struct err *err)
{
    struct pty_mode mode;
    bool translated = pty_get_mode(session->out.fd, &mode) != 0 || mode.icrnl || !mode.canonical;
    const struct input input = {.size = size + 1, .kind = INPUT_SECRET, .author = author, .direct = true};
    int code = session_check_direct(session, err); /* first: what is refused is neither recorded nor told */
    if (code)
        return code;
    page[size] = translated ? '\r' : '\n';
    recorder_input(session, NULL, size + 1, true);
    news_typed(session, author, NULL, size + 1, true);
    code = session_type_direct(session, page, size + 1, err);
    if (code)
        return code;
    inputlog_note(session->journal, &input, journal_in_head(session->journal));
    owner_tell(session, OWNER_INPUT);
    owner_answered(session);
    session->staged_lost = false;
    return 0;
}

static int check(const struct session *session, size_t size, struct err *err)
{
    if (!session_is_tty(session))
        return err_set(err, ERR_NOT_AVAILABLE, "'%s' has no terminal that could hide a secret; use ue write", session_name(session));
    if (size > SECRET_MAX)
        return err_set(err, ERR_TOO_LARGE, "a secret of %zu bytes is too long; at most %d fit a line", size, SECRET_MAX);
    return 0;
}

int secret_check(struct session *session, struct err *err)
{
    if (session_reads_secret(session))
        return 0;
    return err_set(err, ERR_SECRET_PROMPT,
                   "'%s' does not ask for a secret now; stage it (--stage), or type it all the same (--blind) when what asks runs "
                   "elsewhere or hides it by itself", session_name(session));
}

int secret_type(struct session *session, const struct author *author, const char *data, size_t size, bool blind, struct err *err)
{
    int code = check(session, size, err);
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

/* In the journal, so that a successor knows that there must be one. */
static void note_staged(struct session *session, bool staged)
{
    session->journal->header->staged = staged;
    session->staged_lost = false;
}

/* A worker that only ends leaves it to the next one, who finds it with the keeper. */
static void drop(struct staged *staged, bool for_good)
{
    struct session *session = staged->session;
    session->staged = NULL;
    loop_timer_stop(&staged->expiry);
    if (for_good || staged->fd < 0)
        secret_page_free(staged->page); /* wiped: the keeper's is the same */
    else
        munmap(staged->page, SECRET_PAGE_BYTES);
    if (for_good && staged->fd >= 0 && session->registry->link)
        link_release(session->registry->link, session_number(session), 1u << KEEP_FD_SECRET);
    fd_close(&staged->fd);
    free(staged);
}

bool secret_forget(struct session *session)
{
    session->staged_lost = false;
    if (!session->staged)
        return false;
    note_staged(session, false);
    drop(session->staged, true);
    owner_want_secrets(session, false);
    return true;
}

static void on_expiry(void *arg)
{
    struct staged *staged = arg;
    log_info("session %llu: a staged secret has expired", (unsigned long long)session_number(staged->session));
    secret_forget(staged->session);
}

static void hold(struct session *session)
{
    int fds[KEEP_FD_COUNT] = KEEP_NO_FDS;
    fds[KEEP_FD_SECRET] = session->staged->fd;
    if (session->staged->fd >= 0 && session->registry->link) /* else when the next keeper is there */
        link_hold(session->registry->link, session_number(session), fds);
}

static void begin(struct session *session, char *page, int fd, int64_t expire_ms)
{
    struct staged *staged = xcalloc(1, sizeof *staged);
    *staged = (struct staged){.session = session, .page = page, .fd = fd};
    loop_timer_init(&staged->expiry, session->registry->loop, on_expiry, staged);
    loop_timer_set_ms(&staged->expiry, expire_ms);
    session->staged = staged;
    owner_want_secrets(session, true);
}

/* An earlier one gives its page: how much memory may be locked is a limit. */
static int make_place(struct session *session, int64_t expire_ms, struct err *err)
{
    if (session->staged) {
        __atomic_store_n(&facts_of(session->staged)->phase, SECRET_FILLING, __ATOMIC_SEQ_CST);
        mem_wipe(text_of(session->staged), facts_of(session->staged)->size);
        loop_timer_set_ms(&session->staged->expiry, expire_ms);
        return 0;
    }
    int fd;
    char *page = secret_page_new_kept(&fd, err);
    if (!page)
        return ERR_LIMIT; /* as err says */
    begin(session, page, fd, expire_ms);
    return 0;
}

int secret_stage(struct session *session, const struct author *author, const char *data, size_t size, int64_t expire_ms, struct err *err)
{
    int code = check(session, size, err);
    if (!code && (session->exited || session->finished))
        code = err_set(err, ERR_ENDED, "'%s' has ended; start a new one", session_name(session));
    bool fresh = !session->staged;
    if (!code)
        code = make_place(session, expire_ms, err);
    if (code)
        return code;
    struct secret_staged *facts = facts_of(session->staged);
    facts->size = (uint32_t)size;
    facts->uid = author->uid;
    facts->pid = author->pid;
    facts->until_boot_ms = clock_boot_ms() + expire_ms;
    snprintf(facts->client, sizeof facts->client, "%s", author->client ? author->client : "");
    memcpy(text_of(session->staged), data, size);
    __atomic_store_n(&facts->phase, SECRET_WAITS, __ATOMIC_SEQ_CST);
    note_staged(session, true);
    if (fresh)
        hold(session);
    return 0;
}

int secret_kept_fd(const struct session *session)
{
    return session->staged ? session->staged->fd : -1;
}

/* What lay in its predecessor's own memory is gone. */
void secret_take_over(struct session *session)
{
    int fd = session->staged_fd;
    session->staged_fd = -1;
    bool was_staged = session->journal->header->staged;
    char *page = was_staged && !session->exited ? secret_page_adopt(fd) : NULL;
    if (page) {
        int64_t left_ms = ((struct secret_staged *)(void *)page)->until_boot_ms - clock_boot_ms();
        begin(session, page, fd, left_ms > 0 ? left_ms : 0);
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
    session->staged_lost = true;
    log_warn("session %llu: the secret that was staged is gone with the restart", (unsigned long long)session_number(session));
    news_secret_lost(session);
}

bool secret_was_lost(const struct session *session)
{
    return session->staged_lost;
}

bool secret_is_staged(const struct session *session)
{
    return session->staged != NULL;
}

void secret_look(struct session *session)
{
    struct staged *staged = session->staged;
    struct err err = {0};
    if (!staged)
        return;
    if (session->exited) {
        secret_forget(session);
        return;
    }
    if (session->ready == EVIDENCE_NONE || session->ready_for != WAITING_SECRET)
        return;
    struct secret_staged *facts = facts_of(staged);
    const struct author author = {.who = INPUT_BY_PERSON, .uid = facts->uid, .pid = facts->pid, .client = facts->client};
    facts->phase = SECRET_TYPING;
    if (type_page(session, &author, text_of(staged), facts->size, &err) == ERR_INPUT_FULL) {
        facts->phase = SECRET_WAITS;
        return; /* what was typed before comes first */
    }
    if (err.code)
        log_warn("session %llu: a staged secret can't be typed: %s", (unsigned long long)session_number(session), err.text);
    session->ready = EVIDENCE_NONE; /* it goes on; who waits for it waits on */
    secret_forget(session);
}

void secret_free(struct session *session)
{
    if (session->staged)
        drop(session->staged, false);
    fd_close(&session->staged_fd);
}
