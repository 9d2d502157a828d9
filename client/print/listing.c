/* listing: owns the columns of a session. */
#include "client/print/listing.h"
#include "base/clock.h"
#include "base/mem.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum column {
    NUMBER,
    NAME,
    STATE,
    WAITING,
    PID,
    UNREAD,
    WHEN,
    EXIT,
    COMMAND,
    KEYBOARD,
    VIEWERS,
    RECORDING,
    COLUMNS
};
static const char *const titles[COLUMNS] = {"NUMBER",  "NAME",     "STATE",   "WAITING",
                                            "PID",     "UNREAD",   "AGE",     "EXIT",
                                            "COMMAND", "KEYBOARD", "VIEWERS", "RECORDING"};
static const bool to_the_right[COLUMNS] = {
    [NUMBER] = true, [PID] = true, [UNREAD] = true, [WHEN] = true, [EXIT] = true, [VIEWERS] = true};

enum shown {
    S_NUMBER,
    S_NAME,
    S_STATE,
    S_WAITS,
    S_KEYBOARD,
    S_VIEWERS,
    S_UNREAD,
    S_RATE,
    S_AGE,
    S_COMMAND,
    S_COLUMNS
};
static const char *const shown_titles[S_COLUMNS] = {
    "NUMBER", "NAME", "STATE", "WAITS", "KEYBOARD", "VIEWS", "UNREAD", "OUTPUT", "AGE", "COMMAND"};
static const bool shown_right[S_COLUMNS] = {
    [S_NUMBER] = true, [S_VIEWERS] = true, [S_UNREAD] = true, [S_AGE] = true};

static char *listing_number_of(const struct json *session, const char *key)
{
    int64_t number;
    return json_get_int(session, key, &number) ? xasprintf("%" PRId64, number) : NULL;
}

static char *listing_text_of(const struct json *session, const char *key)
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

static bool is_state(const struct json *session, const char *word)
{
    const char *state = json_get_str(session, "state", NULL);
    return state && strcmp(state, word) == 0;
}

static enum render_color color_of(const struct json *session)
{
    int64_t code = 0;
    if (is_state(session, "running"))
        return RENDER_GREEN;
    if (!is_state(session, "exited"))
        return RENDER_RED;
    json_get_int(session, "exit_code", &code);
    return code == 0 ? RENDER_DIM : RENDER_RED;
}

/* How it ended, or while it lives its state and what is special about it. */
static char *state_of(const struct json *session)
{
    int64_t code = 0;
    const char *state = json_get_str(session, "state", NULL),
               *signal = json_get_str(session, "signal", NULL);
    if (!state)
        return NULL;
    const char *sandbox = json_get_str(json_get(session, "sandbox"), "mode", NULL);
    if (json_get(session, "recording"))
        return xasprintf("%s, recorded%s%s", state, sandbox ? ", " : "", sandbox ? sandbox : "");
    if (sandbox && is_state(session, "running"))
        return xasprintf("%s, %s", state, sandbox);
    if (signal)
        return xasprintf("%s %s", state, signal);
    if (json_get_int(session, "exit_code", &code))
        return xasprintf("%s %" PRId64, state, code);
    return xstrdup(state);
}

/* NULL: the keyboard is free. */
static const char *owner_of(const struct json *session)
{
    const char *owner = json_get_str(json_get(session, "keyboard"), "owner", NULL);
    return owner && strcmp(owner, "nobody") != 0 ? owner : NULL;
}

static char *viewers_of(const struct json *session)
{
    int64_t attached = 0;
    return json_get_int(session, "attached", &attached) && attached > 0
               ? xasprintf("%" PRId64, attached)
               : NULL;
}

static char *bytes_of(const struct json *session, const char *key)
{
    static const char units[] = "kMGT";
    int64_t bytes = 0, unit = -1;
    if (!json_get_int(session, key, &bytes))
        return NULL;
    if (bytes < 10000)
        return xasprintf("%" PRId64, bytes);
    while (bytes >= 10000 && unit < 3) {
        bytes /= 1024;
        unit++;
    }
    return xasprintf("%" PRId64 "%c", bytes, units[unit]);
}

