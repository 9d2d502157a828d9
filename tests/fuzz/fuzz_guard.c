/* Any text as a shell script that rules judge, and as a rules file of Codex. */
#include "config/config.h"
#include "guard/rules.h"
#include "guard/rules_import.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char rules[] = "[rule a]\nprefix = git push|pull\ndecision = forbidden\n"
                            "[rule b]\nprefix = rm -rf\ndecision = prompt\n[rule c]\nprefix = echo\n";

static void judge(const struct config *cfg, const char *script)
{
    char sh[] = "sh", dash_c[] = "-c", *text = strdup(script);
    char *const argv[] = {sh, dash_c, text, NULL};
    struct rule_case judged;
    struct rule_verdict verdict;
    rules_open(&judged, argv);
    rules_judge(cfg, &judged, &verdict);
    if (judged.script.plain && (judged.script.why != NULL || judged.script.count == 0))
        abort();
    if ((verdict.decision == RULE_NONE || verdict.overflow) != (verdict.why.rule == NULL))
        abort();
    rules_close(&judged);
    free(text);
}

static void refused(void *arg, int line, const char *why)
{
    if (arg || line < 1 || !*why)
        abort();
}

static void import(const char *text)
{
    struct buf out = BUF_INIT;
    struct err err = {0};
    rules_import("x", text, &out, refused, NULL);
    struct config *cfg = config_parse("x", out.data, out.len, &err);
    config_free(cfg); /* a line may be too long, or name a path that does not fit */
    buf_fini(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct config *cfg;
    char *text = malloc(size + 1);
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    if (!cfg)
        cfg = config_parse("m.ini", rules, sizeof rules - 1, NULL);
    judge(cfg, text);
    import(text);
    free(text);
    return 0;
}
