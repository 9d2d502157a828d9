/* rules: owns what the rules of the config say of a command. */
#include "guard/rules.h"
#include "base/bug.h"
#include "base/mem.h"
#include "guard/shell_runs.h"
#include <stdlib.h>
#include <string.h>

enum rule_decision rule_decision_of(const struct config_rule *rule)
{
    switch ((enum config_decision)rule->decision) {
    case CONFIG_DECISION_ALLOW: return RULE_ALLOW;
    case CONFIG_DECISION_PROMPT: return RULE_PROMPT;
    case CONFIG_DECISION_FORBIDDEN: return RULE_FORBIDDEN;
    }
    BUG("no such decision: %d", rule->decision);
}

const char *rule_decision_word(enum rule_decision decision)
{
    static const char *const words[] = {"none", "allow", "prompt", "forbidden"};
    BUG_UNLESS(decision <= RULE_FORBIDDEN);
    return words[decision];
}

/* Whether word is one of "a|b". */
static bool rule_is_one_of(const char *alternatives, const char *word)
{
    size_t len = strlen(word);
    for (const char *at = alternatives; at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL)
        if (strcspn(at, "|") == len && memcmp(at, word, len) == 0)
            return true;
    return false;
}

bool rule_matches_exactly(const struct config_rule *rule, char *const *words)
{
    const char *first = words[0];
    for (size_t i = 0; first && i < rule->host_executable.count; i++)
        if (strcmp(rule->host_executable.items[i], first) == 0)
            first = shell_base_name(first);
    for (size_t i = 0; i < rule->prefix.count; i++) {
        const char *word = i == 0 ? first : words[i];
        if (!word || !rule_is_one_of(rule->prefix.items[i], word))
            return false;
    }
    return true;
}

/* Whether words go on as the rule does from `next` on. An option of the rule may stand anywhere
 * behind; other options, with or without a value, may stand between its words. budget bounds the
 * ways that are tried. */
static bool rule_goes_on(const struct config_rule *rule, size_t next, char *const *words,
                         int *budget)
{
    if (next == rule->prefix.count)
        return true;
    if (!*words || --*budget < 0)
        return false;
    const char *wanted = rule->prefix.items[next];
    if (*wanted == '-') {
        for (char *const *at = words; *at; at++)
            if (rule_is_one_of(wanted, *at))
                return rule_goes_on(rule, next + 1, words, budget);
        return false;
    }
    if (rule_is_one_of(wanted, *words) && rule_goes_on(rule, next + 1, words + 1, budget))
        return true;
    if (**words != '-')
        return false;
    return rule_goes_on(rule, next, words + 1, budget) ||
           (words[1] && rule_goes_on(rule, next, words + 2, budget));
}

bool rule_matches_widely(const struct config_rule *rule, char *const *words)
{
    int budget = 1000;
    return words[0] && rule_is_one_of(rule->prefix.items[0], shell_base_name(words[0])) &&
           (rule_goes_on(rule, 1, words + 1, &budget) || budget < 0);
}

void rules_open(struct rule_case *judged, char *const *argv)
{
    BUG_UNLESS(argv[0]);
    const char *script = shell_script_of(argv);
    *judged = (struct rule_case){.argv = strv_dup((const char *const *)argv),
                                 .runs = xcalloc(1, sizeof *judged->runs)};
    if (script)
        shell_scan(&judged->script, script);
    judged->has_script = script != NULL;
    shell_runs(judged->runs, argv);
}

void rules_close(struct rule_case *judged)
{
    shell_scan_fini(&judged->script);
    shell_runs_fini(judged->runs);
    free(judged->runs);
    strv_free(judged->argv);
    *judged = (struct rule_case){0};
}

size_t rules_segments(const struct rule_case *judged, const struct shell_command **first)
{
    bool apart = judged->has_script && (judged->script.plain || judged->script.heredoc_only);
    *first = apart ? judged->script.commands : judged->runs->commands;
    return apart ? judged->script.count : 1;
}

static bool is_allowed(const struct config *cfg, const struct shell_command *command,
                       struct rule_match *match)
{
    for (size_t i = 0; i < cfg->nrules; i++)
        if (rule_decision_of(&cfg->rules[i]) == RULE_ALLOW &&
            rule_matches_exactly(&cfg->rules[i], command->words)) {
            *match = (struct rule_match){&cfg->rules[i], command};
            return true;
        }
    return false;
}

bool rules_allows(const struct config *cfg, const struct shell_command *command)
{
    struct rule_match unused;
    return is_allowed(cfg, command, &unused);
}

static bool has_strict(const struct config *cfg)
{
    for (size_t i = 0; i < cfg->nrules; i++)
        if (rule_decision_of(&cfg->rules[i]) > RULE_ALLOW)
            return true;
    return false;
}

