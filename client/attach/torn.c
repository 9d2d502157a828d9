/* torn: owns the time in what is pasted. */
#include "client/attach/torn.h"
#include "base/mem.h"
#include <string.h>

/* Whether a person who types these bytes gives a command, or begins one. */
static bool torn_is_typed(const struct prefix *prefix, const char *data, size_t size)
{
    struct prefix typed = {.key = prefix->key};
    enum prefix_command command;
    struct buf keys;
    buf_init_wiping(&keys, 0);
    bool ours = prefix_take(&typed, data, size, &keys, &command) == size && keys.len == 0 &&
                (typed.pending || command != PREFIX_NONE);
    buf_fini(&keys);
    return ours;
}

static void torn_close(struct prefix *prefix, struct buf *out)
{
    prefix->paste = (struct paste){0};
    buf_append_text(out, PASTE_END);
}

static void torn_forget(struct torn *torn)
{
    mem_wipe(torn->held, sizeof torn->held);
    torn->size = 0;
    torn->due_ms = 0;
}

void torn_end(struct torn *torn, struct buf *out)
{
    buf_append(out, torn->held, torn->size);
    torn_forget(torn);
}

bool torn_hold(struct torn *torn, struct prefix *prefix, const char *data, size_t size,
               struct buf *out, int64_t now_ms)
{
    int64_t quiet_ms = now_ms - torn->came_ms;
    bool more = torn->size > 0;
    torn->came_ms = now_ms;
    if (!prefix->pastes || !prefix->paste.open) {
        torn_end(torn, out); /* the program no longer wants pastes to be marked */
        return false;
    }
    if (!more && quiet_ms >= TORN_MS) {
        torn_close(prefix, out);
        return false;
    }
    if (size <= sizeof torn->held - torn->size && (more || quiet_ms >= TORN_ALONE_MS)) {
        memcpy(torn->held + torn->size, data, size);
        if (torn_is_typed(prefix, torn->held, torn->size + size)) {
            torn->size += size;
            torn->due_ms = now_ms + TORN_ALONE_MS;
            return true;
        }
    }
    if (more)
        paste_feed(&prefix->paste, torn->held, torn->size);
    torn_end(torn, out);
    return false;
}

size_t torn_due(struct torn *torn, struct prefix *prefix, char *data, struct buf *out,
                int64_t now_ms)
{
    size_t size = torn->size;
    if (size == 0 || now_ms < torn->due_ms)
        return 0;
    memcpy(data, torn->held, size);
    torn_forget(torn);
    if (prefix->paste.open)
        torn_close(prefix, out);
    return size;
}
