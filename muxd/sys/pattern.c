/* pattern: owns all use of PCRE2: compiled expressions, their cache, and the limits of a match. */
#include "sys/pattern.h"
#include "base/bug.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/utf8.h"
#include <stdlib.h>
#include <string.h>
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

enum {
    CACHE_UNUSED_MAX = 16,
    MATCH_LIMIT = 500000, /* steps from one start: some milliseconds */
    DEPTH_LIMIT = 5000,
    HEAP_LIMIT_KIB = 4096,
    WINDOW_MIN = 1,
    WINDOW_MAX = 1 << 20,
    WINDOW_FIRST = 16
};
/* a window that costs less is doubled, one that costs ten times as much is halved */
#define WINDOW_CHEAP_NS INT64_C(100000)

struct pattern {
    struct pattern *next; /* newest first */
    unsigned users;
    char *text;
    size_t len;
    pcre2_code *code;
};

static struct pattern *cache;

static void destroy(struct pattern *pattern)
{
    pcre2_code_free(pattern->code);
    free(pattern->text);
    free(pattern);
}

/* Keeps only the newest unused patterns. */
static void trim_cache(void)
{
    unsigned unused = 0;
    for (struct pattern **at = &cache; *at;) {
        struct pattern *pattern = *at;
        if (pattern->users == 0 && ++unused > CACHE_UNUSED_MAX) {
            *at = pattern->next;
            destroy(pattern);
        } else {
            at = &pattern->next;
        }
    }
}

static struct pattern *find_cached(const char *text, size_t len)
{
    for (struct pattern **at = &cache; *at; at = &(*at)->next) {
        struct pattern *pattern = *at;
        if (pattern->len == len && memcmp(pattern->text, text, len) == 0) {
            *at = pattern->next;
            pattern->next = cache;
            cache = pattern;
            return pattern;
        }
    }
    return NULL;
}

static pcre2_code *compile(const char *text, size_t len, struct err *err)
{
    int code;
    size_t at;
    unsigned char message[256];
    pcre2_compile_context *context = pcre2_compile_context_create(NULL);

    if (!context) {
        err_set(err, ERR_PATTERN, "pattern: no memory; try again");
        return NULL;
    }
    pcre2_set_newline(context, PCRE2_NEWLINE_ANYCRLF);
    pcre2_set_parens_nest_limit(context, 100);
    pcre2_code *compiled = pcre2_compile((PCRE2_SPTR)text, len,
                                         PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_MULTILINE |
                                             PCRE2_NEVER_BACKSLASH_C | PCRE2_USE_OFFSET_LIMIT,
                                         &code, &at, context);
    pcre2_compile_context_free(context);
    if (!compiled) {
        if (pcre2_get_error_message(code, message, sizeof message) < 0)
            message[0] = '\0';
        err_set(err, ERR_PATTERN,
                "pattern '%.*s': %s at byte %zu; correct it or escape special characters with '\\'",
                (int)(len < 200 ? len : 200), text, message, at);
        return NULL;
    }
    /* when this fails the interpreter does the work */
    pcre2_jit_compile(compiled, PCRE2_JIT_COMPLETE | PCRE2_JIT_PARTIAL_SOFT);
    return compiled;
}

struct pattern *pattern_new(const char *text, size_t len, struct err *err)
{
    if (len == 0 || len > PATTERN_TEXT_MAX) {
        err_set(err, ERR_PATTERN, "pattern: it has %zu bytes; give an expression of 1 to %d", len,
                PATTERN_TEXT_MAX);
        return NULL;
    }
    struct pattern *pattern = find_cached(text, len);
    if (!pattern) {
        pcre2_code *code = compile(text, len, err);
        if (!code)
            return NULL;
        pattern = xcalloc(1, sizeof *pattern);
        pattern->text = xmalloc(len + 1);
        memcpy(pattern->text, text, len);
        pattern->text[len] = '\0';
        pattern->len = len;
        pattern->code = code;
        pattern->next = cache;
        cache = pattern;
    }
    pattern->users++;
    return pattern;
}

void pattern_free(struct pattern *pattern)
{
    if (!pattern)
        return;
    BUG_UNLESS(pattern->users > 0);
    pattern->users--;
    trim_cache();
}

const char *pattern_text(const struct pattern *pattern)
{
    return pattern->text;
}

/* Made once. All that a client's pattern can make a match allocate is PCRE2's own, limited heap. */
static pcre2_match_context *match_context(void)
{
    static pcre2_match_context *context;
    if (!context) {
        context = pcre2_match_context_create(NULL);
        if (!context)
            abort();
        pcre2_set_match_limit(context, MATCH_LIMIT);
        pcre2_set_depth_limit(context, DEPTH_LIMIT);
        pcre2_set_heap_limit(context, HEAP_LIMIT_KIB);
    }
    return context;
}

static pcre2_match_data *match_data(void)
{
    static pcre2_match_data *data;
    if (!data && !(data = pcre2_match_data_create(1 + PATTERN_GROUPS_MAX, NULL)))
        abort();
    return data;
}

