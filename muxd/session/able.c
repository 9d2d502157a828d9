/* able: owns the search for what sandboxes need: muxd-confine, bubblewrap, Landlock. */
#include "session/able.h"
#include "base/mem.h"
#include "base/path.h"
#include "keep/start.h"
#include "sys/try_run.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SEARCH_ELSE "/usr/local/bin:/usr/bin:/bin" /* behind PATH */

/* An empty file would be run as a script that does nothing, and does it well. */
int able_check_helper(const char *helper, struct err *err)
{
    struct stat file;
    bool found = access(helper, X_OK) == 0 && stat(helper, &file) == 0;
    if (found && S_ISREG(file.st_mode) && file.st_size > 0)
        return 0;
    return err_set(err, ERR_NOT_AVAILABLE, "'%s': %s; install muxd again (make install)", helper,
                   found ? "is no program" : strerror(errno));
}

/* muxd-confine lies beside muxd-keeper. */
static void find_helper(struct confine_able *able)
{
    struct start_programs *programs = xmalloc(sizeof *programs); /* too large for a small stack */
    struct err err;
    if (start_find(programs, &err) == 0) {
        char *dir = path_dirname(programs->keeper);
        able->helper = path_join(dir, "muxd-confine");
        free(dir);
    } else {
        able->helper_why = xstrdup(err.text);
    }
    free(programs);
    if (!able->helper || able_check_helper(able->helper, &err) == 0)
        return;
    able->helper_why = xstrdup(err.text);
    free(able->helper);
    able->helper = NULL;
}

void able_look(struct confine_able *able)
{
    find_helper(able);
    const char *path = getenv("PATH");
    able->bwrap = path ? confine_find_bwrap(path) : NULL;
    if (!able->bwrap)
        able->bwrap = confine_find_bwrap(SEARCH_ELSE);
    able->landlock_abi = confine_landlock_abi();
}

void able_tried(struct confine_able *able, int status, const char *text)
{
    able->tried = true;
    able->unsure = status < 0 || status == 128 + SIGKILL;
    if (status != 0)
        able->bwrap_why = xasprintf("bubblewrap %s here (%s)",
                                    status < 0 ? "could not be tried" : "does not work",
                                    *text ? text : "it failed without a word");
}

void able_find_out(struct confine_able *able)
{
    char text[256];
    struct strv argv = {0};
    struct err err = {0};
    able_look(able);
    if (!able->helper || !able->bwrap)
        return;
    if (confine_trial_argv(able, &argv, &err) < 0)
        able_tried(able, -1, err.text);
    else
        able_tried(able, try_run(argv.items, ABLE_TRIAL_MS, text, sizeof text), text);
    strv_fini(&argv);
}

void able_fini(struct confine_able *able)
{
    free(able->helper);
    free(able->helper_why);
    free(able->bwrap);
    free(able->bwrap_why);
    *able = (struct confine_able){.tried = false};
}
