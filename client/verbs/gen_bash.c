/* gen_bash: completions/ue.bash: tables as case statements, and one function that reads the line by them. It needs bash alone. */
#include "client/verbs/gen.h"

static const char head[] =
    "# ue.bash: completion of ue for bash. Made from muxd/wire/commands.def by make gen; never edited.\n";

/* Candidates are lines WORD<tab>DESCRIPTION; the description is shown when bash lists, and inserted never. */
static const char tail[] =
    "# The lines on standard input that begin with $1 become the candidates.\n"
    "_ue_offer() {\n"
    "    local line word found=() lines=() IFS=$'\\n'\n"
    "    while read -r line; do\n"
    "        word=${line%%$'\\t'*}\n"
    "        [[ $word == \"$1\"* ]] || continue\n"
    "        found+=(\"$word\")\n"
    "        lines+=(\"$line\")\n"
    "    done\n"
    "    if [[ ${COMP_TYPE-} == 63 && ${#found[@]} -gt 1 ]]; then\n"
    "        found=()\n"
    "        for line in \"${lines[@]}\"; do\n"
    "            word=${line#*$'\\t'}\n"
    "            found+=(\"${line%%$'\\t'*}${word:+  ($word)}\")\n"
    "        done\n"
    "    fi\n"
    "    COMPREPLY=(\"${found[@]}\")\n"
    "}\n"
    "\n"
    "_ue_files() {\n"
    "    local IFS=$'\\n'\n"
    "    compopt -o filenames 2>/dev/null\n"
    "    mapfile -t COMPREPLY < <(compgen \"$1\" -- \"$2\")\n"
    "}\n"
    "\n"
    "_ue_values() {\n"
    "    case $1 in\n"
    "    none) ;;\n"
    "    file) _ue_files -f \"$2\" ;;\n"
    "    dir) _ue_files -d \"$2\" ;;\n"
    "    command) _ue_files -c \"$2\" ;;\n"
    "    verbs) _ue_offer \"$2\" < <(_ue_verbs) ;;\n"
    "    size) _ue_offer \"$2\" < <(printf '%s\\t\\n' $_ue_sizes) ;;\n"
    "    env)\n"
    "        compopt -o nospace 2>/dev/null\n"
    "        _ue_offer \"$2\" < <(compgen -e | while read -r name; do printf '%s=\\t\\n' \"$name\"; done)\n"
    "        ;;\n"
    "    *) _ue_offer \"$2\" < <(\"${_ue_command[@]}\" complete \"$1\" 2>/dev/null </dev/null) ;;\n"
    "    esac\n"
    "}\n"
    "\n"
    "_ue() {\n"
    "    local cur=${COMP_WORDS[COMP_CWORD]} verb='' pending='' option='' ended='' operand=0 kind word i\n"
    "    local _ue_command=(\"${COMP_WORDS[0]/#\\~/$HOME}\")\n"
    "    COMPREPLY=()\n"
    "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
    "        word=${COMP_WORDS[i]}\n"
    "        if [[ $pending ]]; then\n"
    "            [[ $word == = ]] && continue\n"
    "            [[ $option == -S || $option == --socket ]] && _ue_command+=(-S \"$word\")\n"
    "            pending=''\n"
    "        elif [[ ! $ended && $word == -- ]]; then\n"
    "            ended=1\n"
    "        elif [[ ! $ended && $word == -?* ]]; then\n"
    "            kind='' option=$word\n"
    "            _ue_option \"$verb\" \"$word\"\n"
    "            pending=$kind\n"
    "        elif [[ ! $verb ]]; then\n"
    "            verb=$word\n"
    "        else\n"
    "            operand=$((operand + 1))\n"
    "            [[ $verb == exec ]] && ended=1\n"
    "        fi\n"
    "    done\n"
    "    if [[ $pending ]]; then\n"
    "        _ue_values \"$pending\" \"${cur#=}\"\n"
    "    elif [[ ! $ended && $cur == -* ]]; then\n"
    "        _ue_offer \"$cur\" < <(_ue_options \"$verb\")\n"
    "    elif [[ ! $verb ]]; then\n"
    "        _ue_values verbs \"$cur\"\n"
    "    else\n"
    "        kind=none\n"
    "        _ue_operand \"$verb\" \"$operand\"\n"
    "        _ue_values \"$kind\" \"$cur\"\n"
    "    fi\n"
    "}\n"
    "complete -F _ue ue\n";

