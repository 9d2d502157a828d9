/* logs: what `ue logs` is made of. */
#ifndef MUXD_CLIENT_LOGS_H
#define MUXD_CLIENT_LOGS_H
#include "client/rpc/ue.h"

int logs_input(struct ue *ue); /* --input: who typed what; exit status */
#endif
