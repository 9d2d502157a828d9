/* logs: the parts of `ue logs`. */
#ifndef MUXD_CLIENT_LOGS_H
#define MUXD_CLIENT_LOGS_H
#include "client/rpc/ue.h"

int logs_input(struct ue *ue); /* --input: prints who typed what. Exit status */
#endif
