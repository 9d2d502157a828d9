/* nonce: owns the key in the state directory and the hash, SipHash-2-4 (Aumasson and Bernstein,
 * "SipHash: a fast short-input PRF", 2012). */
#include "session/nonce.h"
#include "base/bug.h"
#include "base/fdio.h"
#include "base/log.h"
#include "base/mem.h"
#include "session/internal.h"
#include "wire/semantic.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define NONCE_KEY 16 /* bytes */
#define KEY_FILE "marks"

static bool nonce_read(int dir, unsigned char key[NONCE_KEY])
{
    unsigned char more;
    int fd = openat(dir, KEY_FILE, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool whole = fd_read_all(fd, key, NONCE_KEY) == NONCE_KEY && fd_read_all(fd, &more, 1) == 0;
    close(fd);
    errno = whole ? 0 : EINVAL;
    return whole;
}

/* Linked into its place when it is complete; one that another daemon has just put there stays.
 * replace: over a file that is no key. */
static bool nonce_write(int dir, const unsigned char key[NONCE_KEY], bool replace)
{
    char name[32];
    snprintf(name, sizeof name, KEY_FILE ".%ld", (long)getpid());
    unlinkat(dir, name, 0); /* left by a daemon that died here and had our pid */
    int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    bool ok = fd_write_all(fd, key, NONCE_KEY) == NONCE_KEY;
    if (ok && replace)
        ok = renameat(dir, name, dir, KEY_FILE) == 0;
    else if (ok)
        ok = linkat(dir, name, dir, KEY_FILE, 0) == 0 || errno == EEXIST;
    int error = errno;
    close(fd);
    unlinkat(dir, name, 0);
    errno = error;
    return ok;
}

static void nonce_random(unsigned char key[NONCE_KEY])
{
    if (getrandom(key, NONCE_KEY, 0) == NONCE_KEY)
        return;
    const uint64_t words[2] = {(uint64_t)getpid() * UINT64_C(0x9e3779b97f4a7c15),
                               (uint64_t)(uintptr_t)&words};
    memcpy(key, words, NONCE_KEY);
}

/* Made when there is none. False and errno: it can't be kept there, and is another one in the next
 * life of the worker. */
static bool nonce_key_load(const char *state_dir, unsigned char key[NONCE_KEY])
{
    int dir = open(state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool kept = dir >= 0 && nonce_read(dir, key);
    bool replace = errno == EINVAL;
    if (!kept) {
        nonce_random(key);
        kept = dir >= 0 && nonce_write(dir, key, replace) && nonce_read(dir, key);
    }
    int error = errno;
    if (dir >= 0)
        close(dir);
    errno = error;
    return kept;
}

static uint64_t rotated(uint64_t word, int bits)
{
    return word << bits | word >> (64 - bits);
}

static void sip_rounds(uint64_t v[4], int rounds)
{
    while (rounds-- > 0) {
        v[0] += v[1];
        v[1] = rotated(v[1], 13) ^ v[0];
        v[0] = rotated(v[0], 32);
        v[2] += v[3];
        v[3] = rotated(v[3], 16) ^ v[2];
        v[0] += v[3];
        v[3] = rotated(v[3], 21) ^ v[0];
        v[2] += v[1];
        v[1] = rotated(v[1], 17) ^ v[2];
        v[2] = rotated(v[2], 32);
    }
}

/* Of whole words; the last one of the algorithm has the length in its top byte. */
static uint64_t nonce_hash(const unsigned char key[NONCE_KEY], const uint64_t *words, size_t count)
{
    uint64_t k[2], v[4];
    memcpy(k, key, sizeof k);
    v[0] = k[0] ^ UINT64_C(0x736f6d6570736575);
    v[1] = k[1] ^ UINT64_C(0x646f72616e646f6d);
    v[2] = k[0] ^ UINT64_C(0x6c7967656e657261);
    v[3] = k[1] ^ UINT64_C(0x7465646279746573);
    for (size_t i = 0; i <= count; i++) {
        uint64_t word = i < count ? words[i] : (uint64_t)(count * 8) << 56;
        v[3] ^= word;
        sip_rounds(v, 2);
        v[0] ^= word;
    }
    v[2] ^= 0xff;
    sip_rounds(v, 4);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* Read when it is first needed: most daemons never integrate anything. */
static const unsigned char *nonce_key(struct registry *registry)
{
    if (registry->nonce_key)
        return registry->nonce_key;
    registry->nonce_key = xcalloc(1, NONCE_KEY);
    if (!nonce_key_load(registry->state_dir, registry->nonce_key))
        log_warn("'%s/" KEY_FILE "' can't be kept: %s; after a restart the commands of sessions "
                 "that were integrated before are not known",
                 registry->state_dir, strerror(errno));
    return registry->nonce_key;
}

void nonce_fini(struct registry *registry)
{
    free(registry->nonce_key);
    registry->nonce_key = NULL;
}

static char *nonce_make(struct session *session)
{
    const struct journal_header *header = session->journal->header;
    const unsigned char *key = nonce_key(session->registry);
    uint64_t words[3] = {header->number, (uint64_t)header->created_real_ms, 0}, halves[2];
    for (size_t i = 0; i < 2; i++) {
        words[2] = i;
        halves[i] = nonce_hash(key, words, 3);
    }
    return xasprintf("%016" PRIx64 "%016" PRIx64, halves[0], halves[1]);
}

void session_integrate(struct session *session)
{
    BUG_UNLESS(session_is_tty(session) && !session->gone);
    session->journal->header->integrated = 1;
}

bool session_is_integrated(const struct session *session)
{
    return session->journal->header->integrated;
}

const char *session_nonce(struct session *session)
{
    BUG_UNLESS(session_is_integrated(session));
    if (!session->nonce)
        session->nonce = nonce_make(session);
    return session->nonce;
}

size_t session_strip_marks(struct session *session, struct buf *text)
{
    return session_is_integrated(session) ? semantic_strip(text, session_nonce(session)) : 0;
}
