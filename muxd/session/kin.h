/* kin: which processes belong to a session: its family, and orphans that shed every mark. For this room only. */
#ifndef MUXD_SESSION_KIN_H
#define MUXD_SESSION_KIN_H
#include "session/part.h"
#include "session/session.h"
#include "sys/family.h"

struct cgroup;
struct registry;
/* The session's program while its number is surely its own; 0: it is reaped, or was not started yet. */
pid_t kin_leader(const struct session *session);
struct family_query kin_query(const struct session *session); /* what its processes are known by */
pid_t kin_keeper(const struct registry *registry);
/* It has ended and its family is dead: when there is no orphan of unknown origin either, it is nobody's origin from now on. */
void kin_left_nobody(struct session *session);
/* The session that dies with this child of the keeper, which belongs to none by any sign; 0: it could stem from several. */
uint64_t kin_orphan(struct registry *registry, pid_t pid, uint64_t start_ticks);
void kin_own_orphans(const struct registry *registry, struct census *census); /* those known already are given their owners */
/* The leader of a session whose keeper died before it could tell who that is; 0: none. *pidfd is the caller's. */
pid_t kin_find_leader(struct session *session, int *pidfd);
/* Signals a group that is not the leader's own: only while the leader proves the session, and a member of the group is in it. */
void kin_signal_group(const struct session *session, pid_t pgrp, int signo);
void kin_into_cgroup(struct cgroup *cgroup, const struct family_member *member);
void kin_fini(struct registry *registry);
extern const struct part reap_part; /* kill.c */
#endif
