/* audit: `ue audit`: prints what is on record. It reads the files itself, which the daemon names:
 * there may be more in them than a daemon should hold in its memory. */
#include "base/clock.h"
#include "base/fdio.h"
#include "base/mem.h"
#include "client/follow/when.h"
#include "client/print/record.h"
#include "client/print/say.h"
#include "client/rpc/call.h"
#include "client/rpc/params.h"
#include "client/rpc/ue.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FILES_MAX 100 /* the file and those that were put aside, see [audit] files */

struct audit {
    const char *session; /* NULL: all */
    bool json;
    char since[32]; /* "": from the beginning */
    struct {
        FILE *file;
        struct stat st;
    } files[FILES_MAX]; /* the newest first */
    size_t nfiles;
    /* what belongs to the session: numbers that have had its name, and questions about it */
    int64_t *numbers;
    size_t nnumbers;
    struct json *approvals; /* keys of an object */
    size_t torn;
};

/* A rotation while we open them shows a file twice. */
static bool audit_is_open(const struct audit *audit, const struct stat *st)
{
    for (size_t i = 0; i < audit->nfiles; i++)
        if (audit->files[i].st.st_ino == st->st_ino && audit->files[i].st.st_dev == st->st_dev)
            return true;
    return false;
}

static int open_one(struct audit *audit, const char *path, struct err *err)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    bool gone = fd < 0 && errno == ENOENT;
    if (!gone && (fd < 0 || fstat(fd, &st) != 0))
        return err_set(err, ERR_SYSTEM, "'%s': %s; ask its owner", path, strerror(errno));
    if (gone || !S_ISREG(st.st_mode) || audit_is_open(audit, &st)) {
        fd_close(&fd);
        return 0;
    }
    FILE *file = fdopen(fd, "r");
    if (!file)
        return err_set(err, ERR_SYSTEM, "'%s': %s; try again", path, strerror(errno));
    audit->files[audit->nfiles].file = file;
    audit->files[audit->nfiles++].st = st;
    return 0;
}

static int audit_open(struct audit *audit, const char *path, struct err *err)
{
    int result = open_one(audit, path, err);
    for (int i = 1; result == 0 && i < FILES_MAX; i++) {
        char *older = xasprintf("%s.%d", path, i);
        result = open_one(audit, older, err);
        free(older);
    }
    return result;
}

static void audit_close(struct audit *audit)
{
    for (size_t i = 0; i < audit->nfiles; i++)
        fclose(audit->files[i].file);
    free(audit->numbers);
    json_free(audit->approvals);
}

typedef void audit_each_fn(struct audit *audit, const struct json *record);

/* The oldest first. A line that somebody began and could not end is none. */
static void audit_each(struct audit *audit, audit_each_fn *fn)
{
    char *line = NULL;
    size_t room = 0;
    audit->torn = 0;
    for (size_t i = audit->nfiles; i-- > 0;) {
        FILE *file = audit->files[i].file;
        rewind(file);
        for (ssize_t size; (size = getline(&line, &room, file)) > 0;) {
            struct err unused;
            struct json *record = json_parse_with(line, (size_t)size, JSON_ALLOW_NUL, &unused);
            audit->torn += json_type(record) != JSON_OBJECT;
            if (json_type(record) == JSON_OBJECT)
                fn(audit, record);
            json_free(record);
        }
    }
    free(line);
}

static bool has_number(const struct audit *audit, const struct json *record, const char *key)
{
    int64_t number;
    if (!json_get_int(record, key, &number))
        return false;
    for (size_t i = 0; i < audit->nnumbers; i++)
        if (audit->numbers[i] == number)
            return true;
    return false;
}

static void audit_collect(struct audit *audit, const struct json *record)
{
    int64_t number;
    char text[24];
    const char *name = json_get_str(record, "name", NULL),
               *approval = json_get_str(record, "approval", NULL);
    if (!json_get_int(record, "session", &number))
        return;
    snprintf(text, sizeof text, "%lld", (long long)number);
    if (strcmp(text, audit->session) != 0 && (!name || strcmp(name, audit->session) != 0))
        return;
    if (approval && !json_get(audit->approvals, approval))
        json_add_bool(audit->approvals, approval, true);
    if (has_number(audit, record, "session"))
        return;
    audit->numbers = xreallocarray(audit->numbers, audit->nnumbers + 1, sizeof *audit->numbers);
    audit->numbers[audit->nnumbers++] = number;
}

static bool audit_wanted(const struct audit *audit, const struct json *record)
{
    const char *time = json_get_str(record, "time", NULL),
               *approval = json_get_str(record, "approval", NULL);
    if (*audit->since && (!time || strcmp(time, audit->since) < 0)) /* both in UTC */
        return false;
    return !audit->session || has_number(audit, record, "session") ||
           has_number(audit, record, "from_session") ||
           (approval && json_get(audit->approvals, approval));
}

static void audit_print(struct audit *audit, const struct json *record)
{
    struct buf out = BUF_INIT;
    if (!audit_wanted(audit, record))
        return;
    if (audit->json)
        say_append_json(&out, record);
    else
        record_append(&out, record);
    say_buf(&out);
}

static int audit_read_since(struct audit *audit, const char *text, struct err *err)
{
    int64_t since_ms;
    if (text && !when_read(text, clock_real_ms(), &since_ms))
        return err_set(err, ERR_USAGE,
                       "'--since %s': no time; write 10m (ago), 14:05 (today), 2026-08-30 or "
                       "2026-08-30T14:05:30Z",
                       text);
    if (text)
        clock_format_iso(since_ms, audit->since);
    return 0;
}

static int audit_show(struct audit *audit, const struct json *status, struct err *err)
{
    const char *path = json_get_str(status, "audit_file", NULL),
               *what = json_get_str(status, "audit", NULL);
    if (!path || !what)
        return err_set(err, ERR_NOT_AVAILABLE,
                       "the daemon is an older one that keeps no record; use ue upgrade");
    int result = audit_open(audit, path, err);
    if (result == 0 && audit->session) {
        audit->approvals = json_object_new();
        audit_each(audit, audit_collect);
        if (audit->nnumbers == 0)
            result = err_set(err, ERR_NO_SUCH_SESSION,
                             "'%s': nothing is on record of such a session ([audit] what = %s)",
                             audit->session, what);
    }
    if (result == 0)
        audit_each(audit, audit_print);
    if (result == 0 && audit->nfiles == 0)
        say_note("nothing is on record ([audit] what = %s)", what);
    if (audit->torn > 0)
        say_note("%zu lines were not written to their end, or are none of muxd's", audit->torn);
    return result;
}

int verb_AUDIT(struct ue *ue)
{
    struct audit audit = {.session = args_get(&ue->args, "session"),
                          .json = args_has(&ue->args, "json")};
    struct msg_answer answer = {0};
    struct err err = {0};
    struct json *params = json_object_new();
    params_meta(ue, params, META_VERB);
    int result = audit_read_since(&audit, args_get(&ue->args, "since"), &err);
    if (result == 0)
        result = call_run(&ue->conn, "status", params, CALL_AGAIN, &answer, &err);
    if (result == 0)
        result = audit_show(&audit, answer.result, &err);
    audit_close(&audit);
    msg_answer_fini(&answer);
    json_free(params);
    return result == 0 ? 0 : ue_fail(ue, &err);
}
