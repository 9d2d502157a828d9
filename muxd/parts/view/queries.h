/* queries: answers what a program asks its terminal, from the session's own state and from what
 * the typing person's terminal has reported (session_set_profile): in the turn in which the query
 * was read, and before any later input. PTY sessions only.
 *
 * A query reply goes to a program only while canonical mode is off. In canonical mode it would
 * become part of a person's line (a shell after cat of a file with queries), and no program
 * could read it before the line's end. A program that asks first and sets its terminal
 * afterwards gets the reply once it has, if that is soon and it is still in the foreground. */
#ifndef MUXD_PARTS_QUERIES_H
#define MUXD_PARTS_QUERIES_H
#include <stdbool.h>
#include <stdint.h>

struct queries;
struct profile;
struct session;

/* Follows the modes, and answers the queries, in the output since the last look. Cheap when
 * there is none. To be called before each other look at the session, and before anything is
 * typed. */
void queries_look(struct session *session);
/* The program waits for input in raw mode: sends it a reply that came too early before. False:
 * there is none, and the program waits for other input. */
bool queries_type_late(struct session *session);
void queries_free(struct queries *queries); /* NULL is fine */

/* The modes that the program has set in its terminal (term/modes.h), up to the last output that
 * was read; 0 on pipes. */
uint64_t session_modes(struct session *session);
/* muxd alone answers what the program asks: from its own model, and with the colours of this
 * person's terminal (copied); NULL: with those of a plain dark one. A program that has asked for
 * it is told when these change between light and dark. */
void session_set_profile(struct session *session, const struct profile *profile);
/* The terminal of the person who types; NULL: none. */
const struct profile *queries_profile(const struct session *session);
#endif
