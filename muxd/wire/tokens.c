/* tokens: owns the state machine that cuts a terminal's input. */
#include "wire/tokens.h"
#include "base/bug.h"
#include "base/utf8.h"
#include "wire/ecma48.h"
#include <string.h>

void tokens_reset(struct tokens *tokens)
{
    tokens->state = TOKENS_GROUND;
    tokens->escape_in_string = false;
    tokens->runs = 0;
    tokens->partial_size = 0;
}

void tokens_reset_in_string(struct tokens *tokens)
{
    tokens_reset(tokens);
    tokens->state = TOKENS_OSC; /* BEL ends it, too */
    tokens->string_size = 0;
    tokens->string_seen = 1; /* it is cut */
}

static void flush_text(struct tokens *tokens, const struct token_sink *sink, void *arg)
{
    size_t count = tokens->runs;
    tokens->runs = 0;
    if (count > 0)
        sink->text(arg, tokens->run, count);
}

static void add_rune(struct tokens *tokens, int32_t rune, const struct token_sink *sink, void *arg)
{
    if (rune >= 0x80 && rune < 0xa0) /* C1 in UTF-8 is never meant as a control */
        return;
    tokens->run[tokens->runs++] = rune < 0 ? 0xfffd : rune;
    if (tokens->runs == TOKENS_RUN)
        flush_text(tokens, sink, arg);
}

/* Goes on with the character that an earlier feed began. Returns how many bytes of data it has
 * taken. */
static size_t add_partial(struct tokens *tokens, const char *data, size_t size,
                          const struct token_sink *sink, void *arg)
{
    size_t taken = 0;
    while (tokens->partial_size > 0) {
        int32_t rune;
        size_t used = utf8_decode(tokens->partial, tokens->partial_size, &rune);
        if (used == 0 && taken < size && (unsigned char)data[taken] >= 0x80 &&
            tokens->partial_size < sizeof tokens->partial) {
            tokens->partial[tokens->partial_size++] = data[taken++];
            continue;
        }
        if (used == 0 && taken == size)
            break; /* the next feed goes on */
        if (used == 0) {
            used = tokens->partial_size;
            rune = -1;
        }
        add_rune(tokens, rune, sink, arg);
        tokens->partial_size -= (unsigned)used;
        memmove(tokens->partial, tokens->partial + used, tokens->partial_size);
    }
    return taken;
}

/* Takes ASCII up to the end of the run; returns how many bytes. */
static size_t take_ascii(struct tokens *tokens, const char *data, size_t size)
{
    size_t room = TOKENS_RUN - tokens->runs, n = 0, most = size < room ? size : room;
    int32_t *run = tokens->run + tokens->runs;
    for (; n < most && data[n] >= 0x20 && data[n] < 0x7f; n++) /* also where char is unsigned */
        run[n] = data[n];
    tokens->runs += n;
    return n;
}

/* Takes the printable bytes at data; returns how many. */
static size_t take_text(struct tokens *tokens, const char *data, size_t size,
                        const struct token_sink *sink, void *arg)
{
    size_t at = 0;
    while (at < size && !tokens->halt) {
        unsigned char byte = (unsigned char)data[at];
        if (byte < 0x20)
            break;
        if (byte < 0x7f) {
            at += take_ascii(tokens, data + at, size - at);
            if (tokens->runs == TOKENS_RUN)
                flush_text(tokens, sink, arg);
        } else if (byte == 0x7f) {
            at++;
        } else {
            int32_t rune;
            size_t used = utf8_decode(data + at, size - at, &rune);
            if (used == 0) {
                tokens->partial_size = (unsigned)(size - at);
                memcpy(tokens->partial, data + at, size - at);
                return size;
            }
            add_rune(tokens, rune, sink, arg);
            at += used;
        }
    }
    return at;
}

static void begin_string(struct tokens *tokens, enum tokens_state state)
{
    tokens->state = state;
    tokens->escape_in_string = false;
    tokens->string_size = tokens->string_seen = 0;
}

