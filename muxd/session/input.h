/* input: what is typed into a session, and who types it. */
#ifndef MUXD_SESSION_INPUT_H
#define MUXD_SESSION_INPUT_H
#include "base/err.h"
#include "journal/typed.h"

struct session;

bool input_has_text(const char *data, size_t size); /* more than keys like ^C and Enter */

/* Types it: keyboard, secret prompts and the log are seen to. As session_type; besides
 * ERR_KEYBOARD_HELD (an agent's while a person holds the keyboard) and ERR_SECRET_PROMPT (an
 * agent's text where the program reads a secret). A person takes the keyboard by it. */
int session_input(struct session *session, const struct input *input, struct err *err);
/* What is no bytes: a signal, a size (rows << 16 | cols), an end of file. */
void session_note_input(struct session *session, enum input_kind kind, const struct author *author,
                        int detail);
/* Its terminal gives its program whole lines (ICANON). */
bool session_reads_lines(const struct session *session);
/* its terminal takes lines and does not show them */
bool session_reads_secret(const struct session *session);
#endif
