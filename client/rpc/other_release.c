/* other_release: owns the question to the muxd that runs which release it is of. */
#include "client/rpc/other_release.h"
#include "client/rpc/call.h"
#include "client/rpc/release.h"

void other_release_hint(struct connection *conn, const char *method, const struct json *params,
                        struct err *err)
{
    struct msg_answer answer = {0};
    struct err why;
    if (!release_is_other(method, params, err))
        return;
    bool told = call_run(conn, "hello", NULL, CALL_ONCE, &answer, &why) == 0;
    release_say("ue", told ? json_get_str(answer.result, "version", NULL) : NULL, err);
    msg_answer_fini(&answer);
}
