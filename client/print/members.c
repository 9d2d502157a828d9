/* members: owns the form of an answer that has no text. */
#include "client/print/members.h"
#include <string.h>

static void append_value(struct buf *out, const struct json *value)
{
    const char *text = json_str(value, NULL);
    if (text)
        buf_append_text(out, text);
    else
        json_print(out, value);
}

/* A line for each limit of the kernel that is in the way. */
static void append_constraints(struct buf *out, const struct json *list)
{
    for (const struct json *it = json_first(list); it; it = json_next(it))
        buf_printf(out, "constrained: %s: %s; %s\n", json_get_str(it, "limit", NULL),
                   json_get_str(it, "what", NULL), json_get_str(it, "raise", NULL));
}

static void append_object(struct buf *out, const struct json *object, int indent)
{
    for (const struct json *it = json_first(object); it; it = json_next(it)) {
        if (json_type(it) == JSON_NULL)
            continue;
        if (indent == 0 && strcmp(json_key(it), "constraints") == 0) {
            append_constraints(out, it);
            continue;
        }
        if (indent == 0 && strcmp(json_key(it), "config_missing") == 0) {
            buf_printf(out, "config: none (%s would be read)\n", json_str(it, NULL));
            continue;
        }
        buf_printf(out, "%*s%s:", indent, "", json_key(it));
        if (json_type(it) == JSON_OBJECT) {
            buf_append_byte(out, '\n');
            append_object(out, it, indent + 2);
            continue;
        }
        buf_append_byte(out, ' ');
        append_value(out, it);
        buf_append_byte(out, '\n');
    }
}

void members_append(struct buf *out, const struct json *object)
{
    append_object(out, object, 0);
}
