/* commands_list: owns what the marks mean: which program they are of, and the list of the commands
 * that it ran. A mark that is missing costs a status or an end, and nothing else. */
#include "base/bug.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "journal/inputlog.h"
#include "parts/commands/commands_state.h"
#include "term/plain.h"
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX 65536       /* bytes of a command that are kept */
#define ECHO_MAX (64u << 10) /* of the output, where the echo of a command is read */
#define AUTHORS_MAX 64       /* events of the input log that are looked at */

static void ran_drop(struct ran_command *command)
{
    free(command->text);
    free(command->cwd);
    *command = (struct ran_command){.status = -1};
}

static void level_drop(struct level *level)
{
    free(level->cwd);
    free(level->line);
    *level = (struct level){.id = 0};
}

void commands_list_forget(struct commands *commands)
{
    for (size_t i = 0; i < commands->count; i++)
        ran_drop(&commands->list[(commands->first + i) % commands->room]);
    while (commands->depth > 0)
        level_drop(&commands->levels[--commands->depth]);
    free(commands->list);
    free(commands->expected.text);
    commands->list = NULL;
    commands->expected.text = NULL;
    commands->count = commands->room = commands->first = 0;
}

size_t commands_count(const struct session *session)
{
    const struct commands *commands = commands_of(session);
    return commands ? commands->count : 0;
}

const struct ran_command *commands_at(const struct session *session, size_t index)
{
    const struct commands *commands = commands_of(session);
    BUG_UNLESS(commands && index < commands->count);
    return &commands->list[(commands->first + index) % commands->room];
}

uint64_t commands_dropped(const struct session *session)
{
    const struct commands *commands = commands_of(session);
    return commands ? commands->dropped : 0;
}

const struct ran_command *commands_by_id(const struct session *session, uint64_t id)
{
    for (size_t i = commands_count(session); i-- > 0;)
        if (commands_at(session, i)->id == id)
            return commands_at(session, i);
    return NULL;
}

static struct ran_command *ran_by_id(const struct commands *commands, uint64_t id)
{
    for (size_t i = commands->count; i-- > 0;) {
        struct ran_command *command = &commands->list[(commands->first + i) % commands->room];
        if (command->id == id)
            return command;
    }
    return NULL;
}

/* The ring grows up to the limit; then the oldest goes. */
static struct ran_command *ran_new(struct commands *commands)
{
    size_t most = (size_t)commands->session->registry->cfg->limits.commands;
    BUG_UNLESS(most > 0 && commands->count <= commands->room);
    if (commands->count == commands->room && commands->room < most) {
        size_t room = commands->room ? commands->room * 2 : 16;
        room = room < most ? room : most;
        struct ran_command *list = xcalloc(room, sizeof *list);
        for (size_t i = 0; i < commands->count; i++)
            list[i] = commands->list[(commands->first + i) % commands->room];
        free(commands->list);
        commands->list = list;
        commands->first = 0;
        commands->room = room;
    } else if (commands->count == commands->room) {
        ran_drop(&commands->list[commands->first]);
        commands->first = (commands->first + 1) % commands->room;
        commands->count--;
        commands->dropped++;
    }
    struct ran_command *command =
        &commands->list[(commands->first + commands->count) % commands->room];
    commands->count++;
    *command = (struct ran_command){.status = -1};
    return command;
}

static void note_author(void *arg, const struct input_event *event)
{
    struct ran_command *command = arg;
    bool typed = event->kind == INPUT_TEXT || event->kind == INPUT_KEYS ||
                 event->kind == INPUT_PASTE || event->kind == INPUT_SECRET;
    if (!typed || event->output_at > command->from)
        return;
    command->who = event->who;
    memcpy(command->client, event->client, sizeof command->client - 1);
}

/* What a person sees of the line that was typed: as far as the journal has it. */
static char *echo_of(const struct commands *commands, uint64_t from, uint64_t to)
{
    int rows, cols;
    struct buf raw = BUF_INIT, text = BUF_INIT;
    uint64_t omitted;
    size_t gap_at;
    if (to <= from || to - from > ECHO_MAX ||
        session_get_own_size(commands->session, &rows, &cols) < 0)
        return xstrdup("");
    journal_collect(commands->session->journal, from, to, ECHO_MAX, &raw, &omitted, &gap_at);
    semantic_strip(&raw, commands->semantic.nonce);
    struct plain *plain = plain_new(rows, 0); /* a line that wraps is one line */
    if (raw.len > 0)
        plain_feed(plain, raw.data, raw.len);
    plain_take(plain, &text);
    plain_free(plain);
    buf_fini(&raw);
    while (text.len > 0 && strchr(" \t\r\n", text.data[text.len - 1]))
        buf_truncate(&text, text.len - 1);
    return buf_take(&text);
}

