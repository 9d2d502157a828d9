/* list: `ue list`: prints sessions as a table for people, or as columns for programs. */
#include "client/rpc/call.h"
#include "client/print/listing.h"
#include "client/verbs/run.h"
#include "client/print/render.h"
#include "client/print/say.h"
#include <unistd.h>

static void list_print(struct ue *ue, const struct json *params, const struct json *result)
{
    (void)params;
    struct render_table table;
    struct buf out = BUF_INIT;
    (void)ue;
    bool people = say_is_tty(STDOUT_FILENO);
    const struct json *sessions = json_get(result, "sessions");
    if (people)
        listing_people(&table, sessions, NULL, NULL);
    else
        listing_columns(&table, sessions);
    if (people && table.row_count == 0)
        buf_append_text(&out, "no sessions\n");
    else if (people)
        render_people(&out, &table, render_width_of(STDOUT_FILENO), render_wants_colors());
    else
        render_tabs(&out, &table);
    render_fini(&table);
    say_buf(&out);
}

int verb_LIST(struct ue *ue)
{
    return run_verb(ue, &(struct run){.call = CALL_AGAIN, .print = list_print});
}
