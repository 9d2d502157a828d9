/* record: `ue record`: begins or ends a recording, which the daemon writes. */
#include "client/rpc/call.h"
#include "client/verbs/run.h"
#include "client/print/say.h"
#include <stdlib.h>

static int record_fill(struct ue *ue, struct json *params, struct err *err)
{
    const struct args *args = &ue->args;
    if (args->operand_count < 2)
        return 0;
    if (args_has(args, "stop"))
        return err_set(err, ERR_USAGE,
                       "'%s': --stop takes no file; it ends the recording of the session",
                       args->operands[1]);
    char *path = launch_absolute(args->operands[1]);
    json_add_text(params, "path", path);
    free(path);
    return 0;
}

static void record_print(struct ue *ue, const struct json *params, const struct json *result)
{
    (void)params;
    size_t len = 0;
    const char *path = json_get_str(result, "path", &len);
    struct buf line = BUF_INIT;
    (void)ue;
    buf_append(&line, path ? path : "", len);
    buf_append_byte(&line, '\n');
    say_text(line.data, line.len);
    buf_fini(&line);
}

int verb_RECORD(struct ue *ue)
{
    return run_verb(ue,
                    &(struct run){.call = CALL_AGAIN, .fill = record_fill, .print = record_print});
}
