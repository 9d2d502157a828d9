/* keynames: the names of keys as data, for their encoding and for completions. */
#ifndef MUXD_WIRE_KEYNAMES_H
#define MUXD_WIRE_KEYNAMES_H

enum keyname_form {
    KEYNAME_BYTE,
    KEYNAME_CURSOR,
    KEYNAME_SS3,
    KEYNAME_TILDE,
    KEYNAME_SHIFTED,
    KEYNAME_KEYPAD,
    KEYNAME_KITTY
};
struct keyname {
    const char *name, *aliases; /* aliases: separated by blanks */
    enum keyname_form form;
    int code;
};

/* By name or alias, in any case; NULL: no such key. */
const struct keyname *keyname_find(const char *name);
/* The nearest name to a wrong one; NULL: none is near. */
const char *keyname_nearest(const char *name);
/* Calls fn with each name that every terminal knows and with the usual control keys ("C-a" …
 * "C-z"), for completions. */
void keyname_each(void (*fn)(void *arg, const char *name), void *arg);
#endif
