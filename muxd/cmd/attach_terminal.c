/* attach_terminal: owns with whose terminal a program's questions about colours are answered:
 * that of the person who typed last. ue has asked the terminal, not the program, so an answer
 * never comes late or twice. A read-only client is not asked. */
#include "cmd/attach_terminal.h"
#include "base/bug.h"
#include "base/mem.h"
#include "cmd/attachment.h"
#include "parts/view/queries.h"
#include "wire/schema.h"
#include <stdlib.h>

#define FACTS_MAX 4096 /* bytes of a frame; larger ones are ignored */

static bool may_lead(const struct attachment *attachment)
{
    return !attachment->read_only && !attachment->finished;
}

static void attach_terminal_apply(struct session *session, struct attachment *leader)
{
    if (leader)
        leader->spoke = true;
    session_set_profile(session, leader ? leader->profile : NULL);
    if (leader && leader->profile)
        session_set_cell(session, leader->profile->cell_height, leader->profile->cell_width);
}

static struct attachment *leader_of(const struct cmd_context *ctx, uint64_t number)
{
    for (struct attachment *at = ctx->attachments; at; at = at->next)
        if (at->number == number && at->leads)
            return at;
    return NULL;
}

static void lead(struct attachment *attachment)
{
    struct attachment *old = leader_of(attachment->ctx, attachment->number);
    BUG_UNLESS(may_lead(attachment));
    if (old)
        old->leads = false;
    attachment->leads = true;
    attachment->spoke = false;
}

/* What is known of the session's terminal stays until this one has reported something, or is
 * typed into and has reported nothing. */
void attach_terminal_joined(struct attachment *attachment, bool again)
{
    if (may_lead(attachment) && !(again && leader_of(attachment->ctx, attachment->number)))
        lead(attachment);
    attachment->led_ns = loop_now_ns(attachment->ctx->loop);
}

void attach_terminal_typed(struct attachment *attachment)
{
    struct session *session = attachment_session(attachment);
    attachment->led_ns = loop_now_ns(attachment->ctx->loop);
    if ((attachment->leads && attachment->spoke) || !session || !may_lead(attachment))
        return;
    lead(attachment);
    attach_terminal_apply(session, attachment);
}

void attach_terminal_told(struct attachment *attachment, const char *data, size_t size)
{
    struct session *session = attachment_session(attachment);
    struct profile profile;
    if (!may_lead(attachment) || size > FACTS_MAX || !profile_parse(&profile, data, size))
        return;
    if (!attachment->profile)
        attachment->profile = xcalloc(1, sizeof *attachment->profile);
    *attachment->profile = profile;
    if (attachment->leads && session)
        attach_terminal_apply(session, attachment);
}

void attach_terminal_left(struct attachment *attachment)
{
    struct session *session = attachment_session(attachment);
    struct attachment *next = NULL;
    BUG_UNLESS(!attachment->leads || leader_of(attachment->ctx, attachment->number) == attachment);
    free(attachment->profile);
    attachment->profile = NULL;
    if (!attachment->leads)
        return;
    attachment->leads = false;
    for (struct attachment *at = attachment->ctx->attachments; at; at = at->next)
        if (at != attachment && at->number == attachment->number && may_lead(at) &&
            (!next || at->led_ns > next->led_ns))
            next = at;
    if (next)
        next->leads = true;
    if (session)
        attach_terminal_apply(session, next);
}

void attach_terminal_start(struct request *request, struct session *session)
{
    const struct json *given = json_get(schema_meta(request_params(request)), "terminal");
    struct buf text;
    struct profile profile;
    buf_init(&text, FACTS_MAX);
    if (given && json_print(&text, given) && profile_parse(&profile, text.data, text.len)) {
        session_set_profile(session, &profile);
        session_set_cell(session, profile.cell_height, profile.cell_width);
    }
    buf_fini(&text);
}
