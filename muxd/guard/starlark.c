/* starlark: owns the knowledge of strings, comments and brackets of Starlark. */
#include "guard/starlark.h"
#include <string.h>

/* Behind a string, from its opening quote on; one that has no end goes to the end of its line. */
static const char *starlark_behind_string(const char *at)
{
    char quote = *at;
    bool tripled = at[1] == quote && at[2] == quote;
    for (at += tripled ? 3 : 1; *at; at++) {
        if (*at == '\\' && at[1])
            at++;
        else if (*at == quote && (!tripled || (at[1] == quote && at[2] == quote)))
            return at + (tripled ? 3 : 1);
        else if (*at == '\n' && !tripled)
            return at;
    }
    return at;
}

const char *starlark_end(const char *at, bool *whole)
{
    int depth = 0;
    while (*at && (*at != '\n' || depth > 0)) {
        depth += strchr("([{", *at) != NULL;
        depth -= depth > 0 && strchr(")]}", *at);
        if (*at == '#')
            at += strcspn(at, "\n");
        else if (*at == '"' || *at == '\'')
            at = starlark_behind_string(at);
        else
            at += *at == '\\' && at[1] ? 2 : 1;
    }
    *whole = depth == 0;
    return at;
}

bool starlark_line_ends(const char *at)
{
    at += strspn(at, " \t\r");
    return !*at || *at == '\n' || *at == '#';
}
