/* config_table: config.def as data: the words of the enums, the sections, the rows; and finding
 * things in them. */
#include "base/bug.h"
#include "base/log.h"
#include "config/config_row.h"
#include <string.h>

#define WORD(ident, word) word,
static const char *const config_words_log_level[] = {CONFIG_WORDS_LOG_LEVEL(WORD) NULL};
static const char *const config_words_shell_type[] = {CONFIG_WORDS_SHELL_TYPE(WORD) NULL};
static const char *const config_words_endings[] = {CONFIG_WORDS_ENDINGS(WORD) NULL};
static const char *const config_words_decision[] = {CONFIG_WORDS_DECISION(WORD) NULL};
static const char *const config_words_sandbox[] = {CONFIG_WORDS_SANDBOX(WORD) NULL};
static const char *const config_words_policy_sandbox[] = {CONFIG_WORDS_POLICY_SANDBOX(WORD) NULL};
static const char *const config_words_approval[] = {CONFIG_WORDS_APPROVAL(WORD) NULL};
static const char *const config_words_audit[] = {CONFIG_WORDS_AUDIT(WORD) NULL};
static const char *const config_words_on_slow[] = {CONFIG_WORDS_ON_SLOW(WORD) NULL};
static const char *const config_words_leftovers[] = {CONFIG_WORDS_LEFTOVERS(WORD) NULL};
static const char *const config_words_size[] = {CONFIG_WORDS_SIZE(WORD) NULL};
static const char *const config_words_inherit[] = {CONFIG_WORDS_INHERIT(WORD) NULL};
static const char *const config_words_start[] = {CONFIG_WORDS_START(WORD) NULL};
static const char *const config_words_restart[] = {CONFIG_WORDS_RESTART(WORD) NULL};
static const char *const config_words_scripts[] = {
    CONFIG_SCRIPTS_ATTACH, CONFIG_SCRIPTS_KEYBOARD, CONFIG_SCRIPTS_SECRET, CONFIG_SCRIPTS_STEAL,
    NULL};
static const char *const config_words_ask[] = {"terminal", CONFIG_ASK_ELICITATION, NULL};
static const char *const config_words_dash[] = {"-", NULL};
static const char *const config_words_clipboard[] = {"print", "terminal", NULL};
/* The keys that the client takes (client/attach/prefix.c): every control character but Tab,
 * Enter and Escape. */
static const char *const config_words_prefix[] = {
    "C-\\", "C-a", "C-b", "C-c", "C-d", "C-e", "C-f", "C-g", "C-h", "C-j",
    "C-k",  "C-l", "C-n", "C-o", "C-p", "C-q", "C-r", "C-s", "C-t", "C-u",
    "C-v",  "C-w", "C-x", "C-y", "C-z", "C-]", "C-^", "C-_", NULL};
#undef WORD

/* The words must be in the order of log.h's levels: the log gets cfg->muxd.log_level as it is. */
#define WORD(ident, word) LEVEL_##ident,
enum { CONFIG_WORDS_LOG_LEVEL(WORD) };
#undef WORD
#define WORD(ident, word)                                                                          \
    _Static_assert((int)LEVEL_##ident == (int)LOG_##ident, "order of the log levels");
CONFIG_WORDS_LOG_LEVEL(WORD)
#undef WORD

const struct config_section config_sections[CONFIG_SECTION_COUNT] = {
#define CONFIG_SECTION(ident, ...) [CONFIG_SECTION_##ident] = {.name = #ident, __VA_ARGS__},
#include "config/config.def"
};

#define OFFSET_muxd(member) offsetof(struct config, muxd.member)
#define OFFSET_defaults(member) offsetof(struct config, defaults.member)
#define OFFSET_env(member) offsetof(struct config, env.member)
#define OFFSET_env_policy(member) offsetof(struct config, env_policy.member)
#define OFFSET_limits(member) offsetof(struct config, limits.member)
#define OFFSET_tools(member) offsetof(struct config, tools.member)
#define OFFSET_attach(member) offsetof(struct config, attach.member)
#define OFFSET_audit(member) offsetof(struct config, audit.member)
#define OFFSET_session(member) offsetof(struct config_session, member)
#define OFFSET_hook(member) offsetof(struct config_hook, member)
#define OFFSET_rule(member) offsetof(struct config_rule, member)
#define OFFSET_policy(member) offsetof(struct config_policy, member)

const struct config_row config_rows[CONFIG_ROW_COUNT] = {
#define CONFIG_ROW(sect, ident, kind, ...) \
    [CONFIG_ROW_##sect##_##ident] = {.section = #sect, .key = #ident, .type = CONFIG_##kind, \
                                     .offset = OFFSET_##sect(CONFIG_M_##kind(ident)), __VA_ARGS__},
#include "config/config.def"
};

void config_section_rows(const char *section, size_t *first, size_t *end)
{
    size_t i = 0;
    while (i < CONFIG_ROW_COUNT && strcmp(config_rows[i].section, section) != 0)
        i++;
    *first = i;
    while (i < CONFIG_ROW_COUNT && strcmp(config_rows[i].section, section) == 0)
        i++;
    *end = i;
}

const struct config_section *config_section_find(const char *name, size_t len)
{
    for (size_t i = 0; i < CONFIG_SECTION_COUNT; i++)
        if (strlen(config_sections[i].name) == len &&
            memcmp(config_sections[i].name, name, len) == 0)
            return &config_sections[i];
    return NULL;
}

const char *config_attach_key(const struct config *cfg)
{
    BUG_UNLESS(cfg->attach.key >= 0 &&
               (size_t)cfg->attach.key < sizeof config_words_prefix / sizeof(char *) - 1);
    return config_words_prefix[cfg->attach.key];
}

bool config_row_is_named(const struct config_row *row)
{
    const struct config_section *section = config_section_find(row->section, strlen(row->section));
    BUG_UNLESS(section);
    return section->named;
}
