/* sh: `ue sh`: runs a shell command to its end or its timeout, as shell_command does. */
#include "client/verbs/run.h"

int verb_SH(struct ue *ue)
{
    return run_talk(ue, &(struct run){.meta = META_PLACE | META_ID});
}
