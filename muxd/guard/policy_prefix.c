/* policy_prefix: owns the words by which a yes is remembered: for a session, and as a rule. */
#include "base/strv.h"
#include "base/utf8.h"
#include "guard/policy.h"
#include "guard/shell_runs.h"
#include <stdlib.h>
#include <string.h>

char **policy_canonical(const struct rule_case *judged)
{
    struct strv words = {0};
    const char *script = shell_script_of(judged->argv);
    if (!script)
        return strv_dup((const char *const *)judged->argv);
    if (judged->script.plain && judged->script.count == 1)
        return strv_dup((const char *const *)judged->script.commands[0].words);
    strv_add(&words, "__codex_shell_script__");
    strv_add(&words, judged->argv[1]);
    strv_add(&words, script);
    return strv_take(&words);
}

bool policy_is_banned_prefix(char *const *words)
{
    /* the program, and with which second words it is banned, too; alone it always is */
    static const struct { const char *name, *second; bool alone;
    } banned[] = {
        {"bash", "-c -lc", true}, {"sh", "-c -lc", true}, {"zsh", "-c -lc", true},
        {"dash", "-c -lc", true}, {"ksh", "-c -lc", true}, {"fish", "-c -lc", true},
        {"env", "", true}, {"git", "", true}, {"rm", "", true}, {"sudo", "", true},
        {"cmd", "/c /k", true}, {"cmd.exe", "/c /k", true},
        {"powershell", "-Command -c -EncodedCommand -File", true},
        {"powershell.exe", "-Command -c -EncodedCommand -File", true},
        {"pwsh", "-Command -c -EncodedCommand -File -e -ec -f", true},
        {"python", "- -c", true}, {"python3", "- -c", true}, {"py", "-3", true},
        {"pyw", "", true}, {"pythonw", "", true}, {"pypy", "", true}, {"pypy3", "", true},
        {"node", "-e", true}, {"nodejs", "-e", true}, {"perl", "-e", true}, {"ruby", "-e", true},
        {"lua", "-e", true}, {"julia", "-e", true}, {"php", "-r", true}, {"Rscript", "", true},
        {"osascript", "", true}, {"deno", "eval", true}, {"bun", "-e run", true},
        {"npm", "run", false}, {"pnpm", "run", false}, {"yarn", "run", false},
    };
    const char *name = shell_base_name(words[0]);
    if (words[1] && words[2])
        return false;
    for (size_t i = 0; i < sizeof banned / sizeof *banned; i++) {
        if (strcmp(banned[i].name, name) != 0)
            continue;
        if (!words[1])
            return banned[i].alone;
        for (const char *at = banned[i].second; *at; at += strspn(at, " ")) {
            size_t len = strcspn(at, " ");
            if (strlen(words[1]) == len && memcmp(at, words[1], len) == 0)
                return true;
            at += len;
        }
    }
    return false;
}

/* With a rule for this prefix every command would be allowed. */
static bool covers_all(const struct config *cfg, const struct rule_case *judged, char *const *wish)
{
    const struct shell_command *commands;
    size_t count = rules_segments(judged, &commands);
    for (size_t i = 0; i < count; i++) {
        size_t w = 0;
        while (wish[w] && commands[i].words[w] && strcmp(wish[w], commands[i].words[w]) == 0)
            w++;
        if (wish[w] && !rules_allows(cfg, &commands[i]))
            return false;
    }
    return true;
}

/* The words of a rule stand in one line of an ini file, | parts alternatives there, and a person
 * has to see them as they are. */
static bool can_be_written(char *const *words)
{
    size_t bytes = 0;
    bool can = true;
    for (; can && *words; words++) {
        struct buf shown = BUF_INIT;
        utf8_append_escaped(&shown, *words, strlen(*words), false);
        bytes += 2 * strlen(*words) + 3;
        can = **words && bytes <= 2000 && !strchr(*words, '|') && strcmp(shown.data, *words) == 0;
        buf_fini(&shown);
    }
    return can;
}

static void count_match(void *ctx, const struct rule_match *match)
{
    (void)match;
    ++*(size_t *)ctx;
}

char **policy_offer(const struct config *cfg, const struct rule_case *judged,
                    const struct policy_verdict *verdict, char *const *wish)
{
    size_t matches = 0;
    bool plain = !judged->has_script || judged->script.plain;
    if (!plain || !verdict->asking || verdict->rules.decision == RULE_PROMPT)
        return NULL;
    rules_matches(cfg, judged, count_match, &matches);
    char *const *words = wish && wish[0] && !policy_is_banned_prefix(wish) && matches == 0 &&
                                 covers_all(cfg, judged, wish)
                             ? wish
                             : verdict->asking->words;
    if (policy_is_banned_prefix(words) || !can_be_written(words))
        return NULL;
    return strv_dup((const char *const *)words);
}
