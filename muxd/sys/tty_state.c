/* tty_state: owns the verdict about one terminal: what its modes, its foreground group and its
 * queues say together.
 *
 * The order of a look matters. Output first: while the master is readable, the program's last
 * output is not read yet. Then the sleepers. Then the input queue, through a slave opened for a
 * moment: poll(2) on it makes the kernel deliver typed bytes that still lie in its work queue,
 * so that a reader that they wake shows as running. Then everything once more: the same modes,
 * no output, no member of the group has run. */
#include "sys/tty_state.h"
#include "base/bug.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/reserve.h"
#include "sys/proc.h"
#include "sys/pty.h"
#include "sys/tty_group.h"
#include "sys/tty_home.h"
#include "sys/tty_survey.h"
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <termios.h>

enum {
    /* typed bytes reach a reader long before this; later, they have woken none */
    DELIVERY_NS = 2000000,
    SETTLE_THREADS_US = 200,
    SETTLE_HIDDEN_US = 1000,
    SETTLE_MIXED_US = 2000, /* ipython and the like poll with a time limit right before they act */
    SETTLE_SAID_US = 500,
    SETTLE_HOME_US = 4000,
    /* half of it on a processor: enough to be loaded from a disk and to answer a line */
    SETTLE_OTHERS_US = 40000
};

struct tty_watch {
    int master; /* borrowed */
    pid_t leader;
    dev_t slave;
    bool gone;   /* the leader has ended, or the terminal never had a number */
    bool opened; /* the leader has had this terminal: TIOCGPTPEER does no harm */
    bool marked;
    bool was_canonical;  /* since the mark */
    bool printed;        /* since the mark */
    /* since it went raw again: line editors do so, programs that compute in raw mode don't */
    bool printed_in_raw;
    unsigned raw_looks;  /* in a row since it was canonical, with all output read */
    bool interrupted;    /* a key that sends a signal was typed since the mark */
    bool editor;         /* the program says that its line editor reads */
    bool editor_began;   /* it has said so since the mark */
    uint64_t place;      /* tty_thread_place of the reader at the last look; 0: none */
    struct tty_home home;
    pid_t mark_group;
    uint64_t mark_runs;
    int64_t marked_ns;
    struct tty_group group;
};

struct tty_watch *tty_watch_new(int master, pid_t leader, bool confined)
{
    BUG_UNLESS(master >= 0);
    struct tty_watch *watch = xcalloc(1, sizeof *watch);
    int number = pty_slave_number(master);

    watch->master = master;
    watch->leader = leader;
    watch->slave = makedev(136, (unsigned)number); /* Unix98 slaves; devices.txt of the kernel */
    watch->gone = number < 0;
    watch->was_canonical = true; /* a new terminal is: the first raw mode is a change */
    tty_group_init(&watch->group, confined ? leader : 0);
    return watch;
}

void tty_watch_free(struct tty_watch *watch)
{
    if (!watch)
        return;
    tty_group_fini(&watch->group);
    free(watch);
}

void tty_watch_leader_gone(struct tty_watch *watch)
{
    watch->gone = true;
    tty_group_fini(&watch->group);
}

/* --- the sleepers --- */

static void follow_group(struct tty_watch *watch, pid_t foreground)
{
    if (watch->group.pgrp != foreground)
        tty_group_scan(&watch->group, foreground);
}

/* The program still waits for the same thing, perhaps at another place of its stack: an interpreter
 * rewrites its own calls while it loops in a wait with a time limit (python since 3.11). */
static void follow_home(struct tty_watch *watch)
{
    const struct tty_group *group = &watch->group;
    tty_group_look(&watch->group, watch->slave);
    for (size_t i = 0; i < group->count; i++)
        if (group->threads[i].sleep == TTY_SLEEP_TIMED)
            tty_home_also(&watch->home, tty_thread_place(&group->threads[i]));
}

void tty_watch_mark(struct tty_watch *watch)
{
    struct termios modes;
    if (watch->gone)
        return;
    pid_t foreground = pty_foreground(watch->master);
    if (foreground > 0)
        follow_group(watch, foreground);
    if (watch->home.waits && foreground == watch->group.pgrp)
        follow_home(watch);
    tty_home_mark(&watch->home);
    for (size_t i = 0; i < watch->group.count; i++)
        tty_thread_count_runs(&watch->group.threads[i]);
    watch->marked = true;
    watch->mark_group = foreground;
    watch->mark_runs = tty_group_runs(&watch->group);
    watch->marked_ns = clock_mono_ns();
    watch->was_canonical = tcgetattr(watch->master, &modes) == 0 && modes.c_lflag & ICANON;
    watch->printed_in_raw = false;
    watch->raw_looks = 0;
    watch->interrupted = false;
    watch->printed = false;
    watch->editor_began = false;
}

