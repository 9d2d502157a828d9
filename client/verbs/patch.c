/* patch: owns `ue patch` and ue under the name apply_patch, which prints success on standard output
 * and failures on standard error, as Codex's program does. */
#include "client/verbs/patch.h"
#include "base/path.h"
#include "base/utf8.h"
#include "client/rpc/input.h"
#include "client/print/say.h"
#include "client/rpc/talk.h"
#include "client/verbs/run.h"
#include <string.h>

#define PATCH_BYTES_MAX (64u << 20) /* the daemon's own cap is lower and says so */
#define NOT_APPLIED 1
#define PROGRAM_USAGE 2

static int read_patch(const char *operand, struct buf *text, struct err *err)
{
    int result = !operand || strcmp(operand, "-") == 0 ? input_all(text, err)
                                                       : input_file(operand, text, err);
    const char *data = text->data ? text->data : "";
    if (result == 0 && (!utf8_valid(data, text->len) || memchr(data, 0, text->len)))
        return err_set(
            err, ERR_ARGUMENTS,
            "the patch is no UTF-8 text; files in another encoding can't be patched by it");
    return result;
}

/* On a line of its own, as the text before it is the same as that of Codex's program. */
static void tell_why(const struct json *facts)
{
    const char *cause = json_get_str(facts, "cause", NULL);
    if (cause)
        say_note("the reason: %s", cause);
}

static void patch_tell(const char *text)
{
    say_stderr_bytes(text, strlen(text));
    say_stderr_bytes("\n", 1);
}

/* Applies the patch and prints the answer. It is not sent again when the daemon dies, as it may
 * have been applied already. */
static int patch_apply(struct ue *ue, const struct buf *text, bool as_json)
{
    struct msg_answer answer;
    struct err err = {0};
    struct json *params = run_params(ue, &(struct run){.meta = META_PLACE}, &err);
    json_add_str(params, "input", text->data ? text->data : "", text->len);
    json_add_bool(params, "sections", true);
    int status = 0,
        result = call_run(&ue->conn, "apply_patch", params, CALL_WAITS | CALL_ONCE, &answer, &err);
    const struct json *facts = result < 0 ? answer.data : answer.result;
    const char *wrong = json_get_str(facts, "stderr", NULL);
    size_t len = 0;
    const char *output = json_get_str(facts, "output", &len);
    if (err.code == ERR_TOO_LARGE)
        err_set(&err, ERR_TOO_LARGE,
                "the patch is larger than a request may be; make several patches of it, or raise "
                "[limits] max_request");
    if (result < 0 && !wrong)
        status = ue_fail(ue, &err);
    else if (wrong)
        status = err.code == ERR_DENIED ? err_exit_status(err.code) : NOT_APPLIED;
    if (as_json && (wrong || result == 0))
        say_json(facts);
    else if (wrong)
        patch_tell(wrong), tell_why(facts);
    else if (result == 0)
        say_out(output ? output : "", len);
    msg_answer_fini(&answer);
    json_free(params);
    return status;
}

int verb_PATCH(struct ue *ue)
{
    const struct args *args = &ue->args;
    struct err err = {0};
    struct buf text;
    buf_init(&text, PATCH_BYTES_MAX);
    ue->conn.shows_person = true; /* for the record */
    int status = read_patch(args->operand_count > 0 ? args->operands[0] : NULL, &text, &err);
    status = status < 0 ? ue_fail(ue, &err) : patch_apply(ue, &text, args_has(args, "json"));
    buf_fini(&text);
    return status;
}

bool patch_is_program(const char *argv0)
{
    const char *name = path_basename(argv0);
    return strcmp(name, "apply_patch") == 0 || strcmp(name, "applypatch") == 0;
}

static int patch_usage(void)
{
    patch_tell("Usage: apply_patch 'PATCH'\n       echo 'PATCH' | apply_patch");
    return PROGRAM_USAGE;
}

int patch_program(int argc, char **argv)
{
    static char ue_word[] = "ue", patch_word[] = "patch";
    char *own_argv[] = {ue_word, patch_word, NULL};
    struct ue ue = {.status_fd = -1};
    struct err err = {0};
    struct buf text;
    int status;
    if (argc > 2) {
        patch_tell("Error: apply_patch accepts exactly one argument.");
        return PROGRAM_USAGE;
    }
    buf_init(&text, PATCH_BYTES_MAX);
    if (argc == 2)
        buf_append_text(&text, argv[1]);
    args_parse(&ue.args, 2, own_argv, &err);
    connection_init(&ue.conn, NULL, NULL, true);
    if (argc < 2 && read_patch(NULL, &text, &err) < 0)
        status = ue_fail(&ue, &err);
    else if (argc < 2 && text.len == 0)
        status = patch_usage();
    else if (!utf8_valid(text.data ? text.data : "", text.len))
        status = (patch_tell("Error: apply_patch requires a UTF-8 PATCH argument."), NOT_APPLIED);
    else
        status = patch_apply(&ue, &text, false);
    buf_fini(&text);
    connection_fini(&ue.conn);
    args_fini(&ue.args);
    return status;
}
