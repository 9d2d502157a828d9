/* typed: owns the words for kinds of input and for who typed it. */
#include "journal/typed.h"

const char *input_kind_word(unsigned kind)
{
    static const char *const words[] = {"text",   "keys", "paste", "secret", "signal",
                                        "resize", "eof",  "take",  "give"};
    return kind < sizeof words / sizeof words[0] ? words[kind] : "text";
}

const char *input_who_word(unsigned who)
{
    static const char *const words[] = {"muxd", "agent", "person"};
    return who < sizeof words / sizeof words[0] ? words[who] : "agent";
}
