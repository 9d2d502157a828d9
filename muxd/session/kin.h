/* kin: which processes belong to a session: its family, and orphans that shed every mark. For this room only. */
#ifndef MUXD_SESSION_KIN_H
#define MUXD_SESSION_KIN_H
#include "session/session.h"
#include "sys/family.h"

struct cgroup;
struct registry;
void kin_find(const struct session *session, struct family *out); /* freed by family_free */
/* Looks for what the keeper has adopted: orphans whose parents are gone. False: a program is just being started, nobody could tell
 * that from an orphan now; look again. */
bool kin_look_for_orphans(struct registry *registry);
/* Who belongs to it now stays known as its own, also when the deaths of others take away every sign of it. */
size_t kin_remember(struct session *session); /* how many besides the leader */
/* The leader of a session whose keeper died before it could tell who that is; 0: none. *pidfd is the caller's. */
pid_t kin_find_leader(const struct session *session, int *pidfd);
/* Signals a group that is not the leader's own: only while the leader proves the session, and a member of the group is in it. */
void kin_signal_group(const struct session *session, pid_t pgrp, int signo);
void kin_into_cgroup(struct cgroup *cgroup, const struct family_member *member);
void kin_fini(struct registry *registry);
#endif
