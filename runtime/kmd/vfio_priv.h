/* SPDX-License-Identifier: MIT */
/* Parts of the vfio back end. */
#ifndef MC_KMD_VFIO_PRIV_H
#define MC_KMD_VFIO_PRIV_H

#include "priv.h"

#define VFIO_MAX_FUNCTIONS 64

/* ---- vfio_pci.c: what sysfs says -------------------------------------------- */

typedef struct VfioFunction {
    char bdf[16]; /* 0000:01:00.0 */
    unsigned domain, bus, device, function;
    char driver[32];  /* bound to; empty: none */
    int group;        /* IOMMU group; -1: none */
    bool noiommu;     /* a group in name only */
} VfioFunction;

/* Where /sys and /dev are found; "" but in tests. Not thread safe. */
void kmd_vfio_set_root(const char *root);
const char *kmd_vfio_root(void);

/* Parses "01:00.0" or "0000:01:00.0". */
bool kmd_vfio_parse_bdf(const char *text, unsigned *domain, unsigned *bus,
                        unsigned *device, unsigned *function);
/* All our functions in PCI order; at most max. */
unsigned kmd_vfio_scan(VfioFunction *list, unsigned max);
/* Why this process cannot use a function; 0 when nothing is known against it.
 * -EACCES not bound to vfio-pci or no permission, -ENOTSUP no IOMMU. */
int kmd_vfio_check(const VfioFunction *f, char *reason, size_t size);

/* ---- vfio_iommu.c: groups, containers, DMA -------------------------------------- */

typedef struct VfioGroup VfioGroup;

/* Asks fd with a structure that begins with its argsz; the answer has its
 * capabilities and is to be freed. NULL: errno says why. */
void *kmd_vfio_info(int fd, unsigned long request, const void *ask,
                    uint32_t bytes);

/* Joins a group; the devices of one group share it and its bus addresses. */
int kmd_vfio_group_get(const VfioFunction *f, VfioGroup **group);
void kmd_vfio_group_put(VfioGroup *group);
/* File descriptor of a function. */
int kmd_vfio_group_device(VfioGroup *group, const char *bdf);
int kmd_vfio_dma_map(VfioGroup *group, void *ptr, uint64_t size,
                     uint64_t *iova);
int kmd_vfio_dma_unmap(VfioGroup *group, uint64_t iova, uint64_t size);

#endif
