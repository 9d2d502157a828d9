/* release: owns the proof that a client and muxd are not of one release, and what is said then. */
#include "client/rpc/release.h"
#include "base/mem.h"
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
bool release_is_other(const char *method, const struct json *params, const struct err *refusal)
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

void release_say(const char *program, const char *theirs, struct err *err)
{
    int order = theirs ? strverscmp(theirs, MUXD_VERSION) : 0;
    char *refusal = xstrdup(err->text);
    if (order > 0)
        err_set(err, err->code,
                "%s; this %s (%s) is older than the muxd that runs (%s): use the %s that was "
                "installed with it",
                refusal, program, MUXD_VERSION, theirs, program);
    else
        err_set(err, err->code,
                "%s; the muxd that runs (%s) is of another release than this %s (%s): `ue upgrade` "
                "goes on with the muxd that is installed, and keeps the sessions",
                refusal, theirs ? theirs : "unknown", program, MUXD_VERSION);
    free(refusal);
}
