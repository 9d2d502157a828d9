/* attach_size: owns from whose terminal a session takes its size: [attach] size, or that of its
 * [session NAME]. */
#include "cmd/attach_size.h"
#include "base/bug.h"
#include "cmd/attachment.h"
#include <string.h>

#define WORD(ident, word) word,
static const char *const words[] = {CONFIG_WORDS_SIZE(WORD) NULL};
#undef WORD

/* The policy that `ue resize SESSION POLICY` has set, from the journal: 0 (none), or an enum
 * config_size plus one. */
static unsigned policy_set(const struct session *session)
{
    unsigned set = session_journal((struct session *)session)->header->size_policy;
    return set < sizeof words / sizeof *words ? set : 0; /* a journal is not trusted */
}

static enum config_size policy_of(const struct cmd_context *ctx, const struct session *session)
{
    const char *declared = journal_declared(session_journal((struct session *)session));
    const struct config_session *own = declared ? config_session_find(ctx->config, declared) : NULL;
    unsigned set = policy_set(session);
    return (enum config_size)(set > 0 ? (int)set - 1 : own ? own->size : ctx->config->attach.size);
}

static bool counts(const struct attachment *attachment, uint64_t number)
{
    return attachment->number == number && !attachment->read_only && !attachment->finished;
}

static int pick(int have, int other, bool smallest)
{
    if (have == 0)
        return other;
    return (other < have) == smallest ? other : have;
}

/* Of all attachments that count. False: none counts. */
static bool common_size(const struct cmd_context *ctx, uint64_t number, bool smallest, int *rows,
                        int *cols)
{
    *rows = *cols = 0;
    for (const struct attachment *at = ctx->attachments; at; at = at->next) {
        if (!counts(at, number))
            continue;
        *rows = pick(*rows, paint_rows(at->paint), smallest);
        *cols = pick(*cols, paint_cols(at->paint), smallest);
    }
    return *rows > 0;
}

static void attach_size_apply(struct session *session, int wanted_rows, int wanted_cols,
                              struct attachment *blamed)
{
    struct err err;
    int rows, cols;
    BUG_UNLESS(wanted_rows > 0 && wanted_cols > 0);
    if (!session_is_live(session) || session_get_own_size(session, &rows, &cols) < 0 ||
        (rows == wanted_rows && cols == wanted_cols))
        return;
    if (session_resize(session, wanted_rows, wanted_cols, &err) < 0 && blamed)
        attachment_notice(blamed, err.text);
}

/* In the journal, so that it outlives the worker. */
static void attach_size_hold(struct session *session, bool held)
{
    session_journal(session)->header->size_held = held;
}

static bool attach_size_is_held(struct session *session)
{
    return session_journal(session)->header->size_held;
}

void attach_size_changed(struct attachment *attachment)
{
    struct session *session = attachment_session(attachment);
    int rows = paint_rows(attachment->paint), cols = paint_cols(attachment->paint);
    if (!session || attachment->read_only)
        return;
    enum config_size policy = policy_of(attachment->ctx, session);
    if (policy == CONFIG_SIZE_FIXED)
        return;
    attach_size_hold(session, false);
    if (policy == CONFIG_SIZE_LEADER || common_size(attachment->ctx, attachment->number,
                                                    policy == CONFIG_SIZE_SMALLEST, &rows, &cols))
        attach_size_apply(session, rows, cols, attachment);
}

void attach_size_typed(struct attachment *attachment)
{
    struct session *session = attachment_session(attachment);
    if (session && !attachment->read_only && !attach_size_is_held(session) &&
        policy_of(attachment->ctx, session) == CONFIG_SIZE_LEADER)
        attach_size_apply(session, paint_rows(attachment->paint), paint_cols(attachment->paint),
                          attachment);
}

void attach_size_left(struct cmd_context *ctx, uint64_t number)
{
    struct session *session = registry_by_number(ctx->registry, number);
    int rows, cols;
    enum config_size policy = session ? policy_of(ctx, session) : CONFIG_SIZE_FIXED;
    if ((policy != CONFIG_SIZE_SMALLEST && policy != CONFIG_SIZE_LARGEST) ||
        attach_size_is_held(session))
        return;
    if (common_size(ctx, number, policy == CONFIG_SIZE_SMALLEST, &rows, &cols))
        attach_size_apply(session, rows, cols, NULL);
}

void attach_hold_size(struct session *session)
{
    attach_size_hold(session, true);
}

const char *attach_size_word(struct session *session)
{
    unsigned set = policy_set(session);
    return set > 0 ? words[set - 1] : NULL;
}

void attach_size_set(struct cmd_context *ctx, struct session *session, const char *word)
{
    uint8_t policy = 0;
    while (words[policy] && strcmp(words[policy], word) != 0)
        policy++;
    session_journal(session)->header->size_policy = words[policy] ? policy + 1 : 0;
    attach_size_hold(session, false);
    attach_size_left(ctx, session_number(session)); /* the size that all attachments share */
}
