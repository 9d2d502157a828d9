/* parse: the text of a patch into its hunks (CODEX.md, 19.1 and 19.2). It reads no file. A patch
 * owns a copy of its text; every line in it is borrowed from that copy. */
#ifndef MUXD_PATCH_PARSE_H
#define MUXD_PATCH_PARSE_H
#include "patch/line.h"
#include <stdbool.h>
#include <stddef.h>

#define PATCH_TEXT_MAX (16u << 20)  /* bytes of a patch */
#define PATCH_LINES_MAX 1000000u    /* lines of a patch */
#define PATCH_HUNKS_MAX 1000u       /* files it touches */

enum patch_kind { PATCH_ADD = 1, PATCH_UPDATE, PATCH_DELETE };

struct patch_change {
    char sign; /* ' ' keeps, '-' removes, '+' adds the line */
    struct patch_line line;
};

struct patch_chunk {
    bool has_context;
    struct patch_line context; /* what follows "@@ " */
    bool implicit;             /* began without a line "@@" */
    bool at_end;               /* "*** End of File": the old lines are the file's last */
    size_t first, count;       /* its lines in changes */
};

struct patch_hunk {
    enum patch_kind kind;
    char *path;          /* owned; as spelled in the patch */
    char *move;          /* owned; the new path of an update that moves the file, or NULL */
    size_t first, count; /* its chunks (PATCH_UPDATE), or its lines in changes (PATCH_ADD) */
};

struct patch {
    char *text;           /* owned */
    char *environment_id; /* owned; "*** Environment ID: " after the first line, or NULL */
    struct patch_hunk *hunks;
    size_t hunk_count, hunk_room;
    struct patch_chunk *chunks;
    size_t chunk_count, chunk_room;
    struct patch_change *changes;
    size_t change_count, change_room;
};

/* Why a text is not a patch. */
struct patch_error {
    size_t line;   /* of the patch, from 1; 0: the patch as a whole */
    char *message; /* owned, well-formed UTF-8 */
};

enum patch_strictness {
    PATCH_STRICT,
    PATCH_LENIENT /* the patch may stand in a here-document <<EOF … EOF */
};

/* 0, or with *error set ERR_ARGUMENTS (a marker or a line is wrong) or ERR_TOO_LARGE. A patch
 * without hunks is accepted here. In every case patch_fini and patch_error_fini are the
 * caller's. */
int patch_parse(struct patch *patch, const char *text, size_t len, enum patch_strictness strictness,
                struct patch_error *error);
void patch_fini(struct patch *patch); /* safe on a zeroed patch */

/* The error in the words of the tool ("invalid patch: …", "invalid hunk at line 2, …"), or in
 * those of the program apply_patch ("Invalid patch: …", "Invalid patch hunk on line 2: …"). The
 * caller's. */
char *patch_error_text(const struct patch_error *error, bool program);
void patch_error_fini(struct patch_error *error);
#endif
