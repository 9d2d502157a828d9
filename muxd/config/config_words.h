/* config_words: lists of words as one line of text and back. For this room only. */
#ifndef MUXD_CONFIG_CONFIG_WORDS_H
#define MUXD_CONFIG_CONFIG_WORDS_H
#include "config/config.h"

/* Each replaces the list. False: the text is wrong, and the list is untouched. An empty text is an
 * empty list. */

/* at blanks and commas; no word twice */
bool config_words_split(struct config_words *words, const char *text);
/* the same; [A-Za-z0-9_*?] only */
bool config_words_split_globs(struct config_words *words, const char *text);
/* At blanks; 'single' and "double" quotes and \ as in a shell, without expansions. A list in JSON's
 * brackets is refused, because its first word would be taken for the program. */
bool config_words_split_quoted(struct config_words *words, const char *text);
void config_words_format(const struct config_words *words, struct buf *out);
void config_words_format_quoted(const struct config_words *words, struct buf *out);
/* with the escapes of C */
void config_words_format_typed(const struct config_typed *typed, struct buf *out);
void config_words_fini(struct config_words *words);
#endif
