/* list: `ue list`: sessions as a table for people, as columns for programs. */
#include "base/clock.h"
#include "base/mem.h"
#include "client/call.h"
#include "client/params.h"
#include "client/render.h"
#include "client/say.h"
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

enum column { NUMBER, NAME, STATE, WAITING, PID, UNREAD, WHEN, EXIT, COMMAND, COLUMNS };
static const char *const titles[COLUMNS] = {"NUMBER", "NAME", "STATE", "WAITING", "PID", "UNREAD", "AGE", "EXIT", "COMMAND"};
static const bool to_the_right[COLUMNS] = {[NUMBER] = true, [PID] = true, [UNREAD] = true, [WHEN] = true, [EXIT] = true};

static struct json *params_of(const struct ue *ue)
{
    struct json *params = json_object_new();
    if (args_has(&ue->args, "all"))
        json_add_bool(params, "all", true);
    if (ue->args.operand_count > 0)
        params_operands(ue, params, "names");
    params_meta(ue, params, META_VERB);
    return params;
}

static char *number_of(const struct json *session, const char *key)
{
    int64_t number;
    return json_get_int(session, key, &number) ? xasprintf("%" PRId64, number) : NULL;
}

static char *text_of(const struct json *session, const char *key)
{
    const char *text = json_get_str(session, key, NULL);
    return text ? xstrdup(text) : NULL;
}

static char *age_of(const struct json *session)
{
    char age[16];
    int64_t since_ms = render_time_of(json_get_str(session, "created", NULL));
    if (since_ms < 0)
        return NULL;
    render_age(clock_real_ms() - since_ms, age);
    return xstrdup(age);
}

static enum render_color color_of(const struct json *session)
{
    int64_t code = 0;
    const char *state = json_get_str(session, "state", NULL);
    if (state && strcmp(state, "running") == 0)
        return RENDER_GREEN;
    if (!state || strcmp(state, "exited") != 0)
        return RENDER_RED;
    json_get_int(session, "exit_code", &code);
    return code == 0 ? RENDER_DIM : RENDER_RED;
}

/* For people with how many people are there; columns stay as they are. */
static char *state_of(const struct json *session, bool people)
{
    int64_t attached = 0;
    const char *state = json_get_str(session, "state", NULL);
    if (!people || !state || !json_get_int(session, "attached", &attached) || attached == 0)
        return text_of(session, "state");
    return xasprintf("%s, %" PRId64 " attached", state, attached);
}

static void add_row(struct render_table *table, const struct json *session, bool people)
{
    struct render_cell *row = render_add_row(table);
    row[NUMBER].text = number_of(session, "session_id");
    row[NAME].text = text_of(session, "name");
    row[STATE] = (struct render_cell){state_of(session, people), color_of(session)};
    row[WAITING].text = text_of(session, "waiting_for");
    row[WAITING].color = row[WAITING].text ? RENDER_YELLOW : RENDER_PLAIN;
    row[PID].text = number_of(session, "pid");
    row[UNREAD].text = number_of(session, "unread_bytes");
    row[WHEN].text = people ? age_of(session) : text_of(session, "created");
    row[EXIT].text = number_of(session, "exit_code");
    row[COMMAND].text = text_of(session, "cmd");
}

static void show(const struct json *result)
{
    struct render_table table = {.titles = titles, .to_the_right = to_the_right, .column_count = COLUMNS};
    struct buf out = BUF_INIT;
    bool people = say_is_tty(STDOUT_FILENO);
    for (const struct json *it = json_first(json_get(result, "sessions")); it; it = json_next(it))
        add_row(&table, it, people);
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
    struct msg_answer answer = {0};
    struct err err = {0};
    int status = 0;
    bool object = args_has(&ue->args, "args");
    struct json *params = object ? params_from_args(ue, &err) : params_of(ue);
    if (!params)
        return ue_fail(ue, &err);
    if (object)
        params_meta(ue, params, 0);
    if (call_run(&ue->conn, "list_sessions", params, CALL_AGAIN, &answer, &err) < 0)
        status = ue_fail(ue, &err);
    else if (args_has(&ue->args, "json"))
        say_json(answer.result);
    else
        show(answer.result);
    msg_answer_fini(&answer);
    json_free(params);
    return status;
}
