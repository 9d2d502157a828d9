/* plan: owns what callers see of a plan, its end, and the texts of results. */
#include "patch/plan.h"
#include "base/bug.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/utf8.h"
#include <stdlib.h>
#include <string.h>

static char *lossy(char *raw)
{
    struct buf text = BUF_INIT;
    utf8_append_lossy(&text, raw, strlen(raw));
    free(raw);
    return buf_take(&text);
}

static char *reply_text(enum patch_stage stage, const char *program, const char *reason)
{
    const char *sep = reason != NULL ? ": " : "", *more = reason != NULL ? reason : "";
    switch (stage) {
    case PATCH_STAGE_PARSE:
        return xasprintf("apply_patch verification failed: %s", reason);
    case PATCH_STAGE_VERIFY:
        return xasprintf("apply_patch verification failed: %s%s%s", program, sep, more);
    case PATCH_STAGE_REJECTED:
        return xasprintf("patch rejected: %s", reason != NULL ? reason : program);
    case PATCH_STAGE_COMMIT:
        break;
    }
    return xasprintf("%s%s%s", program, sep, more);
}

int patch_fail(struct patch_failure *failure, enum patch_stage stage, int code, char *program,
               const char *reason)
{
    BUG_UNLESS(code < 0 && (reason != NULL || stage != PATCH_STAGE_PARSE));
    patch_failure_fini(failure);
    bool untold = reason != NULL && (stage == PATCH_STAGE_VERIFY || stage == PATCH_STAGE_COMMIT);
    char *reply = lossy(reply_text(stage, program, reason));
    *failure = (struct patch_failure){.stage = stage,
                                      .code = code,
                                      .program = lossy(program),
                                      .reply = reply,
                                      .cause = untold ? lossy(xstrdup(reason)) : NULL};
    return code;
}

int patch_fail_reply(struct patch_failure *failure, char *reply)
{
    free(failure->reply);
    failure->reply = lossy(reply);
    return failure->code;
}

char *patch_os_error(int error)
{
    const char *text = strerrordesc_np(error);
    return xasprintf("%s (os error %d)", text != NULL ? text : "Unknown error", error);
}

void patch_failure_fini(struct patch_failure *failure)
{
    free(failure->program);
    free(failure->reply);
    free(failure->cause);
    *failure = (struct patch_failure){.code = 0};
}

static void spot_fini(struct spot *spot)
{
    place_fini(&spot->place);
    free(spot->shown);
    buf_fini(&spot->saved);
}

void patch_plan_free(struct patch_plan *plan)
{
    if (plan == NULL)
        return;
    for (size_t i = 0; i < plan->count; i++) {
        spot_fini(&plan->steps[i].write);
        spot_fini(&plan->steps[i].drop);
        buf_fini(&plan->steps[i].old);
        buf_fini(&plan->steps[i].new);
    }
    free(plan->steps);
    place_dirs_fini(&plan->dirs);
    patch_fini(&plan->patch);
    free(plan);
}

size_t patch_plan_count(const struct patch_plan *plan)
{
    return plan->count;
}

struct patch_file patch_plan_file(const struct patch_plan *plan, size_t at)
{
    BUG_UNLESS(at < plan->count);
    const struct step *step = &plan->steps[at];
    struct patch_file file = {.kind = step->kind,
                              .path = step->path,
                              .outside = step->outside,
                              .moved = step->writes && step->drops};
    if (step->kind != PATCH_ADD)
        file.source = step->drop.place.path;
    if (step->kind == PATCH_UPDATE) {
        file.old_text = step->old.len > 0 ? step->old.data : "";
        file.old_len = step->old.len;
    }
    if (step->writes) {
        file.target = step->write.place.path;
        file.overwrites = step->write.existed;
        file.new_text = step->new.len > 0 ? step->new.data : "";
        file.new_len = step->new.len;
    }
    return file;
}

bool patch_success(const struct patch_plan *plan, struct buf *out)
{
    static const char letters[] = {[PATCH_ADD] = 'A', [PATCH_UPDATE] = 'M', [PATCH_DELETE] = 'D'};
    BUG_UNLESS(plan->committed);
    bool fits = buf_append_text(out, "Success. Updated the following files:\n");
    for (int kind = PATCH_ADD; kind <= PATCH_DELETE; kind++)
        for (size_t i = 0; i < plan->count && fits; i++)
            if (plan->steps[i].kind == (enum patch_kind)kind)
                fits = buf_append_byte(out, letters[kind]) && buf_append_byte(out, ' ') &&
                       utf8_append_lossy(out, plan->steps[i].path, strlen(plan->steps[i].path)) &&
                       buf_append_byte(out, '\n');
    return fits;
}
