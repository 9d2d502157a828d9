/* secret.c: owns staged secrets and the memory that secrets lie in. */
#include "session/secret.h"
#include "base/log.h"
#include "base/mem.h"
#include "session/inputlog.h"
#include "session/internal.h"
#include "session/news.h"
#include "session/owner.h"
#include "session/recorder.h"
#include "sys/pty.h"
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE_BYTES 4096
static_assert(SECRET_MAX + 1 < PAGE_BYTES, "with its line end");

struct staged {
    struct session *session;
    char *page; /* locked, in no core dump, in no child */
    size_t size;
    uid_t uid;
    pid_t pid;
    char *client; /* owned */
    struct loop_timer expiry;
};

static char *page_new(struct err *err)
{
    char *page = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED || mlock(page, PAGE_BYTES) != 0) {
        err_set(err, ERR_LIMIT, "no memory can be locked for a secret: %s; raise the limit of locked memory (ulimit -l)", strerror(errno));
        if (page != MAP_FAILED)
            munmap(page, PAGE_BYTES);
        return NULL;
    }
    madvise(page, PAGE_BYTES, MADV_DONTDUMP); /* what a kernel lacks of these is no reason to refuse */
    madvise(page, PAGE_BYTES, MADV_DONTFORK);
    return page;
}

static void page_free(char *page)
{
    mem_wipe(page, PAGE_BYTES);
    munmap(page, PAGE_BYTES);
}

/* The page holds `size` bytes; the line's end is put behind them. */
static int type_page(struct session *session, const struct author *author, char *page, size_t size, struct err *err)
{
    struct pty_mode mode;
    bool translated = pty_get_mode(session->out.fd, &mode) != 0 || mode.icrnl || !mode.canonical;
    const struct input input = {.size = size + 1, .kind = INPUT_SECRET, .author = author, .direct = true};
    page[size] = translated ? '\r' : '\n';
    recorder_input(session, NULL, size + 1, true);
    news_typed(session, author, NULL, size + 1, true);
    int code = session_type_direct(session, page, size + 1, err);
    if (code)
        return code;
    inputlog_note(session->journal, &input, atomic_load(&session->journal->header->in_head));
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
    char *page = page_new(err);
    if (!page)
        return err->code;
    memcpy(page, data, size);
    code = type_page(session, author, page, size, err);
    page_free(page);
    return code;
}

/* In the journal, so that a successor can say that it is gone. */
static void note_staged(struct session *session, bool staged)
{
    uint32_t flags = session->journal->header->flags & ~JOURNAL_STAGED;
    session->journal->header->flags = flags | (staged ? JOURNAL_STAGED : 0);
    session->staged_lost = false;
}

static void drop(struct staged *staged)
{
    struct session *session = staged->session;
    session->staged = NULL;
    loop_timer_stop(&staged->expiry);
    page_free(staged->page);
    free(staged->client);
    free(staged);
}

bool secret_forget(struct session *session)
{
    session->staged_lost = false;
    if (!session->staged)
        return false;
    note_staged(session, false);
    drop(session->staged);
    owner_want_secrets(session, false);
    return true;
}

static void on_expiry(void *arg)
{
    struct staged *staged = arg;
    log_info("session %llu: a staged secret has expired", (unsigned long long)session_number(staged->session));
    secret_forget(staged->session);
}

int secret_stage(struct session *session, const struct author *author, const char *data, size_t size, int64_t expire_ms, struct err *err)
{
    int code = check(session, size, err);
    if (!code && (session->exited || session->finished))
        code = err_set(err, ERR_ENDED, "'%s' has ended; start a new one", session_name(session));
    char *page = code ? NULL : page_new(err);
    if (!page)
        return err->code;
    secret_forget(session);
    struct staged *staged = xcalloc(1, sizeof *staged);
    *staged = (struct staged){.session = session, .page = page, .size = size, .uid = author->uid, .pid = author->pid,
                              .client = author->client ? xstrdup(author->client) : NULL};
    memcpy(page, data, size);
    loop_timer_init(&staged->expiry, session->registry->loop, on_expiry, staged);
    loop_timer_set_ms(&staged->expiry, expire_ms);
    session->staged = staged;
    note_staged(session, true);
    owner_want_secrets(session, true);
    return 0;
}

/* The locked page was its predecessor's own, and in no other process: it could not come along. */
void secret_take_over(struct session *session)
{
    if (!(session->journal->header->flags & JOURNAL_STAGED))
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
    const struct author author = {.who = INPUT_BY_PERSON, .uid = staged->uid, .pid = staged->pid, .client = staged->client};
    if (type_page(session, &author, staged->page, staged->size, &err) == ERR_INPUT_FULL)
        return; /* what was typed before comes first */
    if (err.code)
        log_warn("session %llu: a staged secret can't be typed: %s", (unsigned long long)session_number(session), err.text);
    session->ready = EVIDENCE_NONE; /* it goes on; who waits for it waits on */
    secret_forget(session);
}

void secret_free(struct session *session)
{
    if (session->staged)
        drop(session->staged);
}
