/* config: what muxd.ini says, as typed values. The structs are made from config.def:
 * cfg->limits.max_sessions, cfg->limits.keep_ended_ms, cfg->limits.journal_bytes (times end in _ms,
 * sizes in _bytes). A loaded config never changes; a reload makes a new one. Owns the file's
 * meaning; how its lines are read is ini_lines' business. */
#ifndef MUXD_CONFIG_CONFIG_H
#define MUXD_CONFIG_CONFIG_H
#include "base/buf.h"
#include "base/err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONFIG_MAX_FILE (1u << 20)  /* bytes of a file */
#define CONFIG_MAX_SESSIONS 1024    /* [session NAME] sections of a file */
#define CONFIG_MAX_HOOKS 64         /* [hook NAME] sections of a file */
#define CONFIG_MAX_RULES 512        /* [rule NAME] sections of a file */
#define CONFIG_MAX_POLICIES 64      /* [policy] and [policy NAME] sections of a file */
#define CONFIG_MAX_VARS 1024        /* variables of one section */

/* Words of the ENUM keys: one list makes the C enum and the spelling in the file. LOG levels are
 * those of base/log.h. */
#define CONFIG_WORDS_LOG_LEVEL(W)                                                                  \
    W(ERROR, "error") W(WARN, "warn") W(INFO, "info") W(DEBUG, "debug")
#define CONFIG_WORDS_ON_SLOW(W) W(DROP, "drop") W(PAUSE, "pause")
#define CONFIG_WORDS_LEFTOVERS(W) W(KEEP, "keep") W(END, "end")
#define CONFIG_WORDS_SIZE(W)                                                                       \
    W(LEADER, "leader") W(SMALLEST, "smallest") W(LARGEST, "largest") W(FIXED, "fixed")
#define CONFIG_WORDS_INHERIT(W) W(ALL, "all") W(CORE, "core") W(NONE, "none")
#define CONFIG_WORDS_START(W) W(BOOT, "boot") W(DEMAND, "demand") W(MANUAL, "manual")
#define CONFIG_WORDS_RESTART(W) W(NEVER, "never") W(ON_FAILURE, "on-failure") W(ALWAYS, "always")
#define CONFIG_WORDS_SHELL_TYPE(W)                                                                 \
    W(UNIFIED_EXEC, "unified_exec")                                                                \
    W(SHELL_COMMAND, "shell_command") W(DEFAULT, "default") W(DISABLED, "disabled")
#define CONFIG_WORDS_SANDBOX(W) /* as enum confine_mode */ \
    W(FULL_ACCESS, "full-access")                                                                  \
    W(READ_ONLY, "read-only") W(WORKSPACE_WRITE, "workspace-write")
#define CONFIG_WORDS_POLICY_SANDBOX(W)                                                             \
    W(DEFAULT, "default") W(FULL_ACCESS, "full-access")                                            \
    W(READ_ONLY, "read-only") W(WORKSPACE_WRITE, "workspace-write")
#define CONFIG_WORDS_DECISION(W)                                                                   \
    W(ALLOW, "allow") W(PROMPT, "prompt") W(FORBIDDEN, "forbidden")
#define CONFIG_WORDS_APPROVAL(W)                                                                   \
    W(OFF, "off") W(NEVER, "never") W(ON_REQUEST, "on-request")                                    \
    W(UNTRUSTED, "untrusted") W(GRANULAR, "granular")
#define CONFIG_WORDS_AUDIT(W) W(DECISIONS, "decisions") W(ALL, "all") W(OFF, "off")
#define CONFIG_ASK_ELICITATION "elicitation" /* of [policy] ask */
/* [defaults] scripts_may */
#define CONFIG_SCRIPTS_ATTACH "attach"
#define CONFIG_SCRIPTS_KEYBOARD "keyboard"
#define CONFIG_SCRIPTS_SECRET "secret"
#define CONFIG_SCRIPTS_STEAL "steal"
/* as enum patch_endings */
#define CONFIG_WORDS_ENDINGS(W) \
    W(PRESERVE, "preserve") W(CODEX, "codex") W(EXACT, "exact") W(LF, "lf")
