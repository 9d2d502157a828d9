/* denial.c: owns the judgement of a command's end: which line of its output tells of something that
 * the plan does not let it do. The last such line counts, as a command mostly says last why it
 * gives up. */
#include "confine/denial.h"
#include "base/bug.h"
#include "base/mem.h"
#include "base/path.h"
#include "confine/confine_git.h"
#include "confine/denial_line.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define PROBES_MAX 8 /* paths that are looked at */

static const char *const refusals[] = {"permission denied", "operation not permitted",
                                       "read-only file system", NULL};
/* Told by name resolution and by programs; nothing of it needs a refusal's words. */
static const char *const network[] = {
    "temporary failure in name resolution", "name or service not known", "could not resolve",
    "couldn't resolve", "unable to resolve", "failed to resolve", "nodename nor servname",
    "network is unreachable", "eai_again", "getaddrinfo", "temporary failure resolving",
    "cannot connect to the docker daemon",
    /* curl and git, node; a frame of python's, through which an error has gone */
    "couldn't connect to server", "could not connect to server", "connect eperm",
    "/socket.py\", line", NULL};
/* "]: errno=": of git, about an address */
static const char *const reaching[] = {"socket",  "connect", "sendto",    "network",
                                       "urlopen", "bind",    "]: errno=", NULL};
static const char *const calls[] = {"ptrace",      "process_vm_readv", "process_vm_writev",
                                    "pidfd_getfd", "io_uring",         "unshare",
                                    "keyctl",      "userfaultfd",      "perf_event_open",
                                    "mount",       "setns",            NULL};
/* As programs speak of what confines them, where the word is not a part of a name. */
static const char *const hints[] = {"seccomp", "sandbox", "landlock", "failed to write file",
                                    "no new privileges", NULL};

/* What the manuals of programs that can be told to say nothing say of their exit statuses. */
static const struct {
    const char *program;
    int exit_code;
} silent[] = {{"wget", 4}, {"curl", 6}, {"curl", 7}};

enum judged { JUDGED_NOT, JUDGED_ORDINARY, JUDGED_DENIED };

struct finding {
    const struct denial_case *of;
    struct denial *denial;
    unsigned probes;
    bool read_only; /* the line says that a file system is */
};

static void denial_set(struct denial *denial, enum denial_operation operation,
                       enum denial_evidence evidence, const char *subject)
{
    free(denial->subject);
    *denial = (struct denial){.operation = operation,
                              .evidence = evidence,
                              .subject = subject ? xstrdup(subject) : NULL};
}

static bool is_below_one(const char *path, const struct strv *dirs)
{
    for (size_t i = 0; i < dirs->count; i++)
        if (confine_is_below(path, dirs->items[i]))
            return true;
    return false;
}

static bool denial_is_hidden(const struct denial_case *of, const char *path)
{
    bool hidden = is_below_one(path, &of->plan->hidden_dirs) ||
                  is_below_one(path, &of->plan->hidden_files);
    for (const char *const *at = of->hidden; at && *at && !hidden; at++)
        hidden = confine_matches(*at, path);
    return hidden;
}

/* What the user could do without the sandbox, and the plan does not let it do. */
static enum judged judge_file(struct finding *finding, const struct denial_file *file)
{
    const struct confine_plan *plan = finding->of->plan;
    bool kept = is_below_one(file->real, &plan->kept) || is_below_one(file->real, &plan->made),
         cant_run = finding->of->exit_code == 126 && !file->is_dir && !file->executable;
    if (denial_is_hidden(finding->of, file->real)) {
        if (!file->readable && file->exists)
            return JUDGED_ORDINARY;
        denial_set(finding->denial, DENIAL_READ, DENIAL_BY_PATH, file->real);
        return JUDGED_DENIED;
    }
    if (!kept && is_below_one(file->real, &plan->roots))
        return JUDGED_ORDINARY;
    bool vain = finding->read_only && !file->writable && !file->on_read_only;
    if (!vain && (!file->writable || cant_run || (file->exists && !file->readable)))
        return JUDGED_ORDINARY;
    denial_set(finding->denial, DENIAL_WRITE, DENIAL_BY_PATH, file->real);
    finding->denial->kept = kept;
    finding->denial->vain = vain;
    return JUDGED_DENIED;
}

static enum judged judge_path(struct finding *finding, const char *name)
{
    struct denial_file *file = xmalloc(sizeof *file); /* too large for a small stack */
    const struct denial_case *of = finding->of;
    char *path = path_join(of->plan->begin ? of->plan->begin : "/", name);
    enum judged judged = JUDGED_NOT;
    if (finding->probes < PROBES_MAX && !confine_is_below(path, "/proc") && ++finding->probes &&
        (of->probe ? of->probe : denial_probe_file)(of->arg, path, file))
        judged = judge_file(finding, file);
    free(path);
    free(file);
    return judged;
}

typedef void denial_names_fn(const struct denial_line *line, size_t at, struct strv *names);
static enum judged judge_names(struct finding *finding, const struct denial_line *line, size_t at,
                               denial_names_fn *find)
{
    struct strv names = {0};
    enum judged judged = JUDGED_NOT;
    find(line, at, &names);
    for (size_t i = 0; i < names.count && judged == JUDGED_NOT; i++)
        judged = judge_path(finding, names.items[i]);
    strv_fini(&names);
    return judged;
}

