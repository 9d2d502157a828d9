/* gen_zsh: completions/_ue: one _arguments call for each verb, and a function that asks ue for what only the daemon knows. */
#include "client/verbs/gen.h"
#include <string.h>

static const char head[] =
    "#compdef ue\n"
    "# _ue: completion of ue for zsh. Made from muxd/wire/commands.def by make gen; never edited.\n"
    "\n"
    "# Candidates of one kind, with descriptions, from ue itself.\n"
    "_ue_ask() {\n"
    "    local line\n"
    "    local -a found\n"
    "    for line in ${(f)\"$(_call_program $1 ${(q)_ue_command[@]} complete $1 2>/dev/null </dev/null)\"}; do\n"
    "        found+=(\"${${line%%$'\\t'*}//:/\\\\:}:${line#*$'\\t'}\")\n"
    "    done\n"
    "    _describe -t $1 $1 found\n"
    "}\n"
    "_ue_sessions() { _ue_ask sessions }\n"
    "_ue_ended() { _ue_ask ended }\n"
    "_ue_described() { _ue_ask described }\n"
    "_ue_shells() { _ue_ask shells }\n"
    "_ue_signals() { _ue_ask signals }\n"
    "_ue_keys() { _ue_ask keys }\n"
    "_ue_tools() { _ue_ask tools }\n"
    "_ue_events() { _ue_ask events }\n"
    "_ue_formats() { _ue_ask formats }\n"
    "_ue_env() { compadd -qS= -- ${(k)parameters[(R)*export*]} }\n"
    "\n";

static const char *action_of(enum complete_kind kind)
{
    switch (kind) {
    case COMPLETE_NONE: return " ";
    case COMPLETE_FILE: return "_files";
    case COMPLETE_DIR: return "_files -/";
    case COMPLETE_COMMAND: return "_command_names -e";
    case COMPLETE_SESSION: return "_ue_sessions";
    case COMPLETE_ENDED: return "_ue_ended";
    case COMPLETE_DESCRIBED: return "_ue_described";
    case COMPLETE_SHELL: return "_ue_shells";
    case COMPLETE_SIGNAL: return "_ue_signals";
    case COMPLETE_KEY: return "_ue_keys";
    case COMPLETE_VERB: return "_ue_verbs";
    case COMPLETE_TOOL: return "_ue_tools";
    case COMPLETE_ENV: return "_ue_env";
    case COMPLETE_EVENT: return "_ue_events";
    case COMPLETE_FORMAT: return "_ue_formats";
    case COMPLETE_SIZE: return NULL;
    }
    return " ";
}

static void append_action(struct buf *out, enum complete_kind kind)
{
    const char *action = action_of(kind);
    if (action)
        buf_append_text(out, action);
    else
        buf_printf(out, "(%s)", gen_sizes);
}

/* Inside '…' and inside the brackets or between the colons of a specification. */
static void append_escaped(struct buf *out, const char *text)
{
    for (; *text; text++) {
        if (strchr("[]:\\", *text))
            buf_append_byte(out, '\\');
        if (*text == '\'')
            buf_append_text(out, "'\\''");
        else
            buf_append_byte(out, *text);
    }
}

static void append_description(struct buf *out, const struct verb_option *option)
{
    buf_append_byte(out, '[');
    append_escaped(out, option->help);
    buf_append_byte(out, ']');
    if (gen_takes_value(option)) {
        buf_append_byte(out, ':');
        append_escaped(out, option->metavar);
        buf_append_byte(out, ':');
        append_action(out, option->complete);
    }
}

/* What the option forbids beside it: itself, unless it repeats, and what it excludes. */
static void append_exclusions(struct buf *out, const struct verb_option *option)
{
    if (option->repeats) {
        buf_append_byte(out, '*');
        return;
    }
    buf_printf(out, "(--%s", option->name);
    if (option->letter)
        buf_printf(out, " -%c", option->letter);
    for (const char *at = option->excludes; at && *at; at += strspn(at, " ")) {
        size_t len = strcspn(at, " ");
        buf_printf(out, " --%.*s", (int)len, at);
        at += len;
    }
    buf_append_byte(out, ')');
}

static void append_option(struct buf *out, const struct verb_option *option, const char *indent)
{
    bool value = gen_takes_value(option);
    buf_printf(out, " \\\n%s'", indent);
    append_exclusions(out, option);
    buf_printf(out, "--%s%s", option->name, value ? "=" : "");
    append_description(out, option);
    buf_append_byte(out, '\'');
    if (!option->letter)
        return;
    buf_printf(out, " \\\n%s'", indent);
    append_exclusions(out, option);
    buf_printf(out, "-%c%s", option->letter, value ? "+" : "");
    append_description(out, option);
    buf_append_byte(out, '\'');
}

static void append_options(struct buf *out, const struct verb *verb, const char *indent)
{
    for (const struct verb_option *option = verb->options; option->name; option++)
        append_option(out, option, indent);
}

static void append_operands(struct buf *out, const struct verb *verb)
{
    const char *indent = "            ";
    if (verb->operands_end_options) { /* what follows belongs to the command, and is completed as its own */
        buf_printf(out, " \\\n%s'(-)1:command:_command_names -e' \\\n%s'*::arguments:_normal'", indent, indent);
        return;
    }
    int count = verb->operands_max < 0 ? 0 : verb->operands_max;
    for (int i = 0; i < count; i++) {
        buf_printf(out, " \\\n%s'%d:%s:", indent, i + 1, "operand");
        append_action(out, gen_operand(verb, i));
        buf_append_byte(out, '\'');
    }
    if (verb->operands_max < 0) {
        buf_printf(out, " \\\n%s'*:operand:", indent);
        append_action(out, gen_operand(verb, 0));
        buf_append_byte(out, '\'');
    }
}

static void make_verbs(struct buf *out)
{
    buf_append_text(out, "_ue_verbs() {\n    local -a found=(");
    for (const struct verb *verb = gen_next(NULL); verb; verb = gen_next(verb)) {
        buf_printf(out, "\n        '%s:", verb->name);
        append_escaped(out, verb->summary);
        buf_append_byte(out, '\'');
    }
    buf_append_text(out, "\n    )\n    _describe -t verbs verb found\n}\n\n");
}

void gen_zsh(struct buf *out)
{
    buf_append_text(out, head);
    make_verbs(out);
    buf_append_text(out, "_ue() {\n    local curcontext=$curcontext state line\n    local -a _ue_command=($words[1])\n"
                         "    typeset -A opt_args\n"
                         "    _arguments -C -s -S");
    append_options(out, &verbs[VERB_GLOBAL], "        ");
    buf_append_text(out, " \\\n        '(-)1:verb:_ue_verbs' \\\n        '*::operands:->verb' && return\n"
                         "    [[ $state == verb ]] || return 1\n"
                         "    local at=$opt_args[--socket]$opt_args[-S]\n"
                         "    [[ -n $at ]] && _ue_command+=(-S $at)\n"
                         "    case $words[1] in\n");
    for (const struct verb *verb = gen_next(NULL); verb; verb = gen_next(verb)) {
        buf_printf(out, "    %s)\n        _arguments -s -S", verb->name);
        append_options(out, verb, "            ");
        append_options(out, &verbs[VERB_GLOBAL], "            ");
        append_operands(out, verb);
        buf_append_text(out, "\n        ;;\n");
    }
    buf_append_text(out, "    esac\n}\n\n_ue \"$@\"\n");
}
