/* script_tree: what a parsed script is made of, and how it is freed. */
#include "client/script/script.h"
#include "client/script/script_lex.h"
#include <stdlib.h>
#include <string.h>

static void free_nodes(struct script_node *node);

static void free_node(struct script_node *node)
{
    script_word_fini(&node->session);
    for (size_t i = 0; i < node->count; i++)
        script_word_fini(&node->words[i]);
    for (size_t i = 0; i < node->option_count; i++)
        script_word_fini(&node->options[i].value);
    free(node->words);
    free(node->options);
    free_nodes(node->body); /* as deep as SCRIPT_NESTING_MAX */
    free(node);
}

static void free_nodes(struct script_node *node)
{
    while (node) {
        struct script_node *next = node->next, *branch = node->branch;
        while (branch) {
            struct script_node *other = branch->branch;
            free_node(branch);
            branch = other;
        }
        free_node(node);
        node = next;
    }
}

void script_fini(struct script *script)
{
    free_nodes(script->first);
    free(script->name);
    *script = (struct script){0};
}

const char *script_literal(const struct script_word *word)
{
    if (word->count == 0)
        return "";
    const struct script_part *part = &word->parts[0];
    bool whole = word->count == 1 && !part->variable && !memchr(part->text, 0, part->len);
    return whole ? part->text : NULL;
}

const struct script_given *script_option(const struct script_node *node, const char *name,
                                         const struct script_given *last)
{
    size_t from = last ? (size_t)(last - node->options) + 1 : 0;
    for (size_t i = from; i < node->option_count; i++)
        if (strcmp(node->options[i].name, name) == 0)
            return &node->options[i];
    return NULL;
}
