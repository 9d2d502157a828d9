/* input: standard input: in pieces as it comes, or whole; and files that are given in its place. */
#ifndef MUXD_CLIENT_INPUT_H
#define MUXD_CLIENT_INPUT_H
#include "base/buf.h"
#include "base/err.h"
#include "wire/json.h"
#include <stdbool.h>

#define INPUT_PIECE_BYTES (256u * 1024)

/* All of it. ERR_TOO_LARGE beyond the buffer's max, ERR_SYSTEM when it can't be read. */
int input_all(struct buf *out, struct err *err);
int input_file(const char *path, struct buf *out, struct err *err); /* all of a file, likewise */
/* A piece: INPUT_PIECE_BYTES, or what came until there was a pause or the end (*ended). Waits for
 * the first byte. 0 or ERR_SYSTEM. */
int input_piece(struct buf *out, bool *ended, struct err *err);
/* A piece can be begun, or the end be seen, without waiting. */
bool input_is_ready(void);
/* Bytes wait on it that somebody may have meant for the command: data in a pipe, socket or file;
 * never a terminal. */
bool input_is_waiting(void);
/* chars, or chars_base64 for what JSON strings can't carry: ill-formed UTF-8 and NUL. */
void input_add_chars(struct json *params, const char *data, size_t len);
#endif
