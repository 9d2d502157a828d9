/* left: a quick look whether a program can have left others behind. For this room only. */
#ifndef MUXD_SESSION_LEFT_H
#define MUXD_SESSION_LEFT_H
#include "session/session.h"

/* True: surely nothing lives any more that this session's ended program started. False: it may, or can't be told so cheaply. */
bool left_nothing(const struct session *session);
/* For one of which nobody was found. True: somebody may be there who does not show whose he is, in the middle of an exec or bare of an
 * environment. */
bool left_in_doubt(const struct session *session);
#endif
