/* SPDX-License-Identifier: MIT */
/*
 * Host memory that is a file (memfd_create(2)), so that processes can share it.
 * Files of others are not trusted: only one that cannot be made smaller is
 * mapped, since an access behind its end would end the process.
 */
#ifndef MC_CORE_FILE_MEMORY_H
#define MC_CORE_FILE_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

/* Of size bytes, zeroed, of which pages are taken when they are used. -errno;
 * closed when a program is executed. */
int mc_file_new(const char *name, uint64_t size, int *fd);
/* The size of somebody's file, which from now on keeps at least that.
 * -EBADF: no file descriptor; -EINVAL: not such a file, or one that its owner
 * may make smaller. */
int mc_file_accept(int fd, uint64_t *size);
/* Whether it is a dma-buf, whose size never changes: memory of a device, as a
 * kernel driver exports it. */
bool mc_file_is_buffer(int fd, uint64_t *size);
/* [offset, offset + size), multiples of 4096 within the file, at an address
 * that suits large pages. NULL: no memory, or the file is read-only. */
void *mc_file_map(int fd, uint64_t offset, uint64_t size);
void mc_file_unmap(void *memory, uint64_t size);

#endif
