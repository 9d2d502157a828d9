/* config_file: reads the config and the rules file beside it. */
#include "config/config_row.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* Reads the whole file into out; 0 or an error. Pipes and devices are refused: they could block the
 * daemon, and a reload could not read them again. */
static int config_read_file(const char *path, struct buf *out, struct err *err)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), result = 0;
    if (fd < 0)
        return err_set(err, ERR_SYSTEM, "'%s': %s; check the path or start without a configuration",
                       path, strerror(errno));
    if (fstat(fd, &st) != 0)
        result = err_set(err, ERR_SYSTEM, "'%s': %s", path, strerror(errno));
    else if (!S_ISREG(st.st_mode) && !(S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3)))
        result = err_set(err, ERR_CONFIG, "'%s' is no regular file; name an ini file", path);
    while (result == 0) {
        char *room = buf_reserve(out, 65536);
        ssize_t got = room ? read(fd, room, 65536) : 0;
        if (!room || (got > 0 && out->len + (size_t)got > CONFIG_MAX_FILE))
            result = err_set(err, ERR_CONFIG, "'%s' is larger than %u bytes; make it smaller", path,
                             CONFIG_MAX_FILE);
        else if (got < 0 && errno != EINTR)
            result = err_set(err, ERR_SYSTEM, "'%s': %s", path, strerror(errno));
        else if (got == 0)
            break;
        else if (got > 0)
            buf_commit(out, (size_t)got);
    }
    close(fd);
    return result;
}

struct config *config_load(const char *path, struct err *err)
{
    if (!path)
        return config_default();
    struct buf text, rules;
    buf_init(&text, CONFIG_MAX_FILE + 65536);
    buf_init(&rules, CONFIG_MAX_FILE + 65536);
    char *beside = config_rules_path(path);
    struct stat st; /* a symbolic link to nothing is no missing file */
    bool has_rules = lstat(beside, &st) == 0 || errno != ENOENT;
    struct config *cfg = config_read_file(path, &text, err) == 0 &&
                                 (!has_rules || config_read_file(beside, &rules, err) == 0)
                             ? config_parse_both(path, &text, has_rules ? &rules : NULL, err)
                             : NULL;
    free(beside);
    buf_fini(&text);
    buf_fini(&rules);
    return cfg;
}
