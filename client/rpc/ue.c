/* ue: owns the end of a verb that fails, and --status-fd. */
#include "client/rpc/ue.h"
#include "base/bug.h"
#include "base/fdio.h"
#include "client/print/say.h"
#include <stdarg.h>

void ue_tell_status(struct ue *ue, const char *format, ...)
{
    if (ue->status_fd < 0 || ue->told)
        return;
    struct buf line = BUF_INIT;
    va_list args;
    va_start(args, format);
    buf_vprintf(&line, format, args);
    va_end(args);
    buf_append_byte(&line, '\n');
    if (fd_write_all(ue->status_fd, line.data, line.len) < 0)
        say_note("'--status-fd %d': can't be written", ue->status_fd);
    ue->told = true;
    buf_fini(&line);
}

int ue_fail(struct ue *ue, const struct err *err)
{
    BUG_UNLESS(err->code < 0);
    say_err(ue->args.verb ? ue->args.verb->name : NULL, err);
    ue_tell_status(ue, "failed %s", err_name(err->code));
    return err_exit_status(err->code);
}
