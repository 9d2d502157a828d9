/* audit: owns what is on record and what is still owed. */
#include "parts/audit/audit.h"
#include "base/bug.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "parts/audit/audit_file.h"
#include "parts/audit/audit_left.h"
#include "parts/audit/audit_record.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RETRY_MS 2000 /* until what is owed is tried again */

struct audit {
    struct registry *registry;
    struct audit_file file;
    audit_hide_fn *hide;
    unsigned count;          /* of the ids that were made */
    int error;               /* errno of the last write; 0: all is well */
    int sync_error;          /* errno of the last fsync(2): until one succeeds nothing is written */
    bool owing;              /* the ends of some sessions are not on record */
    bool booted;             /* it was looked for what a predecessor has begun to record */
    bool look;               /* a predecessor may have written some of them */
    struct audit_left left;  /* what a predecessor has not got to */
    struct audit_sync *sync; /* under way; its own, until it is done */
    bool more;               /* lines were written since it began */
    struct loop_timer retry;
};

struct audit_sync {
    struct audit *audit; /* NULL: it has gone */
    int fd, aside_fd, error;
};

static struct audit *audit_of(const struct registry *registry)
{
    return registry->part[PART_AUDIT];
}

static int audit_error(const struct audit *audit)
{
    return audit->error ? audit->error : audit->sync_error;
}

static void audit_failed(struct audit *audit, int *which, int error)
{
    if (!audit_error(audit))
        log_error("'%s': can't be written: %s; what goes on record is refused until it can",
                  audit->file.path, strerror(error));
    *which = error;
    loop_timer_set_ms(&audit->retry, RETRY_MS);
}

static int audit_refuse(const struct audit *audit, struct err *err)
{
    return err_set(err, ERR_AUDIT,
                   "'%s': this must go on record and the file can't be written: %s, so nothing "
                   "was done; make room or give it back to its owner, or set `[audit] what = off`",
                   audit->file.path, strerror(audit_error(audit)));
}

/* --- the disk --- */

static void sync_in_thread(void *arg)
{
    struct audit_sync *sync = arg;
    bool ok = sync->aside_fd < 0 || fsync(sync->aside_fd) == 0;
    sync->error = ok && fsync(sync->fd) == 0 ? 0 : errno;
}

static void audit_begin_sync(struct audit *audit);

static void sync_free(struct audit_sync *sync)
{
    fd_close(&sync->fd);
    fd_close(&sync->aside_fd);
    free(sync);
}

static void sync_on_done(void *arg)
{
    struct audit_sync *sync = arg;
    struct audit *audit = sync->audit;
    int error = sync->error;
    sync_free(sync);
    if (!audit)
        return;
    audit->sync = NULL;
    audit->sync_error = 0;
    if (error)
        audit_failed(audit, &audit->sync_error, error);
    else if (audit->more)
        audit_begin_sync(audit);
    registry_kick(audit->registry); /* a stop waits for it */
}

static void audit_begin_sync(struct audit *audit)
{
    audit->more = audit->sync != NULL;
    if (audit->sync || audit->file.fd < 0)
        return;
    int fd = fcntl(audit->file.fd, F_DUPFD_CLOEXEC, 3);
    struct audit_sync *sync = xcalloc(1, sizeof *sync);
    *sync = (struct audit_sync){.audit = audit, .fd = fd, .aside_fd = audit->file.aside_fd};
    audit->file.aside_fd = -1;
    int error = fd < 0 ? -errno
                       : loop_offload(audit->registry->loop, sync_in_thread, sync_on_done, sync);
    if (!error) {
        audit->sync = sync;
        return;
    }
    log_warn("'%s': is not waited for: %s", audit->file.path, strerror(-error));
    sync_free(sync);
}

/* --- lines --- */

/* The value without secrets. */
static struct json *blot(const struct audit *audit, const struct json *value)
{
    enum json_type type = json_type(value);
    struct buf text = BUF_INIT;
    size_t size = 0;
    const char *data = json_str(value, &size);
    struct json *out = NULL;
    if (data && audit->hide(audit->registry, data, size, &text))
        out = json_string_new(text.data ? text.data : "", text.len);
    else if (type == JSON_OBJECT || type == JSON_ARRAY)
        out = type == JSON_OBJECT ? json_object_new() : json_array_new();
    else
        out = json_copy(value);
    for (const struct json *it = json_first(value); it; it = json_next(it))
        json_add(out, json_key(it), blot(audit, it));
    buf_fini(&text);
    return out;
}

