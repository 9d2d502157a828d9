/* hooks: owns the processes of the hooks. All hooks share one place in the ring of events: an
 * event is passed when each hook that wants it was started. A worker that dies meanwhile has
 * started each of them at most once. */
#include "server/hooks.h"
#include "base/bug.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "base/limit.h"
#include "base/log.h"
#include "base/mem.h"
#include "parts/events/events.h"
#include "server/server.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define OUTPUT_MAX 65536 /* bytes that a hook may print; then its output is closed */
#define SHOWN_MAX 400   /* bytes of it in the log */
#define ENDING_MS 5000  /* how long a minder may take to end its command; then it is killed */
#define LAST_MS 5000    /* for all hooks of a daemon that stops */
#define STEP_MS 10      /* between two looks for the end of a hook, once the loop is over */

struct run { /* one hook that runs, or what it has left behind; the process is the minder's */
    struct run *next;
    struct hooks *hooks;
    char *name; /* of the hook, owned */
    uint64_t seq;
    pid_t pid;
    int out_fd;
    struct loop_io *out_io;
    struct loop_timer timeout;
    struct buf output; /* the first SHOWN_MAX bytes */
    size_t printed;
    /* late: past its timeout; unwatched: given up at its start, its end is not told */
    bool late, unwatched;
    bool confined;
};

struct hooks {
    struct server *server;
    struct run *runs;
    unsigned count;
    uint32_t types; /* the types that some hook wants */
    struct events_cursor cursor;
    /* The event that is being handed out, to the hooks from `at` on. */
    char *event; /* owned; NULL: none */
    size_t event_size, at;
    uint64_t event_seq;
    int event_type;
    char *session_name; /* owned */
    uint64_t session;
    struct events_watch watch;
    struct hook_trial *trial; /* for which the event waits; NULL: it does not */
    bool tried;                /* for the hook at `at`: it does not wait again */
    struct loop_timer last; /* when the daemon stops */
    bool hears, ending, over; /* hears: SIGCHLD arrives */
};

static void hooks_pump(void *arg);

static void close_output(struct run *run)
{
    loop_io_free(run->out_io);
    run->out_io = NULL;
    fd_close(&run->out_fd);
}

static void run_free(struct run *run)
{
    struct run **at = &run->hooks->runs;
    for (; *at != run; at = &(*at)->next)
        BUG_UNLESS(*at);
    BUG_UNLESS(run->hooks->count > 0);
    *at = run->next;
    run->hooks->count--;
    loop_timer_stop(&run->timeout);
    close_output(run);
    buf_fini(&run->output);
    free(run->name);
    free(run);
}

/* Reads a bounded piece a turn. A hook that floods loses its reader, and ends by SIGPIPE or by
 * its timeout. */
static void on_output(void *arg, unsigned events)
{
    struct run *run = arg;
    char piece[16384];
    (void)events;
    BUG_UNLESS(run->output.len <= SHOWN_MAX);
    ssize_t n = read(run->out_fd, piece, sizeof piece);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n > 0) {
        size_t room = SHOWN_MAX - run->output.len;
        run->printed += (size_t)n;
        buf_append(&run->output, piece, (size_t)n < room ? (size_t)n : room);
    }
    if (n <= 0 || run->printed > OUTPUT_MAX)
        close_output(run);
}

static void hooks_look_at(struct run *run)
{
    siginfo_t info = {0};
    if (waitid(P_PID, (id_t)run->pid, &info, WEXITED | WNOHANG) != 0) {
        info.si_code = CLD_EXITED; /* it was reaped elsewhere */
    } else if (info.si_pid == 0) {
        return;
    }
    if (run->out_fd >= 0)
        on_output(run, LOOP_READ);
    const struct hook_end end = {.name = run->name,
                                 .seq = run->seq,
                                 .late = run->late,
                                 .cut = run->printed > OUTPUT_MAX,
                                 .printed = run->printed,
                                 .text = run->output.data ? run->output.data : "",
                                 .size = run->output.len};
    if (!run->unwatched)
        hook_report(&end, &info);
    run_free(run);
}

/* By SIGCHLD and not by a pidfd, which some systems lack (Linux before 5.3, strict seccomp
 * filters). */
static void on_child(void *arg)
{
    struct hooks *hooks = arg;
    for (struct run *next, *run = hooks->runs; run; run = next) {
        next = run->next;
        hooks_look_at(run);
    }
    hooks_pump(hooks);
}

