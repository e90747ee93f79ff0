/* SPDX-License-Identifier: MIT */
/*
 * What a way of reaching the hardware offers the driver layer: registers, the
 * VRAM aperture, doorbells, bus addresses for process memory, interrupt file
 * descriptors, a function-level reset. Back ends and tests fill this in; all
 * knowledge about the device itself lives above, once.
 */
#ifndef MC_KMD_TRANSPORT_H
#define MC_KMD_TRANSPORT_H

#include <stdbool.h>
#include <stdint.h>

typedef struct KmdTransport KmdTransport;

/* Callable from any thread. Errors are -errno, with a reason logged. */
typedef struct KmdTransportOps {
    /* Reads of a function that is gone give all ones. */
    uint32_t (*read)(KmdTransport *t, uint32_t offset);
    void (*write)(KmdTransport *t, uint32_t offset, uint32_t value);
    void (*doorbell)(KmdTransport *t, unsigned queue, uint64_t value);

    /* Makes process memory reachable; *iova is congruent to ptr modulo 2 MiB
     * where the size makes large pages possible. All multiples of 4096. */
    int (*dma_map)(KmdTransport *t, void *ptr, uint64_t size, uint64_t *iova);
    /* Exactly what dma_map gave. The device has no access afterwards. */
    int (*dma_unmap)(KmdTransport *t, uint64_t iova, uint64_t size);

    /* Resets the whole function, for a device whose RESET register does not
     * help. May be NULL. */
    int (*reset)(KmdTransport *t);
    /* KmdOps.help. May be NULL. */
    void (*help)(KmdTransport *t);
    /* KmdOps.module. May be NULL. */
    void (*module)(KmdTransport *t, uint64_t address, const char *path);
    void (*close)(KmdTransport *t);
} KmdTransportOps;

/* The fields are filled in by whoever opened the transport, and constant. */
struct KmdTransport {
    const KmdTransportOps *ops;
    uint8_t *vram;          /* the aperture */
    uint64_t aperture_size; /* bytes of VRAM the aperture reaches */
    int vram_fd;            /* the aperture as a file from its start; -1: none */
    bool vram_is_zero;      /* nobody has written VRAM before */
    bool simulated;
    const int *irq_fds;     /* non-blocking eventfds, one a vector */
    unsigned vectors;       /* at least 1 */
    int gone_fd;            /* readable: give the device up; -1: never */
    unsigned pci_domain, pci_bus, pci_device, pci_function;
};

static inline uint32_t kmd_read(KmdTransport *t, uint32_t offset)
{
    return t->ops->read(t, offset);
}

static inline void kmd_write(KmdTransport *t, uint32_t offset, uint32_t value)
{
    t->ops->write(t, offset, value);
}

/* Orders writes to memory the device reads before a write to the device. */
static inline void kmd_write_barrier(void)
{
#if defined(__x86_64__)
    __asm__ __volatile__("sfence" ::: "memory");
#elif defined(__aarch64__)
    __asm__ __volatile__("dmb oshst" ::: "memory");
#else
    __sync_synchronize();
#endif
}

#endif
