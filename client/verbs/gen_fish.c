/* gen_fish: completions/ue.fish: one `complete` line for each verb, option and operand. */
#include "client/verbs/gen.h"

static const char head[] =
    "# ue.fish: completion of ue for fish. Made from muxd/wire/commands.def by make gen; never edited.\n"
    "\n"
    "# Candidates of one kind, with descriptions, from ue itself.\n"
    "function __ue_ask\n"
    "    set -l tokens (commandline -opc)\n"
    "    set -l at\n"
    "    for i in (seq 2 (count $tokens))\n"
    "        contains -- $tokens[$i] -S --socket; and test $i -lt (count $tokens); and set at -S $tokens[(math $i + 1)]\n"
    "    end\n"
    "    $tokens[1] $at complete $argv[1] 2>/dev/null </dev/null\n"
    "end\n"
    "\n"
    "# __ue_at VERB [INDEX]: the verb is VERB ('' for none yet), and the word that is typed is its operand INDEX.\n"
    "function __ue_at\n"
    "    set -l verb ''\n"
    "    set -l operand 0\n"
    "    set -l ended 0\n"
    "    set -l skip 0\n"
    "    set -l tokens (commandline -opc)\n"
    "    for token in $tokens[2..-1]\n"
    "        if test $skip = 1\n"
    "            set skip 0\n"
    "        else if test $ended = 0; and test \"$token\" = --\n"
    "            set ended 1\n"
    "        else if test $ended = 0; and string match -qr -- '^-.' \"$token\"\n"
    "            contains -- \"$verb $token\" $__ue_takes; or contains -- \"* $token\" $__ue_takes; and set skip 1\n"
    "        else if test -z \"$verb\"\n"
    "            set verb \"$token\"\n"
    "        else\n"
    "            set operand (math $operand + 1)\n"
    "            test \"$verb\" = exec; and set ended 1\n"
    "        end\n"
    "    end\n"
    "    test \"$verb\" = \"$argv[1]\"; or return 1\n"
    "    if set -q argv[2]\n"
    "        test $operand = $argv[2]; or begin\n"
    "            test $argv[2] = rest; and test $operand -ge $argv[3]\n"
    "        end\n"
    "    else\n"
    "        test $ended = 0\n"
    "    end\n"
    "end\n"
    "\n"
    "function __ue_env\n"
    "    set -xn | string replace -r '$' =\n"
    "end\n"
    "\n"
    "complete -c ue -e\n"
    "complete -c ue -f\n";

static void append_text(struct buf *out, const char *text)
{
    buf_append_byte(out, '\'');
    gen_quoted(out, text, "\\'", "\\\\");
    buf_append_byte(out, '\'');
}

/* " -F" for files, else " -f" or " -x" and where the candidates come from. */
static void append_candidates(struct buf *out, enum complete_kind kind, const char *no_files)
{
    const char *word = gen_kind_word(kind);
    if (kind == COMPLETE_FILE)
        buf_append_text(out, " -F");
    else if (kind == COMPLETE_DIR)
        buf_printf(out, "%s -a '(__fish_complete_directories (commandline -ct))'", no_files);
    else if (kind == COMPLETE_COMMAND)
        buf_printf(out, "%s -a '(complete -C (commandline -ct))'", no_files);
    else if (kind == COMPLETE_SIZE)
        buf_printf(out, "%s -a '%s'", no_files, gen_sizes);
    else if (kind == COMPLETE_ENV)
        buf_printf(out, "%s -a '(__ue_env)'", no_files);
    else if (word)
        buf_printf(out, "%s -a '(__ue_ask %s)'", no_files, word);
    else
        buf_append_text(out, no_files);
}

static void make_takes(struct buf *out, const struct verb *verb)
{
    const char *name = verb == &verbs[VERB_GLOBAL] ? "*" : verb->name;
    for (const struct verb_option *option = verb->options; option->name; option++) {
        if (!gen_takes_value(option))
            continue;
        buf_printf(out, " \\\n    '%s --%s'", name, option->name);
        if (option->letter)
            buf_printf(out, " '%s -%c'", name, option->letter);
    }
}

static void make_options(struct buf *out, const struct verb *verb)
{
    for (const struct verb_option *option = verb->options; option->name; option++) {
        buf_append_text(out, "complete -c ue");
        if (verb != &verbs[VERB_GLOBAL])
            buf_printf(out, " -n '__ue_at %s'", verb->name);
        if (option->letter)
            buf_printf(out, " -s %c", option->letter);
        buf_printf(out, " -l %s", option->name);
        if (gen_takes_value(option)) {
            buf_append_text(out, " -r");
            append_candidates(out, option->complete, " -f");
        }
        buf_append_text(out, " -d ");
        append_text(out, option->help);
        buf_append_byte(out, '\n');
    }
}

static void make_operands(struct buf *out, const struct verb *verb)
{
    int count = verb->operands_max < 0 ? VERB_OPERANDS_MAX : verb->operands_max;
    for (int i = 0; i < count; i++) {
        if (gen_operand(verb, i) == COMPLETE_NONE)
            continue;
        buf_printf(out, "complete -c ue -n '__ue_at %s %d'", verb->name, i);
        append_candidates(out, gen_operand(verb, i), " -f");
        buf_append_byte(out, '\n');
    }
    if (verb->operands_max < 0) {
        buf_printf(out, "complete -c ue -n '__ue_at %s rest %d'", verb->name, VERB_OPERANDS_MAX);
        append_candidates(out, gen_operand(verb, VERB_OPERANDS_MAX), " -f");
        buf_append_byte(out, '\n');
    }
}

void gen_fish(struct buf *out)
{
    buf_append_text(out, head);
    buf_append_text(out, "\n# Options that take a value, with their verb.\nset -g __ue_takes");
    make_takes(out, &verbs[VERB_GLOBAL]);
    for (const struct verb *verb = gen_next(NULL); verb; verb = gen_next(verb))
        make_takes(out, verb);
    buf_append_text(out, "\n\n");
    for (const struct verb *verb = gen_next(NULL); verb; verb = gen_next(verb)) {
        buf_printf(out, "complete -c ue -n '__ue_at \"\"' -f -a %s -d ", verb->name);
        append_text(out, verb->summary);
        buf_append_byte(out, '\n');
    }
    make_options(out, &verbs[VERB_GLOBAL]);
    for (const struct verb *verb = gen_next(NULL); verb; verb = gen_next(verb)) {
        make_options(out, verb);
        make_operands(out, verb);
    }
}
