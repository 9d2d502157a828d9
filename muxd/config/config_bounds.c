/* config_bounds: owns the limits of one session, and how those of a policy and of [limits] come
 * together. 0 is no limit; else the lower one is the stricter. */
#include "base/bug.h"
#include "config/config_row.h"
#include <stddef.h>

static const struct {
    enum config_row_id all, own; /* of [limits], of a policy */
} bounds[] = {
#define BOUND(key) {CONFIG_ROW_limits_##key, CONFIG_ROW_policy_##key}
    BOUND(memory),     BOUND(processes), BOUND(cpu_time),
    BOUND(open_files), BOUND(lifetime),  BOUND(idle),
#undef BOUND
};
#define BOUNDS (sizeof bounds / sizeof *bounds)

static int64_t bound_of(const struct config_row *row, const void *base)
{
    const char *at = (const char *)base + row->offset;
    BUG_UNLESS(row->type == CONFIG_INT || row->type == CONFIG_BYTES || row->type == CONFIG_MS);
    return row->type == CONFIG_INT ? *(const int *)(const void *)at
                                   : *(const int64_t *)(const void *)at;
}

static void bound_set(const struct config_row *row, void *base, int64_t value)
{
    char *at = (char *)base + row->offset;
    if (row->type == CONFIG_INT)
        *(int *)(void *)at = (int)value;
    else
        *(int64_t *)(void *)at = value;
}

void config_bounds(const struct config *cfg, const struct config_policy *policy,
                   struct config_limits *out)
{
    struct config whole = {.limits = cfg->limits};
    for (size_t i = 0; policy && i < BOUNDS; i++) {
        const struct config_row *all = &config_rows[bounds[i].all];
        int64_t most = bound_of(all, &whole), own = bound_of(&config_rows[bounds[i].own], policy);
        if (own > 0 && (most == 0 || own < most))
            bound_set(all, &whole, own);
    }
    *out = whole.limits;
}

bool config_policy_bounds(const struct config_policy *policy)
{
    bool any = false;
    for (size_t i = 0; i < BOUNDS; i++)
        any |= bound_of(&config_rows[bounds[i].own], policy) > 0;
    return any;
}

void config_bounds_each(const struct config_limits *limits,
                        void (*each)(void *arg, const char *key, const char *value), void *arg)
{
    const struct config whole = {.limits = *limits};
    for (size_t i = 0; i < BOUNDS; i++) {
        const struct config_row *row = &config_rows[bounds[i].all];
        struct buf value = BUF_INIT;
        if (bound_of(row, &whole) == 0)
            continue;
        config_row_format(row, &whole, &value);
        each(arg, row->key, value.data);
        buf_fini(&value);
    }
}