static char *commands_list_text_of(struct commands *commands, struct level *level, uint64_t end)
{
    struct expected *expected = &commands->expected;
    if (expected->text && level->input_from >= expected->from) {
        char *text = expected->text;
        expected->text = NULL;
        return text;
    }
    if (level->line) {
        char *text = level->line;
        level->line = NULL;
        return text;
    }
    return echo_of(commands, level->input_from, end);
}

void commands_expect(struct session *session, const char *text, size_t size)
{
    struct commands *commands = commands_of(session);
    if (!commands || commands->depth == 0)
        return;
    free(commands->expected.text);
    commands->expected.text = xstrndup(text, utf8_cut(text, size, TEXT_MAX));
    commands->expected.from = commands->levels[commands->depth - 1].input_from;
}

/* Nothing but Enter, or given up by ^C, which its terminal or its editor has shown. */
static bool is_nothing(const struct commands *commands, const struct level *level, uint64_t end)
{
    char *text = echo_of(commands, level->input_from, end);
    size_t size = strlen(text);
    bool nothing = size == 0 || (size >= 2 && memcmp(text + size - 2, "^C", 2) == 0);
    free(text);
    return nothing;
}

/* Its input ends at `end`, its output begins at `from`: behind the mark
 * that says so, or, when there is none, at the same place. NULL: nothing was typed but Enter. */
static struct ran_command *ran_begin(struct commands *commands, struct level *level, uint64_t end,
                                     uint64_t from)
{
    /* of several commands in one paste only the first has a prompt before it */
    bool further = ran_by_id(commands, level->input_from) != NULL;
    if (!further && from == end && is_nothing(commands, level, end))
        return NULL;
    char *text = further ? xstrdup("") : commands_list_text_of(commands, level, end);
    struct ran_command *command = ran_new(commands);
    command->id = level->input_from && !further ? level->input_from : from;
    command->text = text;
    command->cwd = level->cwd ? xstrdup(level->cwd) : NULL;
    command->begun_ms = commands->live ? clock_real_ms() : 0;
    command->from = from;
    command->runs = true;
    uint64_t last = inputlog_last(commands->session->journal);
    inputlog_read(commands->session->journal, last > AUTHORS_MAX ? last - AUTHORS_MAX : 0,
                  AUTHORS_MAX, note_author, command);
    return command;
}

static void ran_end(const struct commands *commands, struct ran_command *command, uint64_t to,
                    int status)
{
    if (!command || !command->runs)
        return;
    command->runs = false;
    command->to = to > command->from ? to : command->from;
    command->status = status;
    command->ended_ms = commands->live ? clock_real_ms() : 0;
}

static void end_running(struct commands *commands, struct level *level, uint64_t to, int status)
{
    if (level->running)
        ran_end(commands, ran_by_id(commands, level->running), to, status);
    level->running = 0;
}

/* Its end was not told, as its shell has lost its hooks; but it reads the next line. */
static void end_by_prompt(struct commands *commands, struct level *level, uint64_t to)
{
    struct ran_command *command = level->running ? ran_by_id(commands, level->running) : NULL;
    if (command)
        command->to_prompt = true;
    end_running(commands, level, to, -1);
}

/* The program that the mark is of; those inside of it have ended. */
static struct level *level_of(struct commands *commands, const struct semantic_mark *mark)
{
    size_t at = commands->depth;
    while (at > 0 && commands->levels[at - 1].id != mark->level)
        at--;
    if (at == 0 && commands->depth == LEVELS_MAX) {
        level_drop(&commands->levels[0]);
        memmove(commands->levels, commands->levels + 1,
                (LEVELS_MAX - 1) * sizeof *commands->levels);
        commands->depth--;
    }
    if (at == 0) {
        commands->levels[commands->depth] = (struct level){.id = mark->level};
        return &commands->levels[commands->depth++];
    }
    while (commands->depth > at) {
        struct level *inner = &commands->levels[--commands->depth];
        end_running(commands, inner, mark->from, -1);
        level_drop(inner);
    }
    return &commands->levels[at - 1];
}

