/* logs: what `ue logs` is made of. */
#ifndef MUXD_CLIENT_LOGS_H
#define MUXD_CLIENT_LOGS_H
#include "client/ue.h"

int logs_input(struct ue *ue); /* --input: who typed what; exit status */
bool logs_time(const char *text, int64_t now_ms, int64_t *out); /* 10m, 14:05, 2026-08-30T14:05: milliseconds since 1970; false: none */
#endif
