/* trial_worker.c: owns muxd's own answer to a keeper that asks whether it can take over. */
#include "base/fdio.h"
#include "keep/keep.h"
#include "keep/trial.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* journals: a memfd with the numbers of the descriptors. */
static int check_journals(int journals, int (*check)(int journal))
{
    int32_t fd;
    for (off_t at = 0; fd_pread_all(journals, &fd, sizeof fd, at) == sizeof fd; at += sizeof fd) {
        int error = check(fd);
        if (error != 0)
            return error;
    }
    return 0;
}

int trial_answer_as_worker(const char *value, int (*check)(int journal), bool reads_config)
{
    int answer, nonce, journals, end = 0;
    if (sscanf(value, "%d:%d:%d:%n", &answer, &nonce, &journals, &end) != 3 || end == 0)
        return 1;
    int error = strcmp(value + end, keep_protocol_word) != 0 ? EPROTO : trial_why_cut();
    if (error == 0)
        error = check_journals(journals, check);
    if (error == 0 && !reads_config)
        error = TRIAL_NO_CONFIG;
    trial_answer(answer, TRIAL_WORKER, nonce, error);
    return error == 0 ? 0 : 1;
}
