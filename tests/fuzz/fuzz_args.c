/* Any words, cut at NUL bytes, as a command line of ue. */
#include "wire/args.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define WORDS_MAX 64

static void check(const struct args *args)
{
    if (args->verb == NULL && !args->wants_help && !args->wants_version)
        abort();
    for (size_t i = 0; i < args->option_count; i++) {
        const struct args_option *option = &args->options[i];
        if (option->value == NULL || args_get(args, option->row->name) == NULL || args_next(args, option->row->name, NULL) == NULL)
            abort();
        struct verb_option row = verb_option_full(args->verb ? args->verb : &verbs[VERB_GLOBAL], option->row);
        if (row.type == OPTION_UINT && (option->number < row.min || option->number > row.max))
            abort();
    }
    if (args->operands[args->operand_count] != NULL)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *room = malloc(size + 1), *argv[WORDS_MAX + 1] = {(char *)(uintptr_t)"ue"};
    int argc = 1;
    if (size > 0)
        memcpy(room, data, size);
    room[size] = '\0';
    for (size_t at = 0; at < size && argc < WORDS_MAX; at += strlen(room + at) + 1)
        argv[argc++] = room + at;
    struct args args;
    struct err err = {0};
    int rc = args_parse(&args, argc, argv, &err);
    if (rc == 0)
        check(&args);
    else if (rc != ERR_USAGE || err.text[0] == '\0')
        abort();
    args_fini(&args);
    free(room);
    return 0;
}
