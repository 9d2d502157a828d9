/* audit_file: audit.jsonl in the state directory: one JSON object a line, appended by one write(2),
 * so that several daemons with one state directory mix no lines. A file that is full becomes
 * audit.jsonl.1, that one audit.jsonl.2, and so on. For this room only. */
#ifndef MUXD_PARTS_AUDIT_AUDIT_FILE_H
#define MUXD_PARTS_AUDIT_AUDIT_FILE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AUDIT_FILE_NAME "audit.jsonl"

struct audit_file {
    char *path; /* owned */
    int fd;     /* owned; -1: not open */
    /* owned until it is taken: of the file that was put aside last; -1: none */
    int aside_fd;
};
struct audit_file_caps {
    int64_t bytes; /* of one file; a longer line has one for itself */
    int files;     /* that were put aside are kept */
};

void audit_file_init(struct audit_file *file, const char *state_dir);
void audit_file_fini(struct audit_file *file);
/* Appends the line, which ends with a newline, whole or not at all. The file is made (0600) when
 * there is none, and must be a plain one, ours and closed to others. 0 or a negative errno. */
int audit_file_append(struct audit_file *file, const char *line, size_t size,
                      const struct audit_file_caps *caps);
/* Whether a line begins with these bytes, in the file or in the one that was put aside last. */
bool audit_file_has(const struct audit_file *file, const char *begin);
#endif
