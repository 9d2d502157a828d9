/* readiness: owns the schedule of looks at one terminal and the decision that a look, or silence,
 * is enough. */
#include "session/readiness.h"
#include "base/bug.h"
#include "base/mem.h"
#include "sys/tty_limit.h"
#include "sys/tty_state.h"
#include <stdlib.h>

enum {
    FIRST_NS = 30000, /* a program that answers at once has done so by then */
    LAST_NS = 20000000,
    LONG_NS = 100000000, /* between looks at a program that computes for long */
    LONG_AFTER_NS = 2000000000,
    STARVED_MS = 10000, /* a process that gets no processor for so long is not waited for */
    SHOWN_NS = 1000000, /* so long it has to sleep behind its prompt */
    BLANK_QUIETS = 64,  /* silences of raw_quiet without the prompt that is known */
    ALARM_SLACK_NS = 50000000 /* the same alarm, seen twice: clocks of programs count in ms */
};

struct readiness {
    struct loop *loop;
    struct tty_watch *watch; /* owned */
    struct loop_timer timer;
    readiness_fn *fn;
    void *arg;
    int64_t quiet_ns;
    bool armed, held, gone;
    bool prompted;        /* the program says that it waits */
    int64_t interval_ns;  /* to the next look */
    int64_t activity_ns;  /* last output or write */
    int64_t weak_ns;      /* since when all looks have said that only silence can tell; 0: not so */
    /* The alarm of a program that may be waiting for other things than input, too: */
    int64_t limit_ns;       /* the longest time limit seen since the last output or write */
    int64_t alarm_ns;       /* when that goes off; 0: none that silence has to outlast */
    uint64_t alarm_runs;    /* the run_count of its last sleep */
    int64_t sleep_alarm_ns; /* when that sleep ends by itself; 0: never, or unknown */
    int64_t idle_alarm_ns;  /* the same of the sleep in which it was found ready last */
    struct tty_look last; /* candidate that must stay the same until it has settled */
    int64_t last_ns;      /* when it was first seen; 0: none */
    enum shown (*shows)(void *arg);
    struct tty_look shown; /* it slept behind a prompt that is known */
    int64_t shown_ns;      /* since then; 0: no */
};

static bool is_sure(const struct tty_look *look)
{
    return look->wait == TTY_LINE || look->wait == TTY_SECRET ||
           (look->wait == TTY_KEY && look->line_editor);
}

static bool is_weak(const struct tty_look *look)
{
    return look->wait == TTY_UNKNOWN || (look->wait == TTY_KEY && !look->line_editor);
}

static enum waiting_for waiting_of(const struct tty_look *look)
{
    switch (look->wait) {
    case TTY_LINE:
        return WAITING_LINE;
    case TTY_SECRET:
        return WAITING_SECRET;
    case TTY_KEY:
        return WAITING_KEY;
    case TTY_BUSY:
    case TTY_UNKNOWN:
        break;
    }
    return WAITING_NONE;
}

static enum evidence evidence_of(const struct tty_look *look)
{
    return look->wait == TTY_LINE     ? EVIDENCE_LINE_READ
           : look->wait == TTY_SECRET ? EVIDENCE_SECRET
                                      : EVIDENCE_LINE_EDITOR;
}

static void forget_looks(struct readiness *readiness)
{
    readiness->last_ns = 0;
    readiness->weak_ns = 0;
    readiness->limit_ns = readiness->alarm_ns = 0;
    readiness->shown_ns = 0;
}

/* Something happened: start over, from often to rare. */
static void restart(struct readiness *readiness, int64_t delay_ns)
{
    forget_looks(readiness);
    readiness->interval_ns = FIRST_NS;
    if (readiness->armed && !readiness->held && !readiness->gone)
        loop_timer_set_ns(&readiness->timer, loop_now_ns(readiness->loop) + delay_ns);
    else
        loop_timer_stop(&readiness->timer);
}

static void readiness_fire(struct readiness *readiness, enum evidence evidence,
                           enum waiting_for waiting_for)
{
    readiness_disarm(readiness);
    tty_watch_found(readiness->watch);
    readiness->idle_alarm_ns = readiness->sleep_alarm_ns;
    readiness->fn(readiness->arg, evidence, waiting_for); /* may free us */
}

