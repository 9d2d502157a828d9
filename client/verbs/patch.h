/* patch: ue under the name apply_patch. */
#ifndef MUXD_CLIENT_PATCH_H
#define MUXD_CLIENT_PATCH_H
#include <stdbool.h>

/* Whether argv[0] is apply_patch (or applypatch): then ue is that program, without its own command
 * line. */
bool patch_is_program(const char *argv0);
/* apply_patch [PATCH]; without PATCH it reads standard input. Returns the exit status: 0, 1 (not
 * applied), 2 (usage). */
int patch_program(int argc, char **argv);
#endif
