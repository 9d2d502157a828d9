/* doctor_kernel: owns the rows about what the kernel gives this user: limits, control groups,
 * readiness. */
#include "base/limit.h"
#include "cmd/doctor.h"
#include "sys/cgroup.h"
#include "sys/tty_state.h"
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#define FILES_FEW 1024
#define PROCESSES_FEW 256
#define MARK_ROOM (UINT64_C(1) << 60) /* sys/mark.h */

static const char *amount(rlim_t value, char out[24])
{
    if (value == RLIM_INFINITY)
        return "unlimited";
    snprintf(out, 24, "%llu", (unsigned long long)value);
    return out;
}

static rlim_t most_of(__rlimit_resource_t resource)
{
    struct rlimit limit;
    return getrlimit(resource, &limit) == 0 ? limit.rlim_max : RLIM_INFINITY;
}

/* few: advice below that. */
static void add_limit_row(const struct doctor *doctor, enum doctor_id id, rlim_t most, rlim_t few,
                          const struct doctor_say *say)
{
    char text[24];
    doctor_add(doctor->rows, id, most < few ? *say : DOCTOR_FINE, "at most %s", amount(most, text));
}

static void add_locks(const struct doctor *doctor)
{
    rlim_t most = most_of(RLIMIT_LOCKS);
    char text[24];
    if (most == RLIM_INFINITY)
        doctor_add(doctor->rows, DOCTOR_LOCKS, DOCTOR_FINE, "unlimited");
    else if (most < MARK_ROOM)
        doctor_add(doctor->rows, DOCTOR_LOCKS,
                   (struct doctor_say){DOCTOR_ADVICE,
                                       "there is no room for the mark of sessions: what leaves its "
                                       "parents survives a kill, and nobody is known as a person",
                                       "take locks out of limits.conf(5), and log in again"},
                   "at most %s", amount(most, text));
    else
        doctor_add(doctor->rows, DOCTOR_LOCKS,
                   (struct doctor_say){DOCTOR_ADVICE,
                                       "muxd runs below a session of another muxd: nobody here is "
                                       "known as a person",
                                       "start it outside of all sessions"},
                   "at most %s: the mark of a session", amount(most, text));
}

static void kernel_add_met(void *arg, const struct limit_text *text)
{
    struct json *rows = arg;
    doctor_add(rows, DOCTOR_LIMITS, (struct doctor_say){DOCTOR_ADVICE, text->what, text->raise},
               "%s", text->limit);
}

static void add_met(const struct doctor *doctor)
{
    struct err err;
    size_t before = json_count(doctor->rows);
    if (doctor->ctx)
        limit_each(kernel_add_met, doctor->rows);
    else if (limit_check_stack(&err) < 0)
        doctor_add(doctor->rows, DOCTOR_LIMITS,
                   (struct doctor_say){DOCTOR_BAD, "muxd does not start", "raise it: ulimit -s"},
                   "%s", err.text);
    if (json_count(doctor->rows) == before)
        doctor_add(doctor->rows, DOCTOR_LIMITS, DOCTOR_FINE, "none holds anything up");
}

static void add_cgroup(const struct doctor *doctor)
{
    const char *found = cgroup_probe();
    bool there = cgroup_available();
    doctor_add(doctor->rows, DOCTOR_CGROUP,
               there ? DOCTOR_FINE
                     : (struct doctor_say){DOCTOR_OK,
                                           "a kill finds a session's processes by their mark, "
                                           "which needs no control group",
                                           NULL},
               "%s", found);
}

static void add_readiness(const struct doctor *doctor)
{
    bool known = false;
    const char *found = tty_state_selftest(&known);
    bool kernel = strcmp(found, "kernel") == 0;
    doctor_add(doctor->rows, DOCTOR_READINESS,
               kernel ? DOCTOR_FINE
                      : (struct doctor_say){DOCTOR_ADVICE,
                                            "that a program waits for input is seen by its silence "
                                            "only",
                                            "ready_pattern and --quiet help where that is wrong"},
               "%s", kernel ? "the kernel tells which program waits for input" : found);
}

void doctor_kernel(const struct doctor *doctor)
{
    const struct doctor_say few_files = {
        DOCTOR_ADVICE, "each session takes a few: later ones may not start",
        "ulimit -n, nofile in limits.conf(5) or LimitNOFILE= of its unit, before muxd starts"};
    const struct doctor_say few_processes = {
        DOCTOR_ADVICE, "programs may not start",
        "ulimit -u, nproc in limits.conf(5) or LimitNPROC= of its unit, before muxd starts"};
    const struct doctor_say no_core = {DOCTOR_OK,
                                       "programs that crash in a session leave no core file", NULL};
    add_limit_row(doctor, DOCTOR_NOFILE, most_of(RLIMIT_NOFILE), FILES_FEW, &few_files);
    add_limit_row(doctor, DOCTOR_NPROC, most_of(RLIMIT_NPROC), PROCESSES_FEW, &few_processes);
    add_limit_row(doctor, DOCTOR_CORE, most_of(RLIMIT_CORE), 1, &no_core);
    add_locks(doctor);
    add_met(doctor);
    add_cgroup(doctor);
    add_readiness(doctor);
}