static void append_members(const struct audit *audit, const struct json *facts, struct buf *line)
{
    struct json *clean = audit->hide ? blot(audit, facts) : json_copy(facts);
    for (const struct json *it = json_first(clean); it; it = json_next(it)) {
        buf_append_byte(line, ',');
        json_print_str(line, json_key(it), strlen(json_key(it)));
        buf_append_byte(line, ':');
        json_print(line, it);
    }
    json_free(clean);
}

static int audit_append(struct audit *audit, const char *what, const char *id,
                        const struct json *facts)
{
    const struct config_audit *cfg = &audit->registry->cfg->audit;
    const struct audit_file_caps caps = {.bytes = cfg->file_size_bytes, .files = cfg->files};
    struct buf line = BUF_INIT;
    char time[32], daemon[AUDIT_DAEMON_MAX];
    struct err err;
    if (audit->sync_error) {
        audit_begin_sync(audit);
        return audit->sync_error;
    }
    clock_format_iso(clock_real_ms(), time);
    audit_record_daemon(audit->registry, daemon);
    buf_printf(&line, "{\"id\":\"%s\",\"time\":\"%s\",\"record\":\"%s\",\"daemon\":\"%s\"", id,
               time, what, daemon);
    append_members(audit, facts, &line);
    buf_append_text(&line, "}\n");
    int error = path_private_dir(audit->registry->state_dir, PATH_CHOOSE_STATE, &err) == 0
                    ? -audit_file_append(&audit->file, line.data, line.len, &caps)
                    : EACCES;
    buf_fini(&line);
    if (error) {
        audit_failed(audit, &audit->error, error);
        return error;
    }
    audit->error = 0;
    audit_begin_sync(audit);
    return 0;
}

bool audit_wants(const struct registry *registry, bool judged)
{
    int what = registry->cfg->audit.what;
    return what == CONFIG_AUDIT_ALL || (what == CONFIG_AUDIT_DECISIONS && judged);
}

void audit_new_id(struct registry *registry, char out[AUDIT_ID_MAX])
{
    snprintf(out, AUDIT_ID_MAX, "%llx.%x.%x", (unsigned long long)clock_real_ms(),
             (unsigned)getpid(), audit_of(registry)->count++);
}

int audit_write(struct registry *registry, const char *what, const char *id,
                const struct json *facts, struct err *err)
{
    struct audit *audit = audit_of(registry);
    char fresh[AUDIT_ID_MAX];
    audit_new_id(registry, fresh);
    return audit_append(audit, what, id ? id : fresh, facts) ? audit_refuse(audit, err) : 0;
}

/* True: all that a predecessor has left is on record. */
static bool write_left(struct audit *audit)
{
    struct audit_left *left = &audit->left;
    for (; left->at < left->count; left->at++) {
        const struct audit_left_one *one = &left->all[left->at];
        char fresh[AUDIT_ID_MAX];
        audit_new_id(audit->registry, fresh);
        if (audit_append(audit, one->what, one->id ? one->id : fresh, one->facts))
            return false;
    }
    audit_left_fini(left);
    return true;
}

/* --- sessions --- */

static void write_end(struct session *session, bool look)
{
    struct audit *audit = audit_of(session->registry);
    _Atomic uint64_t *state = &session->journal->header->record;
    char id[40], begin[64];
    if (atomic_load(state) != RECORD_OWED)
        return;
    snprintf(id, sizeof id, "%llu.end", (unsigned long long)session_number(session));
    snprintf(begin, sizeof begin, "{\"id\":\"%s\"", id);
    if (!look || !audit_file_has(&audit->file, begin)) {
        struct json *facts = audit_record_end(session);
        int error = audit_append(audit, "ended", id, facts);
        json_free(facts);
        audit->owing |= error != 0;
        if (error)
            return;
    }
    atomic_store(state, RECORD_WRITTEN);
}

static int audit_admit(struct session *session, const struct session_spec *spec, struct err *err)
{
    char id[40];
    if (!audit_wants(session->registry, spec->judged))
        return 0;
    snprintf(id, sizeof id, "%llu.begin", (unsigned long long)session_number(session));
    struct json *facts = audit_record_begin(session, spec);
    int code = audit_write(session->registry, "allowed", id, facts, err);
    json_free(facts);
    if (!code)
        atomic_store(&session->journal->header->record, RECORD_OWED);
    return code;
}

