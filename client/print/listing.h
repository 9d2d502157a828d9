/* listing: sessions as the rows of a table, for `ue list` and `ue top`. */
#ifndef MUXD_CLIENT_LISTING_H
#define MUXD_CLIENT_LISTING_H
#include "client/print/render.h"
#include "wire/json.h"

/* For programs: the columns are a contract; a new one goes to the end. */
void listing_columns(struct render_table *table, const struct json *sessions);
/* For people. rate: the text of a column for the rate of output, malloced; NULL: no such column. */
typedef char *listing_rate_fn(void *arg, int64_t number);
void listing_people(struct render_table *table, const struct json *sessions, listing_rate_fn *rate,
                    void *arg);
#endif
