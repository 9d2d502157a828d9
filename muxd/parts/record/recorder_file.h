/* recorder_file: the disk's side of a recording: its parts, and the note beside them that tells
 * a successor of this worker where to go on. Everything here may block and runs in a thread,
 * except for recorder_file_find; it touches only what its job holds. For this room only. */
#ifndef MUXD_PARTS_RECORDER_FILE_H
#define MUXD_PARTS_RECORDER_FILE_H
#include "base/buf.h"
#include "base/err.h"
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define RECORDER_PATH_MAX 4096
#define RECORDER_EXTENSION ".cast"

/* In the note, byte for byte. It is written after the data that it counts, so what a part holds
 * beyond `size` was half written. */
struct recorder_place {
    uint64_t offset;       /* output up to here is in the recording */
    uint64_t size;         /* bytes of the part */
    uint64_t total;        /* bytes of all parts, including removed ones */
    int64_t began_boot_ms; /* of the part; CLOCK_BOOTTIME */
    int64_t last_ms;       /* of its last event, since then */
    int32_t rows, cols;    /* in force at that place */
    uint32_t part;         /* from 1; 0: the first one is being made */
    uint32_t next_part;    /* larger than `part`: that part is being made */
};
struct recorder_note {
    uint32_t magic, version;
    uint64_t number; /* of the session */
    uint32_t format; /* 2 or 3 */
    uint8_t input, given, unused[2]; /* given: the caller has chosen the path */
    struct recorder_place place;
    uint64_t device, inode; /* of the part */
    char path[RECORDER_PATH_MAX]; /* of the first part */
};

struct recorder_file {
    char *dir; /* owned: STATE/recordings, the place of the notes */
    int fd, note_fd; /* owned; -1: not open */
    struct recorder_note note;
};

struct recorder_job {
    void *owner;
    struct recorder_file *file; /* used by the thread alone while the job runs */
    char *data;                 /* owned */
    size_t size;
    size_t split;               /* with begin: data before it belongs to the previous part */
    bool begin;                 /* a new part */
    bool end;                   /* the last job: the note is removed */
    char name[80];              /* of the session, for the file's name */
    unsigned parts_kept;
    uint64_t total_max;         /* cap of STATE/recordings */
    /* as it is once data is written; the job itself counts size and total */
    struct recorder_place place;
    struct err err;             /* the result; code 0: done */
};
void recorder_job_run(void *job);

/* Opens nothing yet. path: of the first part, at most RECORDER_PATH_MAX - 1 bytes, copied; NULL:
 * STATE/recordings/NUMBER-NAME.cast. */
struct recorder_file *recorder_file_new(const char *state_dir, uint64_t number, const char *path,
                                        int format, bool input);
void recorder_file_free(struct recorder_file *file); /* closes; the note stays. NULL is fine */
/* The recording of that session that a predecessor has begun: cut to what the note says, and
 * open. NULL: there is none, or (logged) it can't be continued. */
struct recorder_file *recorder_file_find(const char *state_dir, uint64_t number);
/* the path of a part */
void recorder_file_part(const struct recorder_note *note, unsigned part,
                        char out[RECORDER_PATH_MAX]);
#endif
