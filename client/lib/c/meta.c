/* meta: owns what a request of the library tells about its caller (`_meta`). */
#include "client/lib/c/client.h"
#include "client/rpc/context.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* umask(2) tells it only by setting another one, which other threads would meet. -1: the kernel
 * does not say (before Linux 4.7). */
static int own_umask(void)
{
    char line[256];
    long mask = -1;
    FILE *file = fopen("/proc/self/status", "re");
    while (file && mask < 0 && fgets(line, sizeof line, file))
        if (strncmp(line, "Umask:", 6) == 0)
            mask = strtol(line + 6, NULL, 8);
    if (file)
        fclose(file);
    return mask >= 0 && mask <= 0777 ? (int)mask : -1;
}

static void meta_text(struct json *meta, const char *key, const char *text)
{
    if (text)
        context_add(meta, key, json_string_new(text, strlen(text)));
}

/* Where it is called from, for methods that look at it. */
static void meta_place(struct json *meta)
{
    int mask = own_umask();
    context_add(meta, "umask", json_int_new(mask >= 0 ? mask : 022));
    context_add_place(meta);
}

void meta_add(const struct ue_client *client, const struct tool *tool, struct json *params)
{
    struct json *meta = json_detach(params, "_meta");
    if (meta && json_type(meta) != JSON_OBJECT) { /* for the daemon to refuse */
        json_add(params, "_meta", meta);
        return;
    }
    meta = json_add(params, "_meta", meta ? meta : json_object_new());
    meta_text(meta, "client", client->name);
    meta_text(meta, "profile", client->profile);
    meta_text(meta, "reader", client->reader);
    if (!client->as_tools)
        context_add(meta, "verb", json_bool_new(true));
    if (client->on_notice)
        context_add(meta, "notify", json_bool_new(true));
    if (!tool || !(tool->hints & TOOL_READ_ONLY))
        context_add_request_id(meta);
    if (tool && tool_arg_by_name(tool, "workdir"))
        meta_place(meta);
}
