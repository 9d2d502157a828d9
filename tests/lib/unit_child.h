/* unit_child: what a child that a unit test forks may not do (unit_child.c sees to it). */
#pragma once
#include <stdbool.h>

#define UNIT_CHILD_STATUS 99 /* of a child that was stopped */

/* Defined only by a test that executes its own program on purpose, in another role that runs no tests. */
extern const bool unit_starts_itself __attribute__((weak));
