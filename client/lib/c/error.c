/* error: owns the errors that the caller of the library sees, and their numbers. */
#include "base/bug.h"
#include "base/utf8.h"
#include "client/lib/c/client.h"
#include <stdio.h>
#include <string.h>

int error_tell(struct ue_error *error, const struct err *err)
{
    BUG_UNLESS(err->code < 0);
    int code = err_rpc(err->code);
    if (!error)
        return code;
    memset(error, 0, sizeof *error);
    error->code = code;
    snprintf(error->name, sizeof error->name, "%s", err_name(err->code));
    snprintf(error->text, sizeof error->text, "%s", err->text);
    return code;
}

int error_of_answer(struct ue_error *error, const struct msg_answer *answer)
{
    int code = error_tell(error, &answer->err);
    const char *name = json_get_str(answer->data, "code", NULL);
    if (!error)
        return code;
    if (name) /* also one that this library does not know */
        snprintf(error->name, sizeof error->name, "%.31s", name);
    json_get_int(answer->data, "session_id", &error->session_id);
    return code;
}
