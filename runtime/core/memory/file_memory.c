/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "file_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/va.h"
#include "kmd/kmd.h"

int mc_file_new(const char *name, uint64_t size, int *out)
{
    int err, fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (fd < 0) {
        err = errno;
        mc_error("memfd_create: %s", strerror(err));
        return -err;
    }
    if (ftruncate(fd, (off_t)size) ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW)) {
        err = errno;
        mc_error("a file of %llu bytes: %s", (unsigned long long)size,
                 strerror(err));
        close(fd);
        return -err;
    }
    *out = fd;
    return 0;
}

int mc_file_accept(int fd, uint64_t *size)
{
    struct stat st;
    int seals;

    if (fstat(fd, &st)) {
        return -EBADF;
    }
    /* Others than files of memory have no seals. */
    seals = fcntl(fd, F_GET_SEALS);
    if (!S_ISREG(st.st_mode) || seals < 0) {
        mc_error("file descriptor %d is not one of memory", fd);
        return -EINVAL;
    }
    if (!(seals & F_SEAL_SHRINK) && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK)) {
        mc_error("file descriptor %d: its owner may make the file smaller, and "
                 "it cannot be sealed", fd);
        return -EINVAL;
    }
    /* Again: it may have become smaller until it was sealed. */
    if (fstat(fd, &st) || st.st_size < 0) {
        return -EBADF;
    }
    *size = (uint64_t)st.st_size;
    return 0;
}

bool mc_file_is_buffer(int fd, uint64_t *size)
{
    static const char mark[] = "/dmabuf:";
    char path[32], name[sizeof(mark)];
    off_t end;

    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    if (readlink(path, name, sizeof(name)) < (ssize_t)sizeof(mark) - 1 ||
        memcmp(name, mark, sizeof(mark) - 1) != 0) {
        return false;
    }
    end = lseek(fd, 0, SEEK_END);
    *size = end > 0 ? (uint64_t)end : 0;
    return end > 0;
}

void *mc_file_map(int fd, uint64_t offset, uint64_t size)
{
    /* Reserved first for its alignment. */
    void *at = mc_va_reserve(size, size >= KMD_LARGE_PAGE_SIZE
                                       ? KMD_LARGE_PAGE_SIZE
                                       : KMD_PAGE_SIZE);
    void *p;

    if (!at) {
        return NULL;
    }
    p = mmap(at, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
             (off_t)offset);
    if (p == MAP_FAILED) {
        mc_error("mapping %llu bytes of file descriptor %d: %s",
                 (unsigned long long)size, fd, strerror(errno));
        mc_va_release(at, size);
        return NULL;
    }
    return p;
}

void mc_file_unmap(void *memory, uint64_t size)
{
    munmap(memory, size);
}