#define CONFIG_W(ident, word) CONFIG_SHELL_TYPE_##ident,
enum config_shell_type { CONFIG_WORDS_SHELL_TYPE(CONFIG_W) };
#undef CONFIG_W
#define CONFIG_W(ident, word) CONFIG_ENDINGS_##ident,
enum config_endings { CONFIG_WORDS_ENDINGS(CONFIG_W) };
#undef CONFIG_W
#define CONFIG_W(ident, word) CONFIG_ON_SLOW_##ident,
enum config_on_slow { CONFIG_WORDS_ON_SLOW(CONFIG_W) };
#undef CONFIG_W
#define CONFIG_W(ident, word) CONFIG_LEFTOVERS_##ident,
enum config_leftovers { CONFIG_WORDS_LEFTOVERS(CONFIG_W) };
#undef CONFIG_W
#define CONFIG_W(ident, word) CONFIG_SIZE_##ident,
enum config_size { CONFIG_WORDS_SIZE(CONFIG_W) };
#undef CONFIG_W
#define CONFIG_W(ident, word) CONFIG_APPROVAL_##ident,
enum config_approval { CONFIG_WORDS_APPROVAL(CONFIG_W) };
#undef CONFIG_W
#define CONFIG_W(ident, word) CONFIG_SANDBOX_##ident,
enum config_sandbox { CONFIG_WORDS_SANDBOX(CONFIG_W) };
#undef CONFIG_W
#define CONFIG_W(ident, word) CONFIG_POLICY_SANDBOX_##ident,
enum config_policy_sandbox { CONFIG_WORDS_POLICY_SANDBOX(CONFIG_W) };
#undef CONFIG_W
#define CONFIG_W(ident, word) CONFIG_AUDIT_##ident,
enum config_audit_what { CONFIG_WORDS_AUDIT(CONFIG_W) };
#undef CONFIG_W
#define CONFIG_W(ident, word) CONFIG_DECISION_##ident,
enum config_decision { CONFIG_WORDS_DECISION(CONFIG_W) };
#undef CONFIG_W
#define CONFIG_W(ident, word) CONFIG_INHERIT_##ident,
enum config_inherit { CONFIG_WORDS_INHERIT(CONFIG_W) };
#undef CONFIG_W
#define CONFIG_W(ident, word) CONFIG_START_##ident,
enum config_start { CONFIG_WORDS_START(CONFIG_W) };
#undef CONFIG_W
#define CONFIG_W(ident, word) CONFIG_RESTART_##ident,
enum config_restart { CONFIG_WORDS_RESTART(CONFIG_W) };
#undef CONFIG_W

struct config_words {
    char **items; /* NULL-terminated, fit for execv(3); NULL while count is 0 */
    size_t count;
};
struct config_var {
    char *name, *value;
    int line; /* 0: built in */
};
struct config_vars {
    struct config_var *items;
    size_t count;
};
struct config_typed {
    char *data; /* may hold NUL bytes; NULL while size is 0 */
    size_t size;
};

/* The C type and the member's name of each type of config.def. TEXT and PATH are NULL when they
 * have no value. */
#define CONFIG_C_INT int
#define CONFIG_C_BOOL bool
#define CONFIG_C_BYTES int64_t
#define CONFIG_C_MS int64_t
#define CONFIG_C_ENUM int
#define CONFIG_C_TEXT char *
#define CONFIG_C_PATH char *
#define CONFIG_C_WORDS struct config_words
#define CONFIG_C_GLOBS struct config_words
#define CONFIG_C_ARGV struct config_words
#define CONFIG_C_TYPED struct config_typed
#define CONFIG_C_VARS struct config_vars
#define CONFIG_M_INT(key) key
#define CONFIG_M_BOOL(key) key
#define CONFIG_M_BYTES(key) key##_bytes
#define CONFIG_M_MS(key) key##_ms
#define CONFIG_M_ENUM(key) key
#define CONFIG_M_TEXT(key) key
#define CONFIG_M_PATH(key) key
#define CONFIG_M_WORDS(key) key
#define CONFIG_M_GLOBS(key) key
#define CONFIG_M_ARGV(key) key
#define CONFIG_M_TYPED(key) key
#define CONFIG_M_VARS(key) key
#define CONFIG_MEMBER(key, type) CONFIG_C_##type CONFIG_M_##type(key);

