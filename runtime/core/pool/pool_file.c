/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "pool_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/extents.h"
#include "base/log.h"
#include "base/va.h"
#include "core/context/error.h"
#include "core/memory/file_memory.h"

/* Not a multiple of large pages: the file is not taken for memory of
 * mcMemCreate. */
#define TABLE_SIZE  (1u << 20)
#define FILE_MAGIC  0x6c6f6f7067786dull
#define TOKEN_MAGIC 0x72747067u

typedef struct Entry {
    uint64_t serial; /* 0: void. Written last, and first */
    uint64_t offset, size;
    uint64_t pad;
} Entry;

/* In the place of entry 0. */
typedef struct Header {
    uint64_t magic, secret[2], pad;
} Header;

typedef struct Token {
    uint32_t magic, number;
    uint64_t secret[2], serial;
    uint64_t pad[4];
} Token;

_Static_assert(sizeof(Header) == sizeof(Entry), "entry 0");
_Static_assert(sizeof(Token) == sizeof(McToken), "64 bytes");

#define ENTRIES (TABLE_SIZE / sizeof(Entry))

struct McPoolFile {
    int fd;
    uint64_t bytes; /* of slabs, from the start on */
    Entry *table;
    uint64_t secret[2];
    /* The owner's: */
    McExtents room;
    unsigned used, free_list; /* entries */
    uint64_t last_serial;
    unsigned next[ENTRIES]; /* free one behind each free one */
};

static Header *header(const McPoolFile *file)
{
    return (Header *)(void *)file->table;
}

/* Takes fd over, unless it fails. */
static McPoolFile *file_new(int fd, uint64_t bytes)
{
    McPoolFile *file = calloc(1, sizeof(*file));

    if (!file) {
        return NULL;
    }
    file->table = mc_file_map(fd, bytes, TABLE_SIZE);
    if (!file->table) {
        free(file);
        return NULL;
    }
    file->fd = fd;
    file->bytes = bytes;
    file->used = 1;
    mc_extents_init(&file->room);
    return file;
}

mcError_t mc_pool_file_new(uint64_t bytes, McPoolFile **out)
{
    uint64_t secret[2];
    int fd, err;

    /* Twice as much: slabs of different sizes leave gaps, and pages are taken
     * when they are used. */
    bytes = 2 * ((bytes + KMD_LARGE_PAGE_SIZE - 1) &
                 ~(uint64_t)(KMD_LARGE_PAGE_SIZE - 1));
    if (getrandom(secret, sizeof(secret), 0) != sizeof(secret)) {
        return mcErrorOperatingSystem;
    }
    err = mc_file_new("mxgpu-pool", bytes + TABLE_SIZE, &fd);
    if (err) {
        return mc_error_from_kmd(err == -EFBIG ? -ENOMEM : err);
    }
    McPoolFile *file = file_new(fd, bytes);
    if (!file) {
        close(fd);
        return mcErrorMemoryAllocation;
    }
    if (mc_extents_add(&file->room, 0, bytes)) {
        mc_pool_file_free(file);
        return mcErrorMemoryAllocation;
    }
    memcpy(file->secret, secret, sizeof(secret));
    memcpy(header(file)->secret, secret, sizeof(secret));
    header(file)->magic = FILE_MAGIC;
    *out = file;
    return mcSuccess;
}

mcError_t mc_pool_file_open(int fd, McPoolFile **out)
{
    uint64_t size;

    if (mc_file_accept(fd, &size) || size < TABLE_SIZE ||
        (size - TABLE_SIZE) % KMD_LARGE_PAGE_SIZE) {
        return mcErrorInvalidValue;
    }
    int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (own < 0) {
        return mcErrorOperatingSystem;
    }
    McPoolFile *file = file_new(own, size - TABLE_SIZE);
    if (!file) {
        close(own);
        return mcErrorMemoryAllocation;
    }
    if (header(file)->magic != FILE_MAGIC) {
        mc_error("file descriptor %d is not one of a pool", fd);
        mc_pool_file_free(file);
        return mcErrorInvalidValue;
    }
    memcpy(file->secret, header(file)->secret, sizeof(file->secret));
    *out = file;
    return mcSuccess;
}

void mc_pool_file_free(McPoolFile *file)
{
    if (file) {
        mc_extents_fini(&file->room);
        mc_file_unmap(file->table, TABLE_SIZE);
        close(file->fd);
        free(file);
    }
}

