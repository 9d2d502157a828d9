/* script_check: owns what a command takes: names, times, numbers, operators, and which alternatives
 * an expect may have. The same checks hold for a value that comes from a variable. */
#include "base/value.h"
#include "client/script/script.h"
#include <string.h>

static const char *const reserved[] = {"match",  "before",  "output", "status",
                                       "reason", "session", "env"};
static const char *const operators[] = {
    "==", "!=", "<", ">", "<=", ">=", "contains", "starts-with", "ends-with"};
static const char *const waits[] = {"ready", "exit", "quiet"};
static const char *const sources[] = {"from-terminal", "from-fd", "from-file"};
#define COUNT(array) (sizeof(array) / sizeof *(array))

static bool script_is_among(const char *word, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(word, words[i]) == 0)
            return true;
    return false;
}

bool script_is_variable(const char *name)
{
    size_t len = strlen(name);
    return len <= SCRIPT_NAME_MAX && value_env_name(name, len) &&
           !script_is_among(name, reserved, COUNT(reserved));
}

int script_check_session(const char *name, struct err *err)
{
    int64_t number;
    if (value_session_name(name) || value_int(name, 1, INT64_MAX, &number))
        return 0;
    return err_set(err, ERR_USAGE,
                   "'%.64s': no name of a session; letters, digits and _.- make one", name);
}

static int check_time(const char *text, struct err *err)
{
    int64_t ms;
    if (value_ms(text, &ms))
        return 0;
    return err_set(err, ERR_USAGE, "'%.64s': no time; 250ms, 10s, 5m and 1h are some", text);
}

static int check_variable(const char *name, struct err *err)
{
    if (!name)
        return err_set(err, ERR_USAGE,
                       "the name of a variable stands there as it is, without ${…} around it");
    if (script_is_variable(name))
        return 0;
    if (script_is_among(name, reserved, COUNT(reserved)))
        return err_set(err, ERR_USAGE, "'%s': is set by the language; take another name", name);
    return err_set(err, ERR_USAGE,
                   "'%.64s': no name of a variable; letters, digits and _ make one, at most %d",
                   name, SCRIPT_NAME_MAX);
}

static int script_check_check_number(const char *text, int64_t max, const char *what,
                                     struct err *err)
{
    int64_t number;
    if (!text || value_int(text, 0, max, &number))
        return 0;
    return err_set(err, ERR_USAGE, "'%.64s': no %s; give a number from 0 to %lld", text, what,
                   (long long)max);
}

static int check_choice(const char *word, const char *const *words, size_t count, const char *what,
                        struct err *err)
{
    if (script_is_among(word, words, count))
        return 0;
    const char *near = value_nearest(word, words, count);
    return err_set(err, ERR_USAGE, "'%.64s': %s%s%s%s", word, what, near ? "; did you mean '" : "",
                   near ? near : "", near ? "'?" : "");
}

static int check_wait(const char *const *values, size_t count, struct err *err)
{
    const char *what = values[0];
    if (!what)
        return 0;
    if (check_choice(what, waits, COUNT(waits), "what to wait for is ready, exit or quiet", err) <
        0)
        return err->code;
    bool quiet = strcmp(what, "quiet") == 0;
    if (quiet != (count == 2))
        return err_set(err, ERR_USAGE,
                       quiet ? "'quiet': for how long is missing, as in 500ms"
                             : "'%s': nothing stands behind it",
                       what);
    return quiet && values[1] ? check_time(values[1], err) : 0;
}

static int check_secret(const char *const *values, size_t count, struct err *err)
{
    if (count == 0 || !values[0])
        return 0;
    if (check_choice(values[0], sources, COUNT(sources),
                     "a secret comes from-terminal, from-fd N or from-file PATH", err) < 0)
        return err->code;
    bool alone = strcmp(values[0], "from-terminal") == 0;
    if (alone != (count == 1))
        return err_set(err, ERR_USAGE,
                       alone ? "'%s': nothing stands behind it"
                             : "'%s': its number or path is missing",
                       values[0]);
    return count == 2 && strcmp(values[0], "from-fd") == 0
               ? script_check_check_number(values[1], 65535, "descriptor", err)
               : 0;
}

