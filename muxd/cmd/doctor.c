/* doctor: owns the method `doctor`, which waits until the machine's sandboxes were tried. */
#include "cmd/doctor.h"
#include "base/mem.h"
#include "cmd/people.h"
#include "session/sandbox.h"
#include <stdlib.h>
#include <unistd.h>

void doctor_look(const struct doctor *doctor)
{
    doctor_places(doctor);
    doctor_sandboxes(doctor);
    doctor_kernel(doctor);
    doctor_service(doctor);
    doctor_approvals(doctor);
}

struct examining {
    struct cmd_context *ctx;
    struct request *request; /* NULL: cancelled */
    struct json *told;       /* the answer so far */
};

static void doctor_examine(struct examining *call)
{
    struct cmd_context *ctx = call->ctx;
    struct err mistake = {0};
    struct doctor doctor = {.rows = json_array_new(),
                            .config = ctx->config,
                            .mistake = &mistake,
                            .socket = ctx->socket_path,
                            .state_dir = ctx->state_dir,
                            .log_path = ctx->log_path,
                            .able = sandbox_able(ctx->registry),
                            .ctx = ctx};
    char *path = ctx->ops->look_at_config(ctx->server, &doctor.changes, &mistake);
    doctor.config_path = path;
    doctor_look(&doctor);
    struct json *own = json_detach(call->told, "rows");
    json_add(call->told, "rows", doctor_sorted(own, doctor.rows));
    json_free(own);
    json_free(doctor.rows);
    free(path);
}

static void doctor_on_tried(void *arg, bool closing)
{
    struct examining *call = arg;
    if (call->request && !closing) {
        request_on_cancel(call->request, NULL, NULL);
        doctor_examine(call);
        request_reply(call->request, call->told);
        call->told = NULL;
    }
    json_free(call->told);
    free(call);
}

static void doctor_on_cancel(void *arg)
{
    struct examining *call = arg;
    call->request = NULL;
}

void cmd_DOCTOR(struct cmd_context *ctx, struct request *request)
{
    struct err why;
    struct examining *call = xcalloc(1, sizeof *call);
    *call = (struct examining){.ctx = ctx, .request = request, .told = json_object_new()};
    json_add_text(call->told, "version", MUXD_VERSION);
    json_add_int(call->told, "pid", getpid());
    json_add_text(call->told, "socket", ctx->socket_path);
    /* its terminal can be looked at only while the request is handled for the first time */
    bool person = people_why_not(ctx, request, &why) == 0;
    doctor_person(json_add_array(call->told, "rows"), person ? NULL : why.text);
    request_on_cancel(request, doctor_on_cancel, call);
    if (!sandbox_when_tried(ctx->registry, doctor_on_tried, call))
        doctor_on_tried(call, false);
}
