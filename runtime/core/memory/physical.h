/* SPDX-License-Identifier: MIT */
/*
 * Physical memory without an address: VRAM of a device, or host memory that is
 * a file. A device gets at it through an object of kmd of its own, made when
 * the first mapping gives that device access. Memory exists while there are
 * references by handle or mappings; handles are numbers that are never used
 * again. Everything here under mc_physical_lock, unless it says otherwise.
 */
#ifndef MC_CORE_PHYSICAL_H
#define MC_CORE_PHYSICAL_H

#include "base/tree.h"
#include "core/context/context.h"

/* Sizes and addresses are multiples of it: one entry of a page table each. */
#define MC_GRANULARITY KMD_LARGE_PAGE_SIZE

extern pthread_mutex_t mc_physical_lock;

struct McMulticast;

typedef struct McPhysical {
    McNode node;       /* by handle */
    uint64_t handle;
    unsigned handles;  /* references */
    unsigned mappings;
    uint64_t size;
    mcMemAllocationProp prop;
    McContext *ctx;    /* whose it is; NULL: the host's */
    int fd;            /* of host memory; -1: VRAM */
    void *cpu;         /* all of the file */
    struct McMulticast *multicast; /* NULL: it is memory */
    void (*end)(struct McMulticast *);
    KmdBo *bo[MC_MAX_DEVICES];
    unsigned bo_users[MC_MAX_DEVICES]; /* but for the home of VRAM */
} McPhysical;

/* With one reference. Takes fd over, on success; -1: VRAM of ctx. */
mcError_t mc_physical_new(McContext *ctx, uint64_t size,
                          const mcMemAllocationProp *prop, int fd,
                          McPhysical **out);
/* A handle of a multicast object (core/mapping/multicast.h); end: it goes. */
mcError_t mc_physical_new_multicast(struct McMulticast *multicast,
                                    void (*end)(struct McMulticast *),
                                    uint64_t size, uint64_t *handle);
/* NULL: no such handle, or all references were given back. */
McPhysical *mc_physical_find(uint64_t handle);
/* References and mappings have changed: gone when there is none. */
void mc_physical_settle(McPhysical *physical);

/* What a device maps, for one mapping more or less. mcErrorNotSupported: the
 * device does not reach it. */
mcError_t mc_physical_attach(McPhysical *physical, McContext *ctx, KmdBo **bo);
void mc_physical_detach(McPhysical *physical, McContext *ctx);

/* Some memory of a context that goes away, or NULL. */
McPhysical *mc_physical_of(const McContext *ctx);
/* There are no mappings any more: its references are void. */
void mc_physical_drop(McPhysical *physical);

/* ---- what users do with handles; these take the lock themselves ---- */

/* ctx NULL: host memory. Of a property that asks for file descriptors, and of
 * the host, the memory is a file. size: a multiple of MC_GRANULARITY. */
mcError_t mc_memory_create(McContext *ctx, uint64_t size,
                           const mcMemAllocationProp *prop, uint64_t *handle);
/* mcErrorInvalidValue, as below: no such handle. */
mcError_t mc_memory_release(uint64_t handle);
mcError_t mc_memory_prop(uint64_t handle, mcMemAllocationProp *prop);
/* A file descriptor of the caller's. mcErrorInvalidValue also: made without
 * mcMemHandleTypePosixFileDescriptor. */
mcError_t mc_memory_export(uint64_t handle, int *fd);
/* fd stays the caller's. mcErrorInvalidValue: not one of such memory. */
mcError_t mc_memory_import(McContext *ctx, int fd, uint64_t *handle);

#endif
