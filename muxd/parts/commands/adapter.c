/* adapter: owns the finding of the row for a program, and the filling in of its line. */
#include "parts/commands/adapter.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct adapter_text {
    const char *word, *text;
};

static const struct adapter adapters[] = {
#define ADAPTER(ident, ...) {__VA_ARGS__},
#define LINE(...)
#include "parts/commands/adapters.def"
#undef ADAPTER
#undef LINE
};

static const struct adapter_text lines[] = {
#define ADAPTER(...)
#define LINE(ident, ...) {__VA_ARGS__},
#include "parts/commands/adapters.def"
#undef ADAPTER
#undef LINE
};

static bool adapter_is_named(const char *names, const char *program)
{
    size_t size = strlen(program);
    for (const char *at = names; *at; at += strspn(at, " ")) {
        size_t len = strcspn(at, " ");
        bool open = at[len - 1] == '*';
        if (open ? strncmp(at, program, len - 1) == 0
                 : len == size && memcmp(at, program, len) == 0)
            return true;
        at += len;
    }
    return false;
}

const struct adapter *adapter_of(const char *program)
{
    for (size_t i = 0; i < sizeof adapters / sizeof *adapters; i++)
        if (adapter_is_named(adapters[i].names, program))
            return &adapters[i];
    return NULL;
}

static bool adapter_has_word(const char *words, const char *word, size_t len)
{
    for (const char *at = words; at && *at; at += strspn(at, " ")) {
        size_t span = strcspn(at, " ");
        if (span == len && memcmp(at, word, len) == 0)
            return true;
        at += span;
    }
    return false;
}

/* Behind the program's own name: the interpreter of a script stands before it, and the applet of
 * busybox behind it. */
static const char *adapter_arguments(const struct adapter *adapter, const char *command_line)
{
    const char *first = command_line + strcspn(command_line, " ");
    for (const char *at = command_line; *at; at += strspn(at, " ")) {
        char word[64];
        size_t len = strcspn(at, " ");
        const char *slash = memrchr(at, '/', len), *name = slash ? slash + 1 : at;
        at += len;
        name += *name == '-';
        snprintf(word, sizeof word, "%.*s", (int)(at - name), name);
        if (!adapter_is_named(adapter->names, word))
            continue;
        if (strcmp(word, "busybox") == 0) {
            at += strspn(at, " ");
            at += strcspn(at, " ");
        }
        return at;
    }
    return first;
}

bool adapter_prompts(const struct adapter *adapter, const char *command_line)
{
    const char *at = adapter_arguments(adapter, command_line), *runs = adapter->runs;
    bool prompts = true, value = false, ended = false;
    for (at += strspn(at, " "); *at; at += strspn(at, " ")) {
        size_t len = strcspn(at, " ");
        bool option = !ended && (*at == '-' || *at == '+') && len > 1;
        bool letters = option && *at == '-' && at[1] != '-';
        if (letters && memchr(at, 'i', len))
            return true;
        if (value)
            value = false;
        else if (option && len == 2 && at[1] == '-')
            ended = true;
        else if (adapter_has_word(adapter->takes, at, len))
            value = true;
        else if (letters)
            for (const char *letter = runs; letter && *letter; letter++)
                prompts &= !memchr(at, *letter, len);
        else if (!option)
            prompts &= adapter->operands;
        at += len;
    }
    return prompts;
}

void adapter_names(struct buf *out)
{
    for (size_t i = 0; i < sizeof adapters / sizeof *adapters; i++)
        for (const char *at = adapters[i].names; *at; at += strspn(at, " ")) {
            size_t len = strcspn(at, " ");
            if (out->len > 0)
                buf_append_text(out, ", ");
            buf_append(out, at, len - (at[len - 1] == '*'));
            at += len;
        }
}

bool adapter_line(struct buf *out, const char *word, const char *nonce, uint64_t level, int rows)
{
    const char *text = NULL;
    for (size_t i = 0; i < sizeof lines / sizeof *lines && !text; i++)
        if (strcmp(lines[i].word, word) == 0)
            text = lines[i].text;
    if (!text)
        return false;
    for (const char *next; (next = strchr(text, '@')); text = next + 2) {
        buf_append(out, text, (size_t)(next - text));
        if (next[1] == 'T')
            buf_printf(out, "ue=%s;%" PRIu64, nonce, level);
        else
            buf_printf(out, "%d", next[1] == 'S' ? rows + 1 : rows);
    }
    return buf_append_text(out, text);
}
