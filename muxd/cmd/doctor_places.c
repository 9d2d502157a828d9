/* doctor_places: owns the rows about files: the directories of socket and state, room on the disk,
 * the config. */
#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "cmd/doctor.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define ROOM_BAD (INT64_C(1) << 20)
#define ROOM_LITTLE (INT64_C(64) << 20)

static void places_add(const struct doctor *doctor, enum doctor_id id, const char *dir,
                       const char *means, const char *choose)
{
    struct err err;
    bool missing;
    if (path_private_look(dir, choose, &missing, &err) < 0)
        doctor_add(doctor->rows, id, (struct doctor_say){DOCTOR_BAD, means, choose}, "%s",
                   err.text);
    else if (missing)
        doctor_add(doctor->rows, id, DOCTOR_FINE, "%s: made when muxd starts", dir);
    else if (access(dir, W_OK | X_OK) != 0)
        doctor_add(doctor->rows, id, (struct doctor_say){DOCTOR_BAD, means, choose},
                   "'%s' can't be written: %s", dir, strerror(errno));
    else
        doctor_add(doctor->rows, id, DOCTOR_FINE, "%s: ours, closed to others, writable", dir);
}

static void places_add_state(const struct doctor *doctor)
{
    struct log_trouble trouble;
    if (doctor->ctx && log_trouble(&trouble))
        doctor_add(doctor->rows, DOCTOR_STATE,
                   (struct doctor_say){DOCTOR_BAD, "what happens is not on record", trouble.text},
                   "the log %s is not written (%" PRIu64 " lines lost)", doctor->log_path,
                   trouble.lost);
    else
        places_add(doctor, DOCTOR_STATE, doctor->state_dir,
                   "ended sessions are not kept, and numbers may repeat", PATH_CHOOSE_STATE);
}

/* Of a directory that is not made yet the one above it counts. */
static void places_add_space(const struct doctor *doctor)
{
    struct statvfs disk;
    char *dir = xstrdup(doctor->state_dir);
    while (statvfs(dir, &disk) != 0 && errno == ENOENT && strcmp(dir, "/") != 0) {
        char *above = path_dirname(dir);
        free(dir);
        dir = above;
    }
    int64_t room = statvfs(dir, &disk) == 0 ? (int64_t)(disk.f_bavail * disk.f_frsize) : -1;
    struct doctor_say say = DOCTOR_FINE;
    if (room >= 0 && room < ROOM_LITTLE)
        say = (struct doctor_say){room < ROOM_BAD ? DOCTOR_BAD : DOCTOR_ADVICE,
                                  "logs, recordings and ended sessions soon find no room there",
                                  "make room, or choose another place: [muxd] state and log"};
    if (room < 0)
        doctor_add(doctor->rows, DOCTOR_SPACE,
                   (struct doctor_say){DOCTOR_ADVICE, "how much room is left is not known", NULL},
                   "'%s': %s", dir, strerror(errno));
    else
        doctor_add(doctor->rows, DOCTOR_SPACE, say, "%" PRId64 " MiB free at %s", room >> 20, dir);
    free(dir);
}

/* Whoever may write the config decides what runs. A group with the user's own number is his alone,
 * as Debian makes it, and where pam_umask(8) sets 002 each file can be written by it. */
static bool is_others_to_write(const char *path)
{
    struct stat st;
    if (!path || stat(path, &st) != 0)
        return false;
    bool own_group = st.st_gid == st.st_uid && st.st_gid == getegid();
    return (st.st_uid != geteuid() && st.st_uid != 0) || (st.st_mode & (own_group ? 02 : 022));
}

static void places_add_config(const struct doctor *doctor)
{
    const char *path = doctor->config_path, *rules = doctor->config->rules_path;
    const char *open = is_others_to_write(path) ? path : is_others_to_write(rules) ? rules : NULL;
    if (doctor->mistake->code)
        doctor_add(doctor->rows, DOCTOR_CONFIG,
                   (struct doctor_say){DOCTOR_BAD,
                                       doctor->config->lost ? "no command is started until it is "
                                                              "mended and was read"
                                       : doctor->ctx        ? "what was in force before stays"
                                                            : "muxd does not start with it",
                                       doctor->ctx ? "mend it, then ue reload"
                                                   : "mend it; muxd --check-config tries it"},
                   "%s", doctor->mistake->text);
    else if (open)
        doctor_add(doctor->rows, DOCTOR_CONFIG,
                   (struct doctor_say){DOCTOR_BAD, "others can decide what runs as you",
                                       "chown it to yourself, and chmod go-w"},
                   "'%s' can be written by others", open);
    else if (doctor->changes > 0)
        doctor_add(doctor->rows, DOCTOR_CONFIG,
                   (struct doctor_say){DOCTOR_ADVICE, "they don't hold yet", "ue reload"},
                   "%s: %zu changes since it was read", path ? path : "the file is gone",
                   doctor->changes);
    else
        doctor_add(doctor->rows, DOCTOR_CONFIG, DOCTOR_FINE, "%s",
                   path ? path : "no file: the defaults hold");
}

void doctor_places(const struct doctor *doctor)
{
    char *dir = path_dirname(doctor->socket);
    if (access(dir, F_OK) != 0 && errno == ENOENT && !path_socket_is_default(doctor->socket))
        doctor_add(doctor->rows, DOCTOR_RUNTIME,
                   (struct doctor_say){DOCTOR_BAD, "no daemon is started for it",
                                       "correct -S or $MUXD_SOCKET, or make it: mkdir -m 700"},
                   "'%s' does not exist", dir);
    else
        places_add(doctor, DOCTOR_RUNTIME, dir, "muxd can't listen there", PATH_CHOOSE_SOCKET);
    free(dir);
    places_add_state(doctor);
    places_add_space(doctor);
    places_add_config(doctor);
}
