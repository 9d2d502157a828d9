/* people: what is for people, and for scripts that the config names. */
#ifndef MUXD_CMD_PEOPLE_H
#define MUXD_CMD_PEOPLE_H
#include "cmd/cmd.h"

/* To be asked while the request is handled for the first time (peer/person.h). */
bool people_is_person(struct cmd_context *ctx, struct request *request);
/* The same: 0, or ERR_DENIED, and the text says what is missing, as the rest of a sentence. */
int people_why_not(struct cmd_context *ctx, struct request *request, struct err *err);
/* [defaults] scripts_may has the word. */
bool people_may_script(const struct cmd_context *ctx, const char *word);
/* 0: a person asks, or scripts may do it (word: of [defaults] scripts_may). Else ERR_DENIED: `what`
 * is for people, what is missing, and what to do. */
int people_check(struct cmd_context *ctx, struct request *request, const char *what,
                 const char *word, struct err *err);
/* 0, or ERR_DENIED: no person asks. The config can't allow `what` to scripts. */
int people_check_evidence(struct cmd_context *ctx, struct request *request, const char *what,
                          struct err *err);
/* 0, or ERR_DENIED: nobody may type while a person holds the keyboard, or this one may not. */
int people_check_steal(struct cmd_context *ctx, struct request *request, struct err *err);
/* 0, or ERR_KEYBOARD_HELD: another person than the one who asks, or no person asks. */
int people_check_keyboard(struct cmd_context *ctx, struct request *request,
                          struct session *session, struct err *err);
#endif
