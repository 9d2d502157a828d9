/* json: the tree. cJSON's nodes behind struct json, with one habit of our own: a string node keeps its length in
 * valuedouble, since its bytes may hold NULs. The grammar lives in json_scan.c, printing in json_print.c, what needs no
 * look behind struct json in json_util.c. */
#include "wire/json.h"
#include "base/bug.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "wire/json_scan.h"
#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PAIRWISE_KEYS_MAX 8 /* with so few, comparing each pair beats sorting */

__attribute__((constructor)) static void use_our_memory(void)
{
    cJSON_Hooks hooks = {.malloc_fn = xmalloc, .free_fn = free};
    cJSON_InitHooks(&hooks);
}

static cJSON *node_of(const struct json *value)
{
    return (cJSON *)(uintptr_t)value;
}

static struct json *json_of(cJSON *node)
{
    return (struct json *)node;
}

/* ---- parsing ---- */

struct finish {
    const struct json_scan *scan;
    size_t strings, next_nul;
    struct err *err;
};

static int fail_key(struct finish *f, const char *key)
{
    struct buf text = BUF_INIT;
    size_t len = strlen(key);
    utf8_append_escaped(&text, key, len < 64 ? len : 64, false);
    int rc = err_set(f->err, ERR_PARSE, "JSON is wrong: the key '%s' stands twice in one object", text.data ? text.data : "");
    buf_fini(&text);
    return rc;
}