static const char *word_of(enum complete_kind kind)
{
    switch (kind) {
    case COMPLETE_NONE: return "none";
    case COMPLETE_FILE: return "file";
    case COMPLETE_DIR: return "dir";
    case COMPLETE_COMMAND: return "command";
    case COMPLETE_SIZE: return "size";
    case COMPLETE_ENV: return "env";
    default: return gen_kind_word(kind);
    }
}

static void line_of(struct buf *out, const char *dashes, const char *word, const char *description)
{
    buf_printf(out, " \\\n            '%s%s", dashes, word);
    buf_append_byte(out, '\t');
    gen_quoted(out, description, "'\\''", "\\");
    buf_append_byte(out, '\'');
}

static void options_of(struct buf *out, const struct verb *verb)
{
    for (const struct verb_option *option = verb->options; option->name; option++)
        line_of(out, "--", option->name, option->help);
    for (const struct verb_option *option = verb->options; option->name; option++) {
        char letter[2] = {option->letter, 0};
        if (option->letter)
            line_of(out, "-", letter, option->help);
    }
}

static void make_options(struct buf *out)
{
    buf_append_text(out, "_ue_options() {\n    case $1 in\n");
    for (const struct verb *verb = gen_next(NULL); verb; verb = gen_next(verb)) {
        if (!verb->options[0].name)
            continue;
        buf_printf(out, "    %s)\n        printf '%%s\\n'", verb->name);
        options_of(out, verb);
        buf_append_text(out, "\n        ;;\n");
    }
    buf_append_text(out, "    esac\n    printf '%s\\n'");
    options_of(out, &verbs[VERB_GLOBAL]);
    buf_append_text(out, "\n}\n\n");
}

static void make_values(struct buf *out, const struct verb *verb)
{
    const char *name = verb == &verbs[VERB_GLOBAL] ? "*" : verb->name;
    for (const struct verb_option *option = verb->options; option->name; option++) {
        if (!gen_takes_value(option))
            continue;
        buf_printf(out, "    %s:--%s", name, option->name);
        if (option->letter)
            buf_printf(out, " | %s:-%c", name, option->letter);
        buf_printf(out, ") kind=%s ;;\n", word_of(option->complete));
    }
}

static void make_operands(struct buf *out)
{
    buf_append_text(out, "_ue_operand() {\n    case $1:$2 in\n");
    for (const struct verb *verb = gen_next(NULL); verb; verb = gen_next(verb)) {
        int count = verb->operands_max < 0 ? VERB_OPERANDS_MAX : verb->operands_max;
        for (int i = 0; i < count; i++)
            buf_printf(out, "    %s:%d) kind=%s ;;\n", verb->name, i, word_of(gen_operand(verb, i)));
        if (verb->operands_max < 0)
            buf_printf(out, "    %s:*) kind=%s ;;\n", verb->name, word_of(gen_operand(verb, VERB_OPERANDS_MAX)));
    }
    buf_append_text(out, "    esac\n}\n\n");
}

void gen_bash(struct buf *out)
{
    buf_append_text(out, head);
    buf_printf(out, "_ue_sizes='%s'\n\n_ue_verbs() {\n    printf '%%s\\n'", gen_sizes);
    for (const struct verb *verb = gen_next(NULL); verb; verb = gen_next(verb))
        line_of(out, "", verb->name, verb->summary);
    buf_append_text(out, "\n}\n\n");
    make_options(out);
    buf_append_text(out, "# Options that take a value: kind says which.\n_ue_option() {\n    case $1:$2 in\n");
    for (const struct verb *verb = gen_next(NULL); verb; verb = gen_next(verb))
        make_values(out, verb);
    make_values(out, &verbs[VERB_GLOBAL]);
    buf_append_text(out, "    esac\n}\n\n");
    make_operands(out);
    buf_append_text(out, tail);
}
