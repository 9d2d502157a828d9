/* gen_man: owns client/ue.1: verbs and options come from the tables, the rest of the text from
 * here. */
#include "client/verbs/gen.h"
#include "wire/attach.h"
#include "wire/help.h"
#include <string.h>

static const char head[] = ".\\\" Made from muxd/wire/commands.def by make gen; never edited.\n"
                           ".TH UE 1 2026-11-27 \"muxd " MUXD_VERSION "\" \"User Commands\"\n"
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
                           "starts programs in sessions that muxd holds, types into them and reads "
                           "what they print. A session goes on between calls, has a\n"
                           "number that is never used twice and a name, and keeps its output and "
                           "exit status after its end. The daemon is started when it is\n"
                           "first needed.\n"
                           ".PP\n"
                           "Options stand before the operands or, except in\n"
                           ".BR exec ,\n"
                           "after them;\n"
                           ".B \\-\\-\n"
                           "ends them.\n";

static const char attached[] = ".SH ATTACHED TERMINALS\n"
                               ".B ue attach\n"
                               "draws the session on the terminal and passes all keys on to it, "
                               "except these, which follow the prefix key (\n"
                               ".BR C\\-\\e ,\n"
                               "see\n"
                               ".BR \\-\\-prefix ,\n"
                               ".B $MUXD_ATTACH_KEY\n"
                               "and [attach] in\n"
                               ".BR muxd.ini (5)):\n";

static const char attached_mouse[] =
    ".PP\n"
    "The wheel opens the scrolled view with [attach] wheel = yes. That is not the default, as in "
    "tmux: a terminal that reports the wheel\n"
    "reports the buttons, too, and selects text only with Shift held; and the arrow keys that it "
    "can send instead can't be told from those of the keyboard.\n"
    ".PP\n"
    "What is pasted is text, also the prefix key in it. When the end of a paste gets lost, the "
    "prefix key still works after a third of a second without other keys.\n";

static const char shared[] =
    ".SH SHARED TERMINALS\n"
    "The keyboard of a session is free, or held by an agent or a person. Who is attached to type "
    "is "
    "a person (see\n"
    ".BR \"WHO IS A PERSON\" ),\n"
    "every other writer an agent. A person's key\n"
    "takes the keyboard at once; an agent's write then fails and says since when a person holds it "
    "(keyboard_held, status 125), or waits with\n"
    ".BR \\-\\-wait\\-keyboard .\n"
    "The key g releases it, and so does the person's leaving, or [defaults] keyboard_idle "
    "without a key. A restart of the\n"
    "daemon does not.\n"
    ".B ue logs \\-\\-input\n"
    "shows who typed what, and when: of agents the beginning of the text, of people and of secrets "
    "only its length. What was typed from inside a session says so: from session NAME.\n"
    ".PP\n"
    "While a person holds the keyboard, agents don't send signals either\n"
    ".RB ( \"ue kill \\-s\" ,\n"
    "all but TERM and KILL, which end the session), and don't resize it; a person may, from any "
    "terminal.\n"
    ".PP\n"
    "Where a program reads a line without showing it (waiting_for is secret), an agent's text is "
    "an error (secret_prompt, 126) unless\n"
    "[defaults] agent_secrets allows it. Text of an agent that still waits in muxd's queue by then "
    "is thrown away; what the kernel\n"
    "took before is not, and reaches a program that doesn't discard it (sudo, su and passwd "
    "do, the read of a shell doesn't). Attached people\n"
    "get a notice where the output asks for a secret, with a word such as password, passphrase, "
    "PIN "
    "or token, in a row that the program\n"
    "doesn't use.\n"
    ".B ue secret\n"
    "types a secret from any other terminal. A staged secret is kept in memory that no other "
    "process can read and that is never swapped out,\n"
    "and outlives the worker; where the kernel has no such memory,\n"
    ".BR memfd_secret (2),\n"
    "the secret is lost with the worker, and an event says so.\n"
    ".PP\n"
    "muxd answers each query of a program to its terminal, once; no query reaches a "
    "person's terminal. The answers about what the terminal can do\n"
    "(attributes, name and version, cursor, modes, keyboard) describe muxd's model of the screen, "
    "from which people's terminals are\n"
    "drawn. The answers about its looks describe the terminal of the person who typed last and is "
    "attached without\n"
    ".BR \\-r :\n"
    "text, background, cursor and the first 16 colours of the palette (OSC 10, 11, 12, 4), dark or "
    "light (CSI ? 996 n, and reports of a\n"
    "change, mode 2031), and the size of a cell in pixels (CSI 14 t and 16 t, TIOCGWINSZ).\n"
    ".B ue attach\n"
    "asks its own terminal for these when it begins, after a stop, when the terminal reports a "
    "change or the focus, and when its size changes; it separates\n"
    "the replies from the keys and does not wait for them. While there is no such person, or the "
    "terminal does not reply, the answers are those\n"
    "of a plain dark terminal. The size, in cells and in pixels, stays when the person leaves. "
    "With TERM unset, dumb,\n"
    "linux or vt* it asks nothing.\n"
    ".PP\n"
    "Colours that a program has set itself (OSC 4, 10, 11, 12) come before both, until it "
    "resets them (OSC 104, 110 to 112): people see them, and the\n"
    "program is told them. The cursor's is told, not shown.\n"
    ".PP\n"
    "Lines that were wrapped wrap anew when the width changes, on the screen and in its "
    "history, and the cursor stays at its character; what a\n"
    "narrow terminal had no room for comes back. The alternate screen of full\\-screen "
    "programs keeps what fits. A program that may (CSI ? 40 h) makes\n"
    "the screen 132 columns wide by CSI ? 3 h, and the kernel tells it so (SIGWINCH), until it "
    "ends that.\n";

