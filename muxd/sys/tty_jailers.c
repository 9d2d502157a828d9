/* tty_jailers: owns the evidence that a process is a sandbox's own. What bubblewrap confines can't
 * forge it: orphans go to the namespace's first process, never to the leader. A leader that is
 * itself the program (Landlock) could only as root, as the filter refuses new user namespaces; it
 * would deceive those who wait for it, no more than by printing a prompt. */
#include "sys/tty_jailers.h"
#include "sys/proc.h"

static bool find_inner(void *arg, pid_t pid)
{
    struct tty_jailers *jailers = arg;
    if (proc_begins_namespace(pid))
        jailers->inner = pid;
    return !jailers->inner;
}

/* pid: a child of the leader */
static bool find_inner_below(void *arg, pid_t pid)
{
    struct tty_jailers *jailers = arg;
    if (!find_inner(jailers, pid))
        return false;
    proc_children(pid, find_inner, jailers);
    if (jailers->inner)
        jailers->middle = pid;
    return !jailers->inner;
}

struct tty_jailers tty_jailers_of(pid_t leader)
{
    struct tty_jailers jailers = {.inner = 0};
    proc_children(leader, find_inner_below, &jailers);
    if (jailers.inner)
        jailers.outer = leader;
    return jailers;
}

bool tty_jailers_have(const struct tty_jailers *jailers, pid_t pid)
{
    return pid == jailers->outer || pid == jailers->inner || pid == jailers->middle;
}
