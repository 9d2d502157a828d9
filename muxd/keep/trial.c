/* trial.c: owns the writing of an answer to a keeper's question. */
#include "keep/trial.h"
#include "base/fdio.h"
#include <string.h>
#include <unistd.h>

void trial_answer(int fd, enum trial_who who, int nonce, int error)
{
    struct trial_answer answer = {.version = TRIAL_VERSION,
                                  .who = who,
                                  .nonce = nonce,
                                  .pid = getpid(),
                                  .error = error};
    memcpy(answer.magic, TRIAL_MAGIC, sizeof answer.magic);
    fd_write_all(fd, &answer, sizeof answer); /* who does not get it has no answer */
}
