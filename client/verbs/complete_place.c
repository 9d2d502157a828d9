/* complete_place: owns the parsing of an unfinished command line: the rules of wire/args.h without
 * their errors. */
#include "client/verbs/complete.h"
#include "base/bug.h"
#include <string.h>

static const struct verb *verb_or_global(const struct place *place)
{
    return place->verb ? place->verb : &verbs[VERB_GLOBAL];
}

static void complete_place_take_value(struct place *place, const struct verb_option *option,
                                      const char *value)
{
    if (option == verb_option_by_letter(&verbs[VERB_GLOBAL], 'S'))
        place->socket = value;
}

/* The option in a word. *value_at: where its value begins in the word; 0: in the next word. */
static const struct verb_option *option_in(struct place *place, const char *word, size_t *value_at,
                                           bool given)
{
    const struct verb *verb = verb_or_global(place);
    const struct verb_option *row = NULL;
    *value_at = 0;
    if (word[1] == '-') {
        const char *equals = strchr(word, '=');
        size_t len = equals ? (size_t)(equals - word) : strlen(word);
        row = verb_option_by_name(verb, word + 2, len - 2);
        *value_at = equals ? len + 1 : 0;
        if (row && given && place->given_count < COMPLETE_OPTIONS_MAX)
            place->given[place->given_count++] = row;
        return row;
    }
    for (const char *at = word + 1; *at; at++) {
        row = verb_option_by_letter(verb, *at);
        if (row && given && place->given_count < COMPLETE_OPTIONS_MAX)
            place->given[place->given_count++] = row;
        if (!row || row->metavar) {
            *value_at = row && at[1] ? (size_t)(at + 1 - word) : 0;
            return row;
        }
    }
    return row;
}

static bool is_option(const char *word, bool ended)
{
    return !ended && word[0] == '-' && word[1];
}

/* Takes a word before the one at the cursor. Returns the option whose value comes next, or NULL. */
static const struct verb_option *pass(struct place *place, size_t i, bool *ended)
{
    const char *word = place->words[i];
    size_t value_at;
    if (!*ended && strcmp(word, "--") == 0) {
        *ended = place->verb != NULL;
        return NULL;
    }
    if (is_option(word, *ended)) {
        const struct verb_option *row = option_in(place, word, &value_at, true);
        if (row && value_at)
            complete_place_take_value(place, row, word + value_at);
        return row && row->metavar && !value_at ? row : NULL;
    }
    if (!place->verb) {
        place->verb = verb_by_name(word);
        if (!place->verb)
            place->verb = &verbs[VERB_GLOBAL];
        return NULL;
    }
    if (place->operand++ == 0)
        place->command = i;
    *ended |= place->verb->operands_end_options;
    return NULL;
}

/* "--signal=WI", "-sWI": the word holds the beginning of a value. */
static bool holds_value(struct place *place)
{
    size_t at;
    const struct verb_option *row = option_in(place, place->word, &at, false);
    if (!row || !row->metavar || !at)
        return false;
    place->option = row;
    place->lead = at;
    place->word += at;
    return true;
}

void place_find(struct place *place, const char *const *words, size_t count)
{
    const struct verb_option *pending = NULL;
    bool ended = false;
    BUG_UNLESS(count > 0);
    *place = (struct place){.words = words, .count = count, .word = words[count - 1]};
    for (size_t i = 0; i + 1 < count; i++) {
        if (pending) {
            complete_place_take_value(place, pending, words[i]);
            pending = NULL;
        } else {
            pending = pass(place, i, &ended);
        }
    }
    if (place->operand == 0)
        place->command = count - 1;
    place->option = pending;
    if (pending || (is_option(place->word, ended) && holds_value(place)))
        return;
    place->wants_option = !ended && place->word[0] == '-';
}

enum complete_kind place_operand_kind(const struct verb *verb, size_t index)
{
    BUG_UNLESS(verb && verb->operands_max <= VERB_OPERANDS_MAX);
    bool many = verb->operands_max < 0;
    if (!many && index >= (size_t)verb->operands_max)
        return COMPLETE_NONE;
    if (index < VERB_OPERANDS_MAX && (verb->complete[index] != COMPLETE_NONE || !many))
        return verb->complete[index];
    size_t last = VERB_OPERANDS_MAX - 1;
    while (last > 0 && verb->complete[last] == COMPLETE_NONE)
        last--;
    return verb->complete[last];
}

enum complete_kind place_kind(const struct place *place)
{
    if (place->option)
        return place->option->complete;
    if (place->wants_option || !place->verb)
        return COMPLETE_NONE;
    return place_operand_kind(place->verb, place->operand);
}
