/* Command lines as argument objects: each option and operand that names an argument, by the tables. */
#include "client/rpc/params.h"
#include "tests/lib/test.h"
#include "wire/schema.h"
#include "wire/tool.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_MAX 32

static const struct {
    const char *line, *want;
} cases[] = {
    {"exec a b  c", "{'cmd':'a b c'}"},
    {"exec -n x", "{'name':'x'}"},
    {"exec -n x -C d -t c", "{'cmd':'c','name':'x','workdir':'d','tty':true}"},
    {"exec --size 50x132 -s zsh c", "{'cmd':'c','rows':50,'cols':132,'shell':'zsh'}"},
    {"exec --no-login --stdin c", "{'cmd':'c','login':false,'stdin':true}"},
    {"exec -e A=1 -e B=x=y -e A= c", "{'cmd':'c','env':{'B':'x=y','A':''}}"},
    {"exec -y 5s -m 0 --max-line 16 c",
     "{'cmd':'c','yield_time_ms':5000,'max_output_tokens':0,'max_line':16}"},
    {"exec -y inf c", "{'cmd':'c','_meta':{'no_deadline':true}}"},
    {"exec -y 1 -y inf c", "{'cmd':'c','_meta':{'no_deadline':true}}"},
    {"exec -y inf -y 1 c", "{'cmd':'c','yield_time_ms':1}"},
    {"exec --until r --ready c", "{'cmd':'c','until':'r','ready':true}"},
    {"exec --until a=b --until b --until c --fail-on x --in-line --count 2 c",
     "{'cmd':'c','until':['a=b','b','c'],'fail_on':'x','line':true,'count':2}"},
    {"poll s --until-named A=x=y --until-named B=z --fail-on x --fail-on y",
     "{'session_id':'s','until':{'A':'x=y','B':'z'},'fail_on':['x','y']}"},
    {"exec --no-ready --quiet 2s --exit c",
     "{'cmd':'c','ready':false,'quiet_ms':2000,'exit':true}"},
    {"write s -k Up -l -k C-c", "{'session_id':'s','keys':['Enter','Up','C-c']}"},
    {"write 17 --paste --submit", "{'session_id':'17','paste':true,'submit':true}"},
    {"write s --wait-keyboard", "{'session_id':'s','wait_keyboard':true}"},
    {"write s --steal -y 0 -m 5 --max-line 20",
     "{'session_id':'s','steal':true,'yield_time_ms':0,'max_output_tokens':5,'max_line':20}"},
    {"write s --until r --ready --quiet 1 --exit",
     "{'session_id':'s','until':'r','ready':true,'quiet_ms':1,'exit':true}"},
    {"write s --no-ready", "{'session_id':'s','ready':false}"},
    {"secret s --stage --expire 2m", "{'session_id':'s','stage':true,'expire_ms':120000}"},
    {"secret s --blind", "{'session_id':'s','blind':true}"},
    {"secret s --forget", "{'session_id':'s','forget':true}"},
    {"poll s --since 9007199254740992 --peek",
     "{'session_id':'s','since':9007199254740992,'peek':true}"},
    {"poll s --to 7 -y 1 -m 2 --max-line 30",
     "{'session_id':'s','to':7,'yield_time_ms':1,'max_output_tokens':2,'max_line':30}"},
    {"poll s --until r --ready --quiet 9 --exit",
     "{'session_id':'s','until':'r','ready':true,'quiet_ms':9,'exit':true}"},
    {"poll s --no-ready", "{'session_id':'s','ready':false}"},
    {"screen s --ansi --join --cursor",
     "{'session_id':'s','format':'ansi','join':true,'cursor':true}"},
    {"screen s --html --history 9", "{'session_id':'s','format':'html','history':9}"},
    {"screen s --svg --wait-change ab", "{'session_id':'s','format':'svg','wait_change':'ab'}"},
    {"screen s --stable 1s -y 3", "{'session_id':'s','stable_ms':1000,'yield_time_ms':3}"},
    {"screen s -y inf", "{'session_id':'s','_meta':{'no_deadline':true}}"},
    {"attach s -r -x", "{'session_id':'s','read_only':true,'detach_others':true}"},
    {"attach", "{}"},
    {"sh -T 5m -n x -C d -s zsh a b",
     "{'command':'a b','timeout_ms':300000,'name':'x','workdir':'d','shell':'zsh'}"},
    {"sh --no-login -e K=V -m 3 --max-line 40 c",
     "{'command':'c','login':false,'env':{'K':'V'},'max_output_tokens':3,'max_line':40}"},
    {"patch -C d", "{'workdir':'d'}"},
    {"wait a b --until r -y 9", "{'until':'r'}"},
    {"events --since 4 --session s -t end -t all",
     "{'since':4,'session_id':'s','types':['end','all']}"},
    {"events --max-bytes 0 -y 5 -c 2", "{'max_bytes':0}"},
    {"steps s x", "{'session_id':'s'}"},
    {"kill a 7 -s sigint --self", "{'sessions':['a','7'],'signal':'sigint','self':true}"},
    {"kill --all", "{'all':true}"},
    {"list -a", "{'all':true}"},
    {"list a b", "{'names':['a','b']}"},
    {"record s f --format 2 --input", "{'session_id':'s','format':2,'input':true}"},
    {"record s --stop", "{'session_id':'s','stop':true}"},
    {"rename s t", "{'session_id':'s','name':'t'}"},
    {"resize s 1x2", "{'session_id':'s'}"},
    {"rm a b", "{'sessions':['a','b']}"},
    {"stop --self", "{'self':true}"},
    {"status", "{}"},
    {"logs s --since 10m", "{}"},
};

