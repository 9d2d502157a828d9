/* screen: `ue screen`: prints a session's screen, or its hash and cursor. */
#include "client/rpc/call.h"
#include "client/print/say.h"
#include "client/verbs/run.h"
#include <inttypes.h>
#include <string.h>

static void print_facts(const struct ue *ue, const struct json *result, bool cursor)
{
    struct buf out = BUF_INIT;
    int64_t row = 0, col = 0;
    bool visible = true;
    const struct json *place = json_get(result, "cursor");
    json_get_int(place, "row", &row);
    json_get_int(place, "col", &col);
    json_get_bool(place, "visible", &visible);
    if (args_has(&ue->args, "hash"))
        buf_printf(&out, "%s\n", json_get_str(result, "hash", NULL));
    if (cursor)
        buf_printf(&out, "%" PRId64 " %" PRId64 "%s\n", row, col, visible ? "" : " hidden");
    say_buf(&out);
}

static void screen_print(struct ue *ue, const struct json *params, const struct json *result)
{
    (void)params;
    const struct args *args = &ue->args;
    bool drawn = args_has(args, "html") || args_has(args, "svg"),
         cursor = args_has(args, "cursor") && !drawn;
    size_t len = 0;
    const char *screen = json_get_str(result, "screen", &len);
    if (args_has(args, "hash") || cursor)
        print_facts(ue, result, cursor);
    /* safe as it is: the daemon draws only characters, line ends and colours */
    else if (args_has(args, "ansi"))
        say_out(screen ? screen : "", len);
    else
        say_text(screen ? screen : "", len);
}

/* 124: the awaited change did not come. */
static int screen_status_of(struct ue *ue, const struct json *result)
{
    const char *reason = json_get_str(result, "reason", NULL);
    (void)ue;
    return reason && (strcmp(reason, "deadline") == 0 || strcmp(reason, "exit") == 0) ? UE_NOT_TRUE
                                                                                      : 0;
}

int verb_SCREEN(struct ue *ue)
{
    return run_verb(
        ue, &(struct run){.call = CALL_WAITS, .print = screen_print, .status = screen_status_of});
}
