/* msg_id: owns ids of requests: what is one, and how it is found in a line that is no strict JSON,
 * so that whoever waits for an answer under that id gets one. */
#include "base/utf8.h"
#include "wire/msg.h"
#include <stdlib.h>
#include <string.h>

#define DIGITS_MAX 19

bool msg_id_equal(const struct msg_id *a, const struct msg_id *b)
{
    if (a->kind != b->kind)
        return false;
    if (a->kind == MSG_ID_STRING)
        return strcmp(a->text, b->text) == 0;
    return a->kind == MSG_ID_NONE || a->number == b->number;
}

bool msg_id_from_json(struct msg_id *id, const struct json *value)
{
    size_t len = 0;
    *id = (struct msg_id){.kind = MSG_ID_NONE};
    if (json_int(value, &id->number)) {
        id->kind = MSG_ID_NUMBER;
        return true;
    }
    const char *text = json_str(value, &len);
    if (text == NULL || len > MSG_ID_BYTES_MAX || strlen(text) != len)
        return false;
    memcpy(id->text, text, len);
    id->text[len] = '\0';
    id->kind = MSG_ID_STRING;
    return true;
}

/* The end of the string that begins at at: behind its closing quote; size if it is not closed. */
static size_t msg_id_skip_string(const char *line, size_t size, size_t at)
{
    for (at++; at < size && line[at] != '"'; at++)
        at += line[at] == '\\';
    return at < size ? at + 1 : size;
}

static size_t msg_id_skip_blanks(const char *line, size_t size, size_t at)
{
    while (at < size && (line[at] == ' ' || line[at] == '\t'))
        at++;
    return at;
}

/* An escape could stand for anything, so an id with one is not read here. */
static bool msg_id_take_text(struct msg_id *id, const char *text, size_t len)
{
    if (len > MSG_ID_BYTES_MAX || memchr(text, '\\', len) || !utf8_valid(text, len))
        return false;
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)text[i] < ' ')
            return false;
    memcpy(id->text, text, len);
    id->text[len] = '\0';
    id->kind = MSG_ID_STRING;
    return true;
}

static bool msg_id_take_number(struct msg_id *id, const char *text, size_t size)
{
    char digits[DIGITS_MAX + 1];
    size_t n = size > 0 && *text == '-', first = n;
    while (n < size && n < DIGITS_MAX && text[n] >= '0' && text[n] <= '9')
        n++;
    if (n == first || n == size || !strchr(",} \t\r", text[n]) || text[n] == '\0')
        return false; /* a fraction, or cut off */
    memcpy(digits, text, n);
    digits[n] = '\0';
    id->number = strtoll(digits, NULL, 10);
    id->kind = MSG_ID_NUMBER;
    return id->number <= JSON_INTEGER_MAX && id->number >= -JSON_INTEGER_MAX;
}

static bool msg_id_take_value(struct msg_id *id, const char *line, size_t size, size_t at)
{
    if (at < size && line[at] == '"') {
        size_t end = msg_id_skip_string(line, size, at);
        return end > at + 1 && line[end - 1] == '"' &&
               msg_id_take_text(id, line + at + 1, end - at - 2);
    }
    return msg_id_take_number(id, line + at, size - at);
}

void msg_id_find(struct msg_id *id, const char *line, size_t size)
{
    static const char key[] = "\"id\"";
    const struct msg_id none = {.kind = MSG_ID_NONE};
    long depth = 0;
    size_t found = 0;
    *id = none;
    for (size_t at = 0; at < size; at++) {
        if (line[at] == '{' || line[at] == '[')
            depth++;
        else if (line[at] == '}' || line[at] == ']')
            depth--;
        if (line[at] != '"')
            continue;
        size_t end = msg_id_skip_string(line, size, at);
        size_t colon = msg_id_skip_blanks(line, size, end);
        bool is_id = depth == 1 && end - at == sizeof key - 1 &&
                     memcmp(line + at, key, sizeof key - 1) == 0 && colon < size &&
                     line[colon] == ':';
        size_t value = msg_id_skip_blanks(line, size, colon + 1);
        if (is_id && (found++ > 0 || !msg_id_take_value(id, line, size, value))) {
            *id = none;
            return;
        }
        at = end - 1;
    }
}
