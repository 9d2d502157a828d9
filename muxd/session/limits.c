/* limits.c: owns the limits of one session. The kernel enforces some on each process
 * (setrlimit(2)): what exceeds them is refused to the program. What all processes of the session
 * use together is looked at from time to time, while there is such a limit. */
#include "base/bug.h"
#include "base/clock.h"
#include "keep/plan.h"
#include "session/internal.h"
#include "session/descendants.h"
#include "sys/proc.h"
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define USAGE_MS 250    /* between two looks at least; each is a pass over /proc */
/* and of all sessions together they take no more than this part of the time */
#define USAGE_SHARE 50

/* RLIMIT_NPROC counts the threads of all processes of the user (getrlimit(2)), so those that exist
 * are added to the limit. */
static bool count_threads(void *arg, const struct proc_stat *stat)
{
    uint64_t *count = arg;
    char path[32];
    struct stat info;
    snprintf(path, sizeof path, "/proc/%d", (int)stat->pid);
    if (lstat(path, &info) == 0 && info.st_uid == geteuid())
        *count += stat->threads > 0 ? (uint64_t)stat->threads : 1;
    return true;
}

static uint64_t threads_of_user(void)
{
    uint64_t count = 0;
    proc_each(count_threads, &count);
    return count;
}

size_t limits_plan(const int64_t limits[SESSION_LIMIT_COUNT],
                   struct plan_limit out[SESSION_LIMIT_COUNT])
{
    size_t n = 0;
    /* not RLIMIT_AS: runtimes reserve address space that they never touch */
    if (limits[SESSION_MEMORY] > 0)
        out[n++] = (struct plan_limit){RLIMIT_DATA, (rlim_t)limits[SESSION_MEMORY],
                                       (rlim_t)limits[SESSION_MEMORY]};
    if (limits[SESSION_PROCESSES] > 0) {
        rlim_t most = (rlim_t)limits[SESSION_PROCESSES] + threads_of_user();
        out[n++] = (struct plan_limit){RLIMIT_NPROC, most, most};
    }
    if (limits[SESSION_CPU_TIME] > 0) { /* SIGXCPU; SIGKILL two seconds later */
        rlim_t seconds = (rlim_t)((limits[SESSION_CPU_TIME] + 999) / 1000);
        out[n++] = (struct plan_limit){RLIMIT_CPU, seconds, seconds + 2};
    }
    if (limits[SESSION_OPEN_FILES] > 0)
        out[n++] = (struct plan_limit){RLIMIT_NOFILE, (rlim_t)limits[SESSION_OPEN_FILES],
                                       (rlim_t)limits[SESSION_OPEN_FILES]};
    return n;
}

static void end_by(struct session *session, enum session_limit limit)
{
    BUG_UNLESS(limit < SESSION_LIMIT_COUNT && !session->exited);
    part_end(session, (enum session_killer)(KILLER_LIMIT + (int)limit));
}

static void on_lifetime(void *arg)
{
    end_by(arg, SESSION_LIFETIME);
}

/* Set once; output and input only move the time at which it matters. */
static void limits_on_idle(void *arg)
{
    struct session *session = arg;
    int64_t last = session->last_output_ns > session->input.last_ns ? session->last_output_ns
                                                                    : session->input.last_ns;
    int64_t due = last + session->journal->header->limits[SESSION_IDLE] * NS_PER_MS;
    if (due <= loop_now_ns(session->registry->loop))
        end_by(session, SESSION_IDLE);
    else
        loop_timer_set_ns(&session->limits.idle, due);
}

static enum session_limit exceeded(const int64_t *limits, const struct bearer *all, size_t count)
{
    struct proc_usage one;
    int64_t memory = 0, cpu_ms = 0;
    for (size_t i = 0; i < count; i++) {
        if (!proc_usage(all[i].pid, &one))
            continue;
        memory += (int64_t)one.memory_bytes;
        cpu_ms += (int64_t)one.cpu_ms;
    }
    if (limits[SESSION_MEMORY] > 0 && memory > limits[SESSION_MEMORY])
        return SESSION_MEMORY;
    if (limits[SESSION_PROCESSES] > 0 && count > (size_t)limits[SESSION_PROCESSES])
        return SESSION_PROCESSES;
    return limits[SESSION_CPU_TIME] > 0 && cpu_ms >= limits[SESSION_CPU_TIME] ? SESSION_CPU_TIME
                                                                              : SESSION_LIMIT_COUNT;
}

static int64_t pause_ms(const struct session *session, int64_t took_ns)
{
    int64_t share_ms = took_ns * USAGE_SHARE * (session->registry->live + 1) / NS_PER_MS;
    return share_ms > USAGE_MS ? share_ms : USAGE_MS;
}

static void on_usage(void *arg)
{
    struct session *session = arg;
    size_t count;
    int64_t began_ns = clock_thread_ns();
    if (part_holds_leader(session))
        return; /* it is on its way out */
    const struct bearer *all = bearers_of(descendants_now(session->registry),
                                          session_number(session), &count);
    enum session_limit limit = exceeded(session->journal->header->limits, all, count);
    if (limit != SESSION_LIMIT_COUNT)
        end_by(session, limit);
    else
        loop_timer_set_ms(&session->limits.usage, pause_ms(session, clock_thread_ns() - began_ns));
}

void limits_start(struct session *session)
{
    const struct journal_header *header = session->journal->header;
    struct loop *loop = session->registry->loop;
    if (header->limits[SESSION_LIFETIME] > 0) {
        loop_timer_init(&session->limits.lifetime, loop, on_lifetime, session);
        loop_timer_set_ms(&session->limits.lifetime, header->created_boot_ms +
                                                         header->limits[SESSION_LIFETIME] -
                                                         clock_boot_ms());
    }
    if (header->limits[SESSION_IDLE] > 0) {
        loop_timer_init(&session->limits.idle, loop, limits_on_idle, session);
        loop_timer_set_ms(&session->limits.idle, header->limits[SESSION_IDLE]);
    }
    if (header->limits[SESSION_MEMORY] > 0 || header->limits[SESSION_PROCESSES] > 0 ||
        header->limits[SESSION_CPU_TIME] > 0) {
        loop_timer_init(&session->limits.usage, loop, on_usage, session);
        loop_timer_set_ms(&session->limits.usage, USAGE_MS);
    }
}

void limits_stop(struct session *session)
{
    loop_timer_stop(&session->limits.lifetime);
    loop_timer_stop(&session->limits.idle);
    loop_timer_stop(&session->limits.usage);
}

/* A shell tells by its exit status which signal ended its command. */
enum session_killer limits_blame(const struct session *session, int exit_code, int signo)
{
    bool cpu = (signo == SIGXCPU || exit_code == 128 + SIGXCPU) &&
               session->journal->header->limits[SESSION_CPU_TIME] > 0;
    return cpu ? (enum session_killer)(KILLER_LIMIT + SESSION_CPU_TIME) : KILLER_NONE;
}
