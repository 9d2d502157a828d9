/* play_check: asks the daemon about the patterns and names of keys of a script that is not run. */
#include "base/mem.h"
#include "client/play/playing.h"
#include "client/rpc/call.h"
#include "client/rpc/params.h"
#include <stdlib.h>
#include <string.h>

#define WORDS_MAX 64 /* in one call */

struct words { /* to be asked about */
    struct ue *ue;
    const struct script *script;
    struct json *patterns, *keys;
    unsigned pattern_lines[WORDS_MAX], key_lines[WORDS_MAX];
    size_t pattern_count, key_count;
    struct err *err;
};

static void words_clear(struct words *words)
{
    json_free(words->patterns);
    json_free(words->keys);
    words->patterns = json_array_new();
    words->keys = json_array_new();
    words->pattern_count = words->key_count = 0;
}

static int refuse_word(struct words *words, const struct json *wrong)
{
    int64_t index = 0;
    bool pattern = json_get_int(wrong, "pattern", &index);
    const char *text = json_get_str(wrong, "error", NULL);
    if (!pattern)
        json_get_int(wrong, "key", &index);
    if (index < 0 || index >= WORDS_MAX || !text)
        return err_set(words->err, ERR_INTERNAL, "the daemon does not say what is wrong");
    return err_set(words->err, ERR_USAGE, "'%.200s:%u': %s", words->script->name,
                   pattern ? words->pattern_lines[index] : words->key_lines[index], text);
}

static int words_ask(struct words *words)
{
    struct msg_answer answer = {0};
    if (words->pattern_count == 0 && words->key_count == 0)
        return 0;
    struct json *params = json_object_new();
    json_add(params, "patterns", words->patterns);
    json_add(params, "keys", words->keys);
    words->patterns = words->keys = NULL;
    params_meta(words->ue, params, META_VERB);
    int code = call_run(&words->ue->conn, "check_words", params, CALL_AGAIN, &answer, words->err);
    const struct json *wrong = json_first(json_get(answer.result, "wrong"));
    if (code == 0 && wrong)
        code = refuse_word(words, wrong);
    json_free(params);
    msg_answer_fini(&answer);
    words_clear(words);
    return code;
}

static int add_word(struct words *words, const struct script_word *word, unsigned line, bool key)
{
    size_t *count = key ? &words->key_count : &words->pattern_count;
    if (!script_literal(word)) /* what a variable brings is not known */
        return 0;
    if (*count == WORDS_MAX && words_ask(words) < 0)
        return words->err->code;
    (key ? words->key_lines : words->pattern_lines)[(*count)++] = line;
    json_add_text(key ? words->keys : words->patterns, NULL, script_literal(word));
    return 0;
}

static int add_node(struct words *words, const struct script_node *node)
{
    bool keys = node->id == SCRIPT_KEYS, all = keys || node->id == SCRIPT_FAIL_ON ||
                                               node->id == SCRIPT_ON ||
                                               (node->id == SCRIPT_EXPECT && node->count == 1);
    int code = 0;
    for (size_t i = 0; code == 0 && all && i < node->count; i++)
        code = add_word(words, &node->words[i], node->line, keys);
    if (node->id == SCRIPT_CAPTURE)
        code = add_word(words, &node->words[1], node->line, false);
    return code;
}

static int add_nodes(struct words *words, const struct script_node *node)
{
    int code = 0;
    for (; code == 0 && node; node = node->next)
        for (const struct script_node *at = node; code == 0 && at; at = at->branch) {
            code = add_node(words, at);
            if (code == 0)
                code = add_nodes(words, at->body);
        }
    return code;
}

int play_check(struct ue *ue, const struct script *script, struct err *err)
{
    struct words words = {.ue = ue, .script = script, .err = err};
    words_clear(&words);
    int code = add_nodes(&words, script->first);
    if (code == 0)
        code = words_ask(&words);
    json_free(words.patterns);
    json_free(words.keys);
    return code;
}
