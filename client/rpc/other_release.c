/* other_release.c: owns the proof that ue and muxd are not of one release, and the hint. */
#include "client/rpc/other_release.h"
#include "base/mem.h"
#include "client/rpc/call.h"
#include "wire/schema.h"
#include <stdlib.h>
#include <string.h>

/* How a muxd begins that doesn't know, or misses, an argument. */
static const char *const refusals[] = {"failed to parse function arguments: unknown field `",
                                       "failed to parse function arguments: missing field `"};

static bool is_about_fields(const struct err *err)
{
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        if (strncmp(err->text, refusals[i], strlen(refusals[i])) == 0)
            return true;
    return false;
}

/* What a person typed may be wrong in any release, and a model's tool may be switched off. */
static bool is_known_here(const char *method, const struct json *params, const struct err *refusal)
{
    const struct tool *tool = tool_by_name(method);
    bool verb = false;
    json_get_bool(json_get(params, "_meta"), "verb", &verb);
    if (!tool || refusal->code == ERR_NO_SUCH_METHOD)
        return tool && verb;
    struct err ours;
    struct json *copy = params ? json_copy(params) : json_object_new();
    bool known = refusal->code == ERR_ARGUMENTS && is_about_fields(refusal) &&
                 schema_check(tool, copy, NULL, &ours) == 0;
    json_free(copy);
    return known;
}

void other_release_hint(struct connection *conn, const char *method, const struct json *params,
                        struct err *err)
{
    struct msg_answer answer = {0};
    struct err why;
    if (!is_known_here(method, params, err))
        return;
    bool told = call_run(conn, "hello", NULL, CALL_ONCE, &answer, &why) == 0;
    const char *theirs = told ? json_get_str(answer.result, "version", NULL) : NULL;
    int order = theirs ? strverscmp(theirs, MUXD_VERSION) : 0;
    char *refusal = xstrdup(err->text);
    if (order > 0)
        err_set(err, err->code,
                "%s; this ue (%s) is older than the muxd that runs (%s): use the ue that was "
                "installed with it",
                refusal, MUXD_VERSION, theirs);
    else
        err_set(err, err->code,
                "%s; the muxd that runs (%s) is of another release than this ue (%s): `ue upgrade` "
                "goes on with the muxd that is installed, and keeps the sessions",
                refusal, theirs ? theirs : "unknown", MUXD_VERSION);
    free(refusal);
    msg_answer_fini(&answer);
}