/* The strictest rule that the command may break; the longest of several. */
static void judge_strictly(const struct config *cfg, const struct shell_command *command,
                           struct rule_verdict *verdict)
{
    for (size_t i = 0; i < cfg->nrules; i++) {
        const struct config_rule *rule = &cfg->rules[i], *best = verdict->why.rule;
        enum rule_decision decision = rule_decision_of(rule);
        bool stricter = decision > verdict->decision ||
                        (decision == verdict->decision && best &&
                         rule->prefix.count > best->prefix.count);
        if (decision == RULE_ALLOW || !stricter || !rule_matches_widely(rule, command->words))
            continue;
        verdict->decision = decision;
        verdict->why = (struct rule_match){rule, command};
    }
}

void rules_judge(const struct config *cfg, const struct rule_case *judged,
                 struct rule_verdict *verdict)
{
    const struct shell_command *segments;
    size_t count = rules_segments(judged, &segments), allowed = 0;
    *verdict = (struct rule_verdict){0};
    for (size_t i = 0; i < judged->runs->count; i++)
        judge_strictly(cfg, &judged->runs->commands[i], verdict);
    if (judged->runs->overflow && verdict->decision < RULE_FORBIDDEN && has_strict(cfg))
        *verdict = (struct rule_verdict){.decision = RULE_FORBIDDEN, .overflow = true};
    if (verdict->decision != RULE_NONE)
        return;
    while (allowed < count && is_allowed(cfg, &segments[allowed], &verdict->why))
        allowed++;
    if (allowed == count)
        verdict->decision = RULE_ALLOW;
    else
        verdict->why = (struct rule_match){0};
}

size_t rules_matches(const struct config *cfg, const struct rule_case *judged,
                     void (*each)(void *ctx, const struct rule_match *match), void *ctx)
{
    const struct shell_command *segments;
    size_t count = rules_segments(judged, &segments), told = 0;
    for (enum rule_decision decision = RULE_FORBIDDEN; decision > RULE_NONE; decision--)
        for (size_t r = 0; r < cfg->nrules; r++) {
            const struct config_rule *rule = &cfg->rules[r];
            bool strict = decision > RULE_ALLOW;
            const struct shell_command *commands = strict ? judged->runs->commands : segments;
            if (rule_decision_of(rule) != decision)
                continue;
            for (size_t i = 0; i < (strict ? judged->runs->count : count); i++)
                if (strict ? rule_matches_widely(rule, commands[i].words)
                           : rule_matches_exactly(rule, commands[i].words)) {
                    each(ctx, &(struct rule_match){rule, &commands[i]});
                    told++;
                    break;
                }
        }
    return told;
}

static bool example_matches(const struct config_rule *rule, const char *example)
{
    struct shell_scan scan;
    bool matches = false;
    shell_scan(&scan, example);
    for (size_t i = 0; !matches && i < scan.count; i++)
        matches = rule_decision_of(rule) == RULE_ALLOW
                      ? scan.plain && rule_matches_exactly(rule, scan.commands[i].words)
                      : rule_matches_widely(rule, scan.commands[i].words);
    shell_scan_fini(&scan);
    return matches;
}

bool rule_check_examples(const struct config_rule *rule, struct buf *why)
{
    for (size_t i = 0; i < rule->match.count; i++)
        if (!example_matches(rule, rule->match.items[i]))
            return buf_printf(why, "the rule does not match '%s' of 'match'; correct one of them",
                              rule->match.items[i]),
                   false;
    for (size_t i = 0; i < rule->not_match.count; i++)
        if (example_matches(rule, rule->not_match.items[i]))
            return buf_printf(why, "the rule matches '%s' of 'not_match'; correct one of them",
                              rule->not_match.items[i]),
                   false;
    return true;
}

void rules_refusal(const struct rule_case *judged, const struct rule_verdict *verdict,
                   struct buf *out)
{
    const struct config_rule *rule = verdict->why.rule;
    char *shown = strv_quoted(judged->argv);
    BUG_UNLESS(verdict->decision > RULE_ALLOW);
    if (verdict->decision == RULE_PROMPT) {
        buf_append_text(out, "approval required by policy, but AskForApproval is set to Never");
        if (rule->justification)
            buf_printf(out, ": %s", rule->justification);
    } else if (verdict->overflow) {
        buf_printf(out, "`%s` rejected: it runs more commands than the rules look at; run them in "
                        "parts", shown);
    } else if (rule->justification) {
        buf_printf(out, "`%s` rejected: %s", shown, rule->justification);
    } else {
        buf_printf(out, "`%s` rejected: policy forbids commands starting with `", shown);
        for (size_t i = 0; i < rule->prefix.count; i++)
            buf_printf(out, "%s%s", i ? " " : "", rule->prefix.items[i]);
        buf_append_byte(out, '`');
    }
    free(shown);
}