/* The index of each row in config_rows. */
enum config_row_id {
#define CONFIG_ROW(section, key, type, ...) CONFIG_ROW_##section##_##key,
#include "config/config.def"
    CONFIG_ROW_COUNT
};

struct config_muxd {
#define CONFIG_MUXD(key, type, ...) CONFIG_MEMBER(key, type)
#include "config/config.def"
};
struct config_defaults {
#define CONFIG_DEFAULTS(key, type, ...) CONFIG_MEMBER(key, type)
#include "config/config.def"
};
struct config_env {
#define CONFIG_ENV(key, type, ...) CONFIG_MEMBER(key, type)
#include "config/config.def"
};
struct config_env_policy {
#define CONFIG_ENV_POLICY(key, type, ...) CONFIG_MEMBER(key, type)
#include "config/config.def"
};
struct config_limits {
#define CONFIG_LIMITS(key, type, ...) CONFIG_MEMBER(key, type)
#include "config/config.def"
};
struct config_attach {
#define CONFIG_ATTACH(key, type, ...) CONFIG_MEMBER(key, type)
#include "config/config.def"
};
struct config_audit {
#define CONFIG_AUDIT(key, type, ...) CONFIG_MEMBER(key, type)
#include "config/config.def"
};
struct config_tools {
#define CONFIG_TOOLS(key, type, ...) CONFIG_MEMBER(key, type)
#include "config/config.def"
};
/* What the struct of every [SECTION NAME] begins with. */
#define CONFIG_NAMED_MEMBERS                                                                       \
    char *name;                                                                                    \
    int line;                    /* of its heading */                                              \
    int lines[CONFIG_ROW_COUNT]; /* where each value stands; 0: not in this section */             \
    bool beside;                 /* in the rules file beside the config */
struct config_named {
    CONFIG_NAMED_MEMBERS
};
#define CONFIG_NAMED                                                                               \
    union {                                                                                        \
        struct config_named named;                                                                 \
        struct {                                                                                   \
            CONFIG_NAMED_MEMBERS                                                                   \
        };                                                                                         \
    };
/* A [session NAME]. Every value is the effective one: a key that the section doesn't have was taken
 * from [defaults] or [limits]. */
struct config_session {
    CONFIG_NAMED
#define CONFIG_SESSION(key, type, ...) CONFIG_MEMBER(key, type)
#include "config/config.def"
};

/* A [hook NAME]. */
struct config_hook {
    CONFIG_NAMED
    uint32_t types; /* of `on`: bits as EVENT_BIT makes them (wire/event.h) */
#define CONFIG_HOOK(key, type, ...) CONFIG_MEMBER(key, type)
#include "config/config.def"
};

/* A [rule NAME]. */
struct config_rule {
    CONFIG_NAMED
#define CONFIG_RULE(key, type, ...) CONFIG_MEMBER(key, type)
#include "config/config.def"
};

/* [policy] (its name is "") or a [policy NAME]. */
struct config_policy {
    CONFIG_NAMED
#define CONFIG_POLICY(key, type, ...) CONFIG_MEMBER(key, type)
#include "config/config.def"
};

struct config {
    char *path;                  /* NULL: built-in defaults */
    /* the file was in force and can't be read any more: the defaults stand in, but for what the
     * file may have refused. Nothing is started */
    bool lost;
    /* the file as it was read: config_parse makes the same config of it; NULL: built-in defaults */
    char *text;
    size_t text_size;
    int lines[CONFIG_ROW_COUNT]; /* where each value stands; 0: default */
    struct config_muxd muxd;
    struct config_defaults defaults;
    /* env.vars: what the tools' sessions get (CODEX.md 11.4 when the file has no [env]) */
    struct config_env env;
    struct config_env_policy env_policy;
    struct config_limits limits;
    struct config_tools tools;
    struct config_attach attach;
    struct config_audit audit;
    struct config_session *sessions; /* in the file's order */
    size_t nsessions;
    struct config_hook *hooks; /* in the file's order */
    size_t nhooks;
    struct config_rule *rules; /* in the file's order; those of the rules file come last */
    size_t nrules;
    struct config_policy *policies; /* in the file's order */
    size_t npolicies;
    char *rules_path; /* the rules file beside path, which may be missing; NULL: no path */
    char *rules_text; /* that file as it was read; NULL: there is none */
    size_t rules_text_size;
};

