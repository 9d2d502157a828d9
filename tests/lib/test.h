/* test: what every unit test needs: cmocka, with the headers that it wants before it, and the head of a test. */
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/* TEST(refuses_what_is_too_long) { … }, and cmocka_unit_test(refuses_what_is_too_long) in the list at the file's end. */
#define TEST(name) static void name(void **state __attribute__((unused)))
