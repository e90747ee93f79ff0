/* SPDX-License-Identifier: MIT */
/*
 * The driver layer's own view of a device.
 *
 * Locks, in the order in which they may be taken:
 *   queue_lock   the queue list and ids
 *   arena.lock   small pieces of pinned memory
 *   vm_lock      page tables, mappings, the list of memory objects
 *   vram_lock    the VRAM allocator
 *   mbox_lock    the mailbox: one request at a time
 *   clock_lock   latched halves of the device clock and of CU_PC
 * Nothing is locked while a thread waits for an interrupt of a queue. Losing
 * the device takes no lock and may happen under any of them.
 */
#ifndef MC_KMD_PRIV_H
#define MC_KMD_PRIV_H

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "arena.h"
#include "base/extents.h"
#include "base/log.h"
#include "kmd.h"
#include "mxgpu/msg.h"
#include "mxgpu/pte.h"
#include "mxgpu/regs.h"
#include "transport.h"

/* The one address space of the process. */
#define KMD_VMID 1

/* VRAM is cleared in pieces of this size, each before its first use. */
#define KMD_SCRUB_SIZE (2ull << 20)

/* Causes of vector 0: those enabled at all times, and the mailbox's, enabled
 * while somebody sleeps for its answer. */
#define KMD_IRQ_CAUSES                                                         \
    (MXGPU_SET(MXGPU_IRQ_STATUS_MCU, 1) |                                      \
     MXGPU_SET(MXGPU_IRQ_STATUS_ERROR, 1) |                                    \
     MXGPU_SET(MXGPU_IRQ_STATUS_EVENT, 1) |                                    \
     MXGPU_SET(MXGPU_IRQ_STATUS_FAULT, 1))
#define KMD_IRQ_MBOX MXGPU_SET(MXGPU_IRQ_STATUS_MBOX, 1)

typedef struct KmdTable KmdTable;

/* A mapping: device addresses va .. va + size belong to bo. */
typedef struct KmdVma {
    McNode node; /* by va */
    uint64_t va, size;
    KmdBo *bo;
} KmdVma;

typedef struct KmdVm {
    KmdTable *root;
    McTree vmas;  /* disjoint */
    KmdVma *spare;
    McExtents tables;   /* VRAM set aside for page tables */
    KmdTable *dead;     /* unlinked, may still be walked: freed after the
                           invalidation */
} KmdVm;

struct KmdBo {
    KmdDevice *dev;
    KmdBo *next, *prev; /* of the device's list */
    uint64_t size;
    uint64_t addr;      /* VRAM offset or bus address */
    void *cpu;
    uint64_t mapped;    /* bytes mapped, all mappings together */
    bool system;        /* pinned process memory */
};

typedef struct KmdQueueImpl {
    KmdQueue pub; /* first: the runtime holds a pointer to it */
    struct KmdQueueImpl *next;
    void *memory; /* ring, then control block */
    uint64_t size;
    unsigned vector;
} KmdQueueImpl;

typedef struct KmdIrq {
    pthread_t thread;
    bool running;
    int epoll_fd, stop_fd;
    _Atomic uint32_t *counts;  /* interrupts of each vector */
    _Atomic uint32_t answered; /* mailbox interrupts */
} KmdIrq;

typedef struct KmdFaults {
    volatile struct mxgpu_fault_record *ring; /* NULL: not in use */
    KmdMendFn *mend;
    void *opaque;
    pthread_t thread;
    _Atomic bool stop;
    _Atomic uint32_t told; /* interrupts */
} KmdFaults;

struct KmdDevice {
    KmdTransport *t;
    KmdInfo info;
    bool vram_is_zero;
    uint32_t packet_types; /* bit n: type n is understood */

    _Atomic bool up;   /* brought up: state changes mean trouble */
    _Atomic bool lost;
    _Atomic uint64_t looked; /* when a waiter last looked at it */

