/* play_attach: `attach`: a person goes on by hand, on the terminal of the script, until they leave
 * the session; then the script goes on. */
#include "client/play/play_watch.h"
#include "client/print/say.h"
#include "client/rpc/hand_over.h"
#include <errno.h>
#include <string.h>
#include <unistd.h>

enum play_flow play_ATTACH(struct play *play, const struct play_step *step)
{
    if (!say_is_tty(STDIN_FILENO) || !say_is_tty(STDOUT_FILENO))
        return play_fail(play, UE_WRONG_USAGE,
                         "standard input or output is no terminal to show it on");
    int status = hand_over_terminal(&play->ue->conn, step->session->number);
    if (status < 0)
        return play_fail(play, UE_FAILED, "ue can't be begun: %s", strerror(errno));
    if (status >= UE_NOT_TRUE && status <= 127)
        return play_fail(play, status, "the session could not be shown");
    return play_SKIP(play, step); /* the person has seen it */
}
