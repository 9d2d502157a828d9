/* shed: what of the keeper's memory its children do without, so that a fork copies less. */
#ifndef MUXD_KEEP_SHED_H
#define MUXD_KEEP_SHED_H

/* From here on children see only the program itself and libc. Nothing is lost for the keeper. Does nothing where a child might miss them:
 * a library is loaded that is not known here, or names are bound when they are first used. */
void shed_libraries(void);
#endif
