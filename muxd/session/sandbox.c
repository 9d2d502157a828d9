/* sandbox.c: owns what is known of the machine's back-ends, the trial that finds it out, and what a
 * session's journal says of its sandbox. */
#include "session/sandbox.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "session/able.h"
#include "session/birth.h"
#include "sys/try_run.h"
#include "wire/json.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct trial { /* the thread's, while it is under way */
    struct sandboxes *of;
    char **argv;
    char text[256];
    int status;
};

struct asker_of_trial {
    struct list link;
    sandbox_tried_fn *fn;
    void *arg;
};

struct sandboxes {
    struct registry *registry;
    struct confine_able able;
    struct trial *trial; /* NULL: none is under way */
    struct list askers;
    char *own_config; /* where the user's own config would stand */
    bool looked, closing;
};

void sandbox_init(struct registry *registry)
{
    struct sandboxes *all = xcalloc(1, sizeof *all);
    all->registry = registry;
    list_init(&all->askers);
    all->own_config = path_own_config();
    registry->sandboxes = all;
}

void sandbox_fini(struct registry *registry)
{
    struct sandboxes *all = registry->sandboxes;
    all->closing = true;
    if (all->trial)
        loop_wait_offloaded(registry->loop);
    while (!list_is_empty(&all->askers)) {
        struct asker_of_trial *asker = LIST_OWNER(all->askers.next, struct asker_of_trial, link);
        list_remove(&asker->link);
        asker->fn(asker->arg, true);
        free(asker);
    }
    able_fini(&all->able);
    free(all->own_config);
    free(all);
    registry->sandboxes = NULL;
}

/* --- what there is --- */

/* What failed is looked at again by the next who asks: it may have been installed since. */
static void look_around(struct sandboxes *all)
{
    struct confine_able *able = &all->able;
    if (all->trial || (all->looked && able->helper && able->bwrap && !able->bwrap_why))
        return;
    able_fini(able);
    all->looked = true;
    able_look(able);
}

const struct confine_able *sandbox_able(struct registry *registry)
{
    struct sandboxes *all = registry->sandboxes;
    if (!all->looked)
        look_around(all);
    return &all->able;
}

/* --- the trial --- */

static void trial_work(void *arg)
{
    struct trial *trial = arg;
    trial->status = try_run(trial->argv, ABLE_TRIAL_MS, trial->text, sizeof trial->text);
}

static void tell_askers(struct sandboxes *all)
{
    struct list telling;
    list_take(&all->askers, &telling);
    while (!list_is_empty(&telling)) {
        struct asker_of_trial *asker = LIST_OWNER(telling.next, struct asker_of_trial, link);
        list_remove(&asker->link);
        asker->fn(asker->arg, false);
        free(asker);
    }
}

static void trial_done(void *arg)
{
    struct trial *trial = arg;
    struct sandboxes *all = trial->of;
    struct confine_able *able = &all->able;
    able_tried(able, trial->status, trial->text);
    log_info("sandboxes: %s; Landlock ABI %d",
             able->bwrap_why ? able->bwrap_why : "bubblewrap works", able->landlock_abi);
    strv_free(trial->argv);
    free(trial);
    all->trial = NULL;
    if (!all->closing)
        tell_askers(all);
}

/* A trial that can't be made has failed. */
static void trial_begin(struct sandboxes *all)
{
    struct strv argv = {0};
    struct err err;
    if (all->trial)
        return;
    struct trial *trial = xcalloc(1, sizeof *trial);
    trial->of = all;
    int code = confine_trial_argv(&all->able, &argv, &err);
    trial->argv = strv_take(&argv);
    all->trial = trial;
    if (code == 0 && loop_offload(all->registry->loop, trial_work, trial_done, trial) == 0)
        return;
    snprintf(trial->text, sizeof trial->text, "%.200s", code ? err.text : "no thread for a trial");
    trial->status = -1;
    trial_done(trial);
}