static void begin_csi(struct tokens *tokens)
{
    tokens->state = TOKENS_CSI;
    tokens->csi.leader = tokens->csi.intermediate = 0;
    tokens->csi.count = 0;
}

static void tokens_on_escape(struct tokens *tokens, char byte, const struct token_sink *sink,
                             void *arg)
{
    if (ecma_is_intermediate(byte)) {
        tokens->invalid = tokens->invalid || tokens->intermediate;
        tokens->intermediate = byte;
        return;
    }
    tokens->state = TOKENS_GROUND;
    switch (tokens->intermediate ? ECMA_SHORT : ecma_begins(byte)) {
    case ECMA_CSI: begin_csi(tokens); break;
    case ECMA_OSC: begin_string(tokens, TOKENS_OSC); break;
    case ECMA_DCS: begin_string(tokens, TOKENS_DCS); break;
    case ECMA_TITLE: begin_string(tokens, TOKENS_TITLE); break;
    case ECMA_STRING: begin_string(tokens, TOKENS_OTHER); break;
    case ECMA_SHORT:
        if (ecma_ends_short(byte) && !tokens->invalid)
            sink->escape(arg, tokens->intermediate, byte);
        break;
    }
}

static void csi_digit(struct token_csi *csi, int digit)
{
    if (csi->count == 0) {
        csi->args[0] = -1;
        csi->joined[0] = false;
        csi->count = 1;
    }
    if (csi->count > TOKENS_ARGS)
        return;
    int *at = &csi->args[csi->count - 1];
    *at = (*at < 0 ? 0 : *at) * 10 + digit;
    if (*at > TOKENS_ARG_MAX)
        *at = TOKENS_ARG_MAX;
}

static void csi_separator(struct token_csi *csi, bool colon)
{
    if (csi->count == 0) {
        csi->args[0] = -1;
        csi->joined[0] = false;
        csi->count = 1;
    }
    if (csi->count <= TOKENS_ARGS)
        csi->count++;
    if (csi->count <= TOKENS_ARGS) {
        csi->args[csi->count - 1] = -1;
        csi->joined[csi->count - 1] = colon;
    }
}

static void tokens_on_csi(struct tokens *tokens, char byte, const struct token_sink *sink,
                          void *arg)
{
    struct token_csi *csi = &tokens->csi;
    if (ecma_ends_csi(byte)) {
        bool ignored = tokens->state == TOKENS_CSI_IGNORE;
        tokens->state = TOKENS_GROUND;
        csi->final = byte;
        if (csi->count > TOKENS_ARGS)
            csi->count = TOKENS_ARGS;
        if (!ignored)
            sink->csi(arg, csi);
    } else if (ecma_is_intermediate(byte)) {
        if (csi->intermediate)
            tokens->state = TOKENS_CSI_IGNORE;
        csi->intermediate = byte;
    } else if (ecma_is_parameter(byte) && csi->intermediate) {
        tokens->state = TOKENS_CSI_IGNORE;
    } else if (ecma_is_private(byte)) {
        if (csi->leader || csi->count > 0)
            tokens->state = TOKENS_CSI_IGNORE;
        csi->leader = byte;
    } else if (byte != 0x7f) {
        tokens->state = TOKENS_CSI_IGNORE;
    }
}

static void end_string(struct tokens *tokens, const struct token_sink *sink, void *arg)
{
    bool cut = tokens->string_seen > tokens->string_size;
    enum tokens_state state = tokens->state;
    tokens->state = TOKENS_GROUND;
    if (state == TOKENS_OSC && sink->osc)
        sink->osc(arg, tokens->string, tokens->string_size, cut);
    if (state == TOKENS_DCS && sink->dcs)
        sink->dcs(arg, tokens->string, tokens->string_size, cut);
    if (state == TOKENS_TITLE && sink->title)
        sink->title(arg, tokens->string, tokens->string_size, cut);
}

