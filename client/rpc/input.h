/* input: standard input, in pieces as it arrives or whole, and files that are named in its
 * place. */
#ifndef MUXD_CLIENT_INPUT_H
#define MUXD_CLIENT_INPUT_H
#include "base/buf.h"
#include "base/err.h"
#include "wire/json.h"
#include <stdbool.h>

#define INPUT_PIECE_BYTES (256u * 1024)

/* Appends all of it; out has a cap. 0, ERR_TOO_LARGE over the cap, ERR_SYSTEM when reading
 * fails. */
int input_all(struct buf *out, struct err *err);
int input_file(const char *path, struct buf *out, struct err *err); /* the same for a file */
/* Replaces out by the next piece: INPUT_PIECE_BYTES, or less when a pause or the end (*ended)
 * follows. Waits for the first byte. 0 or ERR_SYSTEM. */
int input_piece(struct buf *out, bool *ended, struct err *err);
/* The next piece, or the end, can be read without waiting. */
bool input_is_ready(void);
/* It has unread data that may be meant for the command: in a pipe, socket or file, not a terminal,
 * and not what our parent reads, too, as a shell in `while read` does. */
bool input_is_waiting(void);
/* input_chars.c. Adds data to params as chars, or as chars_base64 where a JSON string can't carry
 * it (ill-formed UTF-8, NUL). params has neither yet. */
void input_add_chars(struct json *params, const char *data, size_t len);
#endif
