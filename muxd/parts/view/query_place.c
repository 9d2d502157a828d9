/* query_place.c: owns where the facts for replies come from: the modes at the place, the kernel,
 * the model. */
#include "parts/view/query_place.h"
#include "parts/view/queries.h"
#include "parts/view/view_internal.h"
#include "sys/pty.h"
#include "term/modes.h"

static bool place_size(void *arg, int *rows, int *cols)
{
    const struct query_place *place = arg;
    if (session_get_own_size(place->session, rows, cols) < 0)
        return false;
    *cols = modes_has(place->modes, MODE_COLUMNS) ? MODES_COLUMNS : *cols;
    return true;
}

static bool place_cell(void *arg, int *height, int *width)
{
    const struct query_place *place = arg;
    return place->session->out.fd >= 0 &&
           pty_get_cell(place->session->out.fd, height, width) == 0 && *height > 0 && *width > 0;
}

static const struct screen *place_screen(struct query_place *place)
{
    const struct screen *screen = NULL;
    int known = view_screen_at(place->session, place->offset, &screen);
    place->later = known == 0;
    return known > 0 ? screen : NULL;
}

static bool place_cursor(void *arg, int *row, int *col)
{
    const struct screen *screen = place_screen(arg);
    if (!screen)
        return false;
    struct screen_cursor cursor = screen_cursor_told(screen);
    *row = cursor.row + 1;
    *col = cursor.col + 1;
    return true;
}

static int place_mode(void *arg, int mode)
{
    const struct screen *screen = place_screen(arg);
    return screen ? screen_report(screen, mode) : 0;
}

struct responder_facts query_place_facts(struct query_place *place)
{
    const struct session *session = place->session;
    return (struct responder_facts){.modes = place->modes,
                                    .scheme_told = session->journal->header->wants_scheme,
                                    .profile = queries_profile(session),
                                    .colours = terminal_get(place->session)->colours,
                                    .size = place_size,
                                    .cell = place_cell,
                                    .cursor = place_cursor,
                                    .mode = place_mode,
                                    .arg = place};
}
