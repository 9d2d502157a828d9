/* attach_pick: owns the choice of a session by the person's command line or for want of another one. */
#include "client/attach_pick.h"
#include "base/mem.h"
#include "client/call.h"
#include "client/params.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN_MAX 20 /* names in the text of an error */

static bool is_candidate(const struct json *session, int64_t *number)
{
    bool tty = false;
    const char *own = getenv("MUXD_SESSION");
    char *word;
    if (!json_get_bool(session, "tty", &tty) || !tty || !json_get_int(session, "session_id", number))
        return false;
    word = xasprintf("%" PRId64, *number);
    bool ours = own && strcmp(own, word) == 0;
    free(word);
    return !ours;
}

static int choose(struct ue *ue, const struct json *sessions, char **chosen)
{
    struct buf names = BUF_INIT;
    struct err err;
    int64_t number, only = 0;
    size_t count = 0;
    for (const struct json *it = json_first(sessions); it; it = json_next(it)) {
        const char *name = json_get_str(it, "name", NULL);
        if (!is_candidate(it, &number))
            continue;
        only = number;
        if (++count <= SHOWN_MAX)
            buf_printf(&names, "%s%s", count > 1 ? ", " : "", name ? name : "?");
    }
    if (count == 1)
        *chosen = xasprintf("%" PRId64, only);
    else if (count == 0)
        err_set(&err, ERR_NO_SUCH_SESSION, "no session with a terminal runs; `ue exec -a CMD` starts one");
    else
        err_set(&err, ERR_USAGE, "%zu sessions have a terminal, name one: %s%s", count, names.data,
                count > SHOWN_MAX ? ", \xe2\x80\xa6" : "");
    buf_fini(&names);
    return count == 1 ? 0 : ue_fail(ue, &err);
}

int attach_pick(struct ue *ue, char **session)
{
    struct msg_answer answer;
    struct err err = {0};
    if (ue->args.operand_count > 0) {
        *session = xstrdup(ue->args.operands[0]);
        return 0;
    }
    struct json *params = json_object_new();
    params_meta(ue, params, META_VERB);
    int result = call_run(&ue->conn, "list_sessions", params, CALL_AGAIN, &answer, &err);
    int status = result < 0 ? ue_fail(ue, &err) : choose(ue, json_get(answer.result, "sessions"), session);
    msg_answer_fini(&answer);
    json_free(params);
    return status;
}

void attach_pick_free(char *session)
{
    free(session);
}