void tty_watch_interrupt(struct tty_watch *watch)
{
    watch->interrupted = true;
}

void tty_watch_editor(struct tty_watch *watch, bool reads)
{
    watch->editor = watch->editor_began = reads;
}

bool tty_watch_editor_began(const struct tty_watch *watch)
{
    return watch->editor_began;
}

void tty_watch_found(struct tty_watch *watch)
{
    watch->home.found = watch->place;
}

void tty_watch_believed(struct tty_watch *watch)
{
    tty_home_believed(&watch->home);
}

/* Two looks, because the first may happen in the turn that reports older output. */
void tty_watch_output(struct tty_watch *watch)
{
    watch->printed = true;
    tty_home_output(&watch->home);
    watch->printed_in_raw |= watch->raw_looks >= 2;
}

static void follow_modes(struct tty_watch *watch, bool canonical, bool output_unread)
{
    if (canonical) {
        watch->was_canonical = true;
        watch->printed_in_raw = false;
        watch->raw_looks = 0;
    } else if (watch->was_canonical && !output_unread) {
        watch->raw_looks++;
    }
}

/* --- the terminal --- */

/* Before the leader has its terminal, opening and closing the slave would hang the master up. */
static bool leader_has_tty(struct tty_watch *watch)
{
    struct proc_stat stat;
    if (!watch->opened)
        watch->opened = proc_stat(watch->leader, &stat) &&
                        (dev_t)(unsigned)stat.tty_nr == watch->slave && stat.state != 'Z';
    return watch->opened;
}

/* 0: all output is read; 1: there is output; -1: no process has the slave open. poll(2) also sees
 * output that is still on its way. */
static int master_state(const struct tty_watch *watch)
{
    struct pollfd fd = {.fd = watch->master, .events = POLLIN};
    if (poll(&fd, 1, 0) < 0 || fd.revents & (POLLHUP | POLLERR | POLLNVAL))
        return fd.revents & POLLIN ? 1 : -1;
    return fd.revents & POLLIN ? 1 : 0;
}

/* A read that ends by itself (VMIN 0, VTIME set) is like a poll with a time limit; termios(3). */
static bool read_is_timed(const struct termios *modes)
{
    return !(modes->c_lflag & ICANON) && modes->c_cc[VMIN] == 0;
}

static bool same_modes(const struct tty_watch *watch, const struct termios *modes)
{
    struct termios now;
    return tcgetattr(watch->master, &now) == 0 && now.c_lflag == modes->c_lflag &&
           now.c_cc[VMIN] == modes->c_cc[VMIN];
}

/* How long the look of a program whose wait has a time limit must stay the same; 0: it proves
 * nothing. Such a program wakes and sleeps again without input, so its call alone says little. It
 * reads its terminal
 * - when its line editor has said so since the write; or
 * - when the editor reads on (half a line, a block that goes on), only the terminal and the time
 *   can wake it, and it sleeps, or loops, at the place where it was last known to wait; or
 * - when it has no line editor, sleeps at that place, has printed, and is alone, so that nobody
 *   else of its group can be at work. */
static unsigned said_settle_us(struct tty_watch *watch, const struct tty_survey *survey)
{
    BUG_UNLESS(survey->reader);
    bool timed = survey->reader->sleep == TTY_SLEEP_TIMED;
    /* another machine's editor may have said it, before the last typed bytes reached it */
    if (survey->reader->sleep == TTY_SLEEP_REMOTE)
        return 0;
    if (watch->editor_began)
        return timed ? SETTLE_SAID_US : SETTLE_MIXED_US;
    if (!timed)
        return 0;
    bool home = tty_home_is(&watch->home, watch->place);
    if (watch->editor)
        return home || tty_home_loops(&watch->home, watch->place, tty_group_runs(&watch->group))
                   ? SETTLE_SAID_US
                   : 0;
    return home && watch->printed && tty_survey_reader_is_alone(survey, &watch->group)
               ? SETTLE_HOME_US
               : 0;
}

/* It left raw mode since the mark, came back and printed, as line editors do. An event loop that
 * has the terminal among other things does so too before it has the result: node leaves raw mode
 * to begin an await, and may print in it. */
static bool returned_to_editor(const struct tty_watch *watch, const struct tty_survey *survey)
{
    BUG_UNLESS(survey->reader);
    return watch->printed_in_raw && survey->reader->sleep >= TTY_SLEEP_TIMED &&
           !tty_survey_has_alarm(survey, &watch->group);
}

