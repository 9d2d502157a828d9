/* The line of those that wait for room: in which order, how many in a turn, and who counts. */
#include "base/fdio.h"
#include "peer/peer.h"
#include "peer/room.h"
#include "tests/lib/test.h"
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MIB = 1 << 20, CLIENTS = 6, LARGE = ROOM_SMALL + 1, FLOOD = 50 };

static struct loop *loop;
static struct room room;
static const struct peer_limits limits = {.max_request = 1 << 16, .output_queue = MIB, .in_flight = 8, .room = &room};
static struct client {
    struct peer *peer;
    int fd;
    struct request *request; /* the last one */
} clients[CLIENTS];
static char order[16]; /* of those that were served */
static bool answers_long;
static int answered;

static void answer_long(struct request *request)
{
    static char text[20000];
    memset(text, 'a', sizeof text);
    struct json *result = json_object_new();
    json_add(result, "text", json_string_new(text, sizeof text));
    request_reply(request, result);
    answered++;
}

static void on_request(void *arg, struct request *request)
{
    (void)arg;
    if (answers_long) {
        answer_long(request);
        return;
    }
    for (struct client *client = clients; client < clients + CLIENTS; client++)
        if (client->peer == request_peer(request))
            client->request = request;
}

static void on_closed(void *arg, struct peer *peer)
{
    (void)arg;
    (void)peer;
}

static const struct peer_handlers handlers = {.request = on_request, .closed = on_closed, .dirty = on_closed};

static void on_room(void *arg)
{
    struct client *client = arg;
    assert_true(request_take_room(client->request, LARGE));
    order[strlen(order)] = (char)('0' + (client - clients));
    request_reply(client->request, json_object_new());
}

static struct client *client_new(int which, pid_t pid)
{
    int pair[2];
    struct client *client = &clients[which];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair), 0);
    const int bytes = 64 << 10; /* that the socket takes, which the tests fill */
    assert_int_equal(setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes), 0);
    client->fd = pair[1];
    client->peer = peer_new(loop, pair[0], (uint64_t)which + 1, 0, pid, &limits, &handlers, NULL);
    assert_non_null(client->peer);
    return client;
}