/* A line with a refusal in it; at: where. */
static enum judged judge_refusal(struct finding *finding, const struct denial_line *line, size_t at)
{
    finding->read_only = denial_line_has(line, refusals + 2, NULL) != NULL;
    enum judged judged = judge_names(finding, line, at, denial_line_names);
    if (judged != JUDGED_NOT)
        return judged;
    const char *call = denial_line_has(line, calls, NULL);
    if (call)
        denial_set(finding->denial, DENIAL_CALL, DENIAL_BY_PLAN, call);
    else if (!finding->of->plan->network && denial_line_has(line, reaching, NULL))
        denial_set(finding->denial, DENIAL_NETWORK, DENIAL_BY_PLAN, NULL);
    else
        return judge_names(finding, line, at, denial_line_bare_name);
    return JUDGED_DENIED;
}

static enum judged judge_line(struct finding *finding, const struct denial_line *line)
{
    size_t at = 0;
    enum judged judged = JUDGED_NOT;
    const char *refusal = denial_line_has(line, refusals, &at), *words = refusal;
    if (!finding->of->plan->network && denial_line_has(line, network, NULL)) {
        denial_set(finding->denial, DENIAL_NETWORK, DENIAL_BY_PLAN, NULL);
        return JUDGED_DENIED;
    }
    if (refusal)
        judged = judge_refusal(finding, line, at);
    else
        words = denial_line_has_word(line, hints);
    /* the weakest evidence: an earlier line may have a better one */
    if (judged == JUDGED_NOT && words && finding->denial->operation == DENIAL_NONE)
        denial_set(finding->denial, DENIAL_UNKNOWN, DENIAL_BY_WORDS, words);
    return judged;
}

/* The program stands there as a word, with or without its directory. */
static bool denial_names_program(const char *command, const char *program)
{
    static const char around[] = " \t\n;&|()'\"`/";
    size_t size = strlen(program);
    for (const char *at = command; (at = strstr(at, program)); at += size)
        if ((at == command || strchr(around, at[-1])) &&
            (at[size] == '\0' || (at[size] != '/' && strchr(around, at[size]))))
            return true;
    return false;
}

static void judge_status(struct finding *finding)
{
    const struct denial_case *of = finding->of;
    for (size_t i = 0; !of->plan->network && of->command && i < sizeof silent / sizeof *silent; i++)
        if (of->exit_code == silent[i].exit_code &&
            denial_names_program(of->command, silent[i].program)) {
            denial_set(finding->denial, DENIAL_NETWORK, DENIAL_BY_STATUS, silent[i].program);
            return;
        }
}

void denial_find(struct denial *denial, const struct denial_case *of)
{
    struct finding finding = {.of = of, .denial = denial};
    struct denial_line line = {.text = NULL};
    BUG_UNLESS(of->plan && of->plan->mode != CONFINE_FULL_ACCESS);
    *denial = (struct denial){.operation = DENIAL_NONE};
    if (of->exit_code == 0 && of->signo == 0)
        return;
    if (of->signo == SIGSYS || of->exit_code == 128 + SIGSYS) {
        denial_set(denial, DENIAL_CALL, DENIAL_BY_SECCOMP, NULL);
        return;
    }
    size_t size = of->size < DENIAL_OUTPUT ? of->size : DENIAL_OUTPUT;
    const char *output = of->output + (of->size - size);
    while (denial_line_before(&line, output, size))
        if (judge_line(&finding, &line) == JUDGED_DENIED)
            return;
    judge_status(&finding);
}

void denial_fini(struct denial *denial)
{
    free(denial->subject);
    *denial = (struct denial){.operation = DENIAL_NONE};
}

void denial_words(const struct denial *denial, const struct confine_plan *plan, struct buf *out)
{
    const char *subject = denial->subject ? denial->subject : "";
    BUG_UNLESS(denial->operation != DENIAL_NONE);
    buf_printf(out, "the sandbox (%s) ", confine_mode_word(plan->mode));
    switch (denial->operation) {
    case DENIAL_WRITE:
        buf_printf(out, "refused to write '%s', which %s", subject,
                   denial->kept ? "stays read-only inside of a directory that may be written"
                   : plan->mode == CONFINE_READ_ONLY ? "may only be read"
                                                     : "lies outside of what may be written");
        break;
    case DENIAL_READ: buf_printf(out, "refused to show '%s'", subject); break;
    case DENIAL_NETWORK:
        buf_append_text(out, "has no network, which the command needs");
        if (denial->evidence == DENIAL_BY_STATUS)
            buf_printf(out, ", as the exit status of %s says", subject);
        break;
    case DENIAL_CALL:
        if (denial->subject)
            buf_printf(out, "refuses the system call %s", subject);
        else
            buf_append_text(out, "ended the command for a system call that it refuses");
        break;
    case DENIAL_NONE:
    case DENIAL_UNKNOWN:
        buf_printf(out, "may be the reason: the command says '%s'", subject);
    }
    if (denial->vain)
        buf_append_text(out, "; without it this user could not write there either");
}

const char *denial_operation_word(enum denial_operation operation)
{
    static const char *const words[] = {"none", "write", "read", "network", "system_call",
                                        "unknown"};
    BUG_UNLESS((size_t)operation < sizeof words / sizeof *words);
    return words[operation];
}

const char *denial_evidence_word(enum denial_evidence evidence)
{
    static const char *const words[] = {"seccomp", "path", "plan", "words", "status"};
    BUG_UNLESS((size_t)evidence < sizeof words / sizeof *words);
    return words[evidence];
}
