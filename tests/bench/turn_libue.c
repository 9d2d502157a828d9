/* turn_libue: a contestant that asks muxd through libue, on a client that stays. */
#include "client/lib/c/ue.h"
#include "turns.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define YIELD_MS 30000

struct talker {
    struct ue_client *client;
    struct ue_write_stdin_args args;
};

static void begin_libue(struct turn *turn)
{
    struct talker *talker = turn->state = must(calloc(1, sizeof *talker));
    struct ue_options options = {.socket = turn->argv[0], .no_start = true};
    struct ue_error error;
    errno = 0;
    if (ue_open(&options, &talker->client, &error) < 0)
        die("'%s': %s", turn->label, error.text);
    talker->args = (struct ue_write_stdin_args){.session_id = turn->argv[1], .chars = turn->argv[2], .yield_time_ms = YIELD_MS};
    if (turn->argc > 4)
        talker->args.until = turn->argv[4];
    else
        talker->args.ready = UE_YES;
}

static int64_t take_libue(struct turn *turn)
{
    struct talker *talker = turn->state;
    struct ue_answer *answer;
    struct ue_error error;
    int64_t start_ns = now_ns();
    int code = ue_write_stdin(talker->client, &talker->args, &answer, &error);
    int64_t wall_ns = now_ns() - start_ns;
    errno = 0;
    if (code < 0)
        die("'%s': %s", turn->label, error.text);
    if (!has_all(answer->output, turn->argv[3]) || strcmp(answer->reason, turn->argc > 4 ? "until" : "ready") != 0)
        die("'%s': not the answer that was expected: %s: %.2000s", turn->label, answer->reason, answer->output);
    ue_answer_free(answer);
    return wall_ns;
}

static void end_libue(struct turn *turn)
{
    struct talker *talker = turn->state;
    ue_close(talker->client);
    free(talker);
}

const struct turn_kind turn_libue = {.name = "libue", .usage = "SOCKET SESSION TYPED EXPECTED [PATTERN]", .argc_min = 4, .cpu = CPU_DAEMON,
                                     .begin = begin_libue, .take = take_libue, .end = end_libue};