/* Looks again after the interval, or earlier when a look has settled or silence is over. */
static void look_later(struct readiness *readiness, int64_t now, int64_t due_ns)
{
    int64_t most = now - readiness->activity_ns > LONG_AFTER_NS ? LONG_NS : LAST_NS;
    int64_t next = now + readiness->interval_ns;

    readiness->interval_ns += readiness->interval_ns / 2;
    if (readiness->interval_ns > most)
        readiness->interval_ns = most;
    loop_timer_set_ns(&readiness->timer, due_ns && due_ns < next ? due_ns : next);
}

/* True when a sure look has stayed the same for as long as it must; *due_ns: when it will have. */
static bool has_settled(struct readiness *readiness, const struct tty_look *look, int64_t now,
                        int64_t *due_ns)
{
    const struct tty_look *last = &readiness->last;
    bool same = readiness->last_ns && last->wait == look->wait && last->reader == look->reader &&
                last->run_count == look->run_count && last->foreground == look->foreground &&
                (!look->reader || !look->others_work || last->listed_ns == look->listed_ns);

    if (!same) {
        readiness->last = *look;
        readiness->last_ns = now;
    }
    int64_t settle_ns = (int64_t)look->settle_us * 1000;
    *due_ns = readiness->last_ns + settle_ns;
    if (now < *due_ns || now - readiness->last_ns >= STARVED_MS * 1000000LL)
        return now >= *due_ns;
    /* The others at work count as idle only if they had a processor for half of that time. */
    uint64_t had_ns = look->others_cpu_ns > last->others_cpu_ns
                          ? look->others_cpu_ns - last->others_cpu_ns
                          : 0;
    if (!look->others_work || had_ns >= (uint64_t)settle_ns / 2)
        return true;
    *due_ns = 0;
    return false;
}

/* A program that has set itself an alarm since it was last found ready (node in an await of a
 * timer, a line editor that shows a bracket's partner for a moment) is silent until then, and not
 * for want of input. Only a longer alarm than those before counts: one that goes off again and
 * again, and prints nothing, is how the program idles. */
static void note_alarm(struct readiness *readiness, const struct tty_look *look, int64_t now)
{
    if (look->run_count != readiness->alarm_runs) {
        readiness->alarm_runs = look->run_count;
        readiness->sleep_alarm_ns = look->limit_ns >= 0 ? now + look->limit_ns : 0;
    }
    int64_t alarm_ns = readiness->sleep_alarm_ns;
    bool known = llabs(alarm_ns - readiness->idle_alarm_ns) <= ALARM_SLACK_NS;
    if (!tty_limit_is_soon(look->limit_ns) || look->limit_ns <= readiness->limit_ns)
        return;
    readiness->limit_ns = look->limit_ns;
    if (!known)
        readiness->alarm_ns = alarm_ns;
}

static enum shown readiness_shown(const struct readiness *readiness)
{
    return readiness->shows ? readiness->shows(readiness->arg) : SHOWN_OTHER;
}

/* Who has a prompt and does not show it hardly waits for input. */
static bool was_silent(struct readiness *readiness, int64_t now, int64_t *due_ns)
{
    if (!readiness->weak_ns)
        readiness->weak_ns = now;
    int64_t since = readiness->weak_ns > readiness->activity_ns ? readiness->weak_ns
                                                                : readiness->activity_ns;
    if (since < readiness->alarm_ns)
        since = readiness->alarm_ns;
    *due_ns = since + readiness->quiet_ns;
    if (now >= *due_ns && readiness_shown(readiness) == SHOWN_BLANK)
        *due_ns = since + readiness->quiet_ns * BLANK_QUIETS;
    return now >= *due_ns;
}

/* Whether the program sleeps with its terminal behind a prompt that is known, and has not run for a
 * while; *due_ns: when it will not have. */
static bool has_shown(struct readiness *readiness, const struct tty_look *look, int64_t now,
                      int64_t *due_ns)
{
    if (look->wait != TTY_KEY || readiness_shown(readiness) != SHOWN_PROMPT) {
        readiness->shown_ns = 0;
        return false;
    }
    const struct tty_look *shown = &readiness->shown;
    bool same = readiness->shown_ns && shown->run_count == look->run_count &&
                shown->foreground == look->foreground && shown->reader == look->reader;
    if (!same) {
        readiness->shown = *look;
        readiness->shown_ns = now;
    }
    *due_ns = readiness->shown_ns + SHOWN_NS;
    return same && now >= *due_ns;
}

