/* typing: the input of write_stdin, typed now or in its turn. */
#ifndef MUXD_CMD_TYPING_H
#define MUXD_CMD_TYPING_H
struct err;
struct op;
struct session;
struct typing;
struct wait_spec;
/* Types the input of the op's request and parks the op; what has to wait is typed later. 0 or an
 * error for op_fail. */
int typing_begin(struct op *op, struct session *session, const struct wait_spec *spec,
                 struct err *err);
void typing_free(struct typing *typing); /* NULL is fine */
#endif
