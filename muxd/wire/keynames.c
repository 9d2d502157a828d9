/* keynames: owns the names of keys. */
#include "wire/keynames.h"
#include "base/value.h"
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const struct keyname keynames[] = {
#define KEY(name_, aliases_, form_, code_) {name_, aliases_, KEYNAME_##form_, code_},
#include "wire/keys.def"
#undef KEY
};
#define KEYNAMES (sizeof keynames / sizeof *keynames)

static bool keynames_among(const char *words, const char *word)
{
    size_t len = strlen(word);
    for (const char *at = words; *at;) {
        size_t size = strcspn(at, " ");
        if (size == len && strncasecmp(at, word, len) == 0)
            return true;
        at += size;
        at += strspn(at, " ");
    }
    return false;
}

const struct keyname *keyname_find(const char *name)
{
    for (size_t i = 0; i < KEYNAMES; i++)
        if (strcasecmp(keynames[i].name, name) == 0 || keynames_among(keynames[i].aliases, name))
            return &keynames[i];
    return NULL;
}

const char *keyname_nearest(const char *name)
{
    const char *names[KEYNAMES];
    for (size_t i = 0; i < KEYNAMES; i++)
        names[i] = keynames[i].name;
    return value_nearest(name, names, KEYNAMES);
}

void keyname_each(void (*fn)(void *arg, const char *name), void *arg)
{
    for (size_t i = 0; i < KEYNAMES; i++)
        if (keynames[i].form != KEYNAME_KITTY)
            fn(arg, keynames[i].name);
    for (char letter = 'a'; letter <= 'z'; letter++) {
        char name[8];
        snprintf(name, sizeof name, "C-%c", letter);
        fn(arg, name);
    }
}
