/* semantic: owns the grammar of the marks that muxd has shells write, and nothing else: what they
 * mean is for others. */
#include "wire/semantic.h"
#include "base/bug.h"
#include <string.h>

static const char asked[] = "I;ue;";

static bool is_string(const struct semantic *semantic)
{
    return semantic->state == SEMANTIC_STRING || semantic->state == SEMANTIC_STRING_ESCAPE;
}

static bool begins(const char *data, size_t size, const char *word, size_t len)
{
    return size >= len && memcmp(data, word, len) == 0;
}

/* Digits up to the end or a semicolon. */
static bool read_level(const char *data, size_t size, uint64_t *level, size_t *used)
{
    *level = 0;
    for (*used = 0; *used < size && data[*used] != ';'; ++*used) {
        if (data[*used] < '0' || data[*used] > '9' || *used > 18)
            return false;
        *level = *level * 10 + (uint64_t)(data[*used] - '0');
    }
    return *level > 0;
}

/* The bytes between ESC ] and the end. */
static bool semantic_parse(const struct semantic *semantic, const char *data, size_t size,
                           struct semantic_mark *mark)
{
    char head[SEMANTIC_NONCE + 8];
    size_t used;
    if (!begins(data, size, "133;", 4) && !begins(data, size, "633;", 4))
        return false;
    data += 4;
    size -= 4;
    if (begins(data, size, asked, sizeof asked - 1)) {
        *mark = (struct semantic_mark){.kind = SEMANTIC_ASKED,
                                       .value = data + sizeof asked - 1,
                                       .size = size - (sizeof asked - 1)};
        return true;
    }
    size_t len = 5 + SEMANTIC_NONCE + 1;
    memcpy(head, ";ue=", 4);
    memcpy(head + 4, semantic->nonce, SEMANTIC_NONCE);
    head[len - 2] = ';';
    if (size < len || !strchr("ABCDEPW", data[0]) || memcmp(data + 1, head, len - 1) != 0)
        return false;
    *mark = (struct semantic_mark){.kind = data[0]};
    if (!read_level(data + len, size - len, &mark->level, &used))
        return false;
    used += len + used < size; /* the semicolon */
    mark->value = data + len + used;
    mark->size = size - len - used;
    return true;
}

static void semantic_end(struct semantic *semantic, semantic_fn *fn, void *arg)
{
    struct semantic_mark mark;
    semantic->state = SEMANTIC_GROUND;
    if (semantic_parse(semantic, semantic->kept.data, semantic->kept.len, &mark)) {
        mark.from = semantic->from;
        mark.to = semantic->at + 1;
        fn(arg, &mark);
    }
    buf_clear(&semantic->kept);
}

static void semantic_leave(struct semantic *semantic)
{
    semantic->state = SEMANTIC_GROUND;
    buf_clear(&semantic->kept);
}

/* What can't become a mark any more is left at once: the rest of it holds nothing for us. */
static bool may_be_mark(const struct buf *kept)
{
    size_t n = kept->len < 4 ? kept->len : 4;
    return kept->len <= SEMANTIC_MAX &&
           (memcmp(kept->data, "133;", n) == 0 || memcmp(kept->data, "633;", n) == 0);
}

static void string_byte(struct semantic *semantic, char byte, semantic_fn *fn, void *arg)
{
    if (byte == '\a') {
        semantic_end(semantic, fn, arg);
    } else if (byte == 033) {
        semantic->state = SEMANTIC_STRING_ESCAPE;
    } else if ((unsigned char)byte < ' ') {
        semantic_leave(semantic);
    } else {
        buf_append_byte(&semantic->kept, byte);
        if (!may_be_mark(&semantic->kept))
            semantic_leave(semantic);
    }
}

