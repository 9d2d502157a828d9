/* exec: `ue exec`: runs a command, or a configured session, as if it were run in place; and
 * `ue new`, which runs the person's shell. */
#include "base/mem.h"
#include "base/path.h"
#include "client/attach/attach.h"
#include "client/print/say.h"
#include "client/rpc/input.h"
#include "client/rpc/talk.h"
#include "client/verbs/feed.h"
#include "client/verbs/run.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool attaches(const struct ue *ue)
{
    return args_has(&ue->args, "attach");
}

/* Without any of these it waits for the end, as ssh does. */
static bool is_one_shot(const struct ue *ue)
{
    static const char *const others[] = {"name",        "tty",   "attach",   "yield", "until",
                                         "until-named", "ready", "no-ready", "quiet", "exit"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (args_has(&ue->args, others[i]))
            return false;
    return true;
}

static int exec_fill(struct ue *ue, struct json *params, struct err *err)
{
    (void)err;
    if (is_one_shot(ue))
        params_set(params, "exit", json_bool_new(true));
    if (args_has(&ue->args, "argv") && ue->args.operand_count > 0)
        params_operands(ue, params, "cmd");
    if (attaches(ue)) {
        params_set(params, "tty", json_bool_new(true));
        params_wait(params, 0);
    }
    return 0;
}

static int exec_run(struct ue *ue, struct json *params)
{
    if (attaches(ue))
        return attach_new_session(ue, params);
    if (args_has(&ue->args, "stdin"))
        return feed_talk(ue, params);
    return talk(ue, "exec_command", params, talk_ask);
}

/* Called at the end: the writer of a pipe may be slower than we are. */
static void look_at_input(const struct ue *ue)
{
    bool given = args_has(&ue->args, "stdin") || args_has(&ue->args, "args") || attaches(ue);
    if (!given && input_is_waiting())
        say_note("standard input: has data that the command was not given; --stdin feeds it to the "
                 "command");
}

/* Programs that draw on a terminal, whatever they are given; and those that ask for lines where
 * they are given nothing to do. */
static bool exec_is_for_people(const struct args *args)
{
    static const char *const draw[] = {"vi",   "vim",  "nvim", "view", "nano", "emacs",
                                       "less", "more", "top",  "htop", "mc",   "tmux"},
                             *const ask[] = {"sh",      "bash", "dash", "zsh",    "fish",
                                             "python3", "node", "irb",  "ghci",   "psql",
                                             "mysql",   "gdb",  "bc",   "python", "sqlite3"};
    const char *command = args->operands[0];
    size_t len = strcspn(command, " \t");
    bool alone = args->operand_count == 1 && !command[len];
    for (size_t i = 0; i < args->operand_count; i++)
        if (strpbrk(args->operands[i], "|&;<>()`$\n")) /* a pipeline may feed it */
            return false;
    char *word = xstrndup(command, len);
    const char *name = path_basename(word);
    bool found = false;
    for (size_t i = 0; i < sizeof draw / sizeof *draw; i++)
        found |= strcmp(name, draw[i]) == 0;
    for (size_t i = 0; alone && i < sizeof ask / sizeof *ask; i++)
        found |= strcmp(name, ask[i]) == 0;
    free(word);
    return found;
}

/* A person who meets an end of input at once wonders why. */
static void hint_at_terminal(const struct ue *ue)
{
    const struct args *args = &ue->args;
    bool chosen = args_has(args, "tty") || args_has(args, "stdin") || args_has(args, "args");
    if (chosen || attaches(ue) || args->operand_count == 0 || !say_is_tty(STDIN_FILENO) ||
        !exec_is_for_people(args))
        return;
    say_note("'%s': runs without a terminal and without input; `ue exec -a %s` shows it on this "
             "one, -t gives it one that `ue write` types into",
             args->operands[0], args->operands[0]);
}

static int new_fill(struct ue *ue, struct json *params, struct err *err)
{
    if (ue->args.operand_count > 0 && args_has(&ue->args, "session-name"))
        return err_set(err, ERR_USAGE, "'%s': the session has a name by -s already; give one",
                       ue->args.operands[0]);
    params_shell(params);
    params_set(params, "tty", json_bool_new(true));
    params_wait(params, 0);
    return 0;
}

int verb_NEW(struct ue *ue)
{
    struct err err;
    struct run how = {.meta = META_PLACE | META_ID | META_HUMAN, .fill = new_fill};
    if (!say_is_tty(STDIN_FILENO) || !say_is_tty(STDOUT_FILENO)) {
        err_set(&err, ERR_USAGE,
                "'new': shows a shell on your terminal, and standard input or output is none; "
                "`ue exec -t -n NAME bash` begins one without showing it");
        return ue_fail(ue, &err);
    }
    struct json *params = run_params(ue, &how, &err);
    if (!params)
        return ue_fail(ue, &err);
    int status = attach_new_session(ue, params);
    json_free(params);
    return status;
}

int verb_EXEC(struct ue *ue)
{
    struct err err;
    bool person = !args_has(&ue->args, "args") && (args_has(&ue->args, "tty") || attaches(ue));
    struct run how = {.meta = META_PLACE | META_ID | (person ? META_HUMAN : 0), .fill = exec_fill};
    struct json *params = run_params(ue, &how, &err);
    if (!params)
        return ue_fail(ue, &err);
    hint_at_terminal(ue);
    ue->conn.shows_person = true; /* for the record */
    int status = exec_run(ue, params);
    json_free(params);
    look_at_input(ue);
    return status;
}
