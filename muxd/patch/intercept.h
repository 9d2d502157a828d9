/* intercept: recognises shell commands that are nothing but a patch, so that it can be applied
 * without a shell (CODEX.md, 19.5). */
#ifndef MUXD_PATCH_INTERCEPT_H
#define MUXD_PATCH_INTERCEPT_H
#include <stdbool.h>
#include <stddef.h>

struct patch_intercepted {
    /* a patch without a call of apply_patch: don't apply it, reply with PATCH_INTERCEPT_BARE */
    bool bare;
    /* owned; the patch, for patch_prepare, which may still refuse it; NULL when bare */
    char *text;
    size_t len;
    /* owned; the argument of the "cd" before it (relative to the command's own directory), or
     * NULL */
    char *workdir;
};

#define PATCH_INTERCEPT_BARE                                                                       \
    "apply_patch verification failed: patch detected without explicit call to apply_patch. Rerun " \
    "as [\"apply_patch\", \"<patch>\"]"

/* script is a command for a shell. True: it is a pure patch, out is set, and patch_intercepted_fini
 * is the caller's. False: an ordinary command, out is empty. Forms: "apply_patch <<DELIM", body,
 * DELIM, which may be missing at the end of the script; the same after "cd DIR &&", assignments, or
 * both; also "applypatch". The body is never expanded, whether the delimiter is quoted or not;
 * "<<-" takes leading tabs away. */
bool patch_intercept(const char *script, struct patch_intercepted *out);
/* The same for an argument vector (NULL-terminated): apply_patch PATCH; a shell with -c or -lc,
 * PowerShell with -Command, cmd /c and such a script; a patch alone. */
bool patch_intercept_argv(const char *const *argv, struct patch_intercepted *out);
void patch_intercepted_fini(struct patch_intercepted *out);
#endif
