/* attach_keys: wire/attach.def as data. */
#include "wire/attach.h"

const struct attach_key attach_keys[ATTACH_KEY_COUNT + 1] = {
#define ATTACH_KEY(ident, ...) [ATTACH_KEY_##ident] = {__VA_ARGS__},
#include "wire/attach.def"
};

const struct attach_key attach_view_keys[] = {
#define ATTACH_VIEW(...) {__VA_ARGS__},
#include "wire/attach.def"
    {.keys = NULL},
};
