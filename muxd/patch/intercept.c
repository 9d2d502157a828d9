/* intercept: owns the few forms of a shell command that count as a patch. In doubt the command goes
 * to the shell. */
#include "patch/intercept.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/strv.h"
#include "patch/parse.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define BLANKS " \t"
#define SPACE " \t\r\n"
/* These end a plain word, or mean something to a shell in it. */
#define SPECIAL " \t\r\n\"'`$&|;<>()*?[]{}!#\\"

static const char *intercept_skip(const char *at, const char *set)
{
    return at + strspn(at, set);
}

/* at behind word; NULL: another word is there. */
static const char *after_word(const char *at, const char *word)
{
    size_t size = strlen(word);
    return strncmp(at, word, size) == 0 && (at[size] == '\0' || strchr(SPACE "<", at[size]) != NULL)
               ? at + size
               : NULL;
}

/* A word without quotes; a backslash may only stand before a blank; ~ and ~/ are the home
 * directory. */
static const char *plain_word(const char *at, char **word)
{
    struct buf text = BUF_INIT;
    if (at[0] == '~' && (at[1] == '/' || strchr(SPACE, at[1]) != NULL)) {
        char *home = path_home();
        buf_append_text(&text, home);
        free(home);
        at++;
    }
    for (; *at != '\0'; at++) {
        if (*at == '\\' && at[1] == ' ')
            at++;
        else if (strchr(SPECIAL, *at) != NULL)
            break;
        buf_append_byte(&text, *at);
    }
    *word = buf_take(&text);
    return at;
}

/* Reads one word into *word (the caller's). NULL: there is none, or a shell would expand it. */
static const char *take_word(const char *at, char **word)
{
    if (*at == '\'' || *at == '"') {
        const char *end = strchr(at + 1, *at);
        if (end == NULL || (*at == '"' && strcspn(at + 1, "$`\\!") < (size_t)(end - at - 1)))
            return NULL;
        *word = xstrndup(at + 1, (size_t)(end - at - 1));
        at = end + 1;
    } else if (*at == '~' && at[1] != '/' && strchr(SPACE, at[1]) == NULL) {
        return NULL;
    } else {
        at = plain_word(at, word);
    }
    if (**word != '\0' && **word != '-' && *at != '\0' && strchr(SPACE "&", *at) != NULL)
        return at;
    free(*word);
    *word = NULL;
    return NULL;
}

/* "cd DIR &&": at behind it; at itself when there is no cd; NULL: another form of cd. */
static const char *take_cd(const char *at, char **workdir)
{
    if (strncmp(at, "cd", 2) != 0 || at[2] == '\0' || strchr(BLANKS, at[2]) == NULL)
        return at;
    at = take_word(intercept_skip(at + 2, BLANKS), workdir);
    if (at == NULL)
        return NULL;
    at = intercept_skip(at, BLANKS);
    return strncmp(at, "&&", 2) == 0 ? intercept_skip(at + 2, SPACE) : NULL;
}

/* The delimiter of a here-document: quoted whole, or plain, or with a backslash before it. */
static const char *take_delimiter(const char *at, char **word)
{
    if (*at == '\'' || *at == '"') {
        size_t size = strcspn(at + 1, *at == '"' ? "\"\n$`\\" : "'\n");
        if (size == 0 || at[1 + size] != *at)
            return NULL;
        *word = xstrndup(at + 1, size);
        return at + size + 2;
    }
    at += *at == '\\';
    size_t size = strcspn(at, SPECIAL);
    if (size == 0)
        return NULL;
    *word = xstrndup(at, size);
    return at + size;
}

/* Assignments in front of the command, "X=1 ": at behind them. They don't change what is
 * applied. */
