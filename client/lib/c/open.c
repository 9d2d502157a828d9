/* open: owns the beginning and the end of a client. */
#include "base/bug.h"
#include "base/fdio.h"
#include "base/mem.h"
#include "base/path.h"
#include "client/lib/c/client.h"
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ANSWER_BYTES_MAX (64u << 20)
#define ANSWER_BYTES_MIN 4096

const char *ue_version(void)
{
    return MUXD_VERSION;
}

const char *ue_muxd_version(const struct ue_client *client)
{
    return client->version;
}

static char *copy_of(const char *text)
{
    return text ? xstrdup(text) : NULL;
}

/* muxd of the installation to which this library belongs: PREFIX/bin/muxd. Linked into a program,
 * it is looked for beside that one. NULL: the one in PATH. */
static char *own_muxd(void)
{
    Dl_info info;
    if (!dladdr((const void *)(uintptr_t)ue_version, &info) || !info.dli_fname ||
        !strchr(info.dli_fname, '/'))
        return NULL;
    char *dir = path_dirname(info.dli_fname), *above = path_dirname(dir), *found = NULL;
    char *places[] = {path_join(dir, "muxd"), path_join(above, "bin/muxd"),
                      path_join(above, "muxd")};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (!found && access(places[i], X_OK) == 0)
            found = launch_absolute(places[i]);
        free(places[i]);
    }
    free(above);
    free(dir);
    return found;
}

static struct ue_client *client_new(const struct ue_options *options)
{
    struct ue_client *client = xcalloc(1, sizeof *client);
    *client = (struct ue_client){.out = BUF_INIT,
                                 .epoll_fd = -1,
                                 .timer_fd = -1,
                                 .watched = -1,
                                 .as_tools = options->as_tools,
                                 .answer_ms = options->answer_ms,
                                 .on_notice = options->on_notice,
                                 .notice_arg = options->notice_arg};
    client->config = copy_of(options->config);
    client->program = options->muxd ? xstrdup(options->muxd) : own_muxd();
    client->name = xstrdup(options->client ? options->client : "libue/" MUXD_VERSION);
    client->profile = copy_of(options->profile);
    client->reader = copy_of(options->reader);
    connection_init(&client->conn, options->socket, client->config, !options->no_start);
    client->conn.guest = true;
    client->conn.program = client->program;
    size_t most = options->max_answer;
    client->conn.in.max_line = most == 0                 ? ANSWER_BYTES_MAX
                               : most < ANSWER_BYTES_MIN ? ANSWER_BYTES_MIN
                                                         : most;
    return client;
}

static int options_fit(struct ue_options *ours, const struct ue_options *options, size_t size,
                       struct err *err)
{
    *ours = (struct ue_options){0};
    if (!options)
        return 0;
    for (size_t at = sizeof *ours; at < size; at++)
        if (((const char *)options)[at])
            return err_set(err, ERR_ARGUMENTS,
                           "this libue (" MUXD_VERSION ") is older than the program that uses it, "
                           "and does not know an option; install the newer one");
    memcpy(ours, options, size < sizeof *ours ? size : sizeof *ours);
    if (ours->answer_ms < 0)
        return err_set(err, ERR_ARGUMENTS, "`answer_ms`: %lld is out of range",
                       (long long)ours->answer_ms);
    return 0;
}

int ue_open_sized(const struct ue_options *options, size_t options_size, struct ue_client **client,
                  struct ue_error *error)
{
    struct err err = {0};
    struct ue_options ours;
    struct ue_answer *hello;
    if (options_fit(&ours, options, options_size, &err) < 0)
        return error_tell(error, &err);
    struct ue_client *made = client_new(&ours);
    /* what the daemon says to the hello of the connection is the answer to this one, too */
    int code = ue_call(made, "hello", NULL, &hello, error);
    if (code < 0) {
        ue_close(made);
        return code;
    }
    ue_answer_free(hello);
    *client = made;
    return 0;
}

void ue_close(struct ue_client *client)
{
    struct err err;
    if (!client)
        return;
    err_set(&err, ERR_CANCELLED, "the client is being closed");
    client->closing = true;
    reach_close(client);
    client->lost_ms = 0;
    calls_fail_all(client, &err);
    BUG_UNLESS(client->count == 0 && client->subscribed == 0);
    fd_close(&client->epoll_fd);
    fd_close(&client->timer_fd);
    connection_fini(&client->conn);
    buf_fini(&client->out);
    free(client->calls);
    free(client->subscriptions);
    free(client->config);
    free(client->program);
    free(client->name);
    free(client->profile);
    free(client->reader);
    free(client);
}
