/* path: where muxd keeps its things (contract, section 1), and making directories that only we may
 * enter. */
#ifndef MUXD_BASE_PATH_H
#define MUXD_BASE_PATH_H
#include "base/err.h"
#include <stdbool.h>
#include <sys/types.h>

/* The strings returned are the caller's. given: the command line's choice or NULL. */

/* Where a daemon listens: given, $MUXD_SOCKET, $XDG_RUNTIME_DIR/muxd/muxd.sock where that directory
 * is ours, /run/user/UID/muxd/muxd.sock where that one is, /tmp/muxd-UID/muxd.sock. */
char *path_socket(const char *given);
bool path_socket_is_named(const char *given); /* by given or $MUXD_SOCKET: there and nowhere else */
bool path_socket_is_default(const char *path); /* where path_socket leads who names nothing */
/* Where to look for a daemon whose socket was not named, for i from 0 until NULL. path: the result
 * of path_socket. Only some logins of a user may have a runtime directory, so /run/user/UID and
 * /tmp/muxd-UID are both tried, in this order. */
char *path_socket_look(const char *path, int i);
/* given, $MUXD_CONFIG, $XDG_CONFIG_HOME/muxd/muxd.ini, /etc/muxd/muxd.ini; NULL: none exists */
char *path_config(const char *given);
char *path_own_config(void); /* $XDG_CONFIG_HOME/muxd/muxd.ini, whether it exists or not */
/* Whether the config at path (NULL: the defaults) is in force because somebody named it: then it
 * does not matter whether there is one at path_own_config(). */
bool path_config_is_named(const char *path);
char *path_state(const char *given);   /* given, $XDG_STATE_HOME/muxd, ~/.local/state/muxd */
char *path_dirname(const char *path);
const char *path_basename(const char *path); /* borrowed from path */
char *path_at_home(const char *path); /* "~/PATH" is below the home directory */
char *path_join(const char *dir, const char *name); /* name alone when it is absolute */
int path_make_dir(const char *dir); /* and its missing parents (0700): 0, or -1 and errno */
/* Makes dir and its missing parents (0700). dir must be a directory, not a symbolic link, ours and
 * closed to others; else ERR_SYSTEM, and the text says what to do (choose: "choose another by
 * …"). Opened O_DIRECTORY|O_NOFOLLOW and checked by fstat(2). */
int path_private_dir(const char *dir, const char *choose, struct err *err);
/* The same of one that is there; makes nothing. missing: it would have to be made, by us. */
int path_private_look(const char *dir, const char *choose, bool *missing, struct err *err);
#define PATH_CHOOSE_SOCKET "choose another path for the socket with -S or $MUXD_SOCKET"
#define PATH_CHOOSE_STATE                                                                          \
    "choose a directory of yours that can be written, by $XDG_STATE_HOME or [muxd] state"
/* ERR_SYSTEM when the path, or the last directory of it that can be examined, belongs to another
 * user; else 0. */
int path_foreign(const char *path, const char *choose, struct err *err);
/* this process's umask; umask(2) tells it only by setting another one for a moment */
mode_t path_umask(void);
char *path_home(void); /* $HOME, else the passwd entry, else "/" */
#endif
