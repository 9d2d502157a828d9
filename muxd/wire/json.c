/* json: the tree. struct json is cJSON's node, with one convention of our own: a string node
 * keeps its length in valuedouble, since its bytes may hold NULs. json_parse.c reads a text,
 * json_print.c prints one, and json_util.c has all that needs no access to cJSON. */
#include "wire/json.h"
#include "base/bug.h"
#include "base/mem.h"
#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

static bool is_in_tree(const struct json *value)
{
    return node_of(value)->prev != NULL || node_of(value)->next != NULL;
}

void json_free(struct json *value)
{
    BUG_UNLESS(value == NULL || !is_in_tree(value));
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
    if (!json_double(value, &number) || number < -(double)JSON_INTEGER_MAX ||
        number > (double)JSON_INTEGER_MAX ||
        number != (double)(int64_t)number) /* not trunc(3): ue doesn't link libm */
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
    BUG_UNLESS(len <= (size_t)JSON_INTEGER_MAX && data[len] == '\0');
    cJSON *node = cJSON_CreateNull();
    node->type = cJSON_String;
    node->valuestring = data;
    node->valuedouble = (double)len;
    return json_of(node);
}

struct json *json_add_taken(struct json *parent, char *key, struct json *value)
{
    cJSON *node = node_of(value);
    BUG_UNLESS(json_type(parent) == (key != NULL ? JSON_OBJECT : JSON_ARRAY));
    BUG_UNLESS(value != parent && !is_in_tree(value));
    free(node->string); /* set when it was detached from an object */
    node->string = key;
    cJSON_AddItemToArray(node_of(parent), node); /* a member is an item with a name */
    return value;
}

struct json *json_add(struct json *parent, const char *key, struct json *value)
{
    return json_add_taken(parent, key != NULL ? xstrdup(key) : NULL, value);
}

struct json *json_detach(struct json *object, const char *key)
{
    const struct json *member = json_get(object, key);
    return member != NULL ? json_of(cJSON_DetachItemViaPointer(node_of(object), node_of(member)))
                          : NULL;
}

void json_rename(struct json *object, const char *key, const char *to)
{
    cJSON *member = node_of(json_get(object, key));
    if (member == NULL)
        return;
    BUG_UNLESS(json_get(object, to) == NULL);
    char *old = member->string;
    member->string = xstrdup(to);
    free(old);
}
