/* parts.c: owns how the parts are joined: their order, and what one part tells another, of which
 * it knows nothing. */
#include "server/parts.h"
#include "parts/archive/archive.h"
#include "parts/audit/audit.h"
#include "parts/commands/commands.h"
#include "parts/events/events.h"
#include "parts/keyboard/keyboard.h"
#include "parts/keyboard/secret.h"
#include "parts/reap/reap.h"
#include "parts/record/recorder.h"
#include "parts/view/view.h"
#include "session/internal.h"

static void keyboard_changed(struct session *session)
{
    struct keyboard_holder state;
    if (!events_wants(session->registry, EVENT_KEYBOARD))
        return;
    keyboard_holder_get(session, &state);
    events_keyboard(session, &(struct events_holder){.who = keyboard_holder_word(state.kind),
                                                     .nobody = state.kind == HOLDER_NOBODY,
                                                     .uid = state.uid,
                                                     .pid = state.pid,
                                                     .client = state.client});
}

static void join(struct registry *registry)
{
    static const struct keyboard_told told = {.changed = keyboard_changed,
                                              .secret_lost = events_secret_lost};
    static const struct recorder_screens screens = {.watch = session_watch,
                                                    .cancel = watch_cancel,
                                                    .screen = watch_screen,
                                                    .offset = watch_offset,
                                                    .gone = WATCH_GONE};
    keyboard_join(registry, &told);
    record_join(registry, &screens);
    audit_join(registry, secret_hide);
}

static const struct part joint = {.init = join};

/* The order of the calls; `free` and `fini` run in reverse.
 * - reap: first, so that the hunt for what a program has left holds on to it before its end is told
 * to anybody.
 * - audit: what goes on record is, before anybody hears of it.
 * - events: before the keyboard, so that input is told before the change of holder that it causes.
 * - keyboard.
 * - view: before record, which paints the current screen in its current size.
 * - commands: any place would do.
 * - record: freed before view, to which it gives back its watches.
 * - archive: after all that an end adds to the journal, of which it makes a copy.
 * - joint: once all parts have begun. */
const struct part *const server_parts[] = {&reap_part,     &audit_part, &events_part,
                                           &keyboard_part, &view_part,  &commands_part,
                                           &record_part,   &archive_part, &joint, NULL};
