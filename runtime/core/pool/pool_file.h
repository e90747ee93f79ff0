/* SPDX-License-Identifier: MIT */
/*
 * The memory of a pool that processes share: one file (memfd_create(2)), whose
 * descriptor stands for the pool. Slabs are parts of it, behind them comes a
 * table of what was given to others: an entry is named by a token and is void
 * when the memory is freed. Others may write to all of the file, so nothing in
 * the table is believed, and what the owner needs is kept elsewhere. Not thread
 * safe, but for mapping.
 */
#ifndef MC_CORE_POOL_FILE_H
#define MC_CORE_POOL_FILE_H

#include "core/memory/alloc.h"

typedef struct McPoolFile McPoolFile;

/* For slabs of so many bytes altogether. */
mcError_t mc_pool_file_new(uint64_t bytes, McPoolFile **out);
/* That of another process. fd stays the caller's. mcErrorInvalidValue: not
 * such a file. */
mcError_t mc_pool_file_open(int fd, McPoolFile **out);
/* What is mapped of it stays. */
void mc_pool_file_free(McPoolFile *file);
/* A file descriptor of the caller's. */
mcError_t mc_pool_file_export(const McPoolFile *file, int *fd);

/* Room for a slab, a multiple of KMD_LARGE_PAGE_SIZE; given back, its pages go
 * and whoever has mapped it may keep the old ones. */
mcError_t mc_pool_file_alloc(McPoolFile *file, uint64_t size,
                             uint64_t *offset);
void mc_pool_file_release(McPoolFile *file, uint64_t offset, uint64_t size);

/* Pages of the file as memory of a device, for mc_mapping_free(). */
mcError_t mc_pool_file_map(const McPoolFile *file, McContext *ctx,
                           uint64_t offset, uint64_t size, McMapping *out);

/* The number of an entry for [offset, offset + size); 0: too many. */
unsigned mc_pool_file_publish(McPoolFile *file, uint64_t offset,
                              uint64_t size);
void mc_pool_file_withdraw(McPoolFile *file, unsigned number);
void mc_pool_file_token(const McPoolFile *file, unsigned number,
                        McToken *token);
/* mcErrorInvalidValue: not a token of this file, or the memory was freed. */
mcError_t mc_pool_file_find(const McPoolFile *file, const McToken *token,
                            uint64_t *offset, uint64_t *size);

#endif
