/* query: owns the queries to the person's terminal, its replies, and bytes that may become one. */
#include "client/terminal/query.h"
#include "base/bug.h"
#include "base/clock.h"
#include "base/mem.h"
#include "client/terminal/reply.h"
#include "client/terminal/terminal.h"
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define PART_MS 1000  /* what may be the beginning of a reply is held so long for its rest */
#define KEY_BYTES 2   /* up to so many bytes may be a key: ESC and one more */
/* late replies are recognized so long after the query: some terminals pass queries on to others */
#define LATE_MS 10000
#define ALONE_MS 1000 /* after that time nothing waits for the replies of a silent terminal */
#define WAIT_MS 300   /* longest wait for replies before a session starts; … */
#define LEAVE_MS 500  /* … and for the next one before the terminal is given back */
#define LATE_READS 8  /* of what has come until then: more than all replies fill */

#define COLOURS "\033]10;?\033\\\033]11;?\033\\\033]12;?\033\\"
#define SCHEME "\033[?996n"
#define CELL "\033[16t"
#define LAST "\033[c"
#define FOLLOW "\033[?2031h"

static struct {
    struct profile profile, told; /* from the replies; as query_changed told it last */
    bool asked;               /* replies are due */
    bool begun;               /* asked since the terminal was entered */
    bool answers;             /* it has replied to all queries once */
    bool coloured;            /* a program's colour of the cursor was shown when it was asked */
    bool once_more;           /* ask again: it may look different by now */
    bool changed;             /* profile may differ from told */
    bool follows;             /* it reports changes of its scheme */
    int64_t asked_ms, heard_ms; /* heard: of what came last, if it was a reply or a part of one */
    char held[QUERY_HELD];    /* may be a part of a reply */
    size_t held_size;
    int64_t held_until_ms;
} query;

/* Consoles report no colours, and print queries that they don't know. */
static bool may_ask(void)
{
    const char *term = getenv("TERM");
    return term && *term && strcmp(term, "dumb") != 0 && strncmp(term, "linux", 5) != 0 &&
           strncmp(term, "vt", 2) != 0;
}

static bool expects(void)
{
    return query.asked || (query.answers && clock_mono_ms() - query.asked_ms < LATE_MS);
}

/* The terminal replies in order: once it has begun, there is no doubt that the last reply comes. */
static bool is_replying(void)
{
    return query.asked && query.heard_ms >= query.asked_ms &&
           clock_mono_ms() - query.asked_ms < LATE_MS;
}

void query_ask(struct buf *out)
{
    if (!may_ask())
        return;
    if (query.asked && query.begun)
        return;
    query.asked = query.begun = query.changed = true;
    query.once_more = false;
    query.coloured = terminal_cursor_coloured();
    query.asked_ms = clock_mono_ms();
    buf_append_text(out, query.follows ? COLOURS : FOLLOW COLOURS);
    query.follows = true;
    terminal_notice_modes(FOLLOW, strlen(FOLLOW));
    for (int i = 0; i < PROFILE_PALETTE; i++)
        buf_printf(out, "\033]4;%d;?\033\\", i);
    buf_append_text(out, SCHEME CELL LAST);
}

static bool kernel_cell(struct profile *profile)
{
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0)
        return false;
    int height = size.ws_ypixel / size.ws_row, width = size.ws_xpixel / size.ws_col;
    if (height < 1 || width < 1 || height > PROFILE_CELL_MAX || width > PROFILE_CELL_MAX)
        return false;
    profile->cell_height = height;
    profile->cell_width = width;
    return true;
}

void query_resized(void)
{
    struct profile cell;
    query.once_more |= !kernel_cell(&cell);
    query.changed = true;
}

static void query_take(enum reply reply)
{
    query.changed = true;
    query.heard_ms = clock_mono_ms();
    if (reply == REPLY_LAST) {
        query.asked = false;
        query.answers = true;
    }
    if (reply == REPLY_SCHEME && !query.asked)
        query.once_more = true; /* a new scheme has new colours */
}

static void query_hold(const char *data, size_t size)
{
    BUG_UNLESS(size > 0 && size <= sizeof query.held);
    memcpy(query.held, data, size);
    query.held_size = size;
    query.held_until_ms = clock_mono_ms() + PART_MS;
    if (size > KEY_BYTES)
        query.heard_ms = clock_mono_ms();
}

static void keep_cursor(const struct profile *before)
{
    const uint32_t bit = 1u << PROFILE_CURSOR;
    query.profile.known = (query.profile.known & ~bit) | (before->known & bit);
    memcpy(query.profile.colours[PROFILE_CURSOR], before->colours[PROFILE_CURSOR],
           sizeof before->colours[PROFILE_CURSOR]);
}

/* A report of the mouse that is for ue stays among the keys, but it stays whole. */
static bool is_part_of_report(const char *data, size_t size)
{
    size_t at = 3;
    if (!terminal_reports_wheel() || size < 3 || memcmp(data, "\033[<", 3) != 0)
        return false;
    while (at < size && (data[at] == ';' || (data[at] >= '0' && data[at] <= '9')))
        at++;
    return at == size && size < QUERY_HELD;
}