static struct client *client_asks(struct client *client)
{
    static const char line[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":{}}\n";
    client->request = NULL;
    assert_int_equal(write(client->fd, line, sizeof line - 1), sizeof line - 1);
    while (!client->request)
        loop_turn(loop, -1);
    return client;
}

static void client_waits(struct client *client)
{
    assert_false(request_take_room(client->request, LARGE));
    request_when_room(client->request, LARGE, on_room, client);
}

static void client_leaves(struct client *client)
{
    if (!client->peer)
        return;
    peer_close(client->peer);
    peer_free(client->peer);
    close(client->fd);
    *client = (struct client){0};
}

/* Sends many requests at once, each of which is answered with 20 kB. */
static void client_floods(struct client *client)
{
    static const char line[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":{}}\n";
    answers_long = true;
    for (int i = 0; i < FLOOD; i++)
        assert_int_equal(write(client->fd, line, sizeof line - 1), sizeof line - 1);
}

static int begin(void **state)
{
    struct err err;
    (void)state;
    loop = loop_new(&err);
    room = (struct room){.total = 8 * MIB};
    memset(order, 0, sizeof order);
    answers_long = false;
    answered = 0;
    return loop ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    for (int i = 0; i < CLIENTS; i++)
        client_leaves(&clients[i]);
    assert_true(room.connections == 0 && room.held == 0 && room.holders == 0 && room.waiting == 0 && !room.first && !room.last);
    loop_free(loop);
    return 0;
}

TEST(one_large_answer_in_a_turn)
{
    assert_true(request_take_room(client_asks(client_new(0, 1))->request, LARGE));
    for (int i = 1; i < 4; i++)
        client_waits(client_asks(client_new(i, i + 1)));
    room_serve(&room); /* ends the turn of the first */
    assert_string_equal(order, "");
    assert_true(room_goes_on(&room) && !room_is_short(&room));
    room_serve(&room);
    assert_string_equal(order, "1");
    room_serve(&room);
    room_serve(&room);
    assert_string_equal(order, "123");
    assert_false(room_goes_on(&room) || room_is_short(&room));
}

TEST(a_process_with_many_connections_keeps_no_other_waiting)
{
    room.held = room.total; /* nobody has room */
    for (int i = 0; i < 4; i++)
        client_waits(client_asks(client_new(i, 1)));
    client_waits(client_asks(client_new(4, 2)));
    client_waits(client_asks(client_new(5, 2)));
    room_serve(&room);
    assert_true(room_is_short(&room) && room.waiting == 6 && !order[0]);
    room.held = 0;
    while (room_goes_on(&room))
        room_serve(&room);
    assert_string_equal(order, "041523");
}

TEST(small_answers_wait_for_nobody_else)
{
    room.held = room.total;
    client_waits(client_asks(client_new(0, 1)));
    assert_true(request_take_room(client_asks(client_new(1, 2))->request, ROOM_SMALL));
    room.held = 0;
}

TEST(who_leaves_is_in_the_line_no_more)
{
    room.held = room.total;
    for (int i = 0; i < 3; i++)
        client_waits(client_asks(client_new(i, i + 1)));
    client_leaves(&clients[0]);
    const struct msg_id id = {.kind = MSG_ID_NUMBER, .number = 1};
    assert_false(peer_cancel(clients[1].peer, &id)); /* nothing that could be cancelled */
    request_reply(clients[1].request, json_object_new());
    room.held -= room.total;
    room_serve(&room);
    assert_string_equal(order, "2");
}

TEST(what_is_unread_counts_until_it_is_read_or_its_reader_left)
{
    struct client *reads = client_asks(client_new(0, 1)), *leaves = client_asks(client_new(1, 2));
    request_reply(reads->request, json_object_new());
    request_reply(leaves->request, json_object_new());
    assert_true(room.holders == 2 && room.held == peer_held(reads->peer) + peer_held(leaves->peer) && peer_held(reads->peer) > 0);
    peer_flush(reads->peer);
    assert_true(room.holders == 1 && peer_held(reads->peer) == 0);
    client_leaves(leaves);
    assert_true(room.holders == 0 && room.held == 0);
}

TEST(a_turn_is_for_a_few_requests_of_each)
{
    struct client *client = client_new(0, 1);
    client_floods(client);
    loop_turn(loop, -1);
    assert_int_equal(answered, 1); /* and the others wait, though there is room for all */
    for (int turn = 2; turn <= 4; turn++) {
        peer_flush(client->peer);
        assert_int_equal(answered, turn);
    }
    shutdown(client->fd, SHUT_WR); /* what was sent before is done all the same */
    char bytes[1 << 16];
    for (int turn = 0; turn < 1000 && answered < FLOOD; turn++) {
        while (read(client->fd, bytes, sizeof bytes) > 0)
            ;
        loop_turn(loop, 0);
        peer_flush(client->peer);
    }
    assert_int_equal(answered, FLOOD);
}

TEST(equal_part_of_the_places)
{
    struct request *request = client_asks(client_new(0, 1))->request;
    assert_true(request_is_modest(request, 1) && !request_is_modest(request, 0));
    client_new(1, 2);
    assert_false(request_is_modest(request, 1));
    assert_true(request_is_modest(request, 2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one_large_answer_in_a_turn, begin, end),
        cmocka_unit_test_setup_teardown(a_process_with_many_connections_keeps_no_other_waiting, begin, end),
        cmocka_unit_test_setup_teardown(small_answers_wait_for_nobody_else, begin, end),
        cmocka_unit_test_setup_teardown(who_leaves_is_in_the_line_no_more, begin, end),
        cmocka_unit_test_setup_teardown(what_is_unread_counts_until_it_is_read_or_its_reader_left, begin, end),
        cmocka_unit_test_setup_teardown(a_turn_is_for_a_few_requests_of_each, begin, end),
        cmocka_unit_test_setup_teardown(equal_part_of_the_places, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
