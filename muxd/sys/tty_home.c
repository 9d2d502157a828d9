/* tty_home.c: owns the memory of the places where one program waits. */
#include "sys/tty_home.h"

/* that many runs between two sleeps at one place make a loop */
enum { LOOPS = 2 };

void tty_home_also(struct tty_home *home, uint64_t place)
{
    if (!place || place == home->known[0])
        return;
    home->known[1] = home->known[0];
    home->known[0] = place;
}

void tty_home_believed(struct tty_home *home)
{
    tty_home_also(home, home->found);
    home->waits = home->found != 0;
    home->found = 0;
}

void tty_home_mark(struct tty_home *home)
{
    home->found = 0;
    home->waits = false;
    home->loop_place = 0;
}

void tty_home_output(struct tty_home *home)
{
    home->waits = false;
    home->loop_place = 0;
}

bool tty_home_is(const struct tty_home *home, uint64_t place)
{
    return place && (place == home->known[0] || place == home->known[1]);
}

bool tty_home_loops(struct tty_home *home, uint64_t place, uint64_t runs)
{
    if (!place || place != home->loop_place) {
        home->loop_place = place;
        home->loop_runs = runs;
    }
    return place && runs - home->loop_runs >= LOOPS;
}
