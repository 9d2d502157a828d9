/* doctor_alone: owns the facts that `ue doctor` needs of muxd while no daemon runs. */
#include "server/doctor_alone.h"
#include "base/path.h"
#include "cmd/doctor.h"
#include "server/server.h"
#include "session/able.h"
#include <stdio.h>
#include <stdlib.h>

/* The config that a daemon would start with. With a mistake in it none starts: the rest is told as
 * if there were no file. */
static struct config *doctor_config(const char *path, struct err *mistake)
{
    struct config *config = config_load(path, mistake);
    if (config && control_check_config(config, mistake) < 0) {
        config_free(config);
        config = NULL;
    }
    if (config)
        *mistake = (struct err){0};
    return config ? config : config_default();
}

static int print_rows(struct json *rows)
{
    struct json *told = json_object_new();
    struct buf line = BUF_INIT;
    json_add_text(told, "version", MUXD_VERSION);
    json_add(told, "rows", rows);
    json_print(&line, told);
    bool written = printf("%s\n", line.data) > 0 && fflush(stdout) == 0;
    buf_fini(&line);
    json_free(told);
    return written ? 0 : 1;
}

int doctor_alone(const struct worker_options *options)
{
    struct err mistake = {0};
    struct confine_able able = {.tried = false};
    char *path = path_config(options->config_path), *socket = path_socket(options->socket_path);
    struct config *config = doctor_config(path, &mistake);
    char *state = path_state(config->muxd.state);
    able_find_out(&able);
    struct json *rows = json_array_new();
    doctor_look(&(struct doctor){.rows = rows,
                                 .config = config,
                                 .config_path = path,
                                 .mistake = &mistake,
                                 .socket = socket,
                                 .state_dir = state,
                                 .log_path = config->muxd.log,
                                 .able = &able});
    int status = print_rows(rows);
    able_fini(&able);
    config_free(config);
    free(path);
    free(socket);
    free(state);
    return status;
}