static int check_condition(const char *const *values, size_t count, struct err *err)
{
    bool negated = count == 4;
    if (negated && (!values[0] || strcmp(values[0], "not") != 0))
        return err_set(err, ERR_USAGE,
                       "too many words; a condition is VALUE == VALUE, and 'not' "
                       "may stand in front; quotes make one word of several");
    const char *word = values[negated ? 2 : 1];
    if (!word)
        return err_set(err, ERR_USAGE, "the operator stands there as it is, not in a variable");
    return check_choice(
        word, operators, COUNT(operators),
        "no operator; ==, !=, <, >, <=, >=, contains, starts-with and ends-with are", err);
}

static int script_check_check_signal(const char *text, struct err *err)
{
    int signo;
    if (!text || value_signal(text, &signo))
        return 0;
    const char *near = value_nearest_signal(text);
    return err_set(err, ERR_USAGE, "'%.64s': no signal%s%s%s", text, near ? "; did you mean '" : "",
                   near ? near : "", near ? "'?" : "");
}

int script_check_values(enum script_id id, const char *const *values, size_t count, struct err *err)
{
    const char *first = count > 0 ? values[0] : NULL;
    switch (id) {
    case SCRIPT_START:
        if (first && value_session_name(first))
            return 0;
        return first ? err_set(err, ERR_USAGE,
                               "'%.64s': no name for a session; letters, digits "
                               "and _.- make one, not digits alone",
                               first)
                     : 0;
    case SCRIPT_USE: return first ? script_check_session(first, err) : 0;
    case SCRIPT_KILL: return script_check_check_signal(first, err);
    case SCRIPT_SECRET: return check_secret(values, count, err);
    case SCRIPT_WAIT: return check_wait(values, count, err);
    case SCRIPT_TIMEOUT:
    case SCRIPT_ON_QUIET: return first ? check_time(first, err) : 0;
    case SCRIPT_SET:
    case SCRIPT_EACH:
    case SCRIPT_CAPTURE: return check_variable(first, err);
    case SCRIPT_IF: return check_condition(values, count, err);
    case SCRIPT_REPEAT:
        if (count == 2 && check_variable(values[1], err) < 0)
            return err->code;
        return script_check_check_number(first, SCRIPT_REPEAT_MAX, "count of rounds", err);
    case SCRIPT_EXIT: return script_check_check_number(first, 255, "exit status", err);
    default: return 0;
    }
}

int script_check_option(const char *name, const char *value, struct err *err)
{
    int rows, cols;
    if (strcmp(name, "timeout") == 0)
        return check_time(value, err);
    if (strcmp(name, "size") == 0 && !value_size(value, &rows, &cols))
        return err_set(err, ERR_USAGE, "'%.64s': no size; it is ROWSxCOLS, as 24x80", value);
    const char *equals = strchr(value, '=');
    if (strcmp(name, "env") == 0 && (!equals || !value_env_name(value, (size_t)(equals - value))))
        return err_set(err, ERR_USAGE, "'%.64s': sets no variable; it is NAME=VALUE", value);
    return 0;
}

int script_check_arms(const struct script_node *expect, struct err *err)
{
    size_t of_kind[SCRIPT_ID_COUNT] = {0}, total = 0;
    for (const struct script_node *arm = expect->body; arm; arm = arm->next) {
        total++;
        if (++of_kind[arm->id] > 1 && arm->id != SCRIPT_ON)
            return err_set(err, ERR_USAGE, "'%s': stands twice in this expect",
                           script_rows[arm->id].name);
    }
    if (total > SCRIPT_ARMS_MAX)
        return err_set(err, ERR_TOO_LARGE, "more than %d alternatives in one expect",
                       SCRIPT_ARMS_MAX);
    if (of_kind[SCRIPT_ON] + of_kind[SCRIPT_ON_QUIET] + of_kind[SCRIPT_ON_EXIT] == 0)
        return err_set(err, ERR_USAGE, "this expect waits for nothing; give it an 'on REGEX'");
    return 0;
}
