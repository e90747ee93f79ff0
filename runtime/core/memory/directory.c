/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "directory.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"
#include "core/context/error.h"
#include "file_memory.h"
#include "kmd/kmd.h"
#include "mxgpu/pte.h"

#define FILE_SIZE   (8u << 20) /* pages are taken when they are used */
#define FILE_MAGIC  0x31726964697067ull
#define TOKEN_MAGIC 0x31706978u

/* The file begins with a header, in the place of record 0. */
typedef struct Header {
    uint64_t magic, secret[2];
    uint64_t pad[13];
} Header;

typedef struct Record {
    uint64_t serial; /* 0: withdrawn. Written last, and first */
    uint32_t kind, pieces;
    struct {
        uint64_t fd, offset, size;
    } piece[MC_PIECES];
    uint64_t skip, size;
    uint64_t next; /* free one, while it is withdrawn */
    uint64_t pad[5];
} Record;

typedef struct Token {
    uint32_t magic, kind;
    int32_t pid, fd;
    uint64_t secret[2];
    uint64_t number, serial;
    uint64_t pad[2];
} Token;

_Static_assert(sizeof(Header) == sizeof(Record), "record 0");
_Static_assert(sizeof(Token) == sizeof(McToken), "64 bytes");

#define RECORDS (FILE_SIZE / sizeof(Record))

static pthread_mutex_t directory_lock = PTHREAD_MUTEX_INITIALIZER;
static Record *records; /* records[0] is the header */
static int directory_fd;
static unsigned used = 1, free_list;
static uint64_t last_serial;

/* ---- ours ---- */

static Header *header(void)
{
    return (Header *)(void *)records;
}

static bool make(void)
{
    uint64_t secret[2];
    int fd;

    if (records) {
        return true;
    }
    if (getrandom(secret, sizeof(secret), 0) != sizeof(secret) ||
        mc_file_new("mxgpu-directory", FILE_SIZE, &fd)) {
        return false;
    }
    records = mc_file_map(fd, 0, FILE_SIZE);
    if (!records) {
        close(fd);
        return false;
    }
    directory_fd = fd;
    header()->magic = FILE_MAGIC;
    memcpy(header()->secret, secret, sizeof(secret));
    return true;
}

unsigned mc_directory_publish(McRecordKind kind, const McShare *share)
{
    unsigned number = 0;

    pthread_mutex_lock(&directory_lock);
    if (make() && (free_list || used < RECORDS)) {
        number = free_list ? free_list : used++;
        Record *r = &records[number];

        free_list = number == free_list ? (unsigned)r->next : free_list;
        r->kind = kind;
        r->pieces = share->pieces;
        for (unsigned i = 0; i < share->pieces; i++) {
            r->piece[i].fd = share->piece[i].fd;
            r->piece[i].offset = share->piece[i].offset;
            r->piece[i].size = share->piece[i].size;
        }
        r->skip = share->skip;
        r->size = share->size;
        __atomic_store_n(&r->serial, ++last_serial, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&directory_lock);
    return number;
}

void mc_directory_withdraw(unsigned number)
{
    if (!number) {
        return;
    }
    pthread_mutex_lock(&directory_lock);
    __atomic_store_n(&records[number].serial, 0, __ATOMIC_SEQ_CST);
    records[number].next = free_list;
    free_list = number;
    pthread_mutex_unlock(&directory_lock);
}

void mc_directory_token(unsigned number, McToken *out)
{
    Token token = {
        .magic = TOKEN_MAGIC,
        .pid = getpid(),
        .number = number,
    };

    pthread_mutex_lock(&directory_lock);
    token.kind = records[number].kind;
    token.serial = records[number].serial;
    token.fd = directory_fd;
    memcpy(token.secret, header()->secret, sizeof(token.secret));
    pthread_mutex_unlock(&directory_lock);
    memcpy(out, &token, sizeof(token));
}

/* ---- others' ---- */

/* A regular file of a process, opened anew, or -errno: what else the number may
 * stand for there is not opened. */
static int open_theirs(int pid, uint64_t number, int flags)
{
    char path[64];
    struct stat st;
    int ret, fd;

    if (pid <= 0 || number > INT32_MAX) {
        return -EINVAL;
    }
    snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, (int)number);
    fd = open(path, O_PATH | O_CLOEXEC);
    if (fd < 0) {
        return -errno;
    }
    if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
        close(fd);
        return -ENOENT;
    }
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    ret = open(path, flags | O_CLOEXEC);
    ret = ret < 0 ? -errno : ret;
    close(fd);
    return ret;
}

