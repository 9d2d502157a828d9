/* bounds: owns how limits are told: by ue policy check, ue sandbox --explain, ue status and the
 * first line of ue mcp. */
#include "cmd/bounds.h"

struct telling_bounds {
    const char *before; /* what the next one begins with */
    struct json *facts; /* NULL: none yet */
    struct json *into;
    struct buf *text;
};

static void tell_bound(void *arg, const char *key, const char *value)
{
    struct telling_bounds *telling = arg;
    if (telling->into && !telling->facts)
        telling->facts = json_add_object(telling->into, "limits");
    if (telling->facts)
        json_add_text(telling->facts, key, value);
    buf_printf(telling->text, "%s%s %s", telling->before, key, value);
    telling->before = ", ";
}

void bounds_tell(const struct config *cfg, const struct config_policy *policy, const char *before,
                 struct json *into, struct buf *text)
{
    struct config_limits limits;
    struct telling_bounds telling = {.before = before, .into = into, .text = text};
    config_bounds(cfg, policy, &limits);
    config_bounds_each(&limits, tell_bound, &telling);
}
