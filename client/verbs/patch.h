/* patch: what `ue patch` and the program name apply_patch have in common. */
#ifndef MUXD_CLIENT_PATCH_H
#define MUXD_CLIENT_PATCH_H
#include <stdbool.h>

/* Whether argv[0] is apply_patch (or applypatch): ue under that name is that program, with nothing
 * of ue's own command line. */
bool patch_is_program(const char *argv0);
/* apply_patch [PATCH]; without it the patch is read from standard input. Returns the exit status:
 * 0, 1 (it was not applied), 2 (usage). */
int patch_program(int argc, char **argv);
#endif
