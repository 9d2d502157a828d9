/* rules: the [rule NAME] sections of the config, and what they say of a command (CODEX.md 16). Pure
 * but for the compiled rules; decisions only, nothing here refuses or starts anything. */
#ifndef MUXD_GUARD_RULES_H
#define MUXD_GUARD_RULES_H
#include "config/config.h"
#include "guard/shell_scan.h"

/* Each is stricter than the one before; the strictest of all rules that match holds. */
enum rule_decision { RULE_NONE, RULE_ALLOW, RULE_PROMPT, RULE_FORBIDDEN };

/* One rule that matches one command. All strings and the rule are borrowed. */
struct rule_match {
    const struct config_rule *rule;
    /* of the command that matched: what a shell wrapper, sudo, env … runs */
    const struct shell_command *command;
};
struct rule_verdict {
    enum rule_decision decision;
    /* why: of the strictest decision, the rule with the most words; rule NULL: none matches, or
     * overflow */
    struct rule_match why;
    /* strict rules can't be checked: the command is more than is looked at. The decision is
     * RULE_FORBIDDEN then */
    bool overflow;
};

/* A command under judgement: argv taken apart, once. */
struct rule_case {
    char **argv; /* owned */
    struct shell_scan script; /* of a shell's script; zeroed: none */
    bool has_script;
    struct shell_runs *runs; /* owned */
};
void rules_open(struct rule_case *judged, char *const *argv); /* argv has at least one word */
void rules_close(struct rule_case *judged);

/* Judges. A plain script is judged command by command, and allowed only when every command is
 * allowed; otherwise the vector as it stands is. Rules that prompt or forbid hold besides for every
 * command that the vector can be seen to run, whatever the path of the program and whatever options
 * stand between the words of the rule. The verdict borrows from judged and cfg. */
void rules_judge(const struct config *cfg, const struct rule_case *judged,
                 struct rule_verdict *verdict);
/* Calls each for every match, strictest first. Returns how many there are. */
size_t rules_matches(const struct config *cfg, const struct rule_case *judged,
                     void (*each)(void *ctx, const struct rule_match *match), void *ctx);

/* The commands that are judged one by one: of a plain script its own, else the vector; borrowed. */
size_t rules_segments(const struct rule_case *judged, const struct shell_command **first);
/* A rule allows this command. */
bool rules_allows(const struct config *cfg, const struct shell_command *command);
enum rule_decision rule_decision_of(const struct config_rule *rule);
const char *rule_decision_word(enum rule_decision decision); /* "none", "allow", … static */
/* Whether the words begin with the rule's prefix, exactly; the first word may be a path that
 * host_executable lists. */
bool rule_matches_exactly(const struct config_rule *rule, char *const *words);
/* Whether they may mean the same: any path, other options in between. */
bool rule_matches_widely(const struct config_rule *rule, char *const *words);
/* Checks a rule's own examples; false and why appended: which one is wrong. */
bool rule_check_examples(const struct config_rule *rule, struct buf *why);
/* The text of a refusal, as Codex words it (CODEX.md 15.5): "`CMD` rejected: …". */
void rules_refusal(const struct rule_case *judged, const struct rule_verdict *verdict,
                   struct buf *out);
#endif
