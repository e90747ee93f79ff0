/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A small driver of virtio-iommu on bus 0, with the device behind it in domain
 * 1. The event queue has two buffers.
 */
#ifndef MXGPU_QTEST_VIOMMU_H
#define MXGPU_QTEST_VIOMMU_H

#include "driver.h"

#define MX_VIOMMU_SLOT 3
#define MX_ECAM        0xb0000000ull
/* Where the used ring counts requests that were taken. */
#define MX_VIOMMU_TAKEN (4 + 8 * MX_VIOMMU_RING)
#define MX_VIOMMU_RING  256

typedef struct MxVring {
    uint64_t desc, avail, used; /* a page each */
} MxVring;

typedef struct MxViommu {
    MxMachine *machine;
    QPCIDevice *pci;
    QPCIBar bar;
    uint64_t common, config, notify; /* offsets in the BAR */
    uint32_t notify_step;
    MxVring requests, events;
    uint64_t bodies, tails; /* of requests: guest-physical */
    uint16_t count;         /* requests made */
    unsigned held;          /* of these, not given to the device */
    bool hold;
} MxViommu;

/* Where configuration space is in memory, from mx_viommu_start() on. */
uint64_t mx_ecam(unsigned bus, unsigned slot, unsigned offset);
/* Translates nothing: every access is a fault to report. The first report goes
 * to memory, the second to target. */
MxViommu *mx_viommu_start(MxMachine *machine, uint64_t target);
void mx_viommu_free(MxViommu *v);
/* From now on all addresses are as they are. */
void mx_viommu_bypass(MxViommu *v);
/* Reports made. */
unsigned mx_viommu_reports(MxViommu *v);

void mx_viommu_attach(MxViommu *v, unsigned slot);
void mx_viommu_map(MxViommu *v, uint64_t iova, uint64_t addr, uint64_t size);
void mx_viommu_unmap(MxViommu *v, uint64_t iova, uint64_t size);

/* Requests wait until mx_viommu_release(), up to half a ring, and are then done
 * at a stretch. Of these, nobody looks at the answers. */
void mx_viommu_hold(MxViommu *v);
void mx_viommu_release(MxViommu *v);
/* Guest-physical: where the answer to the last request is, four bytes of which
 * the first is the status; and the first report, from now on. */
uint64_t mx_viommu_answer(MxViommu *v);
void mx_viommu_report_to(MxViommu *v, uint64_t addr);

#endif
