/* input: what is typed into a session, and who types it. */
#ifndef MUXD_SESSION_INPUT_H
#define MUXD_SESSION_INPUT_H
#include "base/err.h"
#include "journal/typed.h"

struct session;

bool input_has_text(const char *data, size_t size); /* more than keys like ^C and Enter */

/* Types it, once the keyboard, secret prompts and the input log have been seen to. Errors are those
 * of session_type, and ERR_KEYBOARD_HELD (an agent types while a person holds the keyboard) and
 * ERR_SECRET_PROMPT (an agent types text where the program reads a secret). A person who types
 * takes the keyboard. */
int session_input(struct session *session, const struct input *input, struct err *err);
/* Logs input that is not bytes: a signal, a size (rows << 16 | cols), an end of file. */
void session_note_input(struct session *session, enum input_kind kind, const struct author *author,
                        int detail);
/* Its terminal gives its program whole lines (ICANON). */
bool session_reads_lines(const struct session *session);
/* its terminal takes lines and does not echo them */
bool session_reads_secret(const struct session *session);
#endif
