/* gate: owns the refusal of commands by rules. */
#include "cmd/gate.h"
#include "base/log.h"
#include "guard/rules.h"

int gate_command(const struct config *cfg, char *const *argv, struct err *err)
{
    struct rule_case judged;
    struct rule_verdict verdict;
    int result = 0;
    if (cfg->nrules == 0 || !argv[0])
        return 0;
    rules_open(&judged, argv);
    rules_judge(cfg, &judged, &verdict);
    if (verdict.decision > RULE_ALLOW) {
        struct buf text = BUF_INIT;
        rules_refusal(&judged, &verdict, &text);
        result = err_set(err, ERR_DENIED, "%s", text.data);
        log_info("refused by %s%s: %s", verdict.why.rule ? "rule " : "its size",
                 verdict.why.rule ? verdict.why.rule->name : "", text.data);
        buf_fini(&text);
    }
    rules_close(&judged);
    return result;
}