static const char trouble[] =
    ".SH TROUBLE\n"
    "When a limit of the kernel (getrlimit(2), sysctl, control groups) makes something fail, the "
    "error names the limit and what to raise, and\n"
    ".B ue status\n"
    "shows it for as long as it is in the way. Everything else goes on:\n"
    ".TP\n.B inotify instances, watches\nthe daemon looks every five seconds whether the path of "
    "its socket is still there\n"
    ".TP\n.B processes\nno program starts; a keeper or a worker that dies is replaced as soon as "
    "there is room\n"
    ".TP\n.B descriptors\nno session starts; some are kept for clients, so that they get in to "
    "look and to end sessions; readiness is "
    "seen by\nsilence\n"
    ".TP\n.B locked memory\nno secret can be staged; one that is typed at once is typed\n"
    ".TP\n.B terminals\nno session on a terminal starts; those on pipes do\n"
    ".TP\n.B hidepid of /proc\nwhat runs as another user, or set-group-ID as ssh-agent, is not "
    "seen: it is ready by its silence, and "
    "may\nsurvive a kill unseen\n"
    ".TP\n.B file locks\na hard limit below 2^60 leaves no room for the mark by which the "
    "descendants of a session are known: what has "
    "left\nits parents survives a kill (prlimit(1) shows it, the log warns)\n"
    ".TP\n.B Yama's ptrace_scope\nprograms that poll their terminal are ready by their silence\n"
    ".PP\n"
    "Daemons that were left behind, whose socket is gone or whose directory was removed, end like "
    "any other by SIGTERM:\n"
    ".B pkill \\-TERM \\-x muxd\n"
    "ends all of a user, with their sessions. SIGKILL to one process after the other does not, as "
    "keeper and worker restart each other.\n"
    ".PP\n"
    "A directory for the socket that belongs to another user is never used. After\n"
    ".BR su (1)\n"
    "without a minus XDG_RUNTIME_DIR is that of the previous user and is ignored. Root talks to "
    "another user's daemon only where the\n"
    "socket is named by\n"
    ".B \\-S\n"
    "or MUXD_SOCKET. The directory of a socket that is named so has to be there, so that a typo "
    "makes none.\n";

