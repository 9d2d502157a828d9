/* unit_config: configs made from text, for unit tests. */
#pragma once
#include "config/config.h"
#include <stddef.h>

/* The test fails when it can't be read; the caller's, for config_free. */
struct config *config_of_bytes(const char *text, size_t size);
struct config *config_of(const char *text);
/* The test fails unless it is refused (ERR_CONFIG) with these words; the file's name in them is m.ini. */
void config_refused(const char *text, const char *want);
