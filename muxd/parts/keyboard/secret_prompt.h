/* secret_prompt: whether a text asks for a secret, for the notice that people get. Programs that
 * read lines without echo as a matter of course, as many full-screen programs do, ask for none. */
#ifndef MUXD_PARTS_SECRET_PROMPT_H
#define MUXD_PARTS_SECRET_PROMPT_H
#include <stdbool.h>
#include <stddef.h>

#define SECRET_PROMPT_BYTES 512 /* of the end of the output are looked at */
/* One of the last two lines that aren't blank has a word for a secret, in one of the languages that
 * programs ask in. tail: the end of the output, escape sequences and all. */
bool secret_prompt_shows(const char *tail, size_t size);
#endif
