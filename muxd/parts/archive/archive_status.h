/* archive_status: what stands in the status.ini of an ended session on disk, written and read back. For this room only. */
#ifndef MUXD_PARTS_ARCHIVE_STATUS_H
#define MUXD_PARTS_ARCHIVE_STATUS_H
#include "base/buf.h"
#include "journal/journal.h"
#include <stdint.h>

#define ARCHIVE_STATUS_MAX (512 * 1024) /* bytes of the file: the texts of a journal, each byte escaped, and the rest */

/* All numbers of the file are int64_t so that one table reads and writes them. */
struct archive_status {
    int64_t number, state, exit_code, signal, killed_by; /* as in the journal's header */
    int64_t created_ms, ended_ms, read_ms;               /* since 1970; read_ms 0: its end was not read yet */
    int64_t tty, rows, cols;
    int64_t output_from, output_to, saved_from, saved_size; /* offsets: the file "output" is the saved bytes, then the others */
    int64_t read_to;                                        /* the default reader's cursor */
    char name[JOURNAL_NAME_MAX + 1];
    char *described, *cwd, *cmd; /* owned; described is empty when there is none */
};

void archive_status_of(struct archive_status *status, const struct journal *journal); /* copies; freed by archive_status_fini */
void archive_status_fini(struct archive_status *status);
void archive_status_print(const struct archive_status *status, struct buf *out);
/* text is taken apart in place. NULL: it is good in every value; else what is wrong (static, or the name of the line). */
const char *archive_status_parse(struct archive_status *status, char *text);
#endif
