/* mcp_rounds: owns calls of the stateless revision about which the client's person is asked. The
 * request is answered with the question (input_required), and the client comes back with another
 * request that brings the answer. Between the two the call stays with the daemon, so that a
 * terminal may answer as well; whoever is first decides, and the request that comes back gets what
 * the call has come to. */
#include "base/bug.h"
#include "base/mem.h"
#include "client/mcp/mcp.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define ENDED_MAX 64 /* rounds that are over and that no client has come back to */

struct json *mcp_rounds_facts(const struct json *params)
{
    static const char *const keys[] = {"name", "arguments"};
    struct json *facts = json_object_new();
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (json_get(params, keys[i]))
            json_add(facts, keys[i], json_copy(json_get(params, keys[i])));
    return facts;
}

static void rounds_drop_at(struct mcp *mcp, size_t at)
{
    struct mcp_round *round = mcp->rounds[at];
    memmove(mcp->rounds + at, mcp->rounds + at + 1, (--mcp->nrounds - at) * sizeof *mcp->rounds);
    json_free(round->asked);
    json_free(round->end);
    free(round);
}

void mcp_rounds_drop(struct mcp *mcp, struct mcp_round *round)
{
    for (size_t i = 0; i < mcp->nrounds; i++)
        if (mcp->rounds[i] == round) {
            rounds_drop_at(mcp, i);
            return;
        }
    BUG("a round that is not in the list");
}

/* Makes room for one more. */
static void rounds_forget(struct mcp *mcp)
{
    size_t ended = 0, oldest = 0;
    for (size_t i = mcp->nrounds; i-- > 0;)
        if (mcp->rounds[i]->end) {
            ended++;
            oldest = i;
        }
    if (ended >= ENDED_MAX)
        rounds_drop_at(mcp, oldest);
}

/* NULL: there is no randomness, and what can be guessed is no state. */
static struct mcp_round *rounds_new(struct mcp *mcp, const struct json *asked)
{
    unsigned char random[(MCP_STATE_ROOM - 1) / 2];
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
        return NULL;
    rounds_forget(mcp);
    struct mcp_round *round = xcalloc(1, sizeof *round);
    for (size_t i = 0; i < sizeof random; i++)
        snprintf(round->state + 2 * i, 3, "%02x", random[i]);
    round->asked = json_copy(asked);
    mcp->rounds = xreallocarray(mcp->rounds, mcp->nrounds + 1, sizeof *mcp->rounds);
    mcp->rounds[mcp->nrounds++] = round;
    return round;
}

void mcp_rounds_ask(struct mcp *mcp, struct mcp_call *call)
{
    BUG_UNLESS(call->question);
    struct mcp_round *round = NULL;
    if (!call->to.round && call->to.elicits && call->asked)
        round = rounds_new(mcp, call->asked);
    if (!round) /* the client asks already, or can't: who comes back gets the newest question */
        return;
    struct json *result = json_object_new();
    mcp_ask_form(json_add_object(result, "inputRequests"), call);
    json_add_text(result, "requestState", round->state);
    mcp_reply(mcp, &call->to, result);
    mcp_progress_end(call);
    call->to.round = round;
    call->to.id = (struct msg_id){.kind = MSG_ID_NONE};
}

void mcp_rounds_end(struct mcp_round *round, struct json *end, bool failed)
{
    BUG_UNLESS(round && !round->end);
    round->end = end;
    round->failed = failed;
}

static struct mcp_round *round_by_state(const struct mcp *mcp, const char *state)
{
    for (size_t i = 0; state && i < mcp->nrounds; i++)
        if (strcmp(mcp->rounds[i]->state, state) == 0)
            return mcp->rounds[i];
    return NULL;
}

static void round_give_end(struct mcp *mcp, struct mcp_round *round, const struct mcp_to *to)
{
    struct json *end = round->end;
    bool failed = round->failed;
    round->end = NULL;
    mcp_rounds_drop(mcp, round);
    if (failed)
        mcp_fail_with(mcp, to, end);
    else
        mcp_reply(mcp, to, end);
}

/* The call is that request's from now on. */
static void round_go_on(struct mcp *mcp, struct mcp_call *call, const struct json *params,
                        const struct mcp_to *to)
{
    bool structured = call->to.shows_structured;
    mcp_rounds_drop(mcp, call->to.round);
    call->to = *to;
    call->to.shows_structured = structured;
    mcp_progress_begin(call, params);
    if (call->question && !mcp_ask_take(mcp, call, json_get(params, "inputResponses")))
        mcp_rounds_ask(mcp, call); /* it brings no answer to this question: asked again */
}

bool mcp_rounds_back(struct mcp *mcp, const struct json *params, const struct mcp_to *to)
{
    const struct json *state = json_get(params, "requestState");
    if (to->version < MCP_2026_07_28 || !state)
        return false;
    struct mcp_round *round = round_by_state(mcp, json_str(state, NULL));
    struct json *facts = mcp_rounds_facts(params);
    if (!round) {
        mcp_fail(mcp, to, MCP_INVALID_PARAMS,
                 "`requestState` belongs to no open question: it was answered, or this server has "
                 "begun anew; to be asked again call without `requestState` and `inputResponses`",
                 NULL);
    } else if (!json_equal(facts, round->asked)) {
        mcp_fail(mcp, to, MCP_INVALID_PARAMS,
                 "`requestState` belongs to another call; send it with the `name` and `arguments` "
                 "that it was given for", NULL);
    } else if (round->end) {
        round_give_end(mcp, round, to);
    } else {
        for (size_t i = 0; i < mcp->count; i++)
            if (mcp->calls[i]->to.round == round) {
                round_go_on(mcp, mcp->calls[i], params, to);
                break;
            }
    }
    json_free(facts);
    return true;
}

void mcp_rounds_leave(struct mcp *mcp)
{
    for (size_t i = mcp->count; i-- > 0;)
        if (mcp->calls[i]->to.round)
            mcp_cancel_at(mcp, i);
}
