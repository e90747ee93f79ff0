/* SPDX-License-Identifier: MIT */
/*
 * For a host that has to know what memory the device changes: units say which
 * pages they are about to write to. core/device.h has the rules.
 */
#ifndef MXGPU_MMU_LOG_H
#define MXGPU_MMU_LOG_H

#include <stddef.h>
#include <stdint.h>

/* These bytes of VRAM, which are in one page; from any thread of the device. */
typedef void MxgpuVramUsed(void *host, uint64_t offset, size_t len);

struct MxgpuMmu;
/* NULL: nobody wants to know. */
/* Before any use: the first argument of used(), if it is not that of the
 * host's operations. */
void mxgpu_mmu_log_host(struct MxgpuMmu *mmu, void *host);
void mxgpu_mmu_log_writes(struct MxgpuMmu *mmu, MxgpuVramUsed *used);

#endif
