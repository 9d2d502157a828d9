/* gen_tools: owns the parts of client/ue.1 about tools: types of events, errors, and the
 * differences from the Codex shell tools. */
#include "client/verbs/gen.h"
#include "base/err.h"
#include "wire/event.h"

struct difference { /* tests/e2e/test_conformance_*.py has a test_ours_SECTION_… for each */
    const char *codex, *muxd, *why;
};

static const struct difference differences[] = {
    {"unknown arguments are ignored", "they are refused by name, but for [tools] ignore_fields",
     "a misspelled one would be lost silently"},
    {"session_id is a number", "a name will do, too", "names survive a shortened context"},
    {"a call on a terminal waits its whole time",
     "it returns when the program waits for input ([defaults] ready)", "no time or turn is lost"},
    {"an empty poll waits its whole time", "it returns with the first output that has settled",
     "the same"},
    {"an empty poll with nothing new has the five lines of every answer", "one line",
     "polls are the most frequent answers"},
    {"a character split between two answers is broken", "it is carried over", "text stays text"},
    {"output is delivered once", "offsets, readers with places of their own, read_output",
     "what was missed or cut can be fetched"},
    {"the answer doesn't say which part was cut", "its JSON names from and to in truncated",
     "the same"},
    {"one long line eats the budget", "max_line cuts lines first", "minified files"},
    {"an ended session is unknown after its exit was told",
     "it answers until it is removed ([limits] keep_ended)", "no noise, nothing lost"},
    {"C-c to an ended session is an error", "a success that says so",
     "the sender wants the program to end, and it has"},
    {"cmd is a string for the shell", "an array runs without one", "no quoting"},
    {"numbers are random and may come again", "they count up and never come again",
     "a stale number can't hit another program"},
    {"beyond 64 sessions a live one is killed", "the new one is refused by [limits] max_sessions",
     "no program dies silently"},
    {"children left behind are killed", "they live and are counted (children_left)",
     "nohup and & mean it; kill_session ends them all"},
    {"no tool ends a session", "kill_session: HUP, TERM, KILL, then every descendant",
     "dev servers keep ports"},
    {"death by signal on a terminal is status 1", "128+N, and the JSON names signal and killer",
     "the truth"},
    {"what a program asks its terminal gets no answer", "it is answered, see SHARED TERMINALS",
     "programs wait for it, or guess"},
    {"a terminal is 24x80 for ever", "rows, cols, ue resize", "programs with tables"},
    {"shell_command drops a stream that stays open, and all output at a timeout",
     "what was read is kept", "that output shows what went wrong"},
    {"shell_command's timeout kills the process group", "everything that it started",
     "setsid escapes a group"},
    {"shell_command keeps the first MiB of each stream",
     "the beginning and the end, with the count between", "errors stand at the end"},
    {"shell_command killed by a signal is an execution error", "the usual text with 128+N",
     "one form"},
    {"an interrupt kills shell_command", "it ends the wait; the timeout holds",
     "an interrupt ends the call, not the command"},
    {"a text about arguments ends with a line and column",
     "it names the field and all that is allowed; the numbers are whole numbers without a size in "
     "bits, as session numbers are",
     "models write arguments by name, not by column"},
    {"null for an argument that may be absent is refused, and so is 1000.0 for 1000",
     "null is absence, and the numbers are one", "several clients send both"},
    {"JSON that is wrong is described by its parser, an argument list in an array is taken, an "
     "empty text is the end of a file",
     "the byte, and an object is expected; an empty text is an object without members; NUL is "
     "refused where it stands",
     "each text says what to do"},
    {"sandbox_permissions, justification and prefix_rule are in the schemas",
     "they are not; they are taken or refused as Codex does with full access and approval policy "
     "never",
     "nobody is asked here, so they would only cost tokens"},
    {"a missing working directory is \"No such file or directory\", and with a terminal the "
     "command runs elsewhere",
     "the text names the directory, and nothing runs",
     "a command in the wrong place can do harm"},
    {"a command that begins with - or + is an option of the shell", "it is a command",
     "it was meant as one"},
    {"an unknown name for shell is /bin/sh, an empty one too",
     "what was named runs, or is refused; empty is the default",
     "a script of another language does something else in sh"},
    {"rm -f is rejected when nobody can be asked",
     "it runs where no rule of muxd-policy(7) forbids it",
     "full access is full access"},
    {"a terminal is not in UTF-8 mode", "it is (iutf8)", "erase takes whole characters"},
    {"a message of standard error may stand behind output that came later",
     "in the order in which it was written, as far as pipes tell", "cause before effect"},
    {"a line of more than 4095 bytes to a terminal is cut by the kernel", "it is refused whole",
     "half a line does harm"},
    {"a password is typed like anything else", "a person types it (ue secret)",
     "secrets don't pass through models"},
    {"what is typed before a program reads is echoed at once",
     "it waits until the program reads for the first time ([defaults] hold)",
     "no double echo, no lost input"},
    {"shell_command guesses the encoding of output that is no UTF-8",
     "windows-1252, when nothing in the stream is UTF-8", "a guess by letters is often wrong"},
    {"the text of a missing working directory of shell_command is a structure of Rust",
     "it names the directory", "the same"},
    {"the tool shell is gone", "it works where shell_command does", "older models know it"},
    {"a patch rewrites line endings of the lines it quotes",
     "they keep theirs ([tools] patch_line_endings = codex writes LF)", "no needless change"},
    {"a context line found in a later pass takes the patch's blanks and dashes, and a blank line "
     "at the end of the file may get lost",
     "what the patch does not change stays", "the same"},
    {"files that are no UTF-8 are neither patched nor deleted", "they are", "bytes are kept"},
    {"a moved file loses its mode, and moved onto itself is deleted", "it keeps mode and contents",
     "nobody means that"},
    {"cd ~ in front of a patch is a directory named ~", "the home directory",
     "as in every shell"},
    {"the program apply_patch stops half way", "all files are changed or none",
     "half a patch leaves broken files"},
    {"Failed to write file PATH is all that is said",
     "the reason stands behind it; ue patch and apply_patch tell it on a second line",
     "a full disk is not a missing right"},
    {"a patch may write everywhere that the sandbox allows", "[tools] patch_roots may bind it",
     "there need not be a sandbox"},
    {"events are told once, as they happen", "they are numbered and can be asked for later",
     "a client that comes back has missed nothing"},
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