static const char *skip_assignments(const char *at)
{
    for (;;) {
        size_t name = strspn(at, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");
        if (name == 0 || (*at >= '0' && *at <= '9') || at[name] != '=')
            return at;
        const char *value = at + name + 1;
        char quote = *value == '\'' || *value == '"' ? *value : '\0';
        size_t size = quote ? strcspn(value + 1, quote == '"' ? "\"$`\\" : "'")
                            : strcspn(value, SPECIAL);
        if (quote && value[1 + size] != quote)
            return at;
        value += quote ? size + 2 : size;
        if (*value == '\0' || strchr(BLANKS, *value) == NULL)
            return at;
        at = intercept_skip(value, BLANKS);
    }
}

static bool ends_as_patch(const struct buf *body)
{
    static const char end[] = "*** End Patch";
    size_t len = body->len, size = sizeof end - 1;
    while (len > 0 && strchr(SPACE, body->data[len - 1]) != NULL)
        len--;
    return len >= size && memcmp(body->data + len - size, end, size) == 0;
}

/* The lines up to a line with the delimiter alone, or a whole patch up to the end of the script, as
 * shells take it. False: the delimiter is missing otherwise, or more follows it. */
static bool take_body(const char *at, const char *delimiter, bool tabs, struct buf *body)
{
    size_t size = strlen(delimiter);
    while (*at != '\0') {
        if (tabs)
            at = intercept_skip(at, "\t");
        size_t len = strcspn(at, "\n");
        if (len == size && memcmp(at, delimiter, len) == 0)
            return *intercept_skip(at + len, SPACE) == '\0';
        buf_append(body, at, len);
        buf_append_byte(body, '\n');
        at += len + (at[len] == '\n');
    }
    return ends_as_patch(body);
}

/* "<<DELIM", body and DELIM, at the end of the script. */
static bool take_heredoc(const char *at, struct buf *body)
{
    char *delimiter = NULL;
    if (strncmp(at, "<<", 2) != 0 || at[2] == '<')
        return false;
    bool tabs = at[2] == '-';
    at = take_delimiter(intercept_skip(at + 2 + tabs, BLANKS), &delimiter);
    bool whole = false;
    if (at != NULL) {
        at = intercept_skip(at, BLANKS);
        whole = *at == '\n' && take_body(at + 1, delimiter, tabs, body);
    }
    free(delimiter);
    return whole;
}

static bool is_patch(const char *text)
{
    struct patch patch;
    struct patch_error error;
    const char *begin = intercept_skip(text, SPACE);
    if (strncmp(begin, "*** ", 4) != 0 && strncmp(begin, "<<", 2) != 0)
        return false;
    bool fine = patch_parse(&patch, text, strlen(text), PATCH_LENIENT, &error) == 0;
    patch_fini(&patch);
    patch_error_fini(&error);
    return fine;
}

bool patch_intercept(const char *script, struct patch_intercepted *out)
{
    *out = (struct patch_intercepted){.bare = is_patch(script)};
    if (out->bare)
        return true;
    struct buf body = BUF_INIT;
    const char *at = take_cd(intercept_skip(script, SPACE), &out->workdir), *call = NULL;
    at = at != NULL ? skip_assignments(at) : NULL;
    if (at != NULL && (call = after_word(at, "apply_patch")) == NULL)
        call = after_word(at, "applypatch");
    if (call != NULL && take_heredoc(intercept_skip(call, BLANKS), &body)) {
        out->len = body.len;
        out->text = buf_take(&body);
        return true;
    }
    buf_fini(&body);
    patch_intercepted_fini(out);
    return false;
}

/* Whether a program, by path or with a suffix like .exe, is one of the names, separated by
 * blanks. */
static bool is_program(const char *program, const char *names)
{
    const char *name = path_basename(program), *dot = strrchr(name, '.');
    size_t len = dot != NULL && dot != name ? (size_t)(dot - name) : strlen(name);
    for (; *names != '\0'; names = intercept_skip(names, BLANKS)) {
        size_t size = strcspn(names, BLANKS);
        if (size == len && strncasecmp(names, name, len) == 0)
            return true;
        names += size;
    }
    return false;
}

/* The script that argv gives to a shell, or NULL. */
static const char *script_of(const char *const *argv, size_t count)
{
    bool powershell = count >= 3 && is_program(argv[0], "pwsh powershell");
    if (powershell && count == 4 && strcasecmp(argv[1], "-NoProfile") == 0 &&
        strcasecmp(argv[2], "-Command") == 0)
        return argv[3];
    if (count != 3)
        return NULL;
    if (powershell)
        return strcasecmp(argv[1], "-Command") == 0 ? argv[2] : NULL;
    if (is_program(argv[0], "bash zsh sh"))
        return strcmp(argv[1], "-lc") == 0 || strcmp(argv[1], "-c") == 0 ? argv[2] : NULL;
    return is_program(argv[0], "cmd") && strcasecmp(argv[1], "/c") == 0 ? argv[2] : NULL;
}

bool patch_intercept_argv(const char *const *argv, struct patch_intercepted *out)
{
    size_t count = strv_len(argv);
    *out = (struct patch_intercepted){.bare = count == 1 && is_patch(argv[0])};
    if (out->bare)
        return true;
    if (count == 2 && (strcmp(argv[0], "apply_patch") == 0 || strcmp(argv[0], "applypatch") == 0)) {
        out->text = xstrdup(argv[1]);
        out->len = strlen(argv[1]);
        return true;
    }
    const char *script = script_of(argv, count);
    return script != NULL && patch_intercept(script, out);
}

void patch_intercepted_fini(struct patch_intercepted *out)
{
    free(out->text);
    free(out->workdir);
    *out = (struct patch_intercepted){.bare = false};
}
