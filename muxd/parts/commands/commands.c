/* commands: owns the looking for marks in the output of integrated sessions: in the turn in which
 * it came, some of it at a time, and all of it when somebody asks. */
#include "parts/commands/commands.h"
#include "base/bug.h"
#include "base/mem.h"
#include "parts/commands/commands_state.h"
#include "sys/pty.h"
#include <stdlib.h>
#include <string.h>

#define LOOK_BYTES (1u << 20) /* looked at in one turn */

struct commands *commands_of(const struct session *session)
{
    return session->part[PART_COMMANDS];
}

static struct commands *commands_get(struct session *session)
{
    struct commands *commands = commands_of(session);
    if (commands || !session_is_integrated(session))
        return commands;
    session->part[PART_COMMANDS] = commands = xcalloc(1, sizeof *commands);
    commands->session = session;
    memcpy(commands->semantic.nonce, session_nonce(session), SEMANTIC_NONCE + 1);
    return commands;
}

void commands_begin(struct session *session)
{
    if (session_is_integrated(session))
        return;
    session_integrate(session);
    struct commands *commands = commands_get(session);
    commands->semantic.at = journal_head(session->journal); /* nothing before can be ours */
    commands->live = true;
}

pid_t commands_foreground(const struct session *session)
{
    pid_t group = session->out.fd >= 0 ? pty_foreground(session->out.fd) : 0;
    return group > 0 ? group : 0;
}

static void commands_on_mark(void *arg, const struct semantic_mark *mark)
{
    struct commands *commands = arg;
    commands_list_mark(commands, mark);
    if (mark->kind == 'B' && commands->live)
        commands->levels[commands->depth - 1].group = commands_foreground(commands->session);
}

/* True: there is more. */
static bool look_at_output(struct commands *commands, size_t most)
{
    struct journal *journal = commands->session->journal;
    uint64_t head = journal_head(journal);
    for (size_t done = 0; commands->semantic.at < head && done < most;) {
        uint64_t at = commands->semantic.at;
        size_t size;
        const char *data = journal_view(journal, &at, &size);
        if (!data)
            break;
        size = size < most - done ? size : most - done;
        semantic_feed(&commands->semantic, at, data, size, commands_on_mark, commands);
        done += size;
    }
    if (commands->semantic.at < head)
        return true;
    commands->live = true;
    return false;
}

uint64_t commands_catch_up(struct session *session)
{
    struct commands *commands = commands_get(session);
    if (commands)
        look_at_output(commands, SIZE_MAX);
    return commands ? semantic_settled(&commands->semantic) : journal_head(session->journal);
}

/* The program says that it reads a line, which is an answer where the kernel knows none, and where
 * the config has a pattern that looks for its prompt at the very end of the output. */
static void hint(const struct commands *commands)
{
    struct session *session = commands->session;
    uint64_t behind = session->prompt.marked_head;
    const struct level *top = commands->depth ? &commands->levels[commands->depth - 1] : NULL;
    bool reads = top && (top->place == COMMANDS_PROMPT || top->place == COMMANDS_MORE) &&
                 top->line_from > behind;
    reads |= commands->asked_at > behind;
    if (session->prompt.policy)
        readiness_prompted(session->prompt.policy, reads);
    if (session->prompt.pattern && reads && !session->exited)
        session->prompt.evidence = EVIDENCE_MARKS;
}

static void commands_look(struct session *session, uint64_t seen_head)
{
    struct commands *commands = commands_of(session);
    if (!commands || (seen_head == session->seen_head && !session->prompt.pattern &&
                      commands->semantic.at == journal_head(session->journal)))
        return;
    if (look_at_output(commands, LOOK_BYTES))
        session_dirty(session);
    else
        hint(commands);
}

/* What is typed at a prompt, by whomever, is no prompt any more. */
static void commands_typed(struct session *session, const char *data, size_t size,
                           const struct author *author)
{
    struct commands *commands = commands_of(session);
    (void)data;
    (void)author;
    if (!commands || commands->depth == 0 || size == 0)
        return;
    struct level *top = &commands->levels[commands->depth - 1];
    if (top->place == COMMANDS_PROMPT || top->place == COMMANDS_MORE)
        top->place = COMMANDS_INPUT;
}

static void commands_adopt(struct session *session)
{
    if (commands_get(session))
        session_dirty(session);
}

static void commands_free(struct session *session)
{
    struct commands *commands = commands_of(session);
    if (!commands)
        return;
    commands_list_forget(commands);
    semantic_fini(&commands->semantic);
    session->part[PART_COMMANDS] = NULL;
    free(commands);
}

enum commands_place commands_place(struct session *session, struct commands_where *where)
{
    const struct commands *commands = commands_of(session);
    *where = (struct commands_where){.level = 0};
    if (!commands || commands->depth == 0)
        return COMMANDS_OUTSIDE;
    const struct level *top = &commands->levels[commands->depth - 1];
    *where = (struct commands_where){.level = top->id,
                                     .group = top->group,
                                     .input_from = top->input_from,
                                     .echoes = top->echoes,
                                     .keeps = top->keeps};
    return top->place;
}

void commands_keeps(struct session *session)
{
    struct commands *commands = commands_of(session);
    BUG_UNLESS(commands && commands->depth > 0);
    commands->levels[commands->depth - 1].place = COMMANDS_MORE;
}

void commands_gave_up(struct session *session)
{
    struct commands *commands = commands_of(session);
    BUG_UNLESS(commands && commands->depth > 0);
    commands->levels[commands->depth - 1].place = COMMANDS_PROMPT;
}

void commands_refused(struct session *session, pid_t group)
{
    struct commands *commands = commands_of(session);
    if (commands)
        commands->refused = group;
}

bool commands_was_refused(const struct session *session, pid_t group)
{
    const struct commands *commands = commands_of(session);
    return commands && group > 0 && commands->refused == group;
}

bool commands_was_answered(struct session *session, uint64_t from, char word[16])
{
    const struct commands *commands = commands_of(session);
    if (!commands || commands->asked_at <= from)
        return false;
    memcpy(word, commands->asked, sizeof commands->asked);
    return true;
}

bool commands_says_no_more(const struct session *session)
{
    const struct commands *commands = commands_of(session);
    return commands && commands->asked_at > 0 &&
           commands->asked_at == journal_head(session->journal);
}

const struct part commands_part = {
    .adopt = commands_adopt,
    .look = commands_look,
    .free = commands_free,
    .typed = commands_typed,
};
