/* rules_write: owns how a rule is written, and that the config reads it back as it was. */
#include "guard/rules_write.h"
#include "guard/rules.h"
#include <string.h>

static void write_quoted(struct buf *out, const char *key, const struct strv *words)
{
    if (words->count == 0)
        return;
    buf_printf(out, "%s =", key);
    for (size_t i = 0; i < words->count; i++) {
        buf_append_text(out, " \"");
        for (const char *at = words->items[i]; *at; at++) {
            if (*at == '"' || *at == '\\')
                buf_append_byte(out, '\\');
            buf_append_byte(out, *at);
        }
        buf_append_byte(out, '"');
    }
    buf_append_byte(out, '\n');
}

static void write_section(struct buf *out, const struct import_rule *rule, const struct strv *paths)
{
    buf_printf(out, "\n[rule imported-%d]\n", rule->line);
    write_quoted(out, "prefix", &rule->prefix);
    buf_printf(out, "decision = %s\n", rule->decision ? rule->decision : "allow");
    if (rule->justification)
        buf_printf(out, "justification = %s\n", rule->justification);
    write_quoted(out, "match", &rule->match);
    write_quoted(out, "not_match", &rule->not_match);
    for (size_t i = 0; i < paths->count; i++)
        buf_printf(out, "%s%s%s", i == 0 ? "host_executable = " : " ", paths->items[i],
                   i + 1 == paths->count ? "\n" : "");
}

static bool write_is_same(const struct import_rule *rule, const struct strv *paths,
                          const struct config_rule *read)
{
    const char *before = rule->justification ? rule->justification : "",
               *after = read->justification ? read->justification : "";
    return strcmp(before, after) == 0 && read->prefix.count == rule->prefix.count &&
           read->host_executable.count == paths->count;
}

bool rules_write(const struct import_rule *rule, const struct strv *paths, struct buf *out,
                 struct buf *why)
{
    struct buf section = BUF_INIT;
    struct err err;
    write_section(&section, rule, paths);
    struct config *cfg = config_parse("its section", section.data, section.len, &err);
    bool taken = false;
    if (!cfg)
        buf_append_text(why, err.text);
    else if (cfg->nrules != 1 || !write_is_same(rule, paths, &cfg->rules[0]))
        buf_append_text(why, "muxd.ini has no way to say its texts as they are");
    else
        taken = rule_check_examples(&cfg->rules[0], why);
    if (taken)
        buf_append(out, section.data, section.len);
    config_free(cfg);
    buf_fini(&section);
    return taken;
}