static void on_timeout(void *arg)
{
    struct run *run = arg;
    BUG_UNLESS(run->pid > 0);
    kill(run->pid, run->late ? SIGKILL : SIGTERM); /* our child, not reaped: the pid is its own */
    run->late = true;
    loop_timer_set_ms(&run->timeout, ENDING_MS);
}

static void hooks_give_up(const struct hooks *hooks, const struct config_hook *hook,
                          const struct err *err)
{
    log_warn("[hook %s] event %llu: not run: %s", hook->name, (unsigned long long)hooks->event_seq,
             err->text);
}

/* A run that can't be watched is ended at once, and its end is not told. */
static void hooks_watch_run(struct run *run, const struct config_hook *hook)
{
    struct hooks *hooks = run->hooks;
    loop_timer_init(&run->timeout, hooks->server->loop, on_timeout, run);
    loop_timer_set_ms(&run->timeout, hook->timeout_ms);
    run->out_io = loop_io_new(hooks->server->loop, run->out_fd, LOOP_READ, on_output, run);
    if (run->out_io) {
        limit_passed(LIMIT_HOOK);
        return;
    }
    struct err err;
    limit_err(&err, ERR_SYSTEM, LIMIT_HOOK, errno ? errno : EMFILE, "its output can't be watched");
    hooks_give_up(hooks, hook, &err);
    run->unwatched = true;
    close_output(run);
    on_timeout(run); /* on_child reaps it like every other one */
}

static void hooks_start(struct hooks *hooks, const struct config_hook *hook)
{
    const struct hook_event event = {.type = event_rows[hooks->event_type].name,
                                     .text = hooks->event,
                                     .size = hooks->event_size};
    pid_t pid = 0;
    int out_fd = -1;
    struct err err;
    if (hook_start(hooks->server, hook, &event, &pid, &out_fd, &err) != 0) {
        hooks_give_up(hooks, hook, &err);
        return;
    }
    BUG_UNLESS(pid > 0 && out_fd >= 0);
    struct run *run = xcalloc(1, sizeof *run);
    *run = (struct run){.next = hooks->runs,
                        .hooks = hooks,
                        .name = xstrdup(hook->name),
                        .seq = hooks->event_seq,
                        .pid = pid,
                        .out_fd = out_fd,
                        .confined = hook_is_confined(hook),
                        .output = BUF_INIT};
    hooks->runs = run;
    hooks->count++;
    hooks_watch_run(run, hook);
}

static bool is_for(const struct hooks *hooks, const struct config_hook *hook)
{
    char number[24];
    snprintf(number, sizeof number, "%llu", (unsigned long long)hooks->session);
    return (hook->types & EVENT_BIT(hooks->event_type)) &&
           (!hook->session || strcmp(hook->session, hooks->session_name) == 0 ||
            strcmp(hook->session, number) == 0);
}

static void drop_event(struct hooks *hooks)
{
    free(hooks->event);
    free(hooks->session_name);
    hooks->event = hooks->session_name = NULL;
}

/* Takes the next event that some hook is for; it counts as handed out from now on. False: there
 * is none. */
static bool take_event(struct hooks *hooks)
{
    struct registry *registry = hooks->server->registry;
    BUG_UNLESS(!hooks->event);
    uint64_t missed;
    const char *text;
    const struct event_record *record = events_read(registry, &hooks->cursor, hooks->types, NULL,
                                                    &text, &missed);
    if (missed && missed != EVENTS_MISSED_UNKNOWN)
        log_warn("hooks were too slow: %llu events before %llu were not handed to them; make them "
                 "faster, or raise [limits] hooks and "
                 "events",
                 (unsigned long long)missed, (unsigned long long)hooks->cursor.seq);
    events_set_handed(registry, hooks->cursor.seq);
    if (!record)
        return false;
    struct buf event = BUF_INIT;
    events_render(registry, record, text, EVENTS_AGGREGATED_MAX, &event);
    buf_append_byte(&event, '\n');
    hooks->event_size = event.len;
    hooks->event = buf_take(&event);
    hooks->event_type = record->type;
    hooks->event_seq = record->seq;
    hooks->session = record->session;
    hooks->session_name = xstrdup(record->name);
    hooks->at = 0;
    return true;
}

static void hooks_on_tried(void *arg)
{
    struct hooks *hooks = arg;
    hooks->trial = NULL;
    hooks->tried = true; /* what has failed is told by the start */
    hooks_pump(hooks);
}

/* True: the hook at `at` can't start before it is known what confines it here. */
static bool hooks_wait_for_trial(struct hooks *hooks)
{
    const struct config_hook *hook = &hooks->server->config->hooks[hooks->at];
    if (!hooks->tried)
        hooks->trial = hook_await_trial(hooks->server->registry, hook, hooks_on_tried, hooks);
    return hooks->trial != NULL;
}

