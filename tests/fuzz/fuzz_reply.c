/* Any bytes as what a terminal sends: each reply lies inside of what was given; however it is cut, a reply that was whole is waited for,
 * with the same meaning; and any bytes as what a client says of its terminal: what is understood is written so that it reads back equal. */
#include "base/bug.h"
#include "client/terminal/reply.h"
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

static void check(const char *data, size_t size)
{
    struct profile whole = {0};
    size_t used, other;
    enum reply reply = reply_take(&whole, data, size, &used);
    BUG_UNLESS(used > 0 && used <= size);
    BUG_UNLESS(reply != REPLY_PART || size < REPLY_MAX);
    if (reply == REPLY_NONE || reply == REPLY_PART)
        return;
    BUG_UNLESS(used <= REPLY_MAX && memchr(data + 1, '\033', used > 2 ? used - 3 : 0) == NULL);
    for (size_t cut = 1; cut < used; cut++) {
        struct profile part = {0};
        BUG_UNLESS(reply_take(&part, data, cut, &other) == REPLY_PART && other == cut && part.known == 0);
    }
    struct profile again = {0};
    BUG_UNLESS(reply_take(&again, data, used, &other) == reply && other == used && profile_equal(&whole, &again));
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
    const char *data = (const char *)input;
    struct profile profile, back;
    struct buf text = BUF_INIT;
    for (const char *at = size ? memchr(data, '\033', size) : NULL; at; at = memchr(at + 1, '\033', size - (size_t)(at + 1 - data)))
        check(at, size - (size_t)(at - data));
    if (profile_parse(&profile, data, size)) {
        profile_print(&text, &profile);
        BUG_UNLESS(profile_parse(&back, text.data, text.len) && profile_equal(&profile, &back));
    }
    buf_fini(&text);
    return 0;
}
