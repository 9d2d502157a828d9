/* tty_socket: owns the memory of which sockets are local. The kernel gives out inode numbers in
 * turn, so a remembered one is not reused soon. */
#include "sys/tty_socket.h"
#include <stdio.h>
#include <string.h>

enum { KNOWN = 64 };

/* The seventh field of a line of /proc/PID/net/unix is the inode (unix(7), proc_pid_net(5)). */
static bool is_listed(pid_t tid, ino_t inode)
{
    char path[48], line[256];
    bool found = false;

    snprintf(path, sizeof path, "/proc/%d/net/unix", (int)tid);
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    while (!found && fgets(line, sizeof line, file)) {
        unsigned long long number;
        found = sscanf(line, "%*s %*s %*s %*s %*s %*s %llu", &number) == 1 && number == inode;
    }
    fclose(file);
    return found;
}

bool tty_socket_is_local(pid_t tid, ino_t inode)
{
    static struct known {
        ino_t inode;
        bool local;
    } known[KNOWN];
    struct known *it = &known[inode % KNOWN];

    if (it->inode != inode)
        *it = (struct known){inode, is_listed(tid, inode)};
    return it->local;
}