static void readiness_on_timer(void *arg)
{
    struct readiness *readiness = arg;
    struct tty_look look;
    int64_t now, due_ns = 0, shown_ns = 0;

    tty_watch_look(readiness->watch, &look);
    loop_update(readiness->loop);
    now = loop_now_ns(readiness->loop);
    if (is_weak(&look))
        note_alarm(readiness, &look, now);
    else
        readiness->weak_ns = 0;
    if (!is_sure(&look))
        readiness->last_ns = 0;
    if (is_sure(&look) && has_settled(readiness, &look, now, &due_ns))
        readiness_fire(readiness, evidence_of(&look), waiting_of(&look));
    else if (is_weak(&look) && readiness->prompted)
        readiness_fire(readiness, EVIDENCE_MARKS, WAITING_LINE);
    else if (is_weak(&look) && has_shown(readiness, &look, now, &shown_ns))
        readiness_fire(readiness, EVIDENCE_PROMPT, waiting_of(&look));
    else if (is_weak(&look) && was_silent(readiness, now, &due_ns))
        readiness_fire(readiness, EVIDENCE_QUIET, waiting_of(&look));
    else
        look_later(readiness, now, shown_ns && shown_ns < due_ns ? shown_ns : due_ns);
}

struct readiness *readiness_new(struct loop *loop, int master, pid_t leader,
                                const struct readiness_config *config, readiness_fn *fn, void *arg)
{
    struct readiness *readiness = xcalloc(1, sizeof *readiness);
    BUG_UNLESS(master >= 0 && leader > 0 && fn);
    readiness->loop = loop;
    readiness->watch = tty_watch_new(master, leader, config->confined);
    readiness->fn = fn;
    readiness->arg = arg;
    readiness->interval_ns = FIRST_NS;
    readiness->activity_ns = loop_now_ns(loop);
    readiness->quiet_ns = (int64_t)config->raw_quiet_ms * 1000000;
    readiness->shows = config->shows;
    loop_timer_init(&readiness->timer, loop, readiness_on_timer, readiness);
    return readiness;
}

void readiness_free(struct readiness *readiness)
{
    if (!readiness)
        return;
    loop_timer_stop(&readiness->timer);
    tty_watch_free(readiness->watch);
    free(readiness);
}

void readiness_arm(struct readiness *readiness)
{
    BUG_UNLESS(!readiness->gone);
    readiness->armed = true;
    restart(readiness, 0);
}

void readiness_disarm(struct readiness *readiness)
{
    readiness->armed = false;
    loop_timer_stop(&readiness->timer);
}

void readiness_mark(struct readiness *readiness)
{
    if (readiness->gone)
        return;
    tty_watch_mark(readiness->watch);
    readiness->prompted = false;
    readiness->activity_ns = loop_now_ns(readiness->loop);
    restart(readiness, FIRST_NS);
}

void readiness_interrupt(struct readiness *readiness)
{
    tty_watch_interrupt(readiness->watch);
}

void readiness_output(struct readiness *readiness)
{
    tty_watch_output(readiness->watch);
    readiness->activity_ns = loop_now_ns(readiness->loop);
    restart(readiness, FIRST_NS);
}

void readiness_editor(struct readiness *readiness, bool reads)
{
    tty_watch_editor(readiness->watch, reads);
}

void readiness_prompted(struct readiness *readiness, bool prompted)
{
    readiness->prompted = prompted;
}

void readiness_believe(struct readiness *readiness)
{
    tty_watch_believed(readiness->watch);
}

bool readiness_editor_began(const struct readiness *readiness)
{
    return tty_watch_editor_began(readiness->watch);
}

void readiness_hold(struct readiness *readiness, bool held)
{
    if (readiness->held == held)
        return;
    readiness->held = held;
    restart(readiness, FIRST_NS);
}

enum waiting_for readiness_state(struct readiness *readiness)
{
    struct tty_look look;
    if (readiness->gone || readiness->held)
        return WAITING_NONE;
    tty_watch_look(readiness->watch, &look);
    bool shows = look.wait == TTY_KEY && readiness_shown(readiness) == SHOWN_PROMPT;
    if (is_weak(&look) && !shows &&
        loop_now_ns(readiness->loop) - readiness->activity_ns < readiness->quiet_ns)
        return WAITING_NONE;
    return waiting_of(&look);
}

void readiness_leader_gone(struct readiness *readiness)
{
    readiness->gone = true;
    loop_timer_stop(&readiness->timer);
    tty_watch_leader_gone(readiness->watch);
}

const char *waiting_for_word(enum waiting_for waiting_for)
{
    switch (waiting_for) {
    case WAITING_LINE:
        return "line";
    case WAITING_KEY:
        return "key";
    case WAITING_SECRET:
        return "secret";
    case WAITING_NONE:
        break;
    }
    return NULL;
}
