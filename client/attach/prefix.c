/* prefix: owns the decoding of keys for the commands of wire/attach.def. Sources: xterm ctlseqs
 * (modifyOtherKeys), the kitty keyboard protocol. */
#include "client/attach/prefix.h"
#include "base/bug.h"
#include "wire/attach.h"
#include <string.h>

#define MOD_CTRL 4                /* a bit of the modifiers' parameter less one */
#define MOD_SHIFTS (1 | 64 | 128) /* shift, caps lock, num lock: a control key ignores them */
#define EVENT_RELEASE 3
/* keys without an effect of their own, from caps lock to the modifiers */
#define KITTY_ALONE_FIRST 57358
#define KITTY_ALONE_LAST 57454

struct key {
    size_t size;  /* bytes */
    long code;    /* its character in plain encoding; -1: it has none */
    bool nothing; /* a release, or a modifier alone */
};

bool prefix_parse(const char *word, unsigned char *key)
{
    char c = 0;
    if (strlen(word) == 3 && (word[0] == 'C' || word[0] == 'c') && word[1] == '-')
        c = word[2];
    else if (strlen(word) == 2 && word[0] == '^')
        c = word[1];
    if (c >= 'a' && c <= 'z')
        c = (char)(c - 'a' + 'A');
    if (c < 'A' || c > '_' || strchr("IM[", c))
        return false;
    *key = (unsigned char)(c & 0x1f);
    return true;
}

/* Reads a parameter and its first subparameter; -1: absent. Further subparameters (kitty's other
 * layouts) are skipped. */
static const char *prefix_number(const char *at, const char *end, long *value, long *sub)
{
    long parts[3] = {-1, -1, -1};
    for (int part = 0; at < end && (*at == ':' || (*at >= '0' && *at <= '9')); at++) {
        if (*at == ':')
            part = part < 2 ? part + 1 : 2;
        else if (parts[part] < 1000000)
            parts[part] = (parts[part] < 0 ? 0 : parts[part]) * 10 + *at - '0';
    }
    *value = parts[0];
    *sub = parts[1];
    return at;
}

static void decode(struct key *key, long code, long mods, long event)
{
    long held = mods > 0 ? mods - 1 : 0;
    key->nothing = event == EVENT_RELEASE ||
                   (code >= KITTY_ALONE_FIRST && code <= KITTY_ALONE_LAST);
    if ((held & MOD_CTRL) && !(held & ~(MOD_CTRL | MOD_SHIFTS)) && code >= '@' && code < 0x7f)
        key->code = code & 0x1f;
    else if (!(held & ~MOD_SHIFTS))
        key->code = code;
}

/* CSI code ; modifiers : event u, and CSI 27 ; modifiers ; code ~. */
static struct key prefix_read_key(const char *data, size_t size)
{
    struct key key = {.size = 1, .code = (unsigned char)data[0]};
    const char *end = data + size, *at = data + 2;
    long values[3] = {-1, -1, -1}, subs[3] = {-1, -1, -1};
    if (size < 4 || data[0] != 033 || data[1] != '[')
        return key;
    for (int i = 0; i < 3; i++) {
        at = prefix_number(at, end, &values[i], &subs[i]);
        if (at == end || *at != ';')
            break;
        at++;
    }
    if (at == end || values[0] < 0 ||
        (*at != 'u' && !(*at == '~' && values[0] == 27 && values[2] >= 0)))
        return key;
    key = (struct key){.size = (size_t)(at - data) + 1, .code = -1};
    if (*at == 'u')
        decode(&key, values[0], values[1], subs[1]);
    else
        decode(&key, values[2], values[1], -1);
    return key;
}

/* An unknown key shows the help. */
static enum prefix_command prefix_command_of(long code)
{
    for (int i = 0; i < ATTACH_KEY_COUNT; i++)
        if (attach_keys[i].key != 0 && attach_keys[i].key == code)
            return (enum prefix_command)(i + 1);
    return PREFIX_HELP;
}

/* Appends what is pasted, with the mark behind it. Returns the bytes taken. */
static size_t take_pasted(struct prefix *prefix, const char *data, size_t size, struct buf *out)
{
    size_t taken = paste_next(&prefix->paste, data, size);
    buf_append(out, data, taken);
    return taken;
}

size_t prefix_take(struct prefix *prefix, const char *data, size_t size, struct buf *out,
                   enum prefix_command *command)
{
    BUG_UNLESS(prefix->key > 0 && prefix->key < ' ');
    *command = PREFIX_NONE;
    if (!prefix->pastes)
        prefix->paste = (struct paste){0};
    for (size_t at = 0; at < size;) {
        if (prefix->paste.open) {
            at += take_pasted(prefix, data + at, size - at, out);
            continue;
        }
        struct key key = prefix_read_key(data + at, size - at);
        const char *bytes = data + at;
        at += key.size;
        if (prefix->pastes)
            paste_feed(&prefix->paste, bytes, key.size);
        if (!prefix->pending && key.code == prefix->key) {
            prefix->pending = !key.nothing;
        } else if (!prefix->pending) {
            buf_append(out, bytes, key.size);
        } else if (!key.nothing) {
            prefix->pending = false;
            if (key.code != prefix->key) {
                *command = prefix_command_of(key.code);
                return at;
            }
            buf_append(out, bytes, key.size);
        }
    }
    return size;
}