/* Starts the hooks that may start now. */
static void hooks_pump(void *arg)
{
    struct hooks *hooks = arg;
    const struct config *cfg = hooks->server->config;
    while (hooks->types && !hooks->trial && hooks->count < (unsigned)cfg->limits.hooks) {
        if (!hooks->event && !take_event(hooks)) {
            events_watch_set(hooks->server->registry, &hooks->watch);
            return;
        }
        while (hooks->at < cfg->nhooks && !is_for(hooks, &cfg->hooks[hooks->at]))
            hooks->at++;
        if (hooks->at == cfg->nhooks) {
            drop_event(hooks);
        } else if (!hooks_wait_for_trial(hooks)) {
            hooks->tried = false;
            hooks_start(hooks, &cfg->hooks[hooks->at++]);
        }
    }
}

bool hooks_confine(const struct hooks *hooks)
{
    const struct config *cfg = hooks ? hooks->server->config : NULL;
    for (size_t i = 0; cfg && i < cfg->nhooks; i++)
        if (hook_is_confined(&cfg->hooks[i]))
            return true;
    for (const struct run *run = hooks ? hooks->runs : NULL; run; run = run->next)
        if (run->confined)
            return true;
    return false;
}

void hooks_reload(struct hooks *hooks)
{
    if (!hooks)
        return;
    const struct config *cfg = hooks->server->config;
    struct registry *registry = hooks->server->registry;
    uint32_t types = 0, before = hooks->types;
    for (size_t i = 0; i < cfg->nhooks; i++)
        types |= cfg->hooks[i].types;
    if (types && !hooks->hears &&
        !(hooks->hears = loop_signal(hooks->server->loop, SIGCHLD, on_child, hooks) == 0)) {
        log_error("no hook is run: SIGCHLD can't be received; stop the daemon and start it again");
        types = 0;
    }
    drop_event(hooks); /* it was handed to some hooks of the old config */
    hooks->tried = false;
    events_watch_stop(registry, &hooks->watch);
    if (types)
        events_listen(registry, types);
    if (before)
        events_unlisten(registry, before);
    else
        hooks->cursor = (struct events_cursor){.seq = events_next(registry)};
    hooks->types = hooks->watch.types = types;
    hooks_pump(hooks);
}

struct hooks *hooks_new(struct server *server)
{
    struct hooks *hooks = xcalloc(1, sizeof *hooks);
    hooks->server = server;
    hooks->watch = (struct events_watch){.fn = hooks_pump, .arg = hooks};
    uint64_t handed = events_handed(server->registry);
    hooks_reload(hooks);
    if (handed && hooks->types) { /* where the predecessor was */
        hooks->cursor = (struct events_cursor){.seq = handed};
        hooks_pump(hooks);
    }
    return hooks;
}

static void on_last(void *arg)
{
    struct hooks *hooks = arg;
    hooks->over = true;
    log_warn("the hooks of the last events were too slow: %u killed", hooks->count);
}

bool hooks_are_done(struct hooks *hooks)
{
    if (!hooks || hooks->over)
        return true;
    if (!hooks->ending) {
        hooks->ending = true;
        loop_timer_init(&hooks->last, hooks->server->loop, on_last, hooks);
        loop_timer_set_ms(&hooks->last, LAST_MS);
    }
    hooks_pump(hooks);
    return hooks->count == 0 && !hooks->event;
}

/* When the daemon stops, its hooks end with it; when a successor comes, the minders end their
 * commands themselves. */
static void end_run(struct run *run)
{
    int64_t until_ms = clock_mono_ms() + ENDING_MS;
    if (run->hooks->server->stopping && kill(run->pid, SIGTERM) == 0)
        while (waitpid(run->pid, NULL, WNOHANG) == 0 && clock_mono_ms() < until_ms)
            poll(NULL, 0, STEP_MS);
    else
        waitpid(run->pid, NULL, WNOHANG);
    run_free(run);
}

void hooks_free(struct hooks *hooks)
{
    if (!hooks)
        return;
    if (hooks->ending)
        loop_timer_stop(&hooks->last);
    events_watch_stop(hooks->server->registry, &hooks->watch);
    for (const struct run *run = hooks->server->stopping ? hooks->runs : NULL; run; run = run->next)
        kill(run->pid, SIGTERM); /* all together, before the first is waited for */
    while (hooks->runs)
        end_run(hooks->runs);
    hook_trial_forget(hooks->trial);
    drop_event(hooks);
    free(hooks);
}