/* A full string of an OSC goes to whoever wants long ones. */
static void give_part(struct tokens *tokens, const struct token_sink *sink, void *arg)
{
    bool first = tokens->string_seen == sizeof tokens->string;
    if (tokens->state != TOKENS_OSC || !sink->osc_part)
        return;
    sink->osc_part(arg, tokens->string, sizeof tokens->string, first);
    tokens->string_size = 0;
}

/* Takes the string's bytes at data that are no controls; returns how many. */
static size_t take_string_bytes(struct tokens *tokens, const char *data, size_t size,
                                const struct token_sink *sink, void *arg)
{
    size_t end = 0;
    while (end < size && (unsigned char)data[end] >= 0x20)
        end++;
    for (size_t at = 0; at < end;) {
        if (tokens->string_size == sizeof tokens->string)
            give_part(tokens, sink, arg);
        size_t room = sizeof tokens->string - tokens->string_size;
        size_t kept = end - at < room ? end - at : room;
        memcpy(tokens->string + tokens->string_size, data + at, kept);
        tokens->string_size += kept;
        size_t n = room > 0 ? kept : end - at; /* what nobody wants is swallowed */
        tokens->string_seen += n;
        at += n;
    }
    return end;
}

static bool in_string(const struct tokens *tokens)
{
    return tokens->state >= TOKENS_OSC;
}

static void begin_escape(struct tokens *tokens)
{
    tokens->state = TOKENS_ESCAPE;
    tokens->intermediate = 0;
    tokens->invalid = false;
}

/* Takes one byte, which is no printable text in the ground state. */
static void on_byte(struct tokens *tokens, char byte, const struct token_sink *sink, void *arg)
{
    if (in_string(tokens) && tokens->escape_in_string) {
        tokens->escape_in_string = false;
        if (byte == '\\') {
            end_string(tokens, sink, arg);
            return;
        }
        begin_escape(tokens); /* another sequence ends the string without effect */
    }
    if (ecma_gives_up(byte)) {
        tokens->state = TOKENS_GROUND;
    } else if (byte == ECMA_ESC) {
        if (in_string(tokens))
            tokens->escape_in_string = true;
        else
            begin_escape(tokens);
    } else if (in_string(tokens)) {
        if (byte == ECMA_BEL && tokens->state == TOKENS_OSC)
            end_string(tokens, sink, arg);
    } else if ((unsigned char)byte < 0x20) {
        if (byte)
            sink->control(arg, byte);
    } else if (tokens->state == TOKENS_ESCAPE) {
        tokens_on_escape(tokens, byte, sink, arg);
    } else {
        tokens_on_csi(tokens, byte, sink, arg);
    }
}

/* Takes the numbers at data; returns how many bytes. */
static size_t take_parameters(struct token_csi *csi, const char *data, size_t size)
{
    size_t n = 0;
    for (; n < size && data[n] >= '0' && data[n] <= ';' && !csi->intermediate; n++) {
        if (data[n] >= ':')
            csi_separator(csi, data[n] == ':');
        else
            csi_digit(csi, data[n] - '0');
    }
    return n;
}

size_t tokens_feed(struct tokens *tokens, const char *data, size_t size,
                   const struct token_sink *sink, void *arg)
{
    size_t at = 0;
    BUG_UNLESS(tokens->runs == 0 && tokens->partial_size <= sizeof tokens->partial &&
               tokens->string_size <= sizeof tokens->string);
    tokens->halt = false;
    while (at < size && !tokens->halt) {
        if (tokens->partial_size > 0)
            at += add_partial(tokens, data + at, size - at, sink, arg);
        if (tokens->partial_size == 0 && tokens->state == TOKENS_GROUND)
            at += take_text(tokens, data + at, size - at, sink, arg);
        else if (tokens->state == TOKENS_CSI)
            at += take_parameters(&tokens->csi, data + at, size - at);
        else if (in_string(tokens) && !tokens->escape_in_string)
            at += take_string_bytes(tokens, data + at, size - at, sink, arg);
        if (at < size && !tokens->halt) {
            flush_text(tokens, sink, arg);
            on_byte(tokens, data[at++], sink, arg);
        }
    }
    flush_text(tokens, sink, arg);
    return at;
}
