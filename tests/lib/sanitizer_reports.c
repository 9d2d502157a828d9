/* sanitizer_reports: linked into sanitized builds only. A daemon has closed its terminal, so what a sanitizer has to say
 * goes to files in the runtime directory, where tests/e2e/conftest.py looks after each test. */
#include <stdio.h>
#include <stdlib.h>
#include <sanitizer/common_interface_defs.h>

static void report_to_runtime_dir(void) __attribute__((constructor));

static void report_to_runtime_dir(void)
{
    const char *dir = getenv("MUXD_TEST_REPORTS");
    if (dir == NULL)
        dir = getenv("XDG_RUNTIME_DIR");
    if (dir == NULL)
        return;
    char path[4096];
    if (snprintf(path, sizeof path, "%s/sanitizer", dir) < (int)sizeof path)
        __sanitizer_set_report_path(path);
}
