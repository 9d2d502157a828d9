/* Any bytes as a script: a refusal has words that begin with file and line; what is taken, shown again, reads as the same. */
#include "base/bug.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "client/script/script.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void show_nodes(struct buf *out, const struct script_node *node, int depth)
{
    BUG_UNLESS(depth <= SCRIPT_NESTING_MAX);
    for (; node; node = node->next)
        for (const struct script_node *at = node; at; at = at->branch) {
            if (at != node)
                buf_append_text(out, at->id == SCRIPT_IF ? "} else " : "} ");
            script_show(out, at);
            buf_append_text(out, at->has_block ? " {\n" : "\n");
            show_nodes(out, at->body, depth + 1);
            if (at->has_block && !at->branch)
                buf_append_text(out, "}\n");
        }
}

/* False: it is refused. */
static bool show_script(const char *text, size_t len, struct buf *out)
{
    struct script script;
    struct err err = {0};
    int code = script_parse(&script, "f", text, len, &err);
    if (code < 0) {
        BUG_UNLESS(code == ERR_USAGE || code == ERR_TOO_LARGE);
        BUG_UNLESS(strncmp(err.text, "'f:", 3) == 0 && utf8_valid(err.text, strlen(err.text)));
    } else {
        show_nodes(out, script.first, 0);
    }
    script_fini(&script);
    return code == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf once = BUF_INIT, twice = BUF_INIT;
    if (show_script((const char *)data, size, &once) && once.len < SCRIPT_LINE_MAX) {
        BUG_UNLESS(show_script(once.data ? once.data : "", once.len, &twice));
        BUG_UNLESS(once.len == twice.len && (once.len == 0 || memcmp(once.data, twice.data, once.len) == 0));
    }
    buf_fini(&once);
    buf_fini(&twice);
    return 0;
}
