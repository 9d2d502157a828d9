/* tty_state: owns the verdict about one terminal: what its modes, its foreground group and its
 * queues say together.
 *
 * The order of a look matters. Output first: a master that is readable means that the program's
 * last words are not yet with us. Then the sleepers. Then the input queue, through a slave opened
 * for a moment: poll(2) on it makes the kernel hand over what was typed but still lies in its work
 * queue, so that a reader that should have been woken shows as running. Then everything once more:
 * the same modes, no output, nobody ran. */
#include "sys/tty_state.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/reserve.h"
#include "sys/proc.h"
#include "sys/pty.h"
#include "sys/tty_group.h"
#include "sys/tty_home.h"
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <termios.h>

enum {
    /* typed bytes are with the reader long before, unless they woke nobody */
    DELIVERY_NS = 2000000,
    /* a member may join without a new pid: a shell's child that changes its group */
    RESCAN_NS = 20000000,
    SETTLE_THREADS_US = 200,
    SETTLE_HIDDEN_US = 1000,
    SETTLE_MIXED_US = 2000, /* ipython and the like poll with a time limit right before they act */
    SETTLE_SAID_US = 500,
    SETTLE_HOME_US = 4000,
    SETTLE_OTHERS_US = 20000
};

struct tty_watch {
    int master; /* borrowed */
    pid_t leader;
    dev_t slave;
    bool gone, opened; /* opened: the leader has had this terminal, TIOCGPTPEER does no harm */
    bool marked;
    bool was_canonical;  /* since the mark */
    bool printed;        /* since the mark */
    /* since it went raw again: what a line editor does, and a program that computes there does
     * not */
    bool printed_in_raw;
    unsigned raw_looks;  /* in a row since it was canonical, with all output read */
    bool interrupted;    /* a key that sends a signal was typed with the mark */
    bool editor;         /* its line editor reads, as it says itself */
    bool editor_began;   /* and it has begun since the mark */
    uint64_t place;      /* tty_thread_place of the reader at the last look; 0: none */
    struct tty_home home;
    pid_t mark_group;
    uint64_t mark_runs;
    int64_t marked_ns;
    struct tty_group group;
};

struct tty_watch *tty_watch_new(int master, pid_t leader)
{
    struct tty_watch *watch = xcalloc(1, sizeof *watch);
    int number = pty_slave_number(master);

