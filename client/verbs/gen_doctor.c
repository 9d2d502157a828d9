/* gen_doctor: owns the section of ue(1) on what ue doctor looks at. */
#include "client/verbs/gen.h"
#include "wire/doctor.h"

void gen_doctor(struct buf *out)
{
    buf_append_text(out, ".SH WHAT UE DOCTOR LOOKS AT\n"
                         "The rows of\n"
                         ".BR \"ue doctor\" :\n");
    for (size_t i = 0; i < DOCTOR_COUNT_; i++) {
        buf_printf(out, ".TP\n.B %s\n", doctor_rows[i].name);
        gen_roff(out, doctor_rows[i].help);
        buf_append_byte(out, '\n');
    }
}
