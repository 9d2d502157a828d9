/* fold: makes of a look one that a terminal with fewer colours can show. */
#ifndef MUXD_TERM_FOLD_H
#define MUXD_TERM_FOLD_H
#include "wire/pen.h"

enum fold { FOLD_NOTHING, FOLD_256, FOLD_16, FOLD_8, FOLD_PLAIN /* no colours */ };

/* colors: how many the terminal shows */
enum fold fold_for(int64_t colors);
void fold_pen(struct pen *pen, enum fold fold);
#endif
