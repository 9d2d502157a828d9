/* gen_man: client/ue.1: verbs and options from the tables, the rest of the page from here. */
#include "client/gen.h"
#include "wire/help.h"
#include <string.h>

static const char head[] =
    ".\\\" Made from muxd/wire/commands.def by make gen; never edited.\n"
    ".TH UE 1 \"\" \"muxd " MUXD_VERSION "\" \"User Commands\"\n"
    ".SH NAME\n"
    "ue \\- drive named terminal sessions held by muxd\n"
    ".SH SYNOPSIS\n"
    ".B ue\n"
    ".RI [ options ]\n"
    ".I verb\n"
    ".RI [ options ]\n"
    ".RI [ operands ]\n"
    ".SH DESCRIPTION\n"
    ".B ue\n"
    "starts programs in sessions that muxd holds, types into them and reads what they print. A session goes on between calls, has a\n"
    "number that is never used twice and a name, and keeps its output and exit status after its end. The daemon is started when it is\n"
    "first needed.\n"
    ".PP\n"
    "Options stand before the operands or, except in\n"
    ".BR exec ,\n"
    "after them;\n"
    ".B \\-\\-\n"
    "ends them.\n";

static const char waiting[] =
    ".SH WAITING\n"
    "A call ends at the first of what it waits for, at the end of the program, and at the deadline\n"
    ".B \\-y\n"
    "at the latest. On a terminal it waits, unless something else is asked for, until the program waits for input again.\n"
    ".PP\n"
    "The defaults of\n"
    ".B \\-y\n"
    "are 10 s for\n"
    ".BR exec ,\n"
    "30 s for\n"
    ".B write\n"
    "on a terminal or with something to wait for and for\n"
    ".B poll\n"
    "with something to wait for, and otherwise 250 ms.\n"
    ".B \\-\\-exit\n"
    "without\n"
    ".B \\-y\n"
    "has no deadline. An interrupt from the keyboard ends the wait and leaves the session as it is.\n"
    ".SH OUTPUT\n"
    "Without options the answer is the text that a model reads: a few lines about the call, then the output, of which the middle is left\n"
    "out when it is long.\n"
    ".B \\-\\-json\n"
    "prints one JSON object,\n"
    ".B \\-\\-raw\n"
    "the bytes of the session and nothing else: all of them, those of its standard error on standard error, and, when the end of a\n"
    "command on pipes is waited for, as they come.\n"
    ".PP\n"
    "The columns of\n"
    ".B list\n"
    "in a pipe are number, name, state, what it waits for, pid, unread bytes, time of creation, exit status and command, with a\n"
    "tab between them and\n"
    ".B \\-\n"
    "for what is not there.\n"
    ".SH EXIT STATUS\n"
    ".BR exec ,\n"
    ".B write\n"
    "and\n"
    ".B poll\n"
    "exit with the status of the command once it has ended (128+N for signal N), and with 0 while it runs. Besides:\n"
    ".TP\n.B 64\nwrong usage\n"
    ".TP\n.B 69\nno daemon\n"
    ".TP\n.B 124\nwhat was waited for did not happen\n"
    ".TP\n.B 125\nmuxd or ue failed or refused\n"
    ".TP\n.B 126\ndenied by policy, sandbox or a person\n"
    ".TP\n.B 127\nno such session\n"
    ".TP\n.B 130\ninterrupted\n"
    ".PP\n"
    "A command may exit with 124 to 127 itself.\n"
    ".BI \\-\\-status\\-fd \" N\"\n"
    "tells the two apart with one line on descriptor\n"
    ".IR N :\n"
    ".TP\n.BI exited \" STATUS\" \\fR, \\fBsignaled \" STATUS\" \\fR, \\fBkilled \" STATUS\"\nhow the command ended, and its status\n"
    ".TP\n.BI lost \" SESSION\"\nit has ended and nobody saw how\n"
    ".TP\n.BI running \" SESSION\"\nit goes on\n"
    ".TP\n.BI deadline \" SESSION\"\nit goes on, and what was waited for did not happen\n"
    ".TP\n.BI stopping \" SESSION\"\nthe daemon is being stopped\n"
    ".TP\n.B interrupted\nthe wait was ended by an interrupt\n"
    ".TP\n.BI failed \" NAME\"\nmuxd or ue failed or refused; the name of the error is that of data.code on the wire\n"
    ".SH ENVIRONMENT\n"
    ".TP\n.B MUXD_SOCKET\nthe daemon's socket; set in each session\n"
    ".TP\n.B MUXD_SESSION\nset in each session: which one it is\n"
    ".TP\n.B MUXD_CONFIG\nthe config file of a daemon that is started\n"
    ".TP\n.B NO_COLOR\nno colours in tables\n"
    ".SH SEE ALSO\n"
    ".BR muxd (8),\n"
    ".BR muxd.ini (5)\n";

