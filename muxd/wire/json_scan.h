/* json_scan: the strict grammar check before a tree is built. For json.c only. */
#ifndef MUXD_WIRE_JSON_SCAN_H
#define MUXD_WIRE_JSON_SCAN_H
#include "wire/json.h"

/* Values in one text: a tree costs some 80 bytes a value, so that a line full of "[0,0,0…" must not become a gigabyte. */
#define JSON_VALUES_MAX 262144

/* Decoded length of a string value that holds NUL bytes, which the library can't tell. */
struct json_scan_nul {
    size_t ordinal; /* counting string values in the order of the text, from 0 */
    size_t len;
};

struct json_scan {
    struct json_scan_nul *nuls; /* owned, in ascending order */
    size_t count, cap;
};

/* 0, or ERR_PARSE with the byte position. scan is filled in for JSON_ALLOW_NUL; json_scan_fini is due in any case. */
int json_scan(struct json_scan *scan, const char *data, size_t size, enum json_flags flags, struct err *err);
void json_scan_fini(struct json_scan *scan);
#endif
