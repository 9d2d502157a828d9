/* approval: owns the words in which a person reads what they are asked. */
#include "client/print/approval.h"
#include "base/strv.h"
#include "base/utf8.h"
#include <stdlib.h>
#include <string.h>

const char *approval_text(const struct json *approval, const char *key)
{
    const char *text = json_get_str(approval, key, NULL);
    return text ? text : "";
}

static void approval_append_row(struct buf *out, const char *title, const char *text)
{
    buf_printf(out, "       %-8s ", title);
    utf8_append_escaped(out, text, strlen(text), false);
    buf_append_byte(out, '\n');
}

/* What --always would allow, in words; the caller's. NULL: it can't be. */
static char *approval_always(const struct json *approval)
{
    struct strv words = {0};
    const struct json *list = json_get(approval, "always");
    for (const struct json *it = json_first(list); it; it = json_next(it))
        strv_add(&words, json_str(it, NULL));
    char *shown = words.count ? strv_quoted(words.items) : NULL;
    strv_fini(&words);
    return shown;
}

static void approval_append_asker(struct buf *out, const struct json *approval)
{
    struct buf text = BUF_INIT;
    int64_t pid = 0, from = 0;
    const char *client = approval_text(approval, "client"),
               *policy = approval_text(approval, "policy");
    json_get_int(approval, "pid", &pid);
    buf_printf(&text, "%s%sprocess %lld", client, *client ? ", " : "", (long long)pid);
    if (json_get_int(approval, "from_session", &from))
        buf_printf(&text, " in session %lld", (long long)from);
    buf_printf(&text, ", policy %s", *policy ? policy : "of [policy]");
    approval_append_row(out, "asks", text.data);
    buf_fini(&text);
}

void approval_append_facts(struct buf *out, const struct json *approval)
{
    const char *id = approval_text(approval, "id"), *env = approval_text(approval, "env"),
               *command = approval_text(approval, "command"),
               *sandbox = approval_text(approval, "sandbox");
    utf8_append_escaped(out, id, strlen(id), false);
    buf_append_text(out, "  ");
    utf8_append_escaped(out, command, strlen(command), false);
    buf_append_byte(out, '\n');
    approval_append_row(out, "in", approval_text(approval, "cwd"));
    if (*env)
        approval_append_row(out, "with", env);
    approval_append_row(out, "reason", approval_text(approval, "reason"));
    approval_append_row(out, "sandbox",
                        strcmp(sandbox, "full-access") == 0 ? "none: it may do all that you may"
                                                            : sandbox);
    approval_append_asker(out, approval);
}

void approval_append(struct buf *out, const struct json *approval)
{
    char *always = approval_always(approval);
    approval_append_facts(out, approval);
    approval_append_row(
        out, "a yes",
        always ? "once; --session: this command here again; --always: what begins with:"
               : "once; --session: this command here again");
    if (always)
        approval_append_row(out, "", always);
    free(always);
}
