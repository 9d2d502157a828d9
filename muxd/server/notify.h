/* notify: telling systemd how we are, where it started us. sd_notify(3), the protocol only. */
#ifndef MUXD_SERVER_NOTIFY_H
#define MUXD_SERVER_NOTIFY_H
/* "READY=1", "STOPPING=1"; nothing happens without $NOTIFY_SOCKET */
void notify_systemd(const char *state);
#endif
