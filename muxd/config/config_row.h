/* config_row: config.def as a table, and the operations on one value of any type. For this room
 * only. */
#ifndef MUXD_CONFIG_CONFIG_ROW_H
#define MUXD_CONFIG_CONFIG_ROW_H
#include "config/config.h"

enum config_type {
    CONFIG_INT,
    CONFIG_BOOL,
    CONFIG_BYTES,
    CONFIG_MS,
    CONFIG_ENUM,
    CONFIG_TEXT,
    CONFIG_PATH,
    CONFIG_WORDS,
    CONFIG_GLOBS,
    CONFIG_ARGV,
    CONFIG_TYPED,
    CONFIG_VARS,
};

struct config_row {
    const char *section, *key;
    enum config_type type;
    size_t offset; /* in struct config; of a [SECTION NAME] in its own struct */
    const char *fallback;
    int64_t min, max;
    /* NULL-terminated: of an ENUM all, of WORDS those allowed (NULL: any), of a PATH those allowed
     * besides paths */
    const char *const *words;
    const char *prefix;       /* of VARS: before the variable's name */
    const char *sample;
    enum config_row_id from; /* 0: none (row 0 is no source) */
    enum config_reload reload;
    const char *help;
};
extern const struct config_row config_rows[CONFIG_ROW_COUNT];

struct config_section {
    const char *name;
    bool named;    /* [name NAME] */
    bool optional; /* [name], too, which is a section of its own */
    bool refused; /* known, but its keys are not available yet */
    const char *help;
};
enum config_section_id {
#define CONFIG_SECTION(ident, ...) CONFIG_SECTION_##ident,
#include "config/config.def"
    CONFIG_SECTION_COUNT
};
extern const struct config_section config_sections[CONFIG_SECTION_COUNT];

/* base: the struct config, config_session, config_hook or config_rule that holds the row's
 * value. */

/* Parses text into the value, which it replaces; false and "what is wrong; allowed: …" appended
 * to why. Not for VARS. */
bool config_row_set(const struct config_row *row, void *base, const char *text, struct buf *why);
/* Appends the value as it would be written in a file. Not for VARS. */
void config_row_format(const struct config_row *row, const void *base, struct buf *out);
/* Appends the values that are allowed: "1 to 1000", "drop or pause". */
void config_row_allowed(const struct config_row *row, struct buf *out);
void config_row_fini(const struct config_row *row, void *base);
/* Appends a variable; false and why: the name is wrong, there already or one too many. */
bool config_row_add_var(struct config_vars *vars, const char *name, const char *value, int line,
                        struct buf *why);
/* Puts in the default. */
void config_row_reset(const struct config_row *row, void *base);

/* When a change takes effect: a sentence with a blank in front, or "". */
const char *config_reload_note(enum config_reload reload);

/* The rows of a section: first and one past the last. */
void config_section_rows(const char *section, size_t *first, size_t *end);
/* NULL when unknown. */
const struct config_section *config_section_find(const char *name, size_t len);

/* Each [SECTION NAME] has a struct of its own for the row's value. */
bool config_row_is_named(const struct config_row *row);

/* config_named.c: the sections with names, a kind each. Their structs begin with a config_named. */
struct config_kind {
    enum config_section_id section;
    size_t items, count; /* where in struct config their array and its size are */
    size_t size, max;    /* of one struct; how many there may be */
};
#define CONFIG_KINDS 4
extern const struct config_kind config_kinds[CONFIG_KINDS];
const struct config_kind *config_kind_of(const struct config_section *section);
size_t config_kind_count(const struct config_kind *kind, const struct config *cfg);
struct config_named *config_named_at(const struct config_kind *kind, const struct config *cfg,
                                     size_t i);
struct config_named *config_named_find(const struct config_kind *kind, const struct config *cfg,
                                       const char *name); /* NULL: none */
bool config_named_is_full(const struct config_kind *kind, const struct config *cfg);
/* A new one of that name, all rows with their defaults; borrowed until the next one is added. */
struct config_named *config_named_add(const struct config_kind *kind, struct config *cfg,
                                      const char *name, int line);
void config_named_free(struct config *cfg); /* all of them */

/* config.c: rules: the text of the rules file beside it; NULL: there is none. */
struct config *config_parse_both(const char *name, const struct buf *text, const struct buf *rules,
                                 struct err *err);

/* config_session.c: takes the values that the section doesn't have from [defaults] and [limits];
 * false and why: it lacks something, or two keys exclude each other. */
bool config_session_finish(struct config *cfg, struct config_session *session, struct buf *why);
/* config_hook.c, config_rule.c: the same for hooks and rules. */
bool config_hook_finish(struct config_hook *hook, struct buf *why);
bool config_rule_finish(struct config_rule *rule, struct buf *why);
#endif
