/* The ring of events as a predecessor of another build, or a broken one, may leave it: adopted, read to its end, written to. */
#include "journal/events_ring.h"
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { HEADER = 4096, DATA = 16384 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int make(const uint8_t *data, size_t size)
{
    static uint8_t image[HEADER + DATA];
    const uint32_t magic[2] = {0x7377656eU, 1};
    const uint64_t bytes = DATA;
    memset(image, 0, sizeof image);
    memcpy(image, magic, sizeof magic);
    memcpy(image + 8, &bytes, sizeof bytes);
    size_t header = size < 96 ? size : 96, rest = size - header;
    memcpy(image + 16, data, header);
    memcpy(image + HEADER, data + header, rest < DATA ? rest : DATA);
    int fd = memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0 || write(fd, image, sizeof image) != (ssize_t)sizeof image ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
        abort();
    return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err err;
    struct events_ring *ring = NULL;
    struct events_cursor cursor = {0};
    struct event_record fresh = {.type = 1, .text_size = 7, .name = "s"};
    const struct event_record *record;
    const char *text;
    uint64_t missed, last = 0;
    volatile char sum = 0;
    int fd = make(data, size);
    if (events_ring_adopt(&ring, fd, &err) < 0) {
        close(fd);
        return 0;
    }
    uint64_t next = events_ring_next(ring);
    for (int round = 0; round < 200; round++) {
        if (events_ring_add(ring, &fresh, "{\"a\":1}") != next + (uint64_t)round)
            abort();
        while ((record = events_ring_read(ring, &cursor, &text, &missed))) {
            if (record->seq <= last)
                abort();
            last = record->seq;
            for (uint32_t i = 0; i < record->text_size; i++)
                sum = (char)(sum + text[i]);
        }
    }
    events_ring_free(ring);
    return 0;
}
