/* A journal that was scribbled over, also as a file on disk, and all that can be done with it. The first byte chooses: the rest lies over the header
 * from its beginning, or is a list of changes (2 bytes where, 1 byte how long, the bytes). */
#include "base/buf.h"
#include "base/log.h"
#include "journal/inputlog.h"
#include "journal/journal.h"
#include "journal/journal_image.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHANGED_MAX 4096

#define LOG_BYTES 4096 /* the input log lies at the end */

static void must(bool ok) {
    if (!ok)
        abort();
}

/* early: its output lies beside the header. */
static int sound_journal(bool tty, bool early) {
    struct journal *journal;
    struct journal_make plan = {.number = 1000, .name = "py", .tty = tty, .rows = 24, .cols = 80, .ring_bytes = 8192, .head_bytes = 4096,
                                .input_bytes = 4096, .log_bytes = LOG_BYTES, .cmd = "python3", .cwd = "/", .declared = "py"};
    must(journal_new(&journal, &plan, NULL) == 0);
    for (int i = 0; i < 6; i++) {
        size_t room, size = early ? 100 : 3000;
        memset(journal_space(journal, size, &room), 'a' + i, size);
        journal_commit(journal, room, i & 1);
    }
    const struct author author = {.who = INPUT_BY_AGENT, .client = "ue", .call_id = "call"};
    const struct input input = {.data = "typed", .size = 5, .author = &author};
    inputlog_note(journal, &input, 0);
    journal_input_append(journal, "typed", 5);
    journal_request_note(journal, 5, 5);
    journal_reader_move(journal, journal_reader(journal, "bot", 16), 7);
    int fd = fcntl(journal->fd, F_DUPFD_CLOEXEC, 0);
    journal_free(journal);
    return fd;
}

static void change(int fd, const uint8_t *data, size_t size) {
    bool list = data[0] & 1;
    data++, size--;
    if (!list) {
        must(pwrite(fd, data, size < CHANGED_MAX ? size : CHANGED_MAX, 0) >= 0);
        return;
    }
    while (size > 3) {
        size_t at = (size_t)(data[0] | data[1] << 8), length = data[2];
        struct stat st;
        must(fstat(fd, &st) == 0);
        at = at & 0x8000 ? (size_t)st.st_size - LOG_BYTES + at % LOG_BYTES : at % CHANGED_MAX;
        data += 3, size -= 3;
        if (length > size)
            length = size;
        if (at + length > (size_t)st.st_size) /* its size is sealed */
            length = (size_t)st.st_size - at;
        must(pwrite(fd, data, length, (off_t)at) >= 0);
        data += length, size -= length;
    }
}

static void see_event(void *arg, const struct input_event *event) {
    (void)arg;
    must(event->text_size <= sizeof event->text && strlen(event->client) < sizeof event->client);
}

static void use_log(struct journal *journal) {
    const struct author author = {.who = INPUT_BY_PERSON};
    const struct input input = {.data = "x", .size = 1, .author = &author, .kind = INPUT_KEYS};
    inputlog_read(journal, 0, 1000, see_event, NULL);
    for (int i = 0; i < 20; i++)
        inputlog_note(journal, &input, journal->header->in_head);
    inputlog_read(journal, 3, 1000, see_event, NULL);
    struct input_holder *holder = inputlog_holder(journal, true);
    if (holder)
        holder->kind = 1;
}

static void add_run(void *arg, uint64_t from, uint64_t to, bool is_stderr) {
    uint64_t *next = arg;
    (void)is_stderr;
    must(from == *next && to > from);
    *next = to;
}

static void read_all(const struct journal *journal, uint64_t from, size_t cap) {
    struct buf out = BUF_INIT;
    uint64_t head = journal_head(journal), omitted, at = from;
    size_t gap_at, size;
    unsigned pieces = 0;
    for (const char *view; (view = journal_view(journal, &at, &size)) != NULL; at += size) {
        must(buf_append(&out, view, size));
        must(++pieces < 100);
    }
    buf_clear(&out);
    journal_collect(journal, from, head, cap, &out, &omitted, &gap_at);
    must(out.len <= cap && (from >= head || out.len + omitted == head - from));
    uint64_t next = from;
    journal_streams(journal, from, head, add_run, &next);
    must(from >= head || next == head);
    buf_fini(&out);
}

static void use(struct journal *journal) {
    size_t size;
    must(strlen(journal_cmd(journal)) + strlen(journal_cwd(journal)) < journal->header->strings_size);
    must(!journal_declared(journal) || strlen(journal_declared(journal)) < journal->header->strings_size);
    must(strlen(journal->header->name) <= JOURNAL_NAME_MAX && journal->header->state <= SESSION_LOST);
    read_all(journal, 0, 1 << 20);
    read_all(journal, journal->header->saved_from, 100);
    read_all(journal, journal_tail(journal) / 2, 5000);
    read_all(journal, journal_reader(journal, NULL, 16)->cursor, 4096);
    journal_reader_move(journal, journal_reader(journal, "bot", 3), 5);
    for (int i = 0; i < 8; i++) {
        memset(journal_space(journal, 4096, &size), 'z', size);
        journal_commit(journal, size, i & 1);
        if (i == 4)
            journal_reader_move(journal, journal_reader(journal, "", 16), journal_head(journal) - 6000);
    }
    read_all(journal, 0, 1 << 20);
    read_all(journal, journal_reader(journal, "bot", 3)->cursor, 10);
    use_log(journal);
    journal_request_done(journal, 5, NULL);
    journal_request_note(journal, 9, journal->header->in_head + 3);
    must(journal_input_free(journal) <= journal->header->input_size);
    journal_input_append(journal, "new", 3);
    const char *input = journal_input_view(journal, &size);
    if (size > 0 && memchr(input, 'x', size) != input)
        journal_input_typed(journal, size / 2 + 1, true);
    journal_input_drop(journal);
    must(journal_input_free(journal) == journal->header->input_size && journal_memory(journal) > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct journal *journal;
    static bool quiet;
    if (!quiet)
        log_set_level(LOG_ERROR);
    quiet = true;
    if (size < 2)
        return 0;
    int fd = sound_journal(data[0] & 2, data[0] & 4);
    change(fd, data, size);
    struct err err;
    if (journal_image_adopt(&journal, fd, &err) == 0) { /* the same bytes as a file */
        journal_image_fetch(journal, fd);
        use(journal);
        journal_free(journal);
    }
    int again = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    must(again >= 0);
    if (journal_adopt(&journal, fd, NULL) == 0) {
        use(journal);
        bool far = journal_head(journal) > UINT64_C(1) << 61; /* so far out that the next one may refuse it */
        journal_free(journal);
        if (journal_adopt(&journal, again, NULL) == 0) /* what was put right stays right */
            journal_free(journal);
        else
            must(far && close(again) == 0);
    } else {
        close(fd);
        close(again);
    }
    return 0;
}
