/* main: ue from the command line to the exit status: parse, find the verb's function, run it. */
#include "base/bug.h"
#include "base/mem.h"
#include "client/verbs/patch.h"
#include "client/verbs/run.h"
#include "client/print/say.h"
#include "client/rpc/talk.h"
#include "wire/help.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static ue_verb_fn *const handlers[VERB_COUNT_] = {
#define VERB(ident, ...) [VERB_##ident] = verb_##ident,
#define PLAIN(ident, ...) [VERB_##ident] = run_plain,
#define OPTION(...)
#define END(ident)
#include "wire/commands.def"
#undef VERB
#undef OPTION
#undef END
};

int verb_GLOBAL(struct ue *ue)
{
    BUG("'%s' is the row of the options that all verbs have", ue->args.verb->name);
}

static int print_help(const struct verb *verb)
{
    struct buf out = BUF_INIT;
    if (verb && verb != &verbs[VERB_HELP])
        help_verb(&out, verb);
    else
        help_all(&out);
    say_buf(&out);
    return 0;
}

int verb_HELP(struct ue *ue)
{
    if (ue->args.operand_count == 0)
        return print_help(NULL);
    const char *word = ue->args.operands[0];
    const struct verb *verb = verb_by_name(word);
    struct err err;
    if (verb)
        return print_help(verb);
    verb_unknown(word, &err);
    return ue_fail(ue, &err);
}

static int check_status_fd(struct ue *ue)
{
    struct err err;
    const struct args_option *option = args_next(&ue->args, "status-fd", NULL);
    if (!option)
        return 0;
    int fd = (int)args_int(&ue->args, "status-fd", -1);
    if (fcntl(fd, F_GETFD) < 0) {
        err_set(&err, ERR_USAGE, "'--status-fd %d': %s; open it for ue, as in %d>FILE", fd,
                strerror(errno), fd);
        return ue_fail(ue, &err);
    }
    ue->status_fd = fd;
    return 0;
}

/* An empty -S, as from an unset variable, must not select the default daemon. */
static int check_socket(struct ue *ue)
{
    struct err err;
    const char *given = args_get(&ue->args, "socket");
    if (!given || *given)
        return 0;
    err_set(&err, ERR_USAGE, "'--socket': is empty; give a path, or leave it out");
    return ue_fail(ue, &err);
}

static int check_format(struct ue *ue)
{
    struct err err;
    return talk_check_format(ue, &err) < 0 ? ue_fail(ue, &err) : 0;
}

static int main_run(struct ue *ue)
{
    const struct args *args = &ue->args;
    connection_init(&ue->conn, args_get(args, "socket"), args_get(args, "config"),
                    !args_has(args, "no-start"));
    if (args->wants_help)
        return print_help(args->verb);
    if (args->wants_version)
        return admin_version(ue);
    BUG_UNLESS(args->verb); /* args_parse allows none only with -h and --version */
    int status = check_socket(ue);
    if (status == 0)
        status = check_status_fd(ue);
    if (status == 0)
        status = check_format(ue);
    return status ? status : handlers[args->verb - verbs](ue);
}

int main(int argc, char **argv)
{
    if (argc > 0 && patch_is_program(argv[0]))
        return patch_program(argc, argv);
    struct ue ue = {.status_fd = -1};
    struct err err = {0};
    int result = args_parse(&ue.args, argc, argv, &err);
    if (ue.args.bare && say_is_tty(STDIN_FILENO) && say_is_tty(STDOUT_FILENO)) {
        ue.args.verb = &verbs[VERB_ATTACH]; /* it lets the person choose */
        result = 0;
    }
    int status = result < 0 ? ue_fail(&ue, &err) : main_run(&ue);
    connection_fini(&ue.conn);
    args_fini(&ue.args);
    return status;
}