    pthread_mutex_t mbox_lock;
    uint32_t mbox_shadow[16]; /* what MBOX_CMD holds */
    uint32_t mbox_seq;
    unsigned mbox_timeout_ms;

    pthread_mutex_t vram_lock;
    McExtents vram;
    uint64_t vram_total;    /* bytes that can be allocated when empty */
    uint64_t *scrubbed;     /* a bit a KMD_SCRUB_SIZE of VRAM */

    pthread_mutex_t vm_lock;
    KmdVm vm;
    KmdBo *bos;

    KmdArena arena;

    pthread_mutex_t queue_lock;
    KmdQueueImpl *queues;
    uint64_t queue_ids[MXGPU_MAX_QUEUES / 64];

    pthread_mutex_t clock_lock;
    unsigned minor; /* of the interface version */
    KmdIrq irq;
    KmdFaults faults;
};

static inline bool kmd_lost(KmdDevice *dev)
{
    return atomic_load_explicit(&dev->lost, memory_order_acquire);
}

static inline uint64_t kmd_now_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* ---- wake.c -------------------------------------------------------------- */

void kmd_sleep_ns(uint64_t ns);
/* Sleeps until *word differs from seen, at most timeout_ns; early returns
 * happen. */
void kmd_futex_wait(_Atomic uint32_t *word, uint32_t seen,
                    uint64_t timeout_ns);
/* Adds one and wakes who waits for it. */
void kmd_count(_Atomic uint32_t *word);
/* Wakes everything that waits for an interrupt. */
void kmd_irq_wake_all(KmdDevice *dev);

/* ---- mcu.c --------------------------------------------------------------- */

/* What state the MCU is in, with causes, for messages. */
void kmd_mcu_describe(KmdDevice *dev, char *text, size_t size);

/* ---- lost.c -------------------------------------------------------------- */

/* Gives the device up: everything fails with -ENODEV and waiters return. The
 * first reason is logged. Takes no locks. */