void commands_drop_level(struct session *session, uint64_t level)
{
    struct commands *commands = commands_of(session);
    while (commands && commands->depth > 0) {
        struct level *top = &commands->levels[commands->depth - 1];
        if (top->id < level)
            return;
        commands->depth--;
        level_drop(top);
    }
}

/* A number, or whether there was an error: "true", "false"; else -1. */
static int read_status(const struct semantic_mark *mark)
{
    int status = 0;
    if (mark->size == 4 && memcmp(mark->value, "true", 4) == 0)
        return 1;
    if (mark->size == 5 && memcmp(mark->value, "false", 5) == 0)
        return 0;
    if (mark->size == 0 || mark->size > 3)
        return -1;
    for (size_t i = 0; i < mark->size; i++) {
        if (mark->value[i] < '0' || mark->value[i] > '9')
            return -1;
        status = status * 10 + (mark->value[i] - '0');
    }
    return status;
}

/* It was not complete: what seemed to begin has not. */
static void take_back(struct commands *commands, struct level *level)
{
    struct ran_command *last = commands->count > 0 ? ran_by_id(commands, level->running) : NULL;
    if (level->running && last && commands_at(commands->session, commands->count - 1) == last) {
        ran_drop(last);
        commands->count--;
    }
    level->running = 0;
}

/* Where the echo of a line ends that began at `from`: behind its line end, and what the line editor
 * writes then to leave the paste mode. False: it has none up to `to`. */
static bool end_of_echo(const struct commands *commands, uint64_t from, uint64_t to, uint64_t *end)
{
    static const char leaves[] = "\033[?2004l\r";
    uint64_t at = from;
    size_t size;
    const char *data = journal_view(commands->session->journal, &at, &size);
    if (!data || at != from)
        return false;
    size = size < to - from ? size : (size_t)(to - from);
    const char *line = memchr(data, '\n', size);
    if (!line)
        return false;
    size_t used = (size_t)(line + 1 - data), more = sizeof leaves - 1;
    if (size - used >= more && memcmp(data + used, leaves, more) == 0)
        used += more;
    *end = from + used;
    return true;
}

static void on_end(struct commands *commands, struct level *level, const struct semantic_mark *mark)
{
    uint64_t from;
    if (level->running) {
        end_running(commands, level, mark->from, read_status(mark));
    } else if (level->line_from && end_of_echo(commands, level->line_from, mark->from, &from)) {
        /* nothing tells when it begins, or it was refused before it began, as a syntax error is */
        struct ran_command *command = ran_begin(commands, level, from, from);
        ran_end(commands, command, mark->from, read_status(mark));
    }
    level->line_from = 0;
    level->place = COMMANDS_OUTSIDE;
}

static void commands_list_on_text(char **text, const struct semantic_mark *mark)
{
    struct buf out = BUF_INIT;
    semantic_unescape(&out, mark->value, mark->size);
    free(*text);
    *text = buf_take(&out);
}

void commands_list_mark(struct commands *commands, const struct semantic_mark *mark)
{
    if (mark->kind == SEMANTIC_ASKED) {
        size_t size = mark->size < sizeof commands->asked - 1 ? mark->size
                                                              : sizeof commands->asked - 1;
        memset(commands->asked, 0, sizeof commands->asked);
        memcpy(commands->asked, mark->value, size);
        commands->asked_at = mark->to;
        return;
    }
    struct level *level = level_of(commands, mark);
    switch (mark->kind) {
    case 'A':
        end_running(commands, level, mark->from, -1);
        level->echoes = mark->size == 1 && mark->value[0] == 'e';
        level->keeps = mark->size == 1 && mark->value[0] == 'm';
        level->place = COMMANDS_OUTSIDE;
        free(commands->expected.text); /* what was expected has not begun */
        commands->expected.text = NULL;
        break;
    case 'B':
        end_by_prompt(commands, level, mark->from);
        level->place = COMMANDS_PROMPT;
        level->input_from = level->line_from = mark->to;
        break;
    case 'P':
        take_back(commands, level);
        level->place = COMMANDS_MORE;
        level->line_from = mark->to;
        break;
    case 'C':
        level->place = COMMANDS_RUNS;
        end_running(commands, level, mark->from, -1);
        level->running = ran_begin(commands, level, mark->from, mark->to)->id;
        break;
    case 'D': on_end(commands, level, mark); break;
    case 'E': commands_list_on_text(&level->line, mark); break;
    default: commands_list_on_text(&level->cwd, mark); break;
    }
}
