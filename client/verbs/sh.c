/* sh: `ue sh`: a shell command to its end, or to its timeout, as shell_command runs it. */
#include "client/verbs/run.h"

int verb_SH(struct ue *ue)
{
    return run_talk(ue, &(struct run){.meta = META_PLACE | META_ID});
}
