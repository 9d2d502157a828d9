/* recorded: what a call puts on record beside what its session does (parts/audit): who asks, what
 * was decided and by whom, questions and their answers. No record has input, output or an
 * environment. */
#ifndef MUXD_CMD_RECORDED_H
#define MUXD_CMD_RECORDED_H
#include "cmd/approvals.h"
#include "cmd/gate.h"

/* Who asks, how, from where: what each record of a call begins with. policy: by name; NULL: none
 * is on. The caller's. */
struct json *recorded_asker(struct cmd_context *ctx, struct request *request,
                            const struct tool *tool, const char *policy);
/* The same for a command: with its words and its directory, and with the rule. rule: NULL: none. */
struct json *recorded_command(const struct gate *gate, const struct config_rule *rule);
/* What was decided of it: fills gate->record and gate->judged. by: "rule", "policy", "person";
 * NULL: nobody has judged it. */
void recorded_allowed(struct gate *gate, const struct config_rule *rule, const char *by);
/* By whose yes it begins; granted: NULL: by nobody's. */
void recorded_add_grant(struct json *facts, const struct approval *granted);
/* A command that was refused; facts become its. When that can't be written, the log says so: the
 * command does not run either way. */
void recorded_refused(struct cmd_context *ctx, struct json *facts, const char *reason);

/* A question, before anybody is asked. 0 or ERR_AUDIT. */
int recorded_question(const struct approval *approval, struct err *err);
/* Its answer, before it takes effect. what: "answered" (yes), "denied", "withdrawn", "failed" (a
 * yes that had no effect). text: how long a yes holds, else the reason; may be NULL. 0 or
 * ERR_AUDIT. */
int recorded_answer(const struct approval *approval, const char *what, const char *text,
                    struct err *err);
#endif
