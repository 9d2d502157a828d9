/* lazy: owns nothing: a library of the kind that people put into LD_PRELOAD: bound when first called, and looks up what it stands before
 * at each call. */
#include <dlfcn.h>
#include <sys/types.h>
#include <unistd.h>

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int close(int fd)
{
    return NEXT(close)(fd);
}

int dup2(int from, int to)
{
    getppid(); /* a name that nothing else here needs: bound in the child */
    return NEXT(dup2)(from, to);
}

int setpgid(pid_t pid, pid_t group)
{
    return NEXT(setpgid)(pid, group);
}

pid_t setsid(void)
{
    return NEXT(setsid)();
}

int execve(const char *path, char *const argv[], char *const env[])
{
    return NEXT(execve)(path, argv, env);
}
