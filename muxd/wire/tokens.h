/* tokens: cuts the bytes that a program writes to its terminal into characters, controls and escape
 * sequences. A state machine like that of DEC terminals; wire/ecma48.h says what the bytes mean. A
 * sequence may be split over any number of feeds, and no program can make it keep more than a few
 * kilobytes. No fd, no clock. */
#ifndef MUXD_WIRE_TOKENS_H
#define MUXD_WIRE_TOKENS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TOKENS_ARGS 32       /* parameters of a sequence; further ones are dropped */
#define TOKENS_ARG_MAX 65535 /* larger parameters count as this */
#define TOKENS_RUN 256       /* characters in one call of text */
/* Bytes of an OSC, DCS or title that are kept; a longer one is reported as cut. However long it is,
 * none of it is text. */
#define TOKENS_STRING 4096

struct token_csi {
    char leader;       /* < = > ? or 0 */
    char intermediate; /* 0: none */
    char final;
    int count;                /* of parameters */
    int args[TOKENS_ARGS];    /* -1: left out */
    bool joined[TOKENS_ARGS]; /* behind a colon: part of the parameter before it */
};

struct token_sink { /* tokens_feed may call each any number of times */
    /* never a control; U+FFFD for ill-formed UTF-8 */
    void (*text)(void *arg, const int32_t *runes, size_t count);
    void (*control)(void *arg, char byte); /* C0 without ESC, NUL, CAN and SUB */
    void (*escape)(void *arg, char intermediate, char final);
    void (*csi)(void *arg, const struct token_csi *csi);
    /* the bytes between ESC ] or ESC P and the end; NULL is fine for all three */
    void (*osc)(void *arg, const char *data, size_t size, bool cut);
    void (*dcs)(void *arg, const char *data, size_t size, bool cut);
    /* the next TOKENS_STRING bytes of an OSC that has more; osc gets the rest as cut */
    void (*osc_part)(void *arg, const char *data, size_t size, bool first);
    /* between ESC k and the end; NULL is fine */
    void (*title)(void *arg, const char *data, size_t size, bool cut);
};

enum tokens_state {
    TOKENS_GROUND,
    TOKENS_ESCAPE,
    TOKENS_CSI,
    TOKENS_CSI_IGNORE,
    TOKENS_OSC,
    TOKENS_DCS,
    TOKENS_TITLE,
    TOKENS_OTHER
};

struct tokens { /* zeroed: at the beginning */
    enum tokens_state state;
    bool escape_in_string; /* ESC was the last byte of a string */
    char intermediate;
    bool invalid;          /* more than one intermediate byte */
    struct token_csi csi;
    size_t string_size, string_seen; /* bytes kept; bytes that came */
    char string[TOKENS_STRING];
    size_t runs; /* characters of the run so far; 0 between feeds */
    int32_t run[TOKENS_RUN];
    bool halt; /* set by a callback: tokens_feed returns before the next byte */
    unsigned partial_size; /* bytes of a character that is not complete yet */
    char partial[4];
};

/* Returns how many bytes it has taken: all, unless a callback has set halt. Not from a callback. */
size_t tokens_feed(struct tokens *tokens, const char *data, size_t size,
                   const struct token_sink *sink, void *arg);
void tokens_reset(struct tokens *tokens); /* to the beginning, as some bytes are missing */
/* As tokens_reset, but the next bytes are the rest of a control string, without effect. */
void tokens_reset_in_string(struct tokens *tokens);
#endif
