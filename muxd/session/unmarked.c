/* unmarked: owns where marks stood in the piece of output that was looked at last. */
#include "session/unmarked.h"
#include "base/bug.h"
#include "base/mem.h"
#include "session/internal.h"
#include "session/nonce.h"
#include "wire/semantic.h"
#include <stdlib.h>
#include <string.h>

struct unmarked_cut {
    size_t index;   /* before this byte of what is left */
    size_t removed; /* bytes, with those of all cuts before it */
};

static size_t removed_by(const struct unmarked *unmarked, size_t count)
{
    return count > 0 ? unmarked->cuts[count - 1].removed : 0;
}

/* How many cuts lie before that index, or at it as well. */
static size_t cuts_up_to(const struct unmarked *unmarked, size_t index, bool at_it)
{
    size_t low = 0, high = unmarked->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2, at = unmarked->cuts[middle].index;
        if (at < index || (at_it && at == index))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void on_unmarked(void *arg, const struct semantic_mark *mark)
{
    struct unmarked *unmarked = arg;
    size_t before = removed_by(unmarked, unmarked->count),
           at = (size_t)(mark->from - unmarked->base);
    BUG_UNLESS(mark->from >= unmarked->base + before && mark->to > mark->from);
    if (unmarked->count == unmarked->room) {
        unmarked->room = unmarked->room ? 2 * unmarked->room : 16;
        unmarked->cuts = xrealloc(unmarked->cuts, unmarked->room * sizeof *unmarked->cuts);
    }
    unmarked->cuts[unmarked->count++] = (struct unmarked_cut){
        .index = at - before, .removed = before + (size_t)(mark->to - mark->from)};
}

/* Copies what stands between the cuts. */
static void leave_out(struct unmarked *unmarked, size_t size)
{
    const char *raw = unmarked->data;
    size_t at = 0;
    if (unmarked->text.max == 0)
        buf_init(&unmarked->text, 0);
    buf_clear(&unmarked->text);
    for (size_t i = 0; i < unmarked->count; i++) {
        size_t from = unmarked->cuts[i].index + removed_by(unmarked, i);
        buf_append(&unmarked->text, raw + at, from - at);
        at = unmarked->cuts[i].index + unmarked->cuts[i].removed;
    }
    buf_append(&unmarked->text, raw + at, size - at);
    unmarked->data = unmarked->text.data ? unmarked->text.data : "";
    unmarked->size = unmarked->text.len;
}

bool unmarked_look(struct unmarked *unmarked, struct session *session, uint64_t from)
{
    unmarked->data = journal_view(session->journal, &from, &unmarked->raw);
    unmarked->base = from;
    unmarked->size = unmarked->raw;
    unmarked->count = 0;
    if (!unmarked->data)
        return false;
    unmarked->last = from + unmarked->raw >= journal_head(session->journal);
    unmarked->ended = session->finished || !unmarked->last;
    if (!session_is_integrated(session))
        return true;
    struct semantic semantic = {.at = from};
    memcpy(semantic.nonce, session_nonce(session), sizeof semantic.nonce);
    semantic_feed(&semantic, from, unmarked->data, unmarked->raw, on_unmarked, unmarked);
    if (!unmarked->ended)
        unmarked->size = (size_t)(semantic_settled(&semantic) - from);
    semantic_fini(&semantic);
    if (unmarked->count > 0)
        leave_out(unmarked, unmarked->size);
    return true;
}

uint64_t unmarked_offset(const struct unmarked *unmarked, size_t index)
{
    return unmarked->base + index +
           removed_by(unmarked, cuts_up_to(unmarked, index, true));
}

uint64_t unmarked_end(const struct unmarked *unmarked, size_t index)
{
    return unmarked->base + index +
           removed_by(unmarked, cuts_up_to(unmarked, index, false));
}

size_t unmarked_index(const struct unmarked *unmarked, uint64_t offset)
{
    size_t raw = offset > unmarked->base ? (size_t)(offset - unmarked->base) : 0, cut = 0;
    while (cut < unmarked->count &&
           unmarked->cuts[cut].index + unmarked->cuts[cut].removed <= raw)
        cut++;
    size_t index = raw - removed_by(unmarked, cut);
    if (cut < unmarked->count && unmarked->cuts[cut].index < index)
        index = unmarked->cuts[cut].index; /* in the middle of a mark */
    return index < unmarked->size ? index : unmarked->size;
}

void unmarked_fini(struct unmarked *unmarked)
{
    buf_fini(&unmarked->text);
    free(unmarked->cuts);
    *unmarked = (struct unmarked){.count = 0};
}
