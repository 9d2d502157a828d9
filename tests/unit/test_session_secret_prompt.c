/* test_session_secret_prompt.c: which texts ask for a secret. */
#include "tests/lib/test.h"

#include "parts/keyboard/secret_prompt.h"
#include <string.h>

static bool shows(const char *text)
{
    return secret_prompt_shows(text, strlen(text));
}

static void prompts_of_real_programs(void **state)
{
    (void)state;
    assert_true(shows("Password: "));
    assert_true(shows("$ sudo id\r\n[sudo] password for ann: "));
    assert_true(shows("ann@host's password: "));
    assert_true(shows("Enter passphrase for key '/home/ann/.ssh/id_ed25519': "));
    assert_true(shows("Enter PIN for 'YubiKey': "));
    assert_true(shows("\033[1mPIN\033[0m: "));
    assert_true(shows("Verification code: "));
    assert_true(shows("Mot de passe : "));
    assert_true(shows("\xd0\x9f\xd0\xb0\xd1\x80\xd0\xbe\xd0\xbb\xd1\x8c: "));
    assert_true(shows("Your password for the archive\r\n> "));
    assert_true(shows("password:\r\n\r\n  \r\n"));
}

static void other_lines_without_echo(void **state)
{
    (void)state;
    assert_false(shows(""));
    assert_false(shows("Push <RETURN>"));
    assert_false(shows("Enter choice number (0 - 12): "));
    assert_false(shows("Press any key to continue"));
    assert_false(shows("12 tests passed\r\nnext spinning encoder? "));
    assert_false(shows("password accepted\r\nwelcome\r\n> "));
}

static void only_the_end_is_looked_at(void **state)
{
    (void)state;
    char text[4096];
    memset(text, 'x', sizeof text);
    memcpy(text, "Password: ", 10);
    assert_false(secret_prompt_shows(text, sizeof text));
    memcpy(text + sizeof text - 10, "Password: ", 10);
    assert_true(secret_prompt_shows(text, sizeof text));
    text[sizeof text - 1] = '\033';
    assert_true(secret_prompt_shows(text, sizeof text));
    assert_true(secret_prompt_shows("Password\033[", 10));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(prompts_of_real_programs),
                                       cmocka_unit_test(other_lines_without_echo),
                                       cmocka_unit_test(only_the_end_is_looked_at)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
