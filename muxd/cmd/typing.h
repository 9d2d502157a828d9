/* typing: what write_stdin types, now or when its turn has come. */
#ifndef MUXD_CMD_TYPING_H
#define MUXD_CMD_TYPING_H
struct err;
struct op;
struct session;
struct typing;
struct wait_spec;
/* Types it and parks the op. 0 or an error for op_fail. */
int typing_begin(struct op *op, struct session *session, const struct wait_spec *spec,
                 struct err *err);
void typing_free(struct typing *typing); /* NULL is fine */
#endif