/* Tries the starts from search->next to last. A negative number of pcre2_match, or 1. */
static int try_window(const struct pattern *pattern, const struct pattern_search *search,
                      const char *data, size_t size, size_t last, bool ended)
{
    uint32_t options = ended ? 0 : PCRE2_PARTIAL_SOFT;
    PCRE2_SPTR subject = (PCRE2_SPTR)data;
    pcre2_set_offset_limit(match_context(), last);
    int status = pcre2_match(pattern->code, subject, size, search->next, options, match_data(),
                             match_context());
    if (status == PCRE2_ERROR_JIT_STACKLIMIT)
        status = pcre2_match(pattern->code, subject, size, search->next, options | PCRE2_NO_JIT,
                             match_data(), match_context());
    return status >= 0 ? 1 : status;
}

static void adapt_window(struct pattern_search *search, int64_t cost_ns)
{
    if (cost_ns < WINDOW_CHEAP_NS && search->window < WINDOW_MAX)
        search->window *= 2;
    else if (cost_ns > 10 * WINDOW_CHEAP_NS && search->window > WINDOW_MIN)
        search->window /= 2;
}

static bool is_too_costly(int status, const struct pattern_search *search)
{
    return status == PCRE2_ERROR_MATCHLIMIT || status == PCRE2_ERROR_DEPTHLIMIT ||
           status == PCRE2_ERROR_HEAPLIMIT ||
           search->used_ns > PATTERN_COST_MAX_MS * INT64_C(1000000);
}

/* A pass tries every start once. The next pass begins at the first start that lacked bytes. */
static void begin_pass(struct pattern_search *search, size_t size)
{
    search->next = search->at;
    search->pass = size + 1;
    search->at = SIZE_MAX;
}

static bool end_pass(struct pattern_search *search, size_t size)
{
    bool grown = search->pass != size + 1;
    if (search->at > size)
        search->at = search->next;
    search->pass = 0;
    return !grown || search->at >= size;
}

enum pattern_result pattern_search(const struct pattern *pattern, struct pattern_search *search,
                                   const char *data, size_t size, bool ended, size_t *from,
                                   size_t *to)
{
    int64_t begin = clock_mono_ns(), now = begin, before;
    const size_t *offsets = pcre2_get_ovector_pointer(match_data());

    if (!search->window)
        search->window = WINDOW_FIRST;
    BUG_UNLESS(pattern->users > 0 && search->window <= WINDOW_MAX &&
               (search->window & (search->window - 1)) == 0);
    if (!ended)
        size -= utf8_incomplete_tail(data, size);
    for (;;) {
        if (!search->pass)
            begin_pass(search, size);
        if (search->next > size)
            return PATTERN_NONE;
        size_t last = size - search->next > search->window ? search->next + search->window : size;
        int status = try_window(pattern, search, data, size, last, ended);
        before = now;
        now = clock_mono_ns();
        search->used_ns += now - before;
        if (status == 1) {
            *from = offsets[0];
            *to = offsets[1] > offsets[0] ? offsets[1] : offsets[0]; /* \K may swap them */
            BUG_UNLESS(*to <= size);
            return PATTERN_MATCH;
        }
        if (is_too_costly(status, search))
            return PATTERN_COSTLY;
        if (status == PCRE2_ERROR_PARTIAL && offsets[0] < search->at)
            search->at = offsets[0];
        search->next = last;
        if (last == size && end_pass(search, size))
            return PATTERN_NONE;
        adapt_window(search, now - before);
        if (now - begin > PATTERN_TURN_MS * INT64_C(1000000))
            return PATTERN_MORE;
    }
}

static const char *name_of_group(const struct pattern *pattern, uint32_t number)
{
    uint32_t count = 0, size = 0;
    PCRE2_SPTR table = NULL;
    if (pcre2_pattern_info(pattern->code, PCRE2_INFO_NAMECOUNT, &count) != 0 || count == 0 ||
        pcre2_pattern_info(pattern->code, PCRE2_INFO_NAMEENTRYSIZE, &size) != 0 ||
        pcre2_pattern_info(pattern->code, PCRE2_INFO_NAMETABLE, &table) != 0)
        return NULL;
    for (; count > 0; count--, table += size) /* two bytes of number, then the name and a NUL */
        if ((uint32_t)(table[0] << 8 | table[1]) == number)
            return (const char *)table + 2;
    return NULL;
}

unsigned pattern_groups(const struct pattern *pattern, struct pattern_group *groups)
{
    uint32_t count = 0;
    const size_t *offsets = pcre2_get_ovector_pointer(match_data());
    pcre2_pattern_info(pattern->code, PCRE2_INFO_CAPTURECOUNT, &count);
    count = count < PATTERN_GROUPS_MAX ? count : PATTERN_GROUPS_MAX;
    for (uint32_t i = 1; i <= count; i++) {
        size_t from = offsets[2 * i], to = offsets[2 * i + 1];
        bool set = from != PCRE2_UNSET && from <= to;
        groups[i - 1] = (struct pattern_group){.name = name_of_group(pattern, i),
                                               .set = set,
                                               .from = set ? from : 0,
                                               .to = set ? to : 0};
    }
    return count;
}

void pattern_search_from(struct pattern_search *search, size_t at)
{
    search->at = at;
    search->pass = 0;
}

void pattern_search_shift(struct pattern_search *search, size_t bytes)
{
    if (search->at != SIZE_MAX)
        search->at = search->at > bytes ? search->at - bytes : 0;
    search->next = search->next > bytes ? search->next - bytes : 0;
    if (search->pass)
        search->pass = search->pass > bytes ? search->pass - bytes : 1;
}