bool sandbox_when_tried(struct registry *registry, sandbox_tried_fn *fn, void *arg)
{
    struct sandboxes *all = registry->sandboxes;
    look_around(all);
    if (!all->able.helper || !all->able.bwrap || (all->able.tried && !all->trial))
        return false;
    trial_begin(all);
    if (!all->trial)
        return false;
    struct asker_of_trial *asker = xcalloc(1, sizeof *asker);
    *asker = (struct asker_of_trial){.fn = fn, .arg = arg};
    list_append(&all->askers, &asker->link);
    return true;
}

/* --- plans --- */

struct confine_place sandbox_place(const struct registry *registry, const char *cwd,
                                   char *const *env)
{
    bool named = path_config_is_named(registry->cfg->path);
    return (struct confine_place){.cwd = cwd,
                                  .env = (const char *const *)env,
                                  .socket = registry->socket_path,
                                  .state_dir = registry->state_dir,
                                  .config = registry->cfg->path,
                                  .rules = registry->cfg->rules_path,
                                  .own_config = named ? NULL : registry->sandboxes->own_config};
}

static int make_confine_plan(const struct registry *registry, const struct session_spec *spec,
                             struct confine_plan *plan, struct err *err)
{
    const char *workspace = spec->sandbox->workspace;
    struct confine_place place = sandbox_place(registry, workspace ? workspace : spec->cwd,
                                               spec->env);
    place.begin = spec->cwd;
    return confine_plan_make(plan, spec->sandbox, &place, err);
}

bool sandbox_must_wait(struct registry *registry, const struct session_spec *spec)
{
    struct confine_plan plan;
    struct err unused;
    look_around(registry->sandboxes);
    if (!confine_needs_trial(spec->sandbox, &registry->sandboxes->able))
        return false; /* without a plan, whose making asks the file system a hundred times */
    if (make_confine_plan(registry, spec, &plan, &unused) != 0)
        return false; /* it fails at once */
    confine_plan_fini(&plan);
    return true;
}

int sandbox_argv(struct registry *registry, const struct session_spec *spec, struct strv *out,
                 struct err *err)
{
    struct confine_plan plan;
    enum confine_backend backend;
    int code = make_confine_plan(registry, spec, &plan, err);
    if (code)
        return code;
    const struct confine_able *able = sandbox_able(registry);
    code = confine_choose(&plan, able, &backend, NULL, err);
    if (!code)
        code = able_check_helper(able->helper, err);
    if (!code)
        code = confine_argv(&plan, backend, able, (const char *const *)spec->argv, out, err);
    confine_plan_fini(&plan);
    return code;
}

/* --- what a session is confined to --- */

static struct json *detach_fact(struct session *session, const char *name)
{
    struct err unused;
    const char *text = journal_facts(session->journal);
    if (!text || !strstr(text, "\"sandbox\""))
        return NULL;
    struct json *facts = json_parse(text, strlen(text), &unused);
    struct json *own = json_detach(facts, name);
    json_free(facts);
    return own;
}

struct json *session_sandbox_facts(struct session *session)
{
    return detach_fact(session, "sandbox");
}

struct json *session_sandbox_env(struct session *session)
{
    return detach_fact(session, "sandbox_env");
}

void session_sandbox_adopt(struct session *session)
{
    struct json *facts = session_sandbox_facts(session);
    enum confine_mode mode;
    const char *word = json_get_str(facts, "mode", NULL);
    if (word && confine_mode_by_word(word, &mode))
        session->sandbox = confine_mode_word(mode);
    json_free(facts);
}

const char *session_sandbox(const struct session *session)
{
    return session->sandbox;
}

bool registry_confines(const struct registry *registry)
{
    for (struct list *at = registry->order.next; at != &registry->order; at = at->next)
        if (LIST_OWNER(at, struct session, order)->sandbox)
            return true;
    return false;
}
