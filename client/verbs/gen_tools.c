/* gen_tools: owns the parts of client/ue.1 about tools: types of events, errors, and the
 * differences from the Codex shell tools. */
#include "client/verbs/gen.h"
#include "base/err.h"
#include "wire/event.h"

struct difference { const char *codex, *muxd, *why, *test; };

static const struct difference differences[] = {
#define DIFFERENCE(...) {__VA_ARGS__},
#include "client/verbs/differences.def"
};

void gen_event_list(struct buf *out)
{
    for (int i = 0; i < EVENT_COUNT_; i++) {
        buf_printf(out, ".TP\n.B %s%s\n", event_rows[i].name, event_rows[i].kept ? "" : " *");
        gen_roff(out, event_rows[i].help);
        buf_append_byte(out, '\n');
    }
}

void gen_events(struct buf *out)
{
    buf_append_text(out, ".SH EVENTS\n.B ue events\nand the hooks of\n.BR muxd.ini (5)\nknow these "
                         "types. Those with an asterisk are made "
                         "only while a client asks for them, and for ten seconds after.\n");
    gen_event_list(out);
    buf_append_text(out, ".PP\nEach has seq, type and time, and session_id and name where it is "
                         "about a session. A line of type\n.B gap\n"
                         "stands where events are missing.\n");
}

void gen_error_list(struct buf *out)
{
    for (int code = ERR_INTERNAL; code > -ERR_COUNT_; code--) {
        buf_append_text(out, ".TP\n\\fB");
        gen_roff(out, err_name(code));
        buf_printf(out, "\\fR \\-%d, %d\n", -err_rpc(code), err_exit_status(code));
        gen_roff(out, err_help(code));
        buf_append_byte(out, '\n');
    }
}

void gen_errors(struct buf *out)
{
    buf_append_text(out, ".SH ERRORS\nAn error has a text for people and one of these names: "
                         "data.code on the wire, and code in the JSON "
                         "of a step. Beside it stand its number there (error.code) and the exit "
                         "status of\n.BR ue .\n");
    gen_error_list(out);
}

void gen_differences(struct buf *out)
{
    buf_append_text(out, ".SH DIFFERENCES\nThe tools exec_command, write_stdin, shell_command and "
                         "apply_patch have the arguments and texts "
                         "that models know from Codex. On purpose different are:\n");
    for (size_t i = 0; i < sizeof differences / sizeof *differences; i++) {
        buf_append_text(out, ".TP\n");
        gen_roff(out, differences[i].codex);
        buf_append_text(out, "\nHere: ");
        gen_roff(out, differences[i].muxd);
        buf_append_text(out, ". Why: ");
        gen_roff(out, differences[i].why);
        buf_append_text(out, ".\n");
    }
}
