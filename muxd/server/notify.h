/* notify: tells systemd the daemon's state, if systemd has started it: the protocol of
 * sd_notify(3) only. */
#ifndef MUXD_SERVER_NOTIFY_H
#define MUXD_SERVER_NOTIFY_H
/* "READY=1", "STOPPING=1"; does nothing without $NOTIFY_SOCKET */
void notify_systemd(const char *state);
#endif