    watch->master = master;
    watch->leader = leader;
    watch->slave = makedev(136, (unsigned)number); /* Unix98 slaves; devices.txt of the kernel */
    watch->gone = number < 0;
    watch->was_canonical = true; /* a new terminal is: the first raw mode is a change */
    tty_group_init(&watch->group);
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

/* It still waits for the same, perhaps elsewhere on its stack: an interpreter changes its own calls
 * while it loops in a wait with a time limit (python since 3.11). */
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

/* Two looks, because the first may be in the very turn in which older output is reported. */
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

struct survey {
    const struct tty_thread *reader; /* the surest one */
    bool others_running, hidden, several_threads;
};

static void survey_group(const struct tty_group *group, struct survey *survey)
{
    *survey = (struct survey){.reader = NULL};
    for (size_t i = 0; i < group->count; i++) {
        const struct tty_thread *thread = &group->threads[i];
        survey->others_running |= thread->sleep == TTY_SLEEP_RUNNING;
        survey->hidden |= thread->sleep == TTY_SLEEP_HIDDEN;
        survey->several_threads |= i > 0 && thread->pid == group->threads[i - 1].pid;
        if (thread->sleep >= TTY_SLEEP_REMOTE &&
            (!survey->reader || thread->sleep > survey->reader->sleep))
            survey->reader = thread;
    }
}

/* Finds the reader; looks for new members where that may change the answer. */
static void find_reader(struct tty_watch *watch, struct survey *survey)
{
    struct tty_group *group = &watch->group;

    tty_group_look(group, watch->slave);
    survey_group(group, survey);
    if (survey->others_running && !survey->reader)
        return; /* it computes */
    bool due = !survey->reader && clock_mono_ns() - group->scanned_ns >= RESCAN_NS &&
               tty_group_may_be_joined(group);
    if (due || (tty_group_may_have_grown(group) && tty_group_has_newcomer(group))) {
        tty_group_scan(group, group->pgrp);
        tty_group_look(group, watch->slave);
        survey_group(group, survey);
    }
}

/* Another member that waits for a disk, at its start say, is about to go on: `cat | sed` whose sed
 * is still being loaded. */
static bool others_wait_for_disk(const struct tty_group *group, const struct tty_thread *reader)
{
    for (size_t i = 0; i < group->count; i++) {
        const struct tty_thread *thread = &group->threads[i];
        bool other = reader && thread->pid != reader->pid && thread->pid == thread->tid;
        if (other && thread->sleep == TTY_SLEEP_ELSEWHERE && tty_thread_state(thread) == 'D')
            return true;
    }
    return false;
}

static bool group_unchanged(struct tty_group *group, const struct tty_thread *reader,
                            bool others_running)
{
    for (size_t i = 0; i < group->count; i++) {
        struct tty_thread *thread = &group->threads[i];
        if (thread->sleep == TTY_SLEEP_GONE || (others_running && thread != reader))
            continue;
        if (!tty_thread_unchanged(thread))
            return false;
    }
    return true;
}

/* --- the terminal --- */

/* Opened and closed before the leader has its terminal, the slave would hang the master up. */
static bool leader_has_tty(struct tty_watch *watch)
{
    struct proc_stat stat;
    if (!watch->opened)
        watch->opened = proc_stat(watch->leader, &stat) &&
                        (dev_t)(unsigned)stat.tty_nr == watch->slave && stat.state != 'Z';
    return watch->opened;
}

/* 0: nothing left to read; 1: output; -1: nobody has the slave open. poll(2) sees what is still on
 * its way, too. */
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

/* A program whose wait has a time limit wakes and sleeps again without input, so its call alone
 * says little. It reads its terminal when it has said so since the write. Or, when it has not said
 * that it has its line, when nothing but its terminal and the time can wake it and it sleeps at the
 * very place where it slept when it was last known to wait, or loops there: half a line, a block
 * that goes on. One that says nothing must have printed, and have nobody beside it that could work
 * meanwhile. */
static unsigned said_settle_us(struct tty_watch *watch, const struct survey *survey)
{
    bool timed = survey->reader->sleep == TTY_SLEEP_TIMED;
    /* the word may be another machine's, which has not seen what was typed last */
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
    return home && watch->printed && watch->group.count == 1 ? SETTLE_HOME_US : 0;
}

static void judge(struct tty_watch *watch, const struct survey *survey, const struct termios *modes,
                  struct tty_look *look)
{
    const struct tty_thread *reader = survey->reader;
    bool mixed = reader && (reader->sleep < TTY_SLEEP_ONLY || read_is_timed(modes));
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
        look->line_editor = !mixed || watch->printed_in_raw || said > 0;
        if (mixed)
            settle = said > 0 ? said : SETTLE_MIXED_US;
    }
    look->settle_us = survey->others_running ? SETTLE_OTHERS_US : settle;
    look->needs_confirmation = look->settle_us > 0;
}

/* Of those that are on a processor or wait for one: on a busy machine perhaps for long. One that
 * has not had one yet counts, too. */
static uint64_t working_cpu_ns(const struct tty_group *group, const struct tty_thread *reader)
{
    uint64_t sum = 1;
    for (size_t i = 0; i < group->count; i++)
        if (&group->threads[i] != reader && group->threads[i].sleep == TTY_SLEEP_RUNNING)
            sum += group->threads[i].cpu_ns;
    return sum;
}

/* Did what was typed since the mark have its effect on the group? */
static bool has_run(const struct tty_watch *watch, const struct tty_look *look)
{
    return !watch->marked || look->foreground != watch->mark_group ||
           tty_group_runs(&watch->group) != watch->mark_runs;
}

/* The terminal's modes are all that is known then. */
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
    struct survey survey;

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
    /* what is in reserve is for clients */
    bool opened = !reserve_is_short() && leader_has_tty(watch);
    if (opened) {
        follow_group(watch, look->foreground);
        find_reader(watch, &survey);
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
    survey.others_running |= others_wait_for_disk(&watch->group, survey.reader);
    int unread = pty_unread_input(watch->master);
    look->typed_unread = unread > 0;
    if (unread < 0 && errno == EMFILE)
        cannot_look(look);
    if (unread > 0 || (unread < 0 && !look->ran))
        return;
    /* Woken by ^C it still stands in its read, asleep for a moment until the kernel lets go of the
     * terminal (state D). */
    if (watch->interrupted && survey.reader && tty_thread_state(survey.reader) != 'S')
        return;
    if (!group_unchanged(&watch->group, survey.reader, survey.others_running) ||
        !same_modes(watch, &modes) || pty_foreground(watch->master) != look->foreground)
        return;
    if (master_state(watch) != 0) {
        look->output_unread = true;
        return;
    }
    look->others_cpu_ns = survey.others_running ? working_cpu_ns(&watch->group, survey.reader) : 0;
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
