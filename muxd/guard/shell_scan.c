/* shell_scan: owns the grammar of lists: commands, operators, redirections, here-documents. */
#include "guard/shell_scan.h"
#include "base/bug.h"
#include "base/mem.h"
#include "guard/shell_word.h"
#include <stdlib.h>
#include <string.h>

/* The command that is being read. */
struct reading {
    struct strv words;
    bool owed;   /* an operator stands before it that needs a command behind it */
    bool target; /* the next word is a redirection's */
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static void scan_add_command(struct shell_cursor *at, struct strv *words)
{
    struct shell_scan *scan = at->scan;
    if (scan->count == SHELL_SCAN_MAX_COMMANDS) {
        scan->overflow = true;
        shell_not_plain(at, "too many commands");
        strv_fini(words);
        return;
    }
    scan->commands = xreallocarray(scan->commands, scan->count + 1, sizeof *scan->commands);
    scan->commands[scan->count++] = (struct shell_command){strv_take(words)};
}

/* The command ends here; operator: one that needs a command before it. */
static void end_command(struct shell_cursor *at, struct reading *reading, bool operator)
{
    if (reading->target)
        shell_not_plain(at, "an unfinished redirection");
    if (reading->words.count > 0)
        scan_add_command(at, &reading->words);
    else if (operator)
        shell_not_plain(at, "an operator without a command");
    *reading = (struct reading){0};
}

/* Reads the bodies of the here-documents that were announced in the line that ends here. */
static void take_heredocs(struct shell_cursor *at)
{
    for (size_t i = 0; i < at->nheredocs; i++) {
        struct shell_heredoc *doc = &at->heredocs[i];
        struct buf body = BUF_INIT;
        bool closed = false;
        while (*at->at && !closed) {
            size_t len = strcspn(at->at, "\n");
            size_t tabs = doc->strip ? strspn(at->at, "\t") : 0;
            closed = len - tabs == strlen(doc->end) &&
                     memcmp(at->at + tabs, doc->end, len - tabs) == 0;
            if (!closed && buf_append(&body, at->at + tabs, len - tabs))
                buf_append_byte(&body, '\n');
            at->at += len + (at->at[len] == '\n');
        }
        if (!closed)
            shell_not_plain(at, "an unclosed here-document");
        if (!doc->quoted && body.data)
            shell_scan_expansions(at, body.data);
        strv_add_owned(&at->scan->fed, buf_take(&body));
        free(doc->end);
    }
    at->nheredocs = 0;
}

static void announce_heredoc(struct shell_cursor *at, bool strip)
{
    struct shell_word word;
    while (is_blank(*at->at))
        at->at++;
    shell_word_take(at, &word);
    if (word.text.len == 0 && !word.quoted)
        shell_not_plain(at, "an unfinished redirection");
    if (at->nheredocs == SHELL_HEREDOCS_MAX) {
        shell_not_plain(at, "too many here-documents");
        at->scan->overflow = true;
        buf_fini(&word.text);
        return;
    }
    struct shell_heredoc *doc = &at->heredocs[at->nheredocs++];
    *doc = (struct shell_heredoc){.strip = strip, .quoted = word.quoted};
    doc->end = buf_take(&word.text);
    at->heredocs_seen++;
    shell_not_plain(at, SHELL_WHY_HEREDOC);
}

static void take_here_string(struct shell_cursor *at)
{
    struct shell_word word;
    while (is_blank(*at->at))
        at->at++;
    shell_not_plain(at, "a here-string");
    shell_word_take(at, &word);
    strv_add_owned(&at->scan->fed, buf_take(&word.text));
}

static void take_redirection(struct shell_cursor *at, struct reading *reading)
{
    if (reading->target)
        shell_not_plain(at, "an unfinished redirection");
    if (strncmp(at->at, "<<<", 3) == 0) {
        at->at += 3;
        take_here_string(at);
    } else if (strncmp(at->at, "<<", 2) == 0) {
        bool strip = at->at[2] == '-';
        at->at += strip ? 3 : 2;
        announce_heredoc(at, strip);
    } else if (at->at[1] == '(') { /* a process substitution: a word with a list in it */
        at->at += 2;
        shell_not_plain(at, "a process substitution");
        shell_scan_list(at, ')');
    } else {
        at->at++;
        at->at += strspn(at->at, "<>&|");
        shell_not_plain(at, "a redirection");
        reading->target = true;
    }
}

static void take_operator(struct shell_cursor *at, struct reading *reading)
{
    char c = *at->at++;
    bool twice = c != '\n' && *at->at == c;
    bool owed = reading->owed && reading->words.count == 0;
    if (c == '\n') {
        if (reading->words.count > 0 || reading->target)
            end_command(at, reading, false);
        reading->owed |= owed;
        take_heredocs(at);
    } else if (c == '(' || c == ')') {
        shell_not_plain(at, "a subshell or a function");
        end_command(at, reading, false);
    } else {
        at->at += twice;
        if (c == ';' && (twice || *at->at == '&'))
            shell_not_plain(at, "a case");
        else if (c == '&' && !twice)
            shell_not_plain(at, "a command in the background");
        else if (c == '|' && !twice && *at->at == '&')
            shell_not_plain(at, "|&");
        end_command(at, reading, true);
        reading->owed = c != ';';
    }
}

static bool scan_is_one_of(const char *word, const char *const *all, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(word, all[i]) == 0)
            return true;
    return false;
}