static void audit_ended(struct session *session)
{
    write_end(session, false);
}

/* The predecessor may have died between the line and the word in the journal. */
static void audit_adopt(struct session *session)
{
    struct audit *audit = audit_of(session->registry);
    if (session->finished)
        write_end(session, true);
    audit->look |= audit->owing;
}

static void audit_forget(struct session *session, bool told)
{
    (void)told;
    write_end(session, false);
    if (atomic_load(&session->journal->header->record) == RECORD_OWED)
        log_error("session %llu has ended and that is not on record: '%s': %s",
                  (unsigned long long)session_number(session),
                  audit_of(session->registry)->file.path,
                  strerror(audit_error(audit_of(session->registry))));
}

static void audit_retry(void *arg)
{
    struct audit *audit = arg;
    struct registry *registry = audit->registry;
    bool owing = audit->owing;
    if (registry->cfg->audit.what == CONFIG_AUDIT_OFF)
        return;
    audit->owing = false;
    for (struct list *at = registry->order.next; owing && at != &registry->order; at = at->next) {
        struct session *session = LIST_OWNER(at, struct session, order);
        if (session->finished && !audit->owing)
            write_end(session, audit->look);
    }
    audit->look &= audit->owing;
    if (audit->sync_error)
        audit_begin_sync(audit);
    if (!write_left(audit) || audit->owing)
        loop_timer_set_ms(&audit->retry, RETRY_MS);
}

/* Of a session that is known the journal says what is owed. Of one that nobody has the worker died
 * before the keeper knew of it, or there was no room for its end when it was removed. */
static bool audit_has(void *arg, uint64_t number)
{
    return registry_by_number(arg, number) != NULL;
}

/* Once all that a predecessor has left is here. */
static void audit_boot(struct registry *registry)
{
    struct audit *audit = audit_of(registry);
    char daemon[AUDIT_DAEMON_MAX];
    if (audit->booted || registry->cfg->audit.what == CONFIG_AUDIT_OFF)
        return;
    audit->booted = true;
    audit_record_daemon(registry, daemon);
    audit_left_find(&audit->left, &audit->file, daemon, audit_has, registry);
    write_left(audit);
}

/* --- the part --- */

static void audit_init(struct registry *registry)
{
    struct audit *audit = xcalloc(1, sizeof *audit);
    audit->registry = registry;
    audit_file_init(&audit->file, registry->state_dir);
    loop_timer_init(&audit->retry, registry->loop, audit_retry, audit);
    registry->part[PART_AUDIT] = audit;
}

static void audit_fini(struct registry *registry)
{
    struct audit *audit = audit_of(registry);
    registry->part[PART_AUDIT] = NULL;
    if (audit->sync)
        audit->sync->audit = NULL;
    loop_wait_offloaded(registry->loop);
    loop_timer_stop(&audit->retry);
    audit_file_fini(&audit->file);
    audit_left_fini(&audit->left);
    free(audit);
}

static void audit_reload(struct registry *registry)
{
    audit_retry(audit_of(registry));
}

static bool audit_is_idle(const struct registry *registry)
{
    return !audit_of(registry)->sync;
}

void audit_join(struct registry *registry, audit_hide_fn *hide)
{
    audit_of(registry)->hide = hide;
}

void audit_status(const struct registry *registry, struct json *into)
{
#define WORD(ident, word) word,
    static const char *const words[] = {CONFIG_WORDS_AUDIT(WORD)};
#undef WORD
    const struct audit *audit = audit_of(registry);
    struct buf text = BUF_INIT;
    buf_append_text(&text, words[registry->cfg->audit.what]);
    if (audit_error(audit) && registry->cfg->audit.what != CONFIG_AUDIT_OFF)
        buf_printf(&text, ": can't be written (%s): what goes on record is refused",
                   strerror(audit_error(audit)));
    json_add_buf(into, "audit", &text);
    json_add_text(into, "audit_file", audit->file.path);
}

const struct part audit_part = {.init = audit_init,
                                .fini = audit_fini,
                                .boot = audit_boot,
                                .reload = audit_reload,
                                .is_idle = audit_is_idle,
                                .admit = audit_admit,
                                .adopt = audit_adopt,
                                .ended = audit_ended,
                                .forget = audit_forget};
