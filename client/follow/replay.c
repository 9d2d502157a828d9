/* replay: `ue replay`: plays a recording at its own speed or another one. */
#include "client/follow/replay.h"
#include "base/bug.h"
#include "base/clock.h"
#include "client/print/render.h"
#include "client/print/safe.h"
#include "client/print/say.h"
#include "client/terminal/terminal.h"
#include "client/rpc/ue.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RAW_END                                                                                    \
    "\033[?9l\033[?1000l\033[?1002l\033[?1003l\033[?1005l\033[?1006l\033[?1015l\033[?1004l\033[?"  \
    "2004l\033[?1l\033>\033[?1049l"

enum state { PLAYING, PAUSED, STEPPING, QUIT, INTERRUPTED };

struct replay {
    struct replay_file file;
    struct safe safe;
    bool terminal, raw;
    double speed;
    int64_t idle_us;    /* longest pause; 0: that of the recording */
    int64_t shown_us;   /* time of the last event in the recording */
    int64_t due_ms;     /* clock_mono_ms when that event was due */
    double rest_ms;     /* carried over from rounding */
    enum state state;
};

static bool replay_read_number(const char *text, double min, double max, double *out)
{
    char *end;
    double number = strtod(text, &end);
    if (end == text || *end || !isfinite(number) || number < min || number > max ||
        text[strspn(text, "0123456789.")])
        return false;
    *out = number;
    return true;
}

static int read_options(struct ue *ue, struct replay *replay, struct err *err)
{
    double idle = 0;
    const char *speed_text = args_get(&ue->args, "speed"), *idle_text = args_get(&ue->args, "idle");
    replay->speed = 1;
    replay->raw = args_next(&ue->args, "raw", NULL);
    if (speed_text && !replay_read_number(speed_text, 0.001, 1000000, &replay->speed))
        return err_set(err, ERR_USAGE, "'--speed %s': is no factor; give a number such as 2 or 0.5",
                       speed_text);
    if (idle_text && !replay_read_number(idle_text, 0.001, 1000000, &idle))
        return err_set(err, ERR_USAGE,
                       "'--idle %s': is no number of seconds; give one such as 2 or 0.5",
                       idle_text);
    replay->idle_us = (int64_t)(idle * 1e6);
    return 0;
}

static void replay_obey(struct replay *replay, int key)
{
    if (key < 0)
        replay->state = INTERRUPTED;
    else if (key == 'q' || key == 'Q')
        replay->state = QUIT;
    else if (key == ' ')
        replay->state = replay->state == PAUSED ? PLAYING : PAUSED;
    else if (key == '.' && replay->state == PAUSED)
        replay->state = STEPPING;
}

/* Waits until the event is due, and obeys keys meanwhile. */
static void replay_wait_for(struct replay *replay, const struct cast_event *event)
{
    int64_t gap_us = event->at_us - replay->shown_us,
            idle_us = replay->idle_us ? replay->idle_us : replay->file.reader.idle_us;
    if (idle_us > 0 && gap_us > idle_us)
        gap_us = idle_us;
    double gap_ms = (double)gap_us / 1000 / replay->speed + replay->rest_ms;
    replay->rest_ms = gap_ms - (double)(int64_t)gap_ms;
    replay->shown_us = event->at_us;
    replay->due_ms += (int64_t)gap_ms;
    while (replay->state == PLAYING || replay->state == PAUSED) {
        int64_t paused_ms = clock_mono_ms();
        bool paused = replay->state == PAUSED;
        int key = replay_keys_wait(paused ? INT64_MAX : replay->due_ms);
        if (key == 0)
            break;
        replay_obey(replay, key);
        if (paused)
            replay->due_ms += clock_mono_ms() - paused_ms;
    }
    if (replay->state == STEPPING)
        replay->due_ms = clock_mono_ms();
}

static void replay_show(struct replay *replay, const struct cast_event *event)
{
    struct buf out = BUF_INIT;
    if (event->code != CAST_OUTPUT)
        return;
    if (replay->terminal && !replay->raw)
        safe_feed(&replay->safe, event->data, event->size, &out);
    else
        buf_append(&out, event->data, event->size);
    say_buf(&out);
    if (replay->state == STEPPING)
        replay->state = PAUSED;
}

static void compare_size(const struct replay *replay)
{
    int rows, cols;
    terminal_size(&rows, &cols);
    if (rows < replay->file.reader.rows || cols < replay->file.reader.cols)
        say_note(
            "'%s': was recorded on %dx%d and this terminal has %dx%d; it may not look as it did",
            replay->file.name, replay->file.reader.rows, replay->file.reader.cols, rows, cols);
}

static int play(struct replay *replay, struct err *err)
{
    struct cast_event event = {0};
    BUG_UNLESS(replay->speed > 0);
    int result = replay_file_next(&replay->file, &event, err);
    if (result == 1 && replay->terminal)
        compare_size(replay);
    replay->due_ms = clock_mono_ms();
    while (result == 1) {
        replay_wait_for(replay, &event);
        if (replay->state < QUIT)
            replay_show(replay, &event);
        cast_event_fini(&event);
        if (replay->state >= QUIT)
            break;
        result = replay_file_next(&replay->file, &event, err);
    }
    return result;
}

static void end_terminal(struct replay *replay)
{
    struct buf out = BUF_INIT;
    if (replay->raw)
        buf_append_text(&out, RAW_END);
    safe_end(&replay->safe, &out);
    say_buf(&out);
}

int verb_REPLAY(struct ue *ue)
{
    struct replay replay = {.terminal = say_is_tty(STDOUT_FILENO)};
    struct err err = {0};
    int result = read_options(ue, &replay, &err);
    if (result == 0)
        result = replay_file_open(&replay.file, ue->args.operands[0], &err);
    if (result == 0) {
        replay_keys_open();
        result = play(&replay, &err);
        if (replay.terminal && replay.file.reader.version)
            end_terminal(&replay);
        replay_keys_close();
    }
    replay_file_close(&replay.file);
    if (result < 0)
        return ue_fail(ue, &err);
    return replay.state == INTERRUPTED ? UE_INTERRUPTED : 0;
}