/* Reads path, a regular file of at most CONFIG_MAX_FILE bytes (or /dev/null); path NULL: the
 * built-in defaults, which can't fail. The config is the caller's. NULL and err: ERR_CONFIG, or
 * ERR_SYSTEM when the file can't be read; err->text begins with "PATH:LINE: " where a line is to
 * blame. */
struct config *config_load(const char *path, struct err *err);
/* The same for text in memory; name stands in for the path. */
struct config *config_parse(const char *name, const char *data, size_t size, struct err *err);
struct config *config_default(void);
/* The config as bytes, and back: it outlives a worker in this form. */
void config_image(const struct config *cfg, struct buf *out);
struct config *config_from_image(const char *name, const char *data, size_t size, struct err *err);
/* "DIR/muxd.rules" for "DIR/muxd.ini": the file of [rule NAME] sections that is read with it; the
 * caller's. */
char *config_rules_path(const char *path);
/* Whether commands may be started under it. ERR_CONFIG: it is lost; the text says what to do. */
int config_check_lost(const struct config *cfg, struct err *err);
/* The file in which the rule stands; borrowed. */
const char *config_rule_path(const struct config *cfg, const struct config_rule *rule);
/* The [policy NAME], [policy] for "", borrowed from cfg; NULL: none. */
const struct config_policy *config_policy_find(const struct config *cfg, const char *name);
/* The limits of what starts under policy (NULL: none): *out is [limits], and of those of one
 * session the stricter of both. It borrows nothing. */
void config_bounds(const struct config *cfg, const struct config_policy *policy,
                   struct config_limits *out);
/* The policy sets one of them. */
bool config_policy_bounds(const struct config_policy *policy);
/* Calls each for every limit of one session that is set, value as it is written in a file. */
void config_bounds_each(const struct config_limits *limits,
                        void (*each)(void *arg, const char *key, const char *value), void *arg);
void config_free(struct config *cfg); /* NULL is fine */

/* The configured session of that name, borrowed from cfg; NULL: none. */
const struct config_session *config_session_find(const struct config *cfg, const char *name);

/* [attach] key as it is spelled, "C-a". */
const char *config_attach_key(const struct config *cfg);

/* One effective value. All strings are borrowed for the length of the call. */
struct config_item {
    const char *section; /* "limits" */
    const char *name;    /* the session's name, else NULL */
    const char *key;     /* "max_sessions", "env.EDITOR" */
    const char *value;   /* as it would be written in a file */
    int line;            /* in cfg->path; 0: default */
    bool beside;         /* in cfg->rules_path */
};
/* Calls each for every value in the table's order, then session by session. section: only for those
 * of sections of that name; NULL: of all. */
void config_each(const struct config *cfg, const char *section,
                 void (*each)(void *ctx, const struct config_item *item), void *ctx);
/* 0, or ERR_ARGUMENTS: no section has that name; the text names the nearest, or all. */
int config_check_section(const char *section, struct err *err);
/* For `ue config`: one line a value, "ORIGIN<tab>[section] key = value", ORIGIN being "default" or
 * FILE:LINE. */
bool config_print(struct buf *out, const struct config *cfg, const char *section);

/* What a reload brings. key NULL: the session `name` was added (old NULL) or removed (new NULL). */
enum config_reload { CONFIG_NOW, CONFIG_NEW_SESSIONS, CONFIG_RESTART };
struct config_change {
    const char *section, *name, *key;
    const char *old_value, *new_value; /* NULL: there was none, there is none now */
    enum config_reload reload;         /* when it takes effect */
};
/* Calls change (may be NULL) for each difference and returns how many there are. Line numbers and
 * paths don't count. */
size_t config_diff(const struct config *old_cfg, const struct config *new_cfg,
                   void (*change)(void *ctx, const struct config_change *change), void *ctx);

/* For `make gen`: conf/muxd.ini, every key commented out; and the page muxd.ini(5) in roff
 * (man(7)). False: out is full. */
bool config_sample(struct buf *out);
bool config_man(struct buf *out);
/* Writes both as dir/conf/muxd.ini and dir/conf/muxd.ini.5. 0, or ERR_SYSTEM with err. */
int config_gen(const char *dir, struct err *err);
#endif