static void judge(struct tty_watch *watch, const struct tty_survey *survey,
                  const struct termios *modes, struct tty_look *look)
{
    const struct tty_thread *reader = survey->reader;
    bool mixed = reader && (reader->sleep < TTY_SLEEP_ONLY || read_is_timed(modes) ||
                            tty_survey_has_alarm(survey, &watch->group));
    unsigned settle = survey->several_threads ? SETTLE_THREADS_US : 0;

    watch->place = reader ? tty_thread_place(reader) : 0;

    if (!reader && look->canonical && !look->echo) {
        look->wait = TTY_SECRET; /* sudo, su, ssh: the modes alone decide */
        settle = SETTLE_HIDDEN_US;
    } else if (!reader) {
        look->wait = TTY_UNKNOWN;
        look->why = "the program is hidden from us (set-id or another user's)";
    } else if (look->canonical && mixed) {
        look->wait = TTY_UNKNOWN;
        look->why = "the program waits for its terminal and for other things at once";
    } else if (look->canonical) {
        look->wait = look->echo ? TTY_LINE : TTY_SECRET;
    } else {
        look->wait = TTY_KEY;
        unsigned said = mixed ? said_settle_us(watch, survey) : 0;
        look->line_editor = !mixed || said > 0 || returned_to_editor(watch, survey);
        if (mixed)
            settle = said > 0 ? said : SETTLE_MIXED_US;
    }
    look->limit_ns = mixed ? tty_thread_limit(reader).ns : TTY_LIMIT_UNKNOWN;
    look->settle_us = survey->others_running ? SETTLE_OTHERS_US : settle;
    look->needs_confirmation = look->settle_us > 0;
}

/* Did what was typed since the mark have its effect on the group? */
static bool has_run(const struct tty_watch *watch, const struct tty_look *look)
{
    return !watch->marked || look->foreground != watch->mark_group ||
           tty_group_runs(&watch->group) != watch->mark_runs;
}

/* Then only the terminal's modes are known. */
static void cannot_look(struct tty_look *look)
{
    bool secret = look->canonical && !look->echo;
    look->wait = secret ? TTY_SECRET : TTY_UNKNOWN;
    look->why = "no descriptors are left to look at the program";
    look->settle_us = secret ? SETTLE_HIDDEN_US : 0;
    look->needs_confirmation = secret;
}

static void tty_state_look_at(struct tty_watch *watch, struct tty_look *look)
{
    struct termios modes;
    struct tty_survey survey;

    if (watch->gone || tcgetattr(watch->master, &modes) < 0)
        return;
    look->canonical = modes.c_lflag & ICANON;
    look->echo = modes.c_lflag & ECHO;
    int master = master_state(watch);
    look->output_unread = master > 0;
    follow_modes(watch, look->canonical, look->output_unread);
    look->foreground = pty_foreground(watch->master);
    if (master != 0 || look->foreground <= 0)
        return;
    proc_was_blind();
    /* the descriptors in reserve are for clients */
    bool opened = !reserve_is_short() && leader_has_tty(watch);
    if (opened) {
        follow_group(watch, look->foreground);
        tty_survey_take(&survey, &watch->group, watch->slave);
    }
    if (proc_was_blind() || reserve_is_short())
        cannot_look(look);
    if (!opened || look->wait != TTY_BUSY)
        return;
    look->ran = has_run(watch, look);
    if (!survey.reader && (survey.others_running || !survey.hidden))
        return;
    if (!look->ran && clock_mono_ns() - watch->marked_ns < DELIVERY_NS)
        return;
    survey.others_running |= tty_survey_waits_for_disk(&survey, &watch->group);
    int unread = pty_unread_input(watch->master);
    look->typed_unread = unread > 0;
    if (unread < 0 && errno == EMFILE)
        cannot_look(look);
    if (unread > 0 || (unread < 0 && !look->ran))
        return;
    /* A reader that ^C has woken still shows its read for a moment, asleep (state D) until the
     * kernel lets go of the terminal. */
    if (watch->interrupted && survey.reader && tty_thread_state(survey.reader) != 'S')
        return;
    if (!tty_survey_unchanged(&survey, &watch->group) ||
        !same_modes(watch, &modes) || pty_foreground(watch->master) != look->foreground)
        return;
    if (master_state(watch) != 0) {
        look->output_unread = true;
        return;
    }
    look->others_work = survey.others_running;
    look->others_cpu_ns = tty_survey_others_ns(&survey, &watch->group);
    look->listed_ns = watch->group.scanned_ns;
    look->reader = survey.reader ? survey.reader->pid : 0;
    look->run_count = survey.others_running && survey.reader ? survey.reader->runs
                                                             : tty_group_runs(&watch->group);
    judge(watch, &survey, &modes, look);
}

void tty_watch_look(struct tty_watch *watch, struct tty_look *look)
{
    memset(look, 0, sizeof *look);
    tty_state_look_at(watch, look);
    if (!watch->gone)
        tty_group_keep(&watch->group);
}