mcError_t mc_pool_file_export(const McPoolFile *file, int *fd)
{
    *fd = fcntl(file->fd, F_DUPFD_CLOEXEC, 0);
    return *fd < 0 ? mcErrorOperatingSystem : mcSuccess;
}

/* ---- slabs ---- */

mcError_t mc_pool_file_alloc(McPoolFile *file, uint64_t size,
                             uint64_t *offset)
{
    return mc_extents_alloc(&file->room, size, KMD_LARGE_PAGE_SIZE, 0, offset)
               ? mcErrorMemoryAllocation
               : mcSuccess;
}

void mc_pool_file_release(McPoolFile *file, uint64_t offset, uint64_t size)
{
    if (fallocate(file->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                  (off_t)offset, (off_t)size)) {
        mc_error("a pool keeps %llu bytes: %s", (unsigned long long)size,
                 strerror(errno));
    }
    mc_extents_free(&file->room, offset, size);
}

mcError_t mc_pool_file_map(const McPoolFile *file, McContext *ctx,
                           uint64_t offset, uint64_t size, McMapping *out)
{
    McMapping m = {.size = size, .reserved = size + KMD_PAGE_SIZE};
    uint64_t align = size >= KMD_LARGE_PAGE_SIZE ? KMD_LARGE_PAGE_SIZE
                                                 : KMD_PAGE_SIZE;

    m.va = (uintptr_t)mc_va_reserve(m.reserved, align);
    if (!m.va) {
        return mcErrorMemoryAllocation;
    }
    m.memory = mc_file_map(file->fd, offset, size);
    m.offset = offset;
    int err = m.memory ? ctx->ops->pin(ctx->kmd, m.memory, size, &m.bo)
                       : -ENOMEM;
    if (!err) {
        err = ctx->ops->map(m.bo, m.va, 0, size, MC_DATA_PERMS);
        if (err) {
            ctx->ops->free(m.bo);
        }
    }
    if (err) {
        if (m.memory) {
            mc_file_unmap(m.memory, size);
        }
        mc_va_release((void *)(uintptr_t)m.va, m.reserved);
        return mc_error_from_kmd(err);
    }
    *out = m;
    return mcSuccess;
}

/* ---- what is given to others ---- */

unsigned mc_pool_file_publish(McPoolFile *file, uint64_t offset, uint64_t size)
{
    unsigned number = file->free_list;

    if (number) {
        file->free_list = file->next[number];
    } else if (file->used < ENTRIES) {
        number = file->used++;
    } else {
        return 0;
    }
    Entry *e = &file->table[number];
    e->offset = offset;
    e->size = size;
    __atomic_store_n(&e->serial, ++file->last_serial, __ATOMIC_RELEASE);
    return number;
}

void mc_pool_file_withdraw(McPoolFile *file, unsigned number)
{
    __atomic_store_n(&file->table[number].serial, 0, __ATOMIC_SEQ_CST);
    file->next[number] = file->free_list;
    file->free_list = number;
}

void mc_pool_file_token(const McPoolFile *file, unsigned number, McToken *out)
{
    Token token = {
        .magic = TOKEN_MAGIC,
        .number = number,
        .serial = file->table[number].serial,
    };

    memcpy(token.secret, file->secret, sizeof(token.secret));
    memcpy(out, &token, sizeof(token));
}

mcError_t mc_pool_file_find(const McPoolFile *file, const McToken *in,
                            uint64_t *offset, uint64_t *size)
{
    Token token;

    memcpy(&token, in, sizeof(token));
    if (token.magic != TOKEN_MAGIC || !token.serial || !token.number ||
        token.number >= ENTRIES ||
        memcmp(token.secret, file->secret, sizeof(token.secret))) {
        return mcErrorInvalidValue;
    }
    const Entry *e = &file->table[token.number];
    uint64_t serial = __atomic_load_n(&e->serial, __ATOMIC_ACQUIRE);
    *offset = __atomic_load_n(&e->offset, __ATOMIC_ACQUIRE);
    *size = __atomic_load_n(&e->size, __ATOMIC_ACQUIRE);
    if (serial != token.serial ||
        __atomic_load_n(&e->serial, __ATOMIC_SEQ_CST) != serial) {
        mc_error("the memory was freed in the process that exported it");
        return mcErrorInvalidValue;
    }
    return *size && *offset < file->bytes && *size <= file->bytes - *offset
               ? mcSuccess
               : mcErrorInvalidValue;
}