static void add_columns(struct render_table *table, const struct json *session)
{
    struct render_cell *row = render_add_row(table);
    const char *owner = owner_of(session);
    row[NUMBER].text = listing_number_of(session, "session_id");
    row[NAME].text = listing_text_of(session, "name");
    row[STATE].text = listing_text_of(session, "state");
    row[WAITING].text = listing_text_of(session, "waiting_for");
    row[PID].text = listing_number_of(session, "pid");
    row[UNREAD].text = listing_number_of(session, "unread_bytes");
    row[WHEN].text = listing_text_of(session, "created");
    row[EXIT].text = listing_number_of(session, "exit_code");
    row[COMMAND].text = listing_text_of(session, "cmd");
    row[KEYBOARD].text = owner ? xstrdup(owner) : NULL;
    row[VIEWERS].text = listing_number_of(session, "attached");
    row[RECORDING].text = listing_text_of(json_get(session, "recording"), "path");
}

void listing_columns(struct render_table *table, const struct json *sessions)
{
    *table = (struct render_table){
        .titles = titles, .to_the_right = to_the_right, .column_count = COLUMNS};
    for (const struct json *it = json_first(sessions); it; it = json_next(it))
        add_columns(table, it);
}

static void add_shown(struct render_table *table, const struct json *session, listing_rate_fn *rate,
                      void *arg)
{
    struct render_cell cells[S_COLUMNS] = {0}, *row = render_add_row(table);
    const char *owner = owner_of(session);
    int64_t number = 0, unread = 0, attached = 0;
    json_get_int(session, "session_id", &number);
    json_get_int(session, "attached", &attached);
    json_get_int(session, "unread_bytes", &unread);
    cells[S_NUMBER].text = listing_number_of(session, "session_id");
    cells[S_NAME].text = listing_text_of(session, "name");
    cells[S_STATE] = (struct render_cell){state_of(session), color_of(session)};
    cells[S_WAITS].text = listing_text_of(session, "waiting_for");
    cells[S_WAITS].color = cells[S_WAITS].text ? RENDER_YELLOW : RENDER_PLAIN;
    cells[S_KEYBOARD] = (struct render_cell){owner ? xstrdup(owner) : NULL,
                                             owner ? RENDER_YELLOW : RENDER_PLAIN};
    cells[S_VIEWERS].text = viewers_of(session);
    /* who is attached reads it */
    cells[S_UNREAD].text = attached > 0 ? NULL : bytes_of(session, "unread_bytes");
    cells[S_UNREAD].color = unread > 0 && attached == 0 ? RENDER_PLAIN : RENDER_DIM;
    cells[S_AGE].text = age_of(session);
    cells[S_COMMAND].text = listing_text_of(session, "cmd");
    cells[S_RATE] = (struct render_cell){rate ? rate(arg, number) : NULL, RENDER_GREEN};
    for (size_t i = 0, to = 0; i < S_COLUMNS; i++)
        if (rate || i != S_RATE)
            row[to++] = cells[i];
}

void listing_people(struct render_table *table, const struct json *sessions, listing_rate_fn *rate,
                    void *arg)
{
    static const char *short_titles[S_COLUMNS - 1];
    static bool short_right[S_COLUMNS - 1];
    static const size_t spare[] = {S_VIEWERS, S_KEYBOARD, S_UNREAD, S_NUMBER}; /* before S_RATE */
    for (size_t i = 0, to = 0; i < S_COLUMNS; i++) {
        if (i == S_RATE)
            continue;
        short_titles[to] = shown_titles[i];
        short_right[to++] = shown_right[i];
    }
    *table = (struct render_table){.titles = rate ? shown_titles : short_titles,
                                   .to_the_right = rate ? shown_right : short_right,
                                   .spare = spare,
                                   .spare_count = sizeof spare / sizeof *spare,
                                   .column_count = rate ? S_COLUMNS : S_COLUMNS - 1};
    for (const struct json *it = json_first(sessions); it; it = json_next(it))
        add_shown(table, it, rate, arg);
}
