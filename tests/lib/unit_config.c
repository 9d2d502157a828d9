/* unit_config: owns the opening of configs that unit tests write down as text. */
#include "tests/lib/unit_config.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#define NAME "m.ini"

struct config *config_of_bytes(const char *text, size_t size)
{
    struct err err = {0};
    struct config *cfg = config_parse(NAME, text, size, &err);
    if (!cfg)
        fail_msg("'%.*s': %s", (int)size, text, err.text);
    return cfg;
}

struct config *config_of(const char *text)
{
    return config_of_bytes(text, strlen(text));
}

void config_refused(const char *text, const char *want)
{
    struct err err = {0};
    assert_null(config_parse(NAME, text, strlen(text), &err));
    assert_int_equal(err.code, ERR_CONFIG);
    assert_string_equal(err.text, want);
}