/* A dma-buf of a process, or -errno: no path leads to one. */
static int take_theirs(int pid, uint64_t number)
{
    int pidfd = (int)syscall(SYS_pidfd_open, pid, 0), fd, err;
    uint64_t size;

    if (pidfd < 0) {
        return -errno;
    }
    fd = (int)syscall(SYS_pidfd_getfd, pidfd, (int)number, 0);
    err = -errno;
    close(pidfd);
    if (fd < 0) {
        return err;
    }
    if (!mc_file_is_buffer(fd, &size)) {
        close(fd);
        return -ENOENT;
    }
    return fd;
}

static mcError_t open_error(int err)
{
    switch (-err) {
    case ENOENT:
    case ESRCH:
        mc_error("the process that gave the handle has ended");
        return mcErrorMapBufferObjectFailed;
    case EACCES:
    case EPERM:
        mc_error("the process that gave the handle belongs to somebody else, "
                 "or may not be looked at");
        return mcErrorNotPermitted;
    default:
        return mc_error_from_kmd(err);
    }
}

static bool read_all(int fd, void *data, size_t size, uint64_t offset)
{
    return pread(fd, data, size, (off_t)offset) == (ssize_t)size;
}

/* The record, as it was while the token's serial was there. */
static mcError_t read_record(int fd, const Token *token, Record *r)
{
    uint64_t at = token->number * sizeof(*r), again;
    Header h;

    if (!read_all(fd, &h, sizeof(h), 0) || h.magic != FILE_MAGIC ||
        memcmp(h.secret, token->secret, sizeof(h.secret))) {
        return mcErrorMapBufferObjectFailed; /* another process by now */
    }
    if (token->number == 0 || token->number >= RECORDS || !token->serial) {
        return mcErrorInvalidValue;
    }
    if (!read_all(fd, r, sizeof(*r), at) ||
        !read_all(fd, &again, sizeof(again), at) ||
        r->serial != token->serial || again != token->serial) {
        mc_error("what the handle names is gone");
        return mcErrorInvalidResourceHandle;
    }
    return r->kind == token->kind && r->pieces >= 1 && r->pieces <= MC_PIECES
               ? mcSuccess
               : mcErrorInvalidResourceHandle;
}

static mcError_t open_piece(int pid, uint64_t fd, uint64_t offset,
                            uint64_t size, McFilePiece *piece)
{
    uint64_t file_size;

    piece->fd = open_theirs(pid, fd, O_RDWR);
    if (piece->fd == -ENOENT) {
        piece->fd = take_theirs(pid, fd);
    }
    if (piece->fd < 0) {
        return open_error(piece->fd);
    }
    piece->offset = offset;
    piece->size = size;
    if ((!mc_file_is_buffer(piece->fd, &file_size) &&
         mc_file_accept(piece->fd, &file_size)) || size == 0 ||
        (offset | size) % KMD_PAGE_SIZE || offset > file_size ||
        size > file_size - offset) {
        close(piece->fd);
        return mcErrorInvalidResourceHandle;
    }
    return mcSuccess;
}

static mcError_t open_share(int pid, const Record *r, McShare *share)
{
    mcError_t error = mcSuccess;
    uint64_t bytes = 0;

    *share = (McShare){.skip = r->skip, .size = r->size};
    for (unsigned i = 0; i < r->pieces && error == mcSuccess; i++) {
        error = open_piece(pid, r->piece[i].fd, r->piece[i].offset,
                           r->piece[i].size, &share->piece[i]);
        if (error == mcSuccess) {
            share->pieces++;
            bytes += r->piece[i].size;
        }
    }
    if (error == mcSuccess && (bytes > MXGPU_VA_LIMIT || r->skip > bytes ||
                               !r->size || r->size > bytes - r->skip)) {
        error = mcErrorInvalidResourceHandle;
    }
    if (error != mcSuccess) {
        mc_share_close(share);
    }
    return error;
}

static bool is_ours(const Token *token)
{
    pthread_mutex_lock(&directory_lock);
    bool ours = records && !memcmp(header()->secret, token->secret,
                                   sizeof(token->secret));
    pthread_mutex_unlock(&directory_lock);
    return ours;
}

mcError_t mc_directory_open(McRecordKind kind, const McToken *in,
                            McShare *share)
{
    Token token;
    Record record;

    memcpy(&token, in, sizeof(token));
    if (token.magic != TOKEN_MAGIC || token.kind != kind || token.pid <= 0 ||
        token.fd < 0) {
        return mcErrorInvalidValue;
    }
    if (is_ours(&token)) {
        mc_error("the handle is one of this process");
        return mcErrorDeviceUninitialized;
    }
    int fd = open_theirs(token.pid, (uint64_t)token.fd, O_RDONLY);
    if (fd < 0) {
        return open_error(fd);
    }
    mcError_t error = read_record(fd, &token, &record);
    close(fd);
    return error == mcSuccess ? open_share(token.pid, &record, share) : error;
}

void mc_share_close(McShare *share)
{
    while (share->pieces) {
        close(share->piece[--share->pieces].fd);
    }
}
