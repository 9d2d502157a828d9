/* screen_pass: owns what a program sends to the terminal beside what it shows: bells, the targets
 * of links, copies for the clipboard. What a terminal could take for something else is dropped
 * here. Sources: xterm ctlseqs (OSC 52), "Hyperlinks in terminal emulators" (OSC 8). */
#include "base/bug.h"
#include "base/mem.h"
#include "term/internal.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define ID_MAX 250 /* bytes of a link's id, as in VTE */

void screen_bell(struct screen *screen)
{
    screen->pass.bells++;
    screen->version++;
}

uint64_t screen_bells(const struct screen *screen)
{
    return screen->pass.bells;
}

/* FNV-1a, as in screen_hash. */
static uint64_t hash_text(const char *text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return hash;
}

static struct screen_target *target_of(const struct screen_pass *pass, uint32_t link)
{
    return &pass->targets[link % SCREEN_LINKS];
}

/* How many of the newest links still have a target. */
static uint32_t kept_links(const struct screen_pass *pass)
{
    return pass->links < SCREEN_LINKS && !pass->wrapped ? pass->links : SCREEN_LINKS - 1;
}

const char *screen_link(const struct screen *screen, uint32_t link)
{
    const struct screen_pass *pass = &screen->pass;
    if (link == 0 || ((pass->links - link) & PEN_LINKS) >= kept_links(pass))
        return NULL;
    return strchr(target_of(pass, link)->text, ';') + 1;
}

/* A target that people may meet anywhere; others could start programs. */
static bool is_link(const char *target, size_t size)
{
    static const char *const schemes[] = {"http://", "https://", "file://", "ftp://", "mailto:"};
    bool known = false;
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++)
        known |= size > strlen(schemes[i]) &&
                 strncasecmp(target, schemes[i], strlen(schemes[i])) == 0;
    for (size_t i = 0; i < size; i++)
        if (target[i] <= ' ' || target[i] > '~')
            return false;
    return known && size <= SCREEN_LINK_MAX;
}

/* The number of ID;TARGET: links with the same of both are one. Takes text. */
static uint32_t number_of(struct screen_pass *pass, char *text)
{
    uint64_t hash = hash_text(text);
    uint32_t kept = kept_links(pass);
    if (!pass->targets)
        pass->targets = xcalloc(SCREEN_LINKS, sizeof *pass->targets);
    for (uint32_t age = 0; age < kept; age++) {
        uint32_t link = (pass->links - age) & PEN_LINKS;
        const struct screen_target *at = target_of(pass, link);
        if (link && at->hash == hash && strcmp(at->text, text) == 0) {
            free(text);
            return link;
        }
    }
    pass->wrapped |= pass->links == PEN_LINKS; /* a number comes again when all have been used */
    pass->links = pass->links == PEN_LINKS ? 1 : pass->links + 1;
    struct screen_target *own = target_of(pass, pass->links);
    free(own->text);
    *own = (struct screen_target){.hash = hash, .text = text};
    return pass->links;
}

/* The value of id among parameters that are separated by colons; *size: its bytes. */
static const char *id_in(const char *params, const char *end, int *size)
{
    for (const char *at = params; at < end; at++) {
        const char *next = memchr(at, ':', (size_t)(end - at));
        const char *last = next ? next : end;
        if (last - at > 3 && last - at <= ID_MAX && memcmp(at, "id=", 3) == 0) {
            *size = (int)(last - at - 3);
            return at + 3;
        }
        at = last;
    }
    *size = 0;
    return "";
}

void screen_pass_link(struct screen *screen, const char *data, size_t size)
{
    const char *end = memchr(data, ';', size);
    int id_size;
    screen->pen.link = 0;
    if (!end || !is_link(end + 1, size - (size_t)(end + 1 - data)))
        return;
    const char *id = id_in(data, end, &id_size);
    screen->pen.link = number_of(&screen->pass, xasprintf("%.*s;%.*s", id_size, id,
                                                          (int)(data + size - end - 1), end + 1));
}

static bool is_base64(const char *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=", data[i]) ||
            !data[i])
            return false;
    return size > 0;
}

/* A question for the contents is never passed on. */
void screen_pass_copy(struct screen *screen, const char *data, size_t size)
{
    struct screen_pass *pass = &screen->pass;
    const char *end = memchr(data, ';', size);
    size_t kind = end ? (size_t)(end - data) : 0;
    if (!end || size > SCREEN_CLIPBOARD_MAX || kind > 12 ||
        !is_base64(end + 1, size - kind - 1))
        return;
    for (size_t i = 0; i < kind; i++)
        if (!data[i] || !strchr("cpqs01234567", data[i]))
            return;
    free(pass->copied);
    pass->copied = xasprintf("%.*s", (int)size, data);
    pass->copies++;
    screen->version++;
}

void screen_pass_part(struct screen *screen, const char *data, size_t size, bool first)
{
    struct buf *copying = &screen->pass.copying;
    if (first)
        buf_clear(copying);
    if (first ? memcmp(data, "52;", 3) != 0 : copying->len == 0)
        return;
    size_t skip = first ? 3 : 0;
    if (size - skip <= SCREEN_CLIPBOARD_MAX - copying->len)
        buf_append(copying, data + skip, size - skip);
    else
        buf_clear(copying); /* too long: its end is ignored, too */
}

void screen_pass_rest(struct screen *screen, const char *data, size_t size)
{
    struct buf *copying = &screen->pass.copying;
    if (copying->len > 0 && size <= SCREEN_CLIPBOARD_MAX - copying->len) {
        buf_append(copying, data, size);
        screen_pass_copy(screen, copying->data, copying->len);
    }
    buf_fini(copying);
    buf_init(copying, SCREEN_CLIPBOARD_MAX);
}

const char *screen_copied(const struct screen *screen, uint64_t *copies)
{
    *copies = screen->pass.copies;
    return screen->pass.copied ? screen->pass.copied : "";
}

size_t screen_pass_memory(const struct screen_pass *pass)
{
    size_t bytes = (pass->copied ? strlen(pass->copied) : 0) + pass->copying.len;
    if (!pass->targets)
        return bytes;
    for (int i = 0; i < SCREEN_LINKS; i++)
        bytes += pass->targets[i].text ? strlen(pass->targets[i].text) : 0;
    return bytes + SCREEN_LINKS * sizeof *pass->targets;
}

void screen_pass_fini(struct screen_pass *pass)
{
    for (int i = 0; pass->targets && i < SCREEN_LINKS; i++)
        free(pass->targets[i].text);
    free(pass->targets);
    free(pass->copied);
    buf_fini(&pass->copying);
}
