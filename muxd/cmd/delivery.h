/* delivery: what is done once an answer has arrived. */
#ifndef MUXD_CMD_DELIVERY_H
#define MUXD_CMD_DELIVERY_H
#include "cmd/cmd.h"

/* Once the answer to this request was written whole, the reader's place moves to `to` (unless
 * peek), and where the session had ended its end is known (ended). Before the reply. */
struct delivery {
    struct cmd_context *ctx;
    uint64_t number, to;
    char reader[JOURNAL_READER_NAME_MAX + 1]; /* "": the default one */
    bool peek, ended;
};
void delivery_begin(struct request *request, const struct delivery *delivery);
#endif
