/* sandbox: the sandboxes of sessions: what this machine can do, tried once when it is first needed,
 * and what each session may. */
#ifndef MUXD_SESSION_SANDBOX_H
#define MUXD_SESSION_SANDBOX_H
#include "confine/confine.h"

struct json;
struct registry;
struct session;
struct session_spec;

void sandbox_init(struct registry *registry);
void sandbox_fini(struct registry *registry);
/* What the machine can do, as far as it is known: `tried` says whether the trial is over. */
const struct confine_able *sandbox_able(struct registry *registry);
/* Calls fn(arg) once the trial is over, from a turn of its own; begins it. False: it is over, and
 * fn is not called. */
typedef void sandbox_tried_fn(void *arg, bool closing); /* the registry goes */
bool sandbox_when_tried(struct registry *registry, sandbox_tried_fn *fn, void *arg);
/* Of a spec with a sandbox, of which argv, env, cwd and sandbox count: whether that can't be chosen
 * before the trial is over. */
bool sandbox_must_wait(struct registry *registry, const struct session_spec *spec);
/* The command line that runs it confined. As confine_choose and confine_argv. */
int sandbox_argv(struct registry *registry, const struct session_spec *spec, struct strv *out,
                 struct err *err);
/* The place of a spec, for a plan. */
struct confine_place sandbox_place(const struct registry *registry, const char *cwd,
                                   char *const *env);

/* "read-only"; NULL: the session is not confined. From its journal: it outlives the worker. */
const char *session_sandbox(const struct session *session);
/* The member `sandbox` of its facts; the caller's; NULL. */
struct json *session_sandbox_facts(struct session *session);
/* What a plan needs of its environment, by confine_env; the caller's; NULL: an older release began
 * it, or there was no room. */
struct json *session_sandbox_env(struct session *session);
/* At its making, or when a successor takes it over. */
void session_sandbox_adopt(struct session *session);
/* Whether one of the live sessions is confined. */
bool registry_confines(const struct registry *registry);
#endif
