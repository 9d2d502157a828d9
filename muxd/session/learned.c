/* learned: owns when a prompt counts as learned, and when it is forgotten. */
#include "session/learned.h"
#include "session/internal.h"
#include "sys/pty.h"
#include "wire/tokens.h"
#include <string.h>

#define ENOUGH 3 /* waits in a row that ended by silence with the same prompt */

/* Whether something of it can be seen: characters besides blanks and escape sequences. */
struct visible {
    struct tokens tokens;
    bool any;
};

static void visible_text(void *arg, const int32_t *runes, size_t count)
{
    struct visible *visible = arg;
    for (size_t i = 0; i < count; i++)
        visible->any |= runes[i] != ' ';
}

static void visible_control(void *arg, char byte)
{
    (void)arg;
    (void)byte;
}

static void visible_escape(void *arg, char intermediate, char final)
{
    (void)arg;
    (void)intermediate;
    (void) final;
}

static void visible_csi(void *arg, const struct token_csi *csi)
{
    (void)arg;
    (void)csi;
}

static bool is_visible(const char *data, size_t size)
{
    static const struct token_sink sink = {.text = visible_text,
                                           .control = visible_control,
                                           .escape = visible_escape,
                                           .csi = visible_csi};
    struct visible visible = {.any = false};
    tokens_feed(&visible.tokens, data, size, &sink, &visible);
    return visible.any && visible.tokens.state == TOKENS_GROUND;
}

/* What stands behind the last line end, if that was printed since the last write; borrowed until
 * more is read. NULL: it is too long, or no line end was. */
static const char *last_line(const struct session *session, size_t *size)
{
    uint64_t head = journal_head(session->journal), mark = session->prompt.marked_head;
    uint64_t from = head - mark > LEARNED_BYTES ? head - LEARNED_BYTES : mark;
    size_t all;
    const char *data = from < head ? journal_view(session->journal, &from, &all) : NULL;
    if (!data || from + all != head)
        return NULL;
    const char *end = memrchr(data, '\n', all);
    *size = end ? (size_t)(data + all - (end + 1)) : 0;
    return end ? end + 1 : NULL;
}

static pid_t foreground(const struct session *session)
{
    return session->out.fd >= 0 ? pty_foreground(session->out.fd) : -1;
}

void learned_told(struct session *session)
{
    session->prompt.learned.told_at = journal_head(session->journal);
}

void learned_typed(struct session *session, const char *data, size_t size)
{
    struct learned *learned = &session->prompt.learned;
    learned->told_at = 0;
    for (size_t i = 0; i < size; i++)
        learned->enters += learned->enters < 2 && (data[i] == '\r' || data[i] == '\n');
}

void learned_ready(struct session *session)
{
    session->prompt.learned.enters = 0;
}

void learned_silence(struct session *session)
{
    struct learned *learned = &session->prompt.learned;
    size_t size = 0;
    pid_t group = foreground(session);
    const char *line = last_line(session, &size);
    learned_told(session);
    if (!line || group <= 0 || learned->mark == session->prompt.marks || !is_visible(line, size))
        return;
    learned->mark = session->prompt.marks;
    bool same = learned->foreground == group && learned->size == size &&
                memcmp(learned->prompt, line, size) == 0;
    learned->seen = same ? learned->seen + (learned->seen < ENOUGH) : 1;
    learned->foreground = group;
    learned->size = size;
    memcpy(learned->prompt, line, size);
}

enum shown learned_shows(struct session *session)
{
    const struct learned *learned = &session->prompt.learned;
    size_t size = 0;
    if (learned->seen < ENOUGH || foreground(session) != learned->foreground)
        return SHOWN_OTHER;
    const char *line = last_line(session, &size);
    if (!line)
        return SHOWN_OTHER;
    if (size == learned->size && memcmp(learned->prompt, line, size) == 0)
        return learned->enters > 1 ? SHOWN_OTHER : SHOWN_PROMPT;
    return is_visible(line, size) ? SHOWN_OTHER : SHOWN_BLANK;
}

void learned_output(struct session *session)
{
    struct learned *learned = &session->prompt.learned;
    if (learned->told_at > 0 && journal_head(session->journal) > learned->told_at)
        *learned = (struct learned){.enters = learned->enters, .mark = learned->mark};
}
