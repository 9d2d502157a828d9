/* policy: `ue policy check` and `ue policy import`. */
#include "client/rpc/call.h"
#include "client/rpc/input.h"
#include "client/verbs/run.h"
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
        json_add_text(params, "name", standard ? "standard input" : args->operands[1]);
        json_add_str(params, "input", text.data ? text.data : "", text.len);
    }
    buf_fini(&text);
    return result;
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
        return run_verb(ue, &(struct run){.tool = "import_rules", .call = CALL_AGAIN,
                                          .fill = policy_import_fill});
    err_set(&err, ERR_USAGE, "'%s': policy has no such word; use check or import", what);
    return ue_fail(ue, &err);
}
