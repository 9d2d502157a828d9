/* policy: what an approval policy makes of a command that the rules don't decide alone (CODEX.md
 * 15), and the words for it. Pure; nothing here asks or starts anything. */
#ifndef MUXD_GUARD_POLICY_H
#define MUXD_GUARD_POLICY_H
#include "confine/confine.h"
#include "guard/rules.h"

enum policy_answer { POLICY_RUN, POLICY_ASK, POLICY_REFUSE };
struct policy_verdict {
    enum policy_answer answer;
    struct rule_verdict rules;
    bool safe;      /* every command of it that no rule allows is known to be safe */
    bool dangerous; /* one that no rule allows is known to be dangerous */
    /* the first command that asks; NULL: none, or a rule asks. Borrowed from the case */
    const struct shell_command *asking;
};
/* policy NULL or off: the rules alone decide, and nothing asks. confined: a sandbox holds it.
 * escalated: the call asks to run without one. The verdict borrows from judged and cfg. */
void policy_decide(const struct config *cfg, const struct config_policy *policy,
                   const struct rule_case *judged, bool confined, bool escalated,
                   struct policy_verdict *verdict);
/* The text of a refusal, or of a question (CODEX.md 15.5); shown: the whole command in words. */
void policy_words(const struct config_policy *policy, const struct rule_case *judged,
                  const struct policy_verdict *verdict, const char *shown, struct buf *out);
/* The policy is there, and not off. */
bool policy_is_on(const struct config_policy *policy);
/* A person may be asked under it at all. */
bool policy_asks(const struct config_policy *policy);
/* A call may ask to run without its sandbox (CODEX.md 4.9). */
bool policy_lets_escalate(const struct config_policy *policy);
/* A person is asked whether a command that its sandbox has refused something may run without
 * (CODEX.md 15.4). */
bool policy_retries(const struct config_policy *policy);
/* What commands may do under it without an approval; policy NULL: everything. */
enum confine_mode policy_sandbox(const struct config_policy *policy);
/* A call may ask for more than its sandbox allows: there is one, and a person may be asked. */
bool policy_lets_add(const struct config_policy *policy);
/* As Codex's texts name it: "Never", "OnRequest" … */
void policy_name(const struct config_policy *policy, struct buf *out);

/* The words by which a yes for this session is found again: those of a shell's one plain command,
 * else the script with its shell's flag (CODEX.md 15.7). A strv, the caller's. */
char **policy_canonical(const struct rule_case *judged);
/* No rule may allow all that begins with these words alone: interpreters, shells, git, rm … */
bool policy_is_banned_prefix(char *const *words);
/* The prefix to offer for a rule that allows (CODEX.md 15.8): wish (may be NULL) where it will do,
 * else the first command that asks; a strv, the caller's. NULL: there is none to offer. */
char **policy_offer(const struct config *cfg, const struct rule_case *judged,
                    const struct policy_verdict *verdict, char *const *wish);
#endif
