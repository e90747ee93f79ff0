/* SPDX-License-Identifier: MIT */
/*
 * A file is a head, the image of the device's state, and the pages of VRAM that
 * are not zero: each its number and its bytes, in order, and then LAST_PAGE.
 */
#define _GNU_SOURCE
#include "checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/image.h"

#define MAGIC     0x54504b435550474dull /* "MGPUCKPT" */
#define VERSION   1u
#define PAGE      4096u
#define LAST_PAGE UINT64_MAX
#define RAISED    ((MXGPU_MAX_VECTORS + 63) / 64)

typedef struct Head {
    uint64_t magic;
    uint32_t version, vectors;
    uint64_t vram_size, clock, image_size;
    uint64_t raised[RAISED]; /* vectors whose interrupts wait to be taken */
} Head;

typedef struct Page {
    uint64_t number;
    uint8_t bytes[PAGE];
} Page;

/* ---- files */

static int write_all(int fd, const void *bytes, size_t len)
{
    const uint8_t *p = bytes;

    while (len) {
        ssize_t n = write(fd, p, len);

        if (n < 0 && errno != EINTR) {
            return -errno;
        }
        p += n > 0 ? n : 0;
        len -= n > 0 ? (size_t)n : 0;
    }
    return 0;
}

/* -EINVAL at the end of the file. */
static int read_all(int fd, void *bytes, size_t len)
{
    uint8_t *p = bytes;

    while (len) {
        ssize_t n = read(fd, p, len);

        if (n == 0 || (n < 0 && errno != EINTR)) {
            return n ? -errno : -EINVAL;
        }
        p += n > 0 ? n : 0;
        len -= n > 0 ? (size_t)n : 0;
    }
    return 0;
}

/* ---- interrupts */

static bool is_raised(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};

    return poll(&p, 1, 0) == 1;
}

/* Those that wait are of the device as it was. */
static void set_raised(int fd, bool raised)
{
    uint64_t n = 1;
    ssize_t done;

    do {
        done = raised ? write(fd, &n, sizeof(n)) : read(fd, &n, sizeof(n));
    } while (done < 0 && errno == EINTR);
}

/* ---- saving */

static bool is_zero(const uint8_t *page)
{
    return page[0] == 0 && memcmp(page, page + 1, PAGE - 1) == 0;
}

static int save_pages(const MxgpuSimCheckpoint *c, int fd, uint64_t from,
                      uint64_t to)
{
    Page page;
    int err = 0;

    for (uint64_t at = from; at < to && !err; at += PAGE) {
        if (!is_zero(c->vram + at)) {
            page.number = at / PAGE;
            memcpy(page.bytes, c->vram + at, PAGE);
            err = write_all(fd, &page, sizeof(page));
        }
    }
    return err;
}

/* Memory that nobody has touched is a hole of its file: it is not looked at. */
static int save_vram(const MxgpuSimCheckpoint *c, int fd)
{
    uint64_t last = LAST_PAGE;
    off_t hole = 0, data;
    int err = 0;

    while (!err && (data = lseek(c->vram_fd, hole, SEEK_DATA)) >= 0) {
        hole = lseek(c->vram_fd, data, SEEK_HOLE);
        err = hole < 0 ? -errno :
                         save_pages(c, fd, (uint64_t)data & -(uint64_t)PAGE,
                                    (uint64_t)hole);
    }
    return err ? err : write_all(fd, &last, sizeof(last));
}

int mxgpu_sim_checkpoint_save(const MxgpuSimCheckpoint *c, int fd)
{
    size_t size = mxgpu_state_size(c->dev), used;
    Head head = {
        .magic = MAGIC,
        .version = VERSION,
        .vectors = c->vectors,
        .vram_size = c->vram_size,
        .clock = c->clock,
        .image_size = size,
    };
    uint8_t *image;
    int err;

    if (!size) {
        return -EBUSY;
    }
    image = malloc(size);
    if (!image) {
        return -ENOMEM;
    }
    for (unsigned i = 0; i < c->vectors; i++) {
        head.raised[i / 64] |= (uint64_t)is_raised(c->irq_fd[i]) << i % 64;
    }
    err = mxgpu_state_save(c->dev, image, size, &used);
    err = err ? err : write_all(fd, &head, sizeof(head));
    err = err ? err : write_all(fd, image, size);
    err = err ? err : save_vram(c, fd);
    free(image);
    return err;
}

/* ---- loading */

/* The size is not trusted: memory grows with what is there. */
static int read_image(int fd, uint64_t size, uint8_t **image)
{
    size_t have = 0, room = 0;
    int err = 0;

    while (have < size && !err) {
        size_t more = room ? room : 1u << 20;
        uint8_t *grown;

        more = more < size - have ? more : (size_t)(size - have);
        grown = realloc(*image, have + more);
        if (!grown) {
            return -ENOMEM;
        }
        *image = grown;
        room = have + more;
        err = read_all(fd, grown + have, more);
        have += more;
    }
    return err;
}

static int load_vram(MxgpuSimCheckpoint *c, int fd)
{
    uint64_t next = 0, number;
    int err;

    if (fallocate(c->vram_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
                  (off_t)c->vram_size)) {
        return -errno;
    }
    for (;;) {
        err = read_all(fd, &number, sizeof(number));
        if (err || number == LAST_PAGE) {
            return err;
        }
        if (number < next || number >= c->vram_size / PAGE) {
            return -EINVAL;
        }
        err = read_all(fd, c->vram + number * PAGE, PAGE);
        if (err) {
            return err;
        }
        next = number + 1;
    }
}

int mxgpu_sim_checkpoint_load(MxgpuSimCheckpoint *c, int fd)
{
    uint8_t *image = NULL;
    Head head;
    int err = read_all(fd, &head, sizeof(head));

    if (!err && (head.magic != MAGIC || head.version != VERSION ||
                 head.vectors != c->vectors ||
                 head.vram_size != c->vram_size || !head.image_size)) {
        err = -EINVAL;
    }
    err = err ? err : read_image(fd, head.image_size, &image);
    err = err ? err : mxgpu_state_load(c->dev, image, (size_t)head.image_size);
    free(image);
    err = err ? err : load_vram(c, fd);
    if (err) {
        return err;
    }
    for (unsigned i = 0; i < c->vectors; i++) {
        set_raised(c->irq_fd[i], false);
        if (head.raised[i / 64] >> i % 64 & 1) {
            set_raised(c->irq_fd[i], true);
        }
    }
    c->clock = head.clock;
    return 0;
}
