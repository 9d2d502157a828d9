/* policy: `ue policy check` and `ue policy import`. */
#include "client/rpc/call.h"
#include "client/rpc/input.h"
#include "client/print/say.h"
#include "client/verbs/run.h"
#include <inttypes.h>
#include <string.h>

#define RULES_BYTES_MAX (1u << 20)

static int policy_check_fill(struct ue *ue, struct json *params, struct err *err)
{
    const struct args *args = &ue->args;
    struct buf cmd = BUF_INIT;
    if (args->operand_count < 2)
        return err_set(err, ERR_USAGE, "'check' needs a command, as in ue policy check git push");
    for (size_t i = 1; i < args->operand_count; i++)
        buf_printf(&cmd, "%s%s", i > 1 ? " " : "", args->operands[i]);
    json_add_buf(params, "cmd", &cmd);
    return 0;
}

static int policy_check_status(struct ue *ue, const struct json *result)
{
    bool refused = false;
    (void)ue;
    json_get_bool(result, "refused", &refused);
    return refused ? err_exit_status(ERR_DENIED) : 0;
}

static int policy_import_fill(struct ue *ue, struct json *params, struct err *err)
{
    const struct args *args = &ue->args;
    struct buf text;
    if (args->operand_count != 2)
        return err_set(err, ERR_USAGE, "'import' needs one file, as in ue policy import "
                                       "~/.codex/rules/default.rules; - is standard input");
    bool standard = strcmp(args->operands[1], "-") == 0;
    buf_init(&text, RULES_BYTES_MAX);
    int result = standard ? input_all(&text, err) : input_file(args->operands[1], &text, err);
    if (result == 0) {
        if (args_has(args, "skip-refused"))
            json_add_bool(params, "skip_refused", true);
        json_add_text(params, "name", standard ? "standard input" : args->operands[1]);
        json_add_str(params, "input", text.data ? text.data : "", text.len);
    }
    buf_fini(&text);
    return result;
}

/* The refused lines, each on standard error, and then the sections. */
static void policy_import_print(struct ue *ue, const struct json *params, const struct json *result)
{
    const struct json *refused = json_get(result, "refused");
    const char *text = json_get_str(result, "text", NULL);
    int64_t line = 0, rules = 0;
    (void)params;
    for (const struct json *it = json_first(refused); it; it = json_next(it)) {
        json_get_int(it, "line", &line);
        say_note("%s: line %" PRId64 ": %s", ue->args.operands[1], line,
                 json_get_str(it, "reason", NULL));
    }
    json_get_int(result, "rules", &rules);
    if (text)
        say_text(text, strlen(text));
    else
        say_note("%zu refused, so no rule is printed; ue policy --skip-refused import %s prints "
                 "the others (%" PRId64 ")",
                 json_count(refused), ue->args.operands[1], rules);
}

static int policy_import_status(struct ue *ue, const struct json *result)
{
    (void)ue;
    return json_get(result, "text") ? 0 : err_exit_status(ERR_CONFIG);
}

int verb_POLICY(struct ue *ue)
{
    const char *what = ue->args.operands[0];
    struct err err;
    if (strcmp(what, "check") == 0)
        return run_verb(ue, &(struct run){.tool = "check_policy", .call = CALL_AGAIN,
                                          .meta = META_PLACE, .fill = policy_check_fill,
                                          .status = policy_check_status});
    if (strcmp(what, "import") == 0)
        return run_verb(ue, &(struct run){.tool = "import_rules",
                                          .call = CALL_AGAIN,
                                          .fill = policy_import_fill,
                                          .print = policy_import_print,
                                          .status = policy_import_status});
    err_set(&err, ERR_USAGE, "'%s': policy has no such word; use check or import", what);
    return ue_fail(ue, &err);
}