static const char around[] = ".SH ENVIRONMENT\n"
                             "Commands get the caller's environment as it is, but for what "
                             "[env_policy] takes out; a shell that runs a command string is no "
                             "login shell, unless by \\-\\-login. What models start by the "
                             "tools runs in a login shell, with [env] on top. With "
                             "\\-t TERM and COLORTERM name the session's terminal.\n"
                             ".TP\n.B UE_FORMAT\nraw, text, json or model: how exec, write and "
                             "poll print\n"
                             ".TP\n.B MUXD_SOCKET\nthe daemon's socket; set in each session\n"
                             ".TP\n.B MUXD_SESSION\nset in each session: its name\n"
                             ".TP\n.B MUXD_SESSION_ID\nset in each session: its number\n"
                             ".TP\n.B CODEX_SANDBOX_NETWORK_DISABLED\n1 in each sandbox without "
                             "a network: tests that need one look for it\n"
                             ".TP\n.B XDG_RUNTIME_DIR\nthe socket is muxd/muxd.sock below it, "
                             "where it is ours and MUXD_SOCKET is not set\n"
                             ".TP\n.B MUXD_CONFIG\nthe config file of a daemon that is started\n"
                             ".TP\n.B MUXD_ATTACH_KEY\nthe prefix key of attached terminals\n"
                             ".TP\n.B NO_COLOR\nno colours in tables\n"
                             ".SH SEE ALSO\n"
                             ".BR muxd (8),\n"
                             ".BR muxd.ini (5),\n"
                             ".BR muxd (7)\n";

static void append_option(struct buf *out, const struct verb *verb,
                          const struct verb_option *option)
{
    buf_append_text(out, ".TP\n");
    if (option->letter)
        buf_printf(out, "\\fB\\-%c\\fR, ", option->letter);
    buf_append_text(out, "\\fB\\-\\-");
    gen_roff(out, option->name);
    buf_append_text(out, "\\fR");
    if (option->metavar) {
        buf_append_text(out, " \\fI");
        gen_roff(out, option->metavar);
        buf_append_text(out, "\\fR");
    }
    buf_append_byte(out, '\n');
    gen_roff(out, verb_option_full(verb, option).help);
    buf_append_byte(out, '\n');
}

static void append_examples(struct buf *out, const char *examples)
{
    for (const char *at = examples; at && *at;) {
        size_t whole = strcspn(at, "\n"), command = strcspn(at, "\t");
        struct buf part = BUF_INIT;
        buf_append(&part, at, command);
        buf_append_text(out, ".PP\n.RS\n.nf\n");
        gen_roff(out, part.data);
        buf_append_text(out, "\n.fi\n.RS\n");
        buf_clear(&part);
        buf_append(&part, at + command + 1, whole - command - 1);
        gen_roff(out, part.data);
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
    gen_roff(out, usage.data + strlen("usage: "));
    buf_append_text(out, ".fi\n.PP\n");
    gen_roff(out, verb->summary);
    buf_append_text(out, ".\n");
    if (verb->help)
        gen_roff(out, verb->help);
    for (const struct verb_option *option = verb->options; option->name; option++)
        append_option(out, verb, option);
    append_examples(out, verb->examples);
    buf_fini(&usage);
}

static void gen_man_append_keys(struct buf *out, const struct attach_key *keys)
{
    for (; keys->keys; keys++) {
        buf_append_text(out, ".TP\n\\fB");
        gen_roff(out, keys->keys);
        buf_append_text(out, "\\fR\n");
        gen_roff(out, keys->help);
        buf_append_byte(out, '\n');
    }
}

void gen_man(struct buf *out)
{
    buf_append_text(out, head);
    buf_append_text(out, ".SH OPTIONS OF EVERY VERB\n");
    for (const struct verb_option *option = verbs[VERB_GLOBAL].options; option->name; option++)
        append_option(out, &verbs[VERB_GLOBAL], option);
    buf_append_text(out, ".SH VERBS\n");
    for (const struct verb *verb = gen_next(NULL); verb; verb = gen_next(verb))
        append_verb(out, verb);
    buf_append_text(out, attached);
    gen_man_append_keys(out, attach_keys);
    buf_append_text(out, ".PP\nIn the scrolled view:\n");
    gen_man_append_keys(out, attach_view_keys);
    buf_append_text(out, attached_mouse);
    buf_append_text(out, gen_person);
    buf_append_text(out, shared);
    gen_events(out);
    gen_differences(out);
    buf_append_text(out, gen_waiting);
    gen_errors(out);
    buf_append_text(out, trouble);
    gen_doctor(out);
    buf_append_text(out, around);
}
