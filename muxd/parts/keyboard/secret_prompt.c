/* secret_prompt: owns the words by which a prompt for a secret is known. */
#include "parts/keyboard/secret_prompt.h"
#include <string.h>
#include <strings.h>

/* Anywhere. Letters beyond ASCII have to match as they stand, so words begin behind a capital. */
static const char *const parts[] = {
    "password", "passwd", "passwort", "passphrase", "passcode", "mot de passe", "secret", "token",
    "credential", "api key", "apikey", "access key", "kennwort", "geheim", "contrase", "senha",
    "parola", "wachtwoord", "adgangskode", "salasana", "senord", "heslo", "jelsz", "has\xc5\x82o",
    "\xd0\xb0\xd1\x80\xd0\xbe\xd0\xbb\xd1\x8c", /* Russian: (p)arol' */
    "\xe5\xaf\x86\xe7\xa0\x81",                         /* Chinese: mima */
    "\xe5\xaf\x86\xe7\xa2\xbc",                         /* in traditional script */
    "\xe5\x8f\xa3\xe4\xbb\xa4",                         /* kouling */
    "\xe3\x83\x91\xe3\x82\xb9\xe3\x83\xaf\xe3\x83\xbc\xe3\x83\x89", /* Japanese: pasuwaado */
    "\xeb\xb9\x84\xeb\xb0\x80\xeb\xb2\x88\xed\x98\xb8", /* Korean: bimilbeonho */
    "\xec\x95\x94\xed\x98\xb8"                          /* amho */
};
/* Only as whole words. */
static const char *const whole[] = {"pass", "pin", "puk", "code", "otp", "2fa"};

static bool is_letter(unsigned char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte >= 0x80;
}

static bool has_word(const char *text, size_t size, const char *word, bool as_whole)
{
    size_t len = strlen(word);
    for (size_t at = 0; at + len <= size; at++) {
        if (strncasecmp(text + at, word, len) != 0)
            continue;
        bool begins = at == 0 || !is_letter((unsigned char)text[at - 1]);
        bool ends = at + len == size || !is_letter((unsigned char)text[at + len]);
        if (!as_whole || (begins && ends))
            return true;
    }
    return false;
}

static bool names_secret(const char *text, size_t size)
{
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (has_word(text, size, parts[i], false))
            return true;
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        if (has_word(text, size, whole[i], true))
            return true;
    return false;
}

/* Control sequences become nothing, other controls line ends (ECMA-48 5.4). */
static size_t plain(const char *tail, size_t size, char text[SECRET_PROMPT_BYTES])
{
    size_t len = 0;
    for (size_t at = 0; at < size; at++) {
        unsigned char byte = (unsigned char)tail[at];
        if (byte == 033 && at + 1 < size && tail[at + 1] == '[') {
            for (at += 2; at < size && (unsigned char)tail[at] < 0x40; at++)
                ;
        } else {
            text[len++] = byte < ' ' ? '\n' : (char)byte;
        }
    }
    return len;
}

bool secret_prompt_shows(const char *tail, size_t size)
{
    char text[SECRET_PROMPT_BYTES];
    if (size > sizeof text) {
        tail += size - sizeof text;
        size = sizeof text;
    }
    size_t end = plain(tail, size, text), begin;
    for (int lines = 0; lines < 2 && end > 0; end = begin > 0 ? begin - 1 : 0) {
        for (begin = end; begin > 0 && text[begin - 1] != '\n'; begin--)
            ;
        size_t blank = 0;
        while (begin + blank < end && text[begin + blank] == ' ')
            blank++;
        lines += begin + blank < end;
        if (names_secret(text + begin, end - begin))
            return true;
    }
    return false;
}