/* Words are cut at blanks; they live in room. */
static void parse(struct args *args, const char *line)
{
    static char room[500];
    char *argv[WORDS_MAX] = {(char *)(uintptr_t)"ue"};
    int argc = 1;
    struct err err;
    strncpy(room, line, sizeof room - 1);
    for (char *word = strtok(room, " "); word && argc < WORDS_MAX; word = strtok(NULL, " "))
        argv[argc++] = word;
    if (args_parse(args, argc, argv, &err) != 0)
        fail_msg("ue %s: %s", line, err.text);
}

/* ' stands for ". */
static struct json *json_of(const char *text)
{
    char *copy = strdup(text);
    struct err err;
    for (char *at = copy; *at; at++)
        if (*at == '\'')
            *at = '"';
    struct json *value = json_parse(copy, strlen(copy), &err);
    assert_non_null(value);
    free(copy);
    return value;
}

TEST(test_lines)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct args args;
        struct buf text = BUF_INIT;
        parse(&args, cases[i].line);
        struct json *params = params_map(&args), *want = json_of(cases[i].want);
        json_print(&text, params);
        if (!json_equal(params, want))
            fail_msg("ue %s: %s, wanted %s", cases[i].line, text.data, cases[i].want);
        buf_fini(&text);
        json_free(want);
        json_free(params);
        args_fini(&args);
    }
}

/* What the mapping makes of an option, the tool takes. */
TEST(test_the_tools_take_them)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct args args;
        struct err err = {0};
        parse(&args, cases[i].line);
        struct json *params = params_map(&args);
        const struct tool *tool = tool_by_name(args.verb->tool);
        json_free(json_detach(params, "_meta"));
        schema_check(tool, params, NULL, &err);
        if (err.code && !strstr(err.text, "missing field"))
            fail_msg("ue %s: %s", cases[i].line, err.text);
        json_free(params);
        args_fini(&args);
    }
}

/* A value that the option takes. */
static const char *sample_of(const struct verb_option *option, const struct tool_arg *arg)
{
    static char room[40];
    long long least = option->min > 0 ? (long long)option->min : 1;
    switch (option->type) {
    case OPTION_FLAG: return NULL;
    case OPTION_UINT:
    case OPTION_MS: snprintf(room, sizeof room, "%lld", least); return room;
    case OPTION_SIZE: return "2x3";
    case OPTION_ENV: return "K=V";
    case OPTION_SIGNAL: return "INT";
    case OPTION_TEXT: break;
    }
    if (!arg->choices)
        return "x";
    snprintf(room, sizeof room, "%.*s", (int)strcspn(arg->choices, " "), arg->choices);
    return room;
}

/* These mean something only with a sandbox. */
static const char *const confined[] = {"network", "writable_roots", "unreadable", "temp"};

/* What comes of an option given alone is taken by the tool under the name that its row says. */
static void try_option(const struct verb *verb, const struct verb_option *row)
{
    char line[200];
    struct args args;
    struct err err = {0};
    struct verb_option option = verb_option_full(verb, row);
    const char *value = sample_of(&option, verb_argument(verb, row->argument));
    int len = snprintf(line, sizeof line, "%s --%s %s", verb->name, row->name, value ? value : "");
    for (size_t i = 0; i < sizeof confined / sizeof *confined; i++)
        if (strcmp(row->argument, confined[i]) == 0)
            len += snprintf(line + len, sizeof line - (size_t)len, " --%s workspace-write",
                            strcmp(verb->name, "sandbox") == 0 ? "mode" : "sandbox");
    if (strcmp(row->argument, "count") == 0)
        len += snprintf(line + len, sizeof line - (size_t)len, " --until x");
    for (int i = 0; i < verb->operands_min; i++)
        len += snprintf(line + len, sizeof line - (size_t)len, " o%d", i);
    parse(&args, line);
    struct json *params = params_map(&args);
    if (!json_get(params, row->argument))
        fail_msg("ue %s: no `%s`", line, row->argument);
    schema_check(tool_by_name(verb->tool), params, NULL, &err);
    if (err.code && !strstr(err.text, "missing field"))
        fail_msg("ue %s: %s", line, err.text);
    json_free(params);
    args_fini(&args);
}

TEST(test_each_option_arrives)
{
    int tried = 0;
    for (size_t i = 0; i < VERB_COUNT_; i++)
        for (const struct verb_option *option = verbs[i].options; option->name; option++)
            if (option->argument) {
                try_option(&verbs[i], option);
                tried++;
            }
    assert_true(tried > 60);
}

TEST(test_waits)
{
    struct json *params = json_of("{'yield_time_ms':5,'_meta':{'verb':true}}");
    struct json *endless = json_of("{'_meta':{'verb':true,'no_deadline':true}}"),
                *brief = json_of("{'yield_time_ms':0,'_meta':{'verb':true}}");
    params_wait(params, INT64_MAX);
    assert_true(json_equal(params, endless));
    params_wait(params, INT64_MAX);
    assert_true(json_equal(params, endless));
    params_wait(params, 0);
    assert_true(json_equal(params, brief));
    json_free(params);
    json_free(endless);
    json_free(brief);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_the_tools_take_them),
        cmocka_unit_test(test_each_option_arrives),
        cmocka_unit_test(test_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