static int compare_keys(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int check_keys(struct finish *f, const cJSON *object)
{
    size_t count = json_count((const struct json *)object), i = 0;
    const char *few[PAIRWISE_KEYS_MAX] = {NULL};
    const char **keys = count <= PAIRWISE_KEYS_MAX ? few : xreallocarray(NULL, count, sizeof(*keys));
    for (const cJSON *it = object->child; it != NULL; it = it->next)
        keys[i++] = it->string ? it->string : ""; /* a member always has a name; an item of an array none */
    int rc = 0;
    const size_t found = i;
    if (keys == few) {
        for (i = 0; i < found && rc == 0; i++) {
            for (size_t j = 0; j < i && rc == 0; j++)
                rc = strcmp(keys[i], keys[j]) == 0 ? fail_key(f, keys[i]) : 0;
        }
        return rc;
    }
    qsort(keys, found, sizeof(*keys), compare_keys);
    for (i = 1; i < found && rc == 0; i++)
        rc = strcmp(keys[i], keys[i - 1]) == 0 ? fail_key(f, keys[i]) : 0;
    free(keys);
    return rc;
}

/* What the grammar can't see: lengths, duplicate keys, overflow. Recursion is bounded by JSON_DEPTH_MAX. */
static int finish_node(struct finish *f, cJSON *node)
{
    if (cJSON_IsNumber(node) && !isfinite(node->valuedouble))
        return err_set(f->err, ERR_PARSE, "JSON is wrong: a number is too large");
    if (cJSON_IsString(node)) {
        const struct json_scan *scan = f->scan;
        bool has_nul = f->next_nul < scan->count && scan->nuls[f->next_nul].ordinal == f->strings;
        node->valuedouble = (double)(has_nul ? scan->nuls[f->next_nul].len : strlen(node->valuestring));
        f->next_nul += has_nul;
        f->strings++;
    }
    if (cJSON_IsObject(node)) {
        int rc = check_keys(f, node);
        if (rc < 0)
            return rc;
    }
    for (cJSON *it = node->child; it != NULL; it = it->next) {
        int rc = finish_node(f, it);
        if (rc < 0)
            return rc;
    }
    return 0;
}

struct json *json_parse_with(const char *data, size_t size, enum json_flags flags, struct err *err)
{
    struct json_scan scan;
    cJSON *root = NULL;
    if (json_scan(&scan, data, size, flags, err) == 0) {
        root = cJSON_ParseWithLengthOpts(data, size, NULL, 0);
        if (root == NULL)
            BUG("the JSON library refuses what the grammar allows");
        struct finish f = {.scan = &scan, .err = err};
        if (finish_node(&f, root) < 0) {
            cJSON_Delete(root);
            root = NULL;
        }
    }
    json_scan_fini(&scan);
    return json_of(root);
}

struct json *json_parse(const char *data, size_t size, struct err *err)
{
    return json_parse_with(data, size, JSON_STRICT, err);
}

void json_free(struct json *value)
{
    cJSON_Delete(node_of(value));
}

/* ---- reading ---- */

enum json_type json_type(const struct json *value)
{
    if (value == NULL)
        return JSON_ABSENT;
    switch (node_of(value)->type & 0xff) {
    case cJSON_NULL: return JSON_NULL;
    case cJSON_True:
    case cJSON_False: return JSON_BOOL;
    case cJSON_Number: return JSON_NUMBER;
    case cJSON_String: return JSON_STRING;
    case cJSON_Array: return JSON_ARRAY;
    case cJSON_Object: return JSON_OBJECT;
    default: BUG("a JSON node of type %d", node_of(value)->type);
    }
}

const struct json *json_get(const struct json *object, const char *key)
{
    if (json_type(object) != JSON_OBJECT)
        return NULL;
    for (cJSON *it = node_of(object)->child; it != NULL; it = it->next) {
        if (strcmp(it->string, key) == 0)
            return json_of(it);
    }
    return NULL;
}

const char *json_str(const struct json *value, size_t *len)
{
    if (json_type(value) != JSON_STRING)
        return NULL;
    if (len != NULL)
        *len = (size_t)node_of(value)->valuedouble;
    return node_of(value)->valuestring;
}

bool json_double(const struct json *value, double *out)
{
    if (json_type(value) != JSON_NUMBER)
        return false;
    *out = node_of(value)->valuedouble;
    return true;
}

bool json_int(const struct json *value, int64_t *out)
{
    double number;
    if (!json_double(value, &number) || number < -(double)JSON_INTEGER_MAX || number > (double)JSON_INTEGER_MAX ||
        number != (double)(int64_t)number) /* no trunc(3): ue does without libm */
        return false;
    *out = (int64_t)number;
    return true;
}

bool json_bool(const struct json *value, bool *out)
{
    if (json_type(value) != JSON_BOOL)
        return false;
    *out = cJSON_IsTrue(node_of(value));
    return true;
}

const struct json *json_first(const struct json *container)
{
    return container != NULL ? json_of(node_of(container)->child) : NULL;
}

const struct json *json_next(const struct json *item)
{
    return json_of(node_of(item)->next);
}

const char *json_key(const struct json *item)
{
    return node_of(item)->string;
}

/* ---- building ---- */

struct json *json_object_new(void)
{
    return json_of(cJSON_CreateObject());
}

struct json *json_array_new(void)
{
    return json_of(cJSON_CreateArray());
}

struct json *json_null_new(void)
{
    return json_of(cJSON_CreateNull());
}

struct json *json_bool_new(bool truth)
{
    return json_of(cJSON_CreateBool(truth));
}

struct json *json_double_new(double number)
{
    BUG_UNLESS(isfinite(number));
    return json_of(cJSON_CreateNumber(number));
}

struct json *json_string_taken(char *data, size_t len)
{
    cJSON *node = cJSON_CreateNull();
    node->type = cJSON_String;
    node->valuestring = data;
    node->valuedouble = (double)len;
    return json_of(node);
}

struct json *json_add(struct json *parent, const char *key, struct json *value)
{
    BUG_UNLESS(json_type(parent) == (key != NULL ? JSON_OBJECT : JSON_ARRAY));
    if (key == NULL)
        cJSON_AddItemToArray(node_of(parent), node_of(value));
    else
        cJSON_AddItemToObject(node_of(parent), key, node_of(value));
    return value;
}

struct json *json_detach(struct json *object, const char *key)
{
    const struct json *member = json_get(object, key);
    return member != NULL ? json_of(cJSON_DetachItemViaPointer(node_of(object), node_of(member))) : NULL;
}

void json_rename(struct json *object, const char *key, const char *to)
{
    cJSON *member = node_of(json_get(object, key));
    if (member == NULL)
        return;
    char *old = member->string;
    member->string = xstrdup(to);
    free(old);
}
