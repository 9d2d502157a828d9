/* trial.c: owns the writing of an answer to a keeper's question, and what a program asks itself. */
#include "keep/trial.h"
#include "base/fdio.h"
#include <errno.h>
#include <fcntl.h>
#include <link.h>
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

int trial_why_cut(void)
{
    ElfW(Ehdr) head = {.e_shnum = 0}; /* stays so if the file may not be read */
    ElfW(Shdr) last = {.sh_type = SHT_NULL};
    int own = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    fd_pread_all(own, &head, sizeof head, 0);
    off_t at = (off_t)(head.e_shoff + (head.e_shnum - (size_t)1) * sizeof last);
    ssize_t n = fd_pread_all(own, &last, sizeof last, at);
    fd_close(&own);
    return head.e_shnum == 0 || (n == sizeof last && last.sh_type != SHT_NULL) ? 0 : ENOEXEC;
}
