/* delivery: what changes once an answer is delivered. */
#ifndef MUXD_CMD_DELIVERY_H
#define MUXD_CMD_DELIVERY_H
#include "cmd/cmd.h"

/* Once the answer to this request is written whole, the reader's place moves to `to` (unless
 * peek), and with it that of the follower, and an ended session counts as read (ended). To
 * be called before the reply. */
struct delivery {
    struct cmd_context *ctx;
    uint64_t number, to;
    char reader[JOURNAL_READER_NAME_MAX + 1]; /* "": the default one */
    bool peek, ended;
    uint64_t follower; /* 0: none */
};
void delivery_begin(struct request *request, const struct delivery *delivery);
#endif
