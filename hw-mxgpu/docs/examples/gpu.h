/* SPDX-License-Identifier: MIT */
/* What the driver of the example has of a device; sim.c or vfio.c fill it in. */
#ifndef EXAMPLE_GPU_H
#define EXAMPLE_GPU_H

#include <stddef.h>
#include <stdint.h>

#define SYS_SIZE 0x40000u      /* bytes of this process the device may use */
#define SYS_IOVA 0x1000000000u /* the address the device knows them by */
#define VECTORS  2             /* 0: status, 1: the queue */

typedef struct Gpu Gpu;
struct Gpu {
    uint32_t (*read)(Gpu *gpu, uint32_t offset); /* BAR 0 */
    void (*write)(Gpu *gpu, uint32_t offset, uint32_t value);
    void (*doorbell)(Gpu *gpu, uint64_t value); /* BAR 4, of queue 0 */
    volatile uint8_t *vram;                     /* BAR 2 */
    uint8_t *sys;                               /* SYS_SIZE, page-aligned */
    int irq_fd[VECTORS];                        /* eventfds */
    void *opaque;
};

/* Opens the device that name says. Ends the program when it cannot. */
void gpu_open(Gpu *gpu, const char *name);
void gpu_close(Gpu *gpu);
_Noreturn void die(const char *what);

#endif
