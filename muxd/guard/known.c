/* known: owns the table of commands that only read, each with the options that make it do more. */
#include "guard/known.h"
#include "guard/shell_runs.h"
#include <stddef.h>
#include <string.h>

#define WORDS_LOOKED_AT 10000 /* of an rm; one with more counts as dangerous */

static bool known_in(const char *list, const char *word, size_t len)
{
    while (*list) {
        size_t one = strcspn(list, " ");
        if (one == len && memcmp(list, word, len) == 0)
            return true;
        list += one + strspn(list + one, " ");
    }
    return false;
}

/* An option is in the list: -X, --NAME or --NAME=VALUE; a long one may be cut short, as getopt
 * lets it. Single letters of the list count inside a cluster, too, when `clusters`. */
static bool has_option(char *const *words, const char *list, bool clusters)
{
    for (char *const *at = words + 1; *at; at++) {
        size_t len = strcspn(*at, "=");
        if (**at != '-' || !(*at)[1])
            continue;
        if (known_in(list, *at, len))
            return true;
        for (const char *one = list; *one; one += strcspn(one, " "), one += strspn(one, " ")) {
            size_t size = strcspn(one, " ");
            bool is_long = one[1] == '-';
            if (is_long && len > 2 && len < size && memcmp(one, *at, len) == 0)
                return true;
            if (clusters && !is_long && size == 2 && (*at)[1] != '-' && strchr(*at + 1, one[1]))
                return true;
        }
    }
    return false;
}

static bool is_address(const char *word)
{
    size_t digits = strspn(word, "0123456789"), more = 0;
    if (word[digits] == ',' && digits > 0)
        more = strspn(word + digits + 1, "0123456789");
    const char *end = word + digits + (more ? more + 1 : 0);
    return digits > 0 && strcmp(end, "p") == 0;
}

/* sed -n Np|N,Mp [FILE] */
static bool sed_is_safe(char *const *words)
{
    size_t count = 0;
    while (words[count])
        count++;
    return (count == 3 || count == 4) && strcmp(words[1], "-n") == 0 && is_address(words[2]) &&
           (count == 3 || words[3][0] != '-');
}

static bool branch_is_safe(char *const *words)
{
    for (; *words; words++) {
        size_t len = strcspn(*words, "=");
        if (!known_in("-a --all -r --remotes -v -vv -l --list --show-current --verbose --contains "
                      "--no-contains --merged --no-merged --sort --format --column --no-column "
                      "--color --no-color --abbrev --points-at",
                      *words, len))
            return false;
    }
    return true;
}

static bool git_is_safe(char *const *words)
{
    static const char refused[] = "--output --ext-diff --textconv --exec";
    const char *verb = words[1];
    /* a global option in front may name another repository, or a program */
    if (!verb || *verb == '-' || has_option(words, refused, false))
        return false;
    if (strcmp(verb, "branch") == 0)
        return branch_is_safe(words + 2);
    return known_in("status log diff show", verb, strlen(verb));
}

const char *known_name(const char *word)
{
    static const char *const places[] = {"/bin/", "/usr/bin/", "/usr/local/bin/"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (strncmp(word, places[i], strlen(places[i])) == 0) {
            word += strlen(places[i]);
            break;
        }
    return *word && !strchr(word, '/') ? word : NULL;
}

/* A second operand would be the file that it writes. */
static bool uniq_is_safe(char *const *words)
{
    size_t operands = 0;
    bool options = true;
    for (char *const *at = words + 1; *at; at++) {
        if (!options || **at != '-' || !(*at)[1])
            operands++;
        options = options && strcmp(*at, "--") != 0;
    }
    return operands <= 1;
}

bool known_is_safe(char *const *words)
{
    static const char names[] =
        "cat cd cut echo expr false grep head id ls nl paste pwd rev seq stat tail tr true uname "
        "wc which whoami numfmt tac";
    const char *name = known_name(words[0]);
    if (!name)
        return false;
    if (known_in(names, name, strlen(name)))
        return true;
    if (strcmp(name, "base64") == 0)
        return !has_option(words, "-o --output", true);
    if (strcmp(name, "find") == 0)
        return !has_option(words,
                           "-exec -execdir -ok -okdir -delete -fls -fprint -fprint0 -fprintf",
                           false);
    if (strcmp(name, "rg") == 0)
        return !has_option(words, "--pre --hostname-bin --search-zip", false) &&
               !has_option(words, "-z", true);
    if (strcmp(name, "sed") == 0)
        return sed_is_safe(words);
    if (strcmp(name, "uniq") == 0)
        return uniq_is_safe(words);
    return strcmp(name, "git") == 0 && git_is_safe(words);
}

/* -f, in any cluster of letters, or --force, also cut short. */
static bool is_force(const char *word)
{
    if (word[0] != '-')
        return false;
    if (word[1] == '-')
        return strlen(word) > 2 && strncmp("--force", word, strlen(word)) == 0;
    return strchr(word + 1, 'f') != NULL;
}

bool known_is_dangerous(char *const *words)
{
    if (strcmp(shell_base_name(words[0]), "rm") != 0)
        return false;
    for (size_t i = 1; words[i] && strcmp(words[i], "--") != 0; i++)
        if (i == WORDS_LOOKED_AT || is_force(words[i]))
            return true;
    return false;
}