static void semantic_byte(struct semantic *semantic, char byte, semantic_fn *fn, void *arg)
{
    switch (semantic->state) {
    case SEMANTIC_STRING: string_byte(semantic, byte, fn, arg); return;
    case SEMANTIC_STRING_ESCAPE:
        if (byte == '\\') {
            semantic_end(semantic, fn, arg);
            return;
        }
        semantic_leave(semantic);
        semantic->from = semantic->at - 1; /* that ESC may begin another one */
        semantic->state = SEMANTIC_ESCAPE;
        break;
    case SEMANTIC_ESCAPE:
    case SEMANTIC_GROUND: break;
    }
    if (semantic->state == SEMANTIC_ESCAPE && byte == ']') {
        semantic->state = SEMANTIC_STRING;
    } else if (byte == 033) {
        semantic->from = semantic->at;
        semantic->state = SEMANTIC_ESCAPE;
    } else {
        semantic->state = SEMANTIC_GROUND;
    }
}

void semantic_feed(struct semantic *semantic, uint64_t at, const char *data, size_t size,
                   semantic_fn *fn, void *arg)
{
    BUG_UNLESS(at >= semantic->at && strlen(semantic->nonce) == SEMANTIC_NONCE);
    if (semantic->kept.max == 0)
        buf_init(&semantic->kept, 0);
    if (at > semantic->at)
        semantic_leave(semantic);
    semantic->at = at;
    for (size_t i = 0; i < size; i++) {
        if (semantic->state == SEMANTIC_GROUND) {
            const char *next = memchr(data + i, 033, size - i);
            size_t skip = next ? (size_t)(next - data) - i : size - i;
            semantic->at += skip;
            i += skip;
            if (!next)
                break;
        }
        semantic_byte(semantic, data[i], fn, arg);
        semantic->at++;
    }
}

uint64_t semantic_settled(const struct semantic *semantic)
{
    BUG_UNLESS(semantic->from <= semantic->at);
    return is_string(semantic) || semantic->state == SEMANTIC_ESCAPE ? semantic->from
                                                                     : semantic->at;
}

void semantic_fini(struct semantic *semantic)
{
    buf_fini(&semantic->kept);
}

struct stripping {
    struct buf *text;
    size_t to, from; /* what was kept ends at `to`; bytes from `from` on were not moved yet */
};

static void semantic_move(struct stripping *stripping, size_t end)
{
    char *data = stripping->text->data;
    size_t size = end - stripping->from;
    if (stripping->to != stripping->from)
        memmove(data + stripping->to, data + stripping->from, size);
    stripping->to += size;
}

static void strip_mark(void *arg, const struct semantic_mark *mark)
{
    struct stripping *stripping = arg;
    semantic_move(stripping, (size_t)mark->from);
    stripping->from = (size_t)mark->to;
}

/* The data is fed in pieces of which the earlier ones are not read again, so that the bytes may be
 * moved behind the scanner. */
size_t semantic_strip(struct buf *text, const char *nonce)
{
    struct semantic semantic = {.state = SEMANTIC_GROUND};
    struct stripping stripping = {.text = text};
    if (text->len == 0)
        return 0;
    memcpy(semantic.nonce, nonce, SEMANTIC_NONCE + 1);
    semantic_feed(&semantic, 0, text->data, text->len, strip_mark, &stripping);
    size_t open = text->len - (size_t)semantic_settled(&semantic);
    semantic_move(&stripping, text->len);
    buf_truncate(text, stripping.to);
    semantic_fini(&semantic);
    return open;
}

static int semantic_digit(char byte)
{
    const char *digits = "0123456789abcdef", *found = byte ? strchr(digits, byte | 0x20) : NULL;
    return found ? (int)(found - digits) : -1;
}

void semantic_unescape(struct buf *out, const char *value, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        int high = i + 3 < size && value[i] == '\\' && value[i + 1] == 'x'
                       ? semantic_digit(value[i + 2])
                       : -1,
            low = high >= 0 ? semantic_digit(value[i + 3]) : -1;
        if (low >= 0) {
            buf_append_byte(out, (char)(high << 4 | low));
            i += 3;
        } else if (value[i] == '\\' && i + 1 < size && value[i + 1] == '\\') {
            buf_append_byte(out, '\\');
            i++;
        } else {
            buf_append_byte(out, value[i]);
        }
    }
}
