/* keeping: the worker's dealings with its keeper. */
#ifndef MUXD_SERVER_KEEPING_H
#define MUXD_SERVER_KEEPING_H
#include "keep/link.h"
#include "server/server.h"

/* their arg is the server, and so is that of the functions here */
extern const struct link_handlers keeping_handlers;
void keeping_on_link(void *arg, unsigned events);   /* loop_io: the link can be read */
/* loop timer: a new keeper for one that died; tries again by itself */
void keeping_replace_keeper(void *arg);
/* loop timer: the keeper had no descriptors for what is the server's own */
void keeping_hold_again(void *arg);
#endif
