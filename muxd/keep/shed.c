/* shed.c: owns the list of libraries that only the worker calls. They make half of the mappings that a fork would copy and the exec
 * after it would take down again, each time a program is started. A child that must never call them need not have them. */
#include "keep/shed.h"
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char *const of_the_worker[] = {"libuv.so", "libcjson.so", "libpcre2-8.so", "libvterm.so", "libinih.so", "libseccomp.so", NULL};
static const char *const of_the_system[] = {"libc.so", "libm.so", "libpthread.so", "libdl.so", "librt.so", "ld-linux", "ld-musl", "ld.so",
                                            "ld64.so", "linux-vdso", "linux-gate", NULL};

static bool is_among(const char *const names[], const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    for (; *names; names++)
        if (strncmp(name, *names, strlen(*names)) == 0)
            return true;
    return false;
}

/* A name that is looked up only when it is called first is searched for in all libraries, also in those that the child does not have. */
static bool is_bound(void)
{
    for (const ElfW(Dyn) *entry = _DYNAMIC; entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_BIND_NOW || (entry->d_tag == DT_FLAGS && entry->d_un.d_val & DF_BIND_NOW) ||
            (entry->d_tag == DT_FLAGS_1 && entry->d_un.d_val & DF_1_NOW))
            return true;
    return false;
}

/* Who came by LD_PRELOAD, or watches for a checker, may look up names in a child. */
static int find_stranger(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size, (void)unused;
    return *info->dlpi_name != '\0' && !is_among(of_the_worker, info->dlpi_name) && !is_among(of_the_system, info->dlpi_name);
}

static int shed(struct dl_phdr_info *info, size_t size, void *page)
{
    (void)size;
    uintptr_t mask = ~(*(const uintptr_t *)page - 1);
    if (!is_among(of_the_worker, info->dlpi_name))
        return 0;
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        uintptr_t from = (info->dlpi_addr + part->p_vaddr) & mask;
        uintptr_t to = (info->dlpi_addr + part->p_vaddr + part->p_memsz + ~mask) & mask;
        if (part->p_type == PT_LOAD)
            madvise((void *)from, to - from, MADV_DONTFORK); /* refused: the fork is dearer, nothing else */
    }
    return 0;
}

void shed_libraries(void)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    if (is_bound() && dl_iterate_phdr(find_stranger, NULL) == 0)
        dl_iterate_phdr(shed, &page);
}
