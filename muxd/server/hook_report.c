/* hook_report: owns the words of the log for the end of a hook. */
#include "base/buf.h"
#include "base/log.h"
#include "base/utf8.h"
#include "server/hooks.h"
#include <sys/wait.h>

void hook_report(const struct hook_end *end, const siginfo_t *info)
{
    struct buf shown = BUF_INIT;
    const char *cut = end->cut ? ", more than it may" : "";
    utf8_append_escaped(&shown, end->text, end->size, false);
    const char *text = shown.data ? shown.data : "";
    unsigned long long seq = (unsigned long long)end->seq;
    if (end->late && info->si_code == CLD_EXITED)
        log_warn("[hook %s] event %llu: exit status %d; what it had left behind was killed at its "
                 "timeout%s: %s",
                 end->name, seq, info->si_status, cut, text);
    else if (end->late)
        log_warn("[hook %s] event %llu: killed at its timeout; it printed %zu bytes%s: %s",
                 end->name, seq, end->printed, cut, text);
    else if (info->si_code != CLD_EXITED)
        log_warn("[hook %s] event %llu: ended by signal %d%s: %s", end->name, seq, info->si_status,
                 cut, text);
    else if (info->si_status != 0)
        log_warn("[hook %s] event %llu: exit status %d%s: %s", end->name, seq, info->si_status, cut,
                 text);
    else if (end->printed > 0)
        log_info("[hook %s] event %llu printed%s: %s", end->name, seq, cut, text);
    buf_fini(&shown);
}
