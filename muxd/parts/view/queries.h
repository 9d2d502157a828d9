/* queries: what a program asks its terminal is answered from the session's own state and from what
 * the typing person's terminal has told (session_set_outer), in the turn in which it was read and
 * before any later input. PTY sessions only.
 *
 * An answer goes to a program only while canonical mode is off: in canonical mode it would stand in
 * somebody's line (a shell after cat of a file with queries), and nobody could read it before the
 * line's end. A program that asks first and sets its terminal afterwards gets it as soon as it has,
 * if that is soon and it is still the one in the foreground. */
#ifndef MUXD_PARTS_QUERIES_H
#define MUXD_PARTS_QUERIES_H
#include <stdbool.h>
#include <stdint.h>

struct queries;
struct outer;
struct session;

/* Follows the modes and answers, in the output that came since the last look. Cheap when there is
 * none. Before each other look at the session, and before anything is typed. */
void queries_look(struct session *session);
/* The program sleeps in raw mode until its terminal has input: an answer that it was too early for
 * goes to it now. False: there is none, and it waits for somebody else. */
bool queries_type_late(struct session *session);
void queries_free(struct queries *queries); /* NULL is fine */

/* What the program has set its terminal to (term/modes.h), with all of its output that was read; 0
 * on pipes. */
uint64_t session_modes(struct session *session);
/* What the program asks its terminal is answered by muxd alone: from its own model, and with the
 * colours of this person's terminal; NULL: there is none, then those of a plain dark one. Copied. A
 * program that wants to know is told when it is light or dark now. */
void session_set_outer(struct session *session, const struct outer *outer);
/* How large a cell of the terminal is, in pixels. It stays, as its rows and columns do, when whose
 * terminal it was has gone. */
void session_set_cell(struct session *session, int height, int width);
#endif