/* Removes the replies from data and returns the size of the keys that stay. whole: the rest of a
 * partial reply did not come in time. Bytes that may also be a key are held back only while the
 * terminal replies, and shortly after a query: an Escape comes through with whatever follows it,
 * were it a reply. */
static size_t without_answers(char *data, size_t size, bool whole)
{
    size_t kept = 0;
    bool expected = expects(),
         soon = is_replying() || (query.asked && clock_mono_ms() - query.asked_ms < ALONE_MS);
    for (size_t at = 0, used; at < size; at += used) {
        const char *escape = memchr(data + at, '\033', size - at);
        used = escape ? (size_t)(escape - data) - at : size - at;
        memmove(data + kept, data + at, used);
        kept += used;
        at += used;
        if (at == size)
            break;
        struct profile before = query.profile;
        enum reply reply = expected || query.follows
                               ? reply_take(&query.profile, data + at, size - at, &used)
                               : REPLY_NONE;
        /* by a program: it says nothing of the terminal, also if the reply comes after its end */
        if (query.coloured || terminal_cursor_coloured())
            keep_cursor(&before);
        if ((!expected && (reply == REPLY_LAST || reply == REPLY_FACT)) ||
            (!soon && reply == REPLY_PART && used <= KEY_BYTES))
            reply = REPLY_NONE;
        if (reply == REPLY_NONE && is_part_of_report(data + at, size - at)) {
            reply = REPLY_PART;
            used = size - at;
        }
        if (reply == REPLY_PART && !whole) {
            query_hold(data + at, used);
            return kept;
        }
        if (reply == REPLY_NONE || reply == REPLY_PART) {
            /* it reports the focus, which also goes to the program */
            query.once_more |= size - at >= 3 && memcmp(data + at, "\033[I", 3) == 0;
            used = 1;
            data[kept++] = data[at];
        } else {
            query_take(reply);
        }
    }
    return kept;
}

ssize_t query_read(char *data, size_t size)
{
    size_t had = query.held_size;
    BUG_UNLESS(size > QUERY_HELD);
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
    bool more = had == 0 || poll(&in, 1, 0) > 0,
         over = had > 0 && clock_mono_ms() >= query.held_until_ms;
    ssize_t got = more ? read(STDIN_FILENO, data + had, size - had) : 0;
    if (got < 0 || (got == 0 && more && had == 0))
        return got;
    if (!more && !over) {
        errno = EAGAIN;
        return -1;
    }
    memcpy(data, query.held, had);
    mem_wipe(query.held, had);
    query.held_size = 0;
    size_t kept = without_answers(data, had + (size_t)got, got == 0);
    if (kept > 0)
        return (ssize_t)kept;
    errno = EAGAIN;
    return -1;
}

int query_wait_ms(void)
{
    int64_t left_ms = query.held_until_ms - clock_mono_ms();
    return query.held_size == 0 ? -1 : left_ms > 0 ? (int)left_ms : 0;
}

bool query_told(struct profile *profile)
{
    static const struct profile nothing;
    *profile = query.told;
    return !profile_equal(profile, &nothing);
}

bool query_changed(struct profile *profile, struct buf *out)
{
    if (query.once_more && query.answers && !query.asked)
        query_ask(out);
    /* one report for all replies to a query */
    if (!query.changed || (query.asked && clock_mono_ms() - query.asked_ms < ALONE_MS))
        return false;
    query.changed = false;
    *profile = query.profile;
    kernel_cell(profile);
    if (profile_equal(profile, &query.told))
        return false;
    query.told = *profile;
    return true;
}

/* Until all replies are there. Keys go to ahead, and what came in time counts also if we get the
 * processor too late; without ahead keys are dropped, and each reply gives the next one time. */
static void wait_for_answers(struct buf *ahead, int wait_ms)
{
    char data[1024];
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
    for (int late = 0; query.asked && late < LATE_READS;) {
        int64_t from_ms = ahead || !is_replying() ? query.asked_ms : query.heard_ms,
                left_ms = from_ms + wait_ms - clock_mono_ms();
        int ready = poll(&in, 1, left_ms > 0 ? (int)left_ms : 0);
        if (left_ms <= 0 && (ready <= 0 || !ahead))
            break;
        late += left_ms <= 0;
        ssize_t got = ready > 0 ? query_read(data, sizeof data) : 0;
        if (ready > 0 && (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)))
            break;
        if (ahead && got > 0)
            buf_append(ahead, data, (size_t)got);
    }
    mem_wipe(data, sizeof data);
}

void query_wait_answers(struct buf *ahead, struct profile *profile)
{
    struct buf out = BUF_INIT;
    BUG_UNLESS(query.held_size == 0); /* query_read comes later */
    query_ask(&out);
    for (size_t at = 0; at < out.len;) {
        struct pollfd to = {.fd = terminal_out_fd(), .events = POLLOUT};
        ssize_t n = poll(&to, 1, WAIT_MS) > 0 ? terminal_write(out.data + at, out.len - at) : -1;
        if (n < 0)
            break;
        at += (size_t)n;
    }
    buf_fini(&out);
    wait_for_answers(ahead, WAIT_MS);
    *profile = query.profile;
    kernel_cell(profile);
    query.told = *profile;
}

void query_settle(void)
{
    wait_for_answers(NULL, LEAVE_MS);
    query.begun = query.follows = false;
    query.held_size = 0;
}