/* Text as roff shows it: hyphens that are to be copied, backslashes, and no request at the beginning of a line. */
static void append_roff(struct buf *out, const char *text)
{
    bool begin = true;
    for (; *text; text++) {
        if (begin && (*text == '.' || *text == '\''))
            buf_append_text(out, "\\&");
        if (*text == '-')
            buf_append_text(out, "\\-");
        else if (*text == '\\')
            buf_append_text(out, "\\e");
        else
            buf_append_byte(out, *text);
        begin = *text == '\n';
    }
}

static void append_option(struct buf *out, const struct verb_option *option)
{
    buf_append_text(out, ".TP\n");
    if (option->letter)
        buf_printf(out, "\\fB\\-%c\\fR, ", option->letter);
    buf_append_text(out, "\\fB\\-\\-");
    append_roff(out, option->name);
    buf_append_text(out, "\\fR");
    if (option->metavar) {
        buf_append_text(out, " \\fI");
        append_roff(out, option->metavar);
        buf_append_text(out, "\\fR");
    }
    buf_append_byte(out, '\n');
    append_roff(out, option->help);
    buf_append_byte(out, '\n');
}

static void append_examples(struct buf *out, const char *examples)
{
    for (const char *at = examples; at && *at;) {
        size_t whole = strcspn(at, "\n"), command = strcspn(at, "\t");
        struct buf part = BUF_INIT;
        buf_append(&part, at, command);
        buf_append_text(out, ".PP\n.RS\n.nf\n");
        append_roff(out, part.data);
        buf_append_text(out, "\n.fi\n.RS\n");
        buf_clear(&part);
        buf_append(&part, at + command + 1, whole - command - 1);
        append_roff(out, part.data);
        buf_append_text(out, "\n.RE\n.RE\n");
        buf_fini(&part);
        at += whole + (at[whole] == '\n');
    }
}

static void append_verb(struct buf *out, const struct verb *verb)
{
    struct buf usage = BUF_INIT;
    help_usage(&usage, verb);
    buf_printf(out, ".SS %s\n.nf\n", verb->name);
    append_roff(out, usage.data + strlen("usage: "));
    buf_append_text(out, ".fi\n.PP\n");
    append_roff(out, verb->summary);
    buf_append_text(out, ".\n");
    if (verb->help)
        append_roff(out, verb->help);
    for (const struct verb_option *option = verb->options; option->name; option++)
        append_option(out, option);
    append_examples(out, verb->examples);
    buf_fini(&usage);
}

void gen_man(struct buf *out)
{
    buf_append_text(out, head);
    buf_append_text(out, ".SH OPTIONS OF EVERY VERB\n");
    for (const struct verb_option *option = verbs[VERB_GLOBAL].options; option->name; option++)
        append_option(out, option);
    buf_append_text(out, ".SH VERBS\n");
    for (const struct verb *verb = gen_next(NULL); verb; verb = gen_next(verb))
        append_verb(out, verb);
    buf_append_text(out, waiting);
}
