/* tokens: the bytes that a program writes to its terminal, cut into characters, controls and escape
 * sequences. A state machine as that of DEC terminals, with the bytes' meaning from wire/ecma48.h;
 * sequences may be split over any number of feeds, and nothing that a program writes makes it keep
 * more than a few kilobytes. No fd, no clock. */
#ifndef MUXD_WIRE_TOKENS_H
#define MUXD_WIRE_TOKENS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TOKENS_ARGS 32        /* parameters of a sequence; what comes behind is dropped */
#define TOKENS_ARG_MAX 65535  /* larger parameters count as this */
#define TOKENS_RUN 256        /* characters in one call of text */
/* bytes of an OSC or DCS that are kept; longer ones are swallowed and told of cut */
#define TOKENS_STRING 4096
#define TOKENS_STRING_LOST (1u << 20) /* a string without an end this long was none: text goes on */

struct token_csi {
    char leader;       /* < = > ? or 0 */
    char intermediate; /* 0: none */
    char final;
    int count;                  /* of parameters, 0 when there are none */
    int args[TOKENS_ARGS];      /* -1: left out */
    bool joined[TOKENS_ARGS];   /* a colon stood before it: part of the parameter before */
};

struct token_sink { /* each may be called any number of times during tokens_feed */
    /* U+FFFD for what is no UTF-8; never a control */
    void (*text)(void *arg, const int32_t *runes, size_t count);
    void (*control)(void *arg, char byte);                       /* C0 but ESC, NUL, CAN and SUB */
    void (*escape)(void *arg, char intermediate, char final);
    void (*csi)(void *arg, const struct token_csi *csi);
    void (*osc)(void *arg, const char *data, size_t size, bool cut); /* between ESC ] and its end */
    void (*dcs)(void *arg, const char *data, size_t size, bool cut); /* NULL is fine, and for osc */
};

enum tokens_state {
    TOKENS_GROUND,
    TOKENS_ESCAPE,
    TOKENS_CSI,
    TOKENS_CSI_IGNORE,
    TOKENS_OSC,
    TOKENS_DCS,
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
    size_t runs;                     /* characters that wait for the end of the run */
    int32_t run[TOKENS_RUN];
    /* set by a callback: tokens_feed returns before the next byte */
    bool halt;
    unsigned partial_size;           /* bytes of a character that is not whole yet */
    char partial[4];
};

/* Returns the bytes that were taken: all, unless a callback has set halt. */
size_t tokens_feed(struct tokens *tokens, const char *data, size_t size,
                   const struct token_sink *sink, void *arg);
void tokens_reset(struct tokens *tokens); /* as at the beginning: bytes are missing here */
#endif
