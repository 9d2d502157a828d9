/* foreign: owns what a foreign loop polls: one descriptor for the socket, whichever it is now, and
 * for the time when something is due. */
#include "base/clock.h"
#include "base/fdio.h"
#include "client/lib/c/client.h"
#include <errno.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

static void watch_socket(struct ue_client *client)
{
    int fd = client->conn.fd;
    bool out = client->out.len > 0, fresh = client->watched != fd;
    if (fd < 0 || (!fresh && client->watched_out == out))
        return;
    struct epoll_event event = {.events = out ? EPOLLIN | EPOLLOUT : EPOLLIN};
    if (epoll_ctl(client->epoll_fd, fresh ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, fd, &event) < 0)
        return;
    client->watched = fd;
    client->watched_out = out;
}

static void watch_time(struct ue_client *client)
{
    int64_t due_ms = reach_due_ms(client);
    struct itimerspec when = {.it_value = {0}};
    if (due_ms != INT64_MAX)
        when.it_value = (struct timespec){.tv_sec = due_ms / 1000,
                                          .tv_nsec = due_ms % 1000 * 1000000 + 1};
    timerfd_settime(client->timer_fd, TFD_TIMER_ABSTIME, &when, NULL);
}

void foreign_watch(struct ue_client *client)
{
    if (client->epoll_fd < 0)
        return;
    watch_socket(client);
    watch_time(client);
}

int ue_fd(struct ue_client *client)
{
    if (client->epoll_fd >= 0)
        return client->epoll_fd;
    struct epoll_event event = {.events = EPOLLIN};
    client->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    client->epoll_fd = client->timer_fd < 0 ? -1 : epoll_create1(EPOLL_CLOEXEC);
    if (client->epoll_fd < 0 ||
        epoll_ctl(client->epoll_fd, EPOLL_CTL_ADD, client->timer_fd, &event) < 0) {
        int error = errno;
        fd_close(&client->epoll_fd);
        fd_close(&client->timer_fd);
        errno = error;
        return -1;
    }
    foreign_watch(client);
    return client->epoll_fd;
}

int ue_process(struct ue_client *client, int timeout_ms)
{
    unsigned before = client->called_back;
    int64_t deadline_ms = timeout_ms < 0 ? INT64_MAX : clock_mono_ms() + timeout_ms;
    reach_work(client);
    while (client->called_back == before && client->count > 0 && clock_mono_ms() < deadline_ms)
        reach_turn(client, deadline_ms);
    foreign_watch(client);
    return (int)(client->called_back - before);
}