void kmd_device_lose(KmdDevice *dev, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Whether it answers; loses it when it does not. */
bool kmd_device_alive(KmdDevice *dev);
/* The same, and whether its firmware runs. */
bool kmd_device_check(KmdDevice *dev);
/* The same for waiters, who may ask as often as they like: kmd.h, alive. */
bool kmd_device_look(KmdDevice *dev, bool look);

/* ---- device.c ----------------------------------------------------------- */

/* Takes the transport over, also when it fails. */
int kmd_device_open(KmdTransport *t, KmdDevice **dev);
void kmd_device_close(KmdDevice *dev);
void kmd_device_info(KmdDevice *dev, KmdInfo *info);
uint64_t kmd_device_clock(KmdDevice *dev);
unsigned kmd_device_where(KmdDevice *dev, uint64_t *pcs, unsigned room);
void kmd_device_help(KmdDevice *dev);
void kmd_device_module(KmdDevice *dev, uint64_t address, const char *path);
/* Every operation but count and open, which differ by back end. */
#define KMD_COMMON_OPS                                                         \
    .close = kmd_device_close, .info = kmd_device_info,                        \
    .alloc = kmd_bo_alloc, .pin = kmd_bo_pin, .peer = kmd_bo_peer,             \
    .reaches = kmd_device_reaches, .share = kmd_bo_share,                      \
    .free = kmd_bo_free,                                                       \
    .cpu = kmd_bo_cpu, .memory = kmd_vram_memory, .map = kmd_bo_map,           \
    .unmap = kmd_vm_unmap, .replace = kmd_vm_replace,                          \
    .shared_alloc = kmd_shared_alloc, .shared_free = kmd_shared_free,          \
    .queue_create = kmd_queue_create,                                          \
    .queue_ring = kmd_queue_ring, .queue_destroy = kmd_queue_destroy,          \
    .queue_profile = kmd_queue_profile,                                        \
    .queue_launch = kmd_queue_launch,                                          \
    .contexts = kmd_contexts,                                                  \
    .faults = kmd_device_faults,                                               \
    .irq_count = kmd_queue_irq_count, .irq_wait = kmd_queue_irq_wait,          \
    .help = kmd_device_help,                                                   \
    .alive = kmd_device_look, .clock = kmd_device_clock,                       \
    .where = kmd_device_where, .module = kmd_device_module

/* ---- firmware.c, bringup.c ----------------------------------------------- */

typedef struct KmdFirmware {
    uint32_t *words;
    uint32_t size; /* bytes, multiple of 4 */
    char path[512];
} KmdFirmware;

/* Finds, reads and checks the firmware file. */
int kmd_firmware_load(uint32_t sram_size, KmdFirmware *fw);
void kmd_firmware_free(KmdFirmware *fw);
/* What is wrong with an image, or NULL. */
const char *kmd_firmware_check(const void *data, uint64_t size,
                               uint32_t sram_size);

/* Directory of the file this code was loaded from, without a final slash;
 * false when it is not known. */
bool kmd_own_directory(char *dir, size_t size);

/* Identity, limits, reset. */
int kmd_bringup_identify(KmdDevice *dev);
int kmd_bringup_reset(KmdDevice *dev);
/* Loads and starts the firmware and waits for it. */
int kmd_bringup_firmware(KmdDevice *dev);
/* The message handshake; interrupts work by then. */
int kmd_bringup_hello(KmdDevice *dev);

/* ---- mailbox.c ----------------------------------------------------------- */

/* One request of "words" words and its answer of resp_words words; resp may
 * be NULL. The answer's status is translated to -errno. */
int kmd_mbox_call(KmdDevice *dev, const void *req, unsigned words, void *resp,
                  unsigned resp_words);

/* ---- irq.c ---------------------------------------------------------------- */

int kmd_irq_start(KmdDevice *dev);
void kmd_irq_stop(KmdDevice *dev);

/* ---- fault.c: kmd.h, faults ------------------------------------------------ */

int kmd_device_faults(KmdDevice *dev, KmdMendFn *mend, void *opaque);
void kmd_fault_told(KmdDevice *dev);
void kmd_faults_stop(KmdDevice *dev);

/* ---- vram.c ---------------------------------------------------------------- */

int kmd_vram_init(KmdDevice *dev);
void kmd_vram_fini(KmdDevice *dev);
/* Zeroed for the first user. -ENOMEM. */
int kmd_vram_alloc(KmdDevice *dev, uint64_t size, uint64_t *offset);
void kmd_vram_free(KmdDevice *dev, uint64_t offset, uint64_t size);
void kmd_vram_memory(KmdDevice *dev, uint64_t *free, uint64_t *total);

/* ---- pgtable.c: with vm_lock held -------------------------------------------- */

int kmd_pt_init(KmdDevice *dev);
/* Forgets all tables; the device walks them no more. */
void kmd_pt_fini(KmdDevice *dev);
/* The root in the form VM_SET wants. */
uint64_t kmd_pt_root(KmdDevice *dev);
/* Nothing is mapped there. flags: permissions and MXGPU_PTE_SYSTEM. -ENOMEM
 * leaves nothing behind but tables for kmd_pt_reap. */
int kmd_pt_map(KmdDevice *dev, uint64_t va, uint64_t addr, uint64_t size,
               uint64_t flags);
/* Makes va a boundary between leaves. -ENOMEM. */
int kmd_pt_split(KmdDevice *dev, uint64_t va);
/* Makes leaves small in a range that is mapped, unless those of addr fit them:
 * what kmd_pt_replace() needs. -ENOMEM. */
int kmd_pt_prepare(KmdDevice *dev, uint64_t va, uint64_t addr, uint64_t size);
/* Other leaves in a range that kmd_pt_prepare() has seen. */
void kmd_pt_replace(KmdDevice *dev, uint64_t va, uint64_t addr, uint64_t size,
                    uint64_t flags);
/* Clears all leaves in a range whose ends are boundaries. */
void kmd_pt_clear(KmdDevice *dev, uint64_t va, uint64_t size);
/* Frees unlinked tables: after the invalidation. */
void kmd_pt_reap(KmdDevice *dev);

/* ---- vm.c, bo.c ------------------------------------------------------------- */

int kmd_vm_init(KmdDevice *dev);
int kmd_vm_start(KmdDevice *dev); /* tells the firmware */
void kmd_vm_fini(KmdDevice *dev);
int kmd_bo_map(KmdBo *bo, uint64_t va, uint64_t offset, uint64_t size,
               uint64_t perms);
int kmd_vm_unmap(KmdDevice *dev, uint64_t va, uint64_t size);
int kmd_vm_replace(KmdDevice *dev, const KmdPlace *places, unsigned count);

int kmd_bo_alloc(KmdDevice *dev, uint64_t size, KmdBo **bo);
int kmd_bo_pin(KmdDevice *dev, void *ptr, uint64_t size, KmdBo **bo);
int kmd_bo_peer(KmdDevice *dev, KmdBo *of, uint64_t offset, uint64_t size,
                KmdBo **bo);
bool kmd_device_reaches(KmdDevice *dev, KmdDevice *other);
int kmd_bo_share(KmdBo *bo, int *fd, uint64_t *offset);
void kmd_bo_free(KmdBo *bo);
void *kmd_bo_cpu(KmdBo *bo);
/* Frees what the caller has left; the device does not use it any more. */
void kmd_bo_free_all(KmdDevice *dev);

/* ---- shared.c --------------------------------------------------------------- */

void kmd_shared_init(KmdDevice *dev);
/* After kmd_bo_free_all(): what the pieces were for the device is gone. */
void kmd_shared_fini(KmdDevice *dev);
int kmd_shared_alloc(KmdDevice *dev, uint64_t size, void **memory);
void kmd_shared_free(KmdDevice *dev, void *memory, uint64_t size);

/* ---- queue.c ---------------------------------------------------------------- */

int kmd_queue_create(KmdDevice *dev, unsigned priority, unsigned packets,
                     KmdQueue **queue);
void kmd_queue_ring(KmdQueue *queue, uint64_t write_index);
int kmd_queue_profile(KmdQueue *queue, const KmdProfile *profile);
int kmd_queue_launch(KmdQueue *queue, uint64_t ring, unsigned log2_records);
int kmd_contexts(KmdDevice *dev, uint64_t addr, uint64_t size);
void kmd_queue_destroy(KmdQueue *queue);
void kmd_queue_destroy_all(KmdDevice *dev);
uint32_t kmd_queue_irq_count(KmdQueue *queue);
int kmd_queue_irq_wait(KmdQueue *queue, uint32_t seen, uint64_t timeout_ns);

/* Bus address for process memory; large pages stay possible. As
 * mc_extents_alloc(). */
static inline int kmd_iova_alloc(McExtents *r, void *ptr, uint64_t size,
                                 uint64_t *iova)
{
    uint64_t align = size >= KMD_LARGE_PAGE_SIZE ? KMD_LARGE_PAGE_SIZE
                                                 : KMD_PAGE_SIZE;

    return mc_extents_alloc(r, size, align, (uintptr_t)ptr & (align - 1),
                            iova);
}

/* ---- back ends -------------------------------------------------------------- */

extern const KmdOps kmd_sim_ops, kmd_vfio_ops, kmd_driver_ops;
/* Whether there is a device of the kernel driver that may be opened. */
bool kmd_driver_present(void);
/* The only function kmd_vfio_ops offers ("0000:01:00.0"), NULL for all. */
int kmd_vfio_choose(const char *bdf);
/* Whether the machine has such a PCI function at all. */
bool kmd_vfio_present(void);

#endif