/* Words that are no commands where a command begins. */
static bool is_reserved(const char *word)
{
    static const char *const reserved[] = {
        "!",    "{",      "}",     "[[",   "]]",   "if",   "then",     "elif",   "else", "fi", "do",
        "done", "while",  "until", "for",  "case", "esac", "function", "select", "time", "in",
        "coproc"};
    return scan_is_one_of(word, reserved, sizeof reserved / sizeof *reserved);
}

/* Commands whose words may be assignments, which change what the commands behind them mean. */
static bool is_declaration(const char *word)
{
    static const char *const declaring[] = {"declare", "typeset", "export",   "readonly",
                                            "local",   "unset",   "unsetenv", "alias"};
    return scan_is_one_of(word, declaring, sizeof declaring / sizeof *declaring);
}

static void scan_take_word(struct shell_cursor *at, struct reading *reading)
{
    struct shell_word word;
    bool first = reading->words.count == 0 && !reading->target;
    shell_word_take(at, &word);
    bool number = word.text.data && !word.quoted && *word.text.data &&
                  strspn(word.text.data, "0123456789") == word.text.len;
    char *text = buf_take(&word.text);
    if (reading->target) {
        reading->target = false;
        free(text);
    } else if (word.blank) {
        free(text);
    } else if (number && (*at->at == '<' || *at->at == '>')) {
        shell_not_plain(at, "a redirected descriptor");
        free(text);
    } else if (first && word.assignment) {
        shell_not_plain(at, "an assignment");
        free(text);
    } else if (first && !word.quoted && is_reserved(text)) {
        shell_not_plain(at, "a reserved word of the shell");
        free(text);
    } else {
        if (first && is_declaration(text))
            shell_not_plain(at, "a declaration");
        strv_add_owned(&reading->words, text);
    }
}

void shell_scan_list(struct shell_cursor *at, char close)
{
    struct reading reading = {0};
    bool closed = !close;
    if (++at->depth > SHELL_SCAN_MAX_DEPTH) {
        at->scan->overflow = true;
        shell_not_plain(at, "too many substitutions inside each other");
        at->at += strlen(at->at);
    }
    while (*at->at) {
        char c = *at->at;
        if (close && c == close) {
            at->at++;
            closed = true;
            break;
        }
        if (is_blank(c)) {
            at->at++;
        } else if (c == '\\' && at->at[1] == '\n') {
            shell_not_plain(at, "a continued line");
            at->at += 2;
        } else if (c == '#') {
            shell_not_plain(at, "a comment");
            at->at += strcspn(at->at, "\n");
        } else if (strchr("\n;&|()", c)) {
            take_operator(at, &reading);
        } else if (c == '<' || c == '>') {
            take_redirection(at, &reading);
        } else {
            scan_take_word(at, &reading);
        }
    }
    bool owed = reading.owed && reading.words.count == 0;
    if (!closed || owed)
        shell_not_plain(at, owed ? "an operator without a command" : "an unclosed substitution");
    end_command(at, &reading, false);
    at->depth--;
}

void shell_scan(struct shell_scan *scan, const char *script)
{
    *scan = (struct shell_scan){.plain = true};
    struct shell_cursor at = {.scan = scan, .at = script};
    shell_scan_list(&at, '\0');
    if (at.nheredocs > 0)
        shell_not_plain(&at, "an unclosed here-document");
    for (size_t i = 0; i < at.nheredocs; i++)
        free(at.heredocs[i].end);
    if (scan->plain && scan->count == 0)
        shell_not_plain(&at, "an empty script");
    scan->heredoc_only = !scan->plain && !at.other && at.heredocs_seen == 1 && scan->count == 1;
    BUG_UNLESS(scan->plain == (scan->why == NULL));
}

void shell_scan_fini(struct shell_scan *scan)
{
    for (size_t i = 0; i < scan->count; i++)
        strv_free(scan->commands[i].words);
    free(scan->commands);
    strv_fini(&scan->fed);
    *scan = (struct shell_scan){0};
}
