/* SPDX-License-Identifier: MIT */
/* Launches by kernels. */
#include "launch.h"

#include "device.h"
#include "mcr/mc_device_attributes.h"

/* The runtime writes the address before a kernel that uses it is launched. */
__attribute__((visibility("default"))) struct mc_launch_area *volatile
    __mx_launch;

/* mcError_t */
enum {
    INVALID_VALUE = 1,
    INVALID_CONFIGURATION = 9,
    MAX_DEPTH_EXCEEDED = 65,
    PENDING_COUNT_EXCEEDED = 69,
    INVALID_RESOURCE_HANDLE = 400,
    OUT_OF_RESOURCES = 701,
    NOT_SUPPORTED = 801,
};

/* mcStreamTailLaunch, mcStreamFireAndForget */
enum { STREAM_TAIL_LAUNCH = 3, STREAM_FIRE_AND_FORGET = 4 };

__attribute__((weak)) const int __mx_one_stream = 0; /* events.c has 1 */

static _Thread_local int last_error;

static int check_block(const struct mc_launch_area *area,
                       const struct mc_launch_config *c,
                       const struct mxgpu_kernel_desc *kernel)
{
    uint64_t threads = 1;

    for (unsigned i = 0; i < 3; i++) {
        if (!c->grid[i] || c->grid[i] > INT32_MAX || !c->block[i] ||
            c->block[i] > area->block_threads) {
            return INVALID_CONFIGURATION;
        }
        threads *= c->block[i];
    }
    if (threads > area->block_threads ||
        (kernel->max_threads && threads > kernel->max_threads)) {
        return INVALID_CONFIGURATION;
    }
    if (c->shared > area->cu_shared ||
        kernel->static_shared + c->shared > area->cu_shared) {
        return INVALID_VALUE;
    }
    uint64_t lanes = (threads + area->warp_size - 1) / area->warp_size *
                     area->warp_size;
    uint64_t stack = mx_launch_own()->private_kib * 1024ull;
    stack = stack > kernel->private_bytes ? stack : kernel->private_bytes;
    return lanes * kernel->registers > area->cu_registers ||
                   lanes * ((stack + 1023) & ~1023ull) > area->cu_private
               ? OUT_OF_RESOURCES
               : 0;
}

/* A free record, taken. */
static struct mxgpu_launch_record *take(struct mc_launch_area *area,
                                        uint32_t *index)
{
    uint32_t first = __atomic_fetch_add(&area->hint, 1, __ATOMIC_RELAXED);

    for (uint32_t n = 0; n < area->count; n++) {
        uint32_t i = (first + n) % area->count;
        struct mxgpu_launch_record *r = mx_launch_record(area, i);
        uint32_t free = MXGPU_LAUNCH_FREE;

        if (__atomic_load_n(&r->launch.state, __ATOMIC_RELAXED) == free &&
            __atomic_compare_exchange_n(&r->launch.state, &free,
                                        MXGPU_LAUNCH_TAKEN, 0,
                                        __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
            *index = i;
            return r;
        }
    }
    return NULL;
}

static void fill(struct mxgpu_launch_record *r,
                 const struct mxgpu_launch *own,
                 const struct mc_launch_config *c,
                 const struct mxgpu_kernel_desc *kernel)
{
    r->launch.parent = (uintptr_t)own;
    r->launch.launched = r->launch.completed = 0;
    r->launch.depth = own->depth + 1;
    r->launch.after = r->launch.next = r->launch.link = 0;
    r->launch.private_kib = own->private_kib;
    r->launch.flags = own->flags;
    r->launch.waiting = 0;
    r->packet = (struct mxgpu_packet_dispatch){
        .type = MXGPU_PKT_DISPATCH,
        .flags = own->flags,
        .dynamic_shared = (uint32_t)c->shared,
        .kernel = (uintptr_t)kernel,
        .args = (uintptr_t)r + MXGPU_LAUNCH_ARGS,
        .grid = { c->grid[0], c->grid[1], c->grid[2] },
        .block = { (uint16_t)c->block[0], (uint16_t)c->block[1],
                   (uint16_t)c->block[2] },
        .private_kib = own->private_kib,
    };
}

/* Behind what was launched last in the stream. */
static void put_in_order(const struct mc_launch_area *area,
                         struct mxgpu_launch *l, uint32_t index,
                         uint64_t *stream)
{
    uint64_t mine = (uint64_t)(index + 1) << 32 | l->sequence;
    uint64_t last = __atomic_exchange_n(stream, mine, __ATOMIC_ACQ_REL);

    if (last) {
        l->after = (uintptr_t)mx_launch_record(area, (uint32_t)(last >> 32) - 1);
        l->after_sequence = (uint32_t)last;
    }
}

static int launch(const struct mc_launch_config *c,
                  const struct mxgpu_kernel_desc *kernel,
                  const uint64_t *args, uint64_t size)
{
    struct mc_launch_area *area = __mx_launch;
    struct mxgpu_launch *own = mx_launch_own();
    struct mc_launch_stream *stream = (void *)(uintptr_t)c->stream;
    struct mc_launch_stream alone = { .magic = MC_LAUNCH_STREAM_MAGIC };
    struct mxgpu_launch_record *r;
    uint32_t index;
    int error;

    if (!area) {
        return NOT_SUPPORTED;
    }
    if (c->stream == STREAM_TAIL_LAUNCH) {
        return NOT_SUPPORTED;
    }
    if (c->stream == STREAM_FIRE_AND_FORGET) {
        stream = &alone;
    }
    if (stream && stream->magic != MC_LAUNCH_STREAM_MAGIC) {
        return INVALID_RESOURCE_HANDLE;
    }
    error = size > MC_LAUNCH_ARGS_MAX ? INVALID_VALUE
                                      : check_block(area, c, kernel);
    if (error) {
        return error;
    }
    if (own->depth >= MXGPU_LAUNCH_DEPTH) {
        return MAX_DEPTH_EXCEEDED;
    }
    r = take(area, &index);
    if (!r) {
        return PENDING_COUNT_EXCEEDED;
    }
    fill(r, own, c, kernel);
    for (uint64_t i = 0; i < (size + 7) / 8; i++) {
        ((uint64_t *)(r + 1))[i] = args[i];
    }
    put_in_order(area, &r->launch, index,
                 stream && !__mx_one_stream ? &stream->last : c->null_stream);
    __atomic_fetch_add(&own->launched, 1, __ATOMIC_RELAXED);
    uint64_t place = __atomic_fetch_add(&area->tail, 1, __ATOMIC_RELAXED);
    __atomic_store_n((uint64_t *)(uintptr_t)area->ring + (place & area->mask),
                     (uintptr_t)r, __ATOMIC_RELEASE);
    return 0;
}

/* args: whole words. */
void __mx_launch_grid(const struct mc_launch_config *config,
                      const struct mxgpu_kernel_desc *kernel,
                      const uint64_t *args, uint64_t size)
{
    int error = launch(config, kernel, args, size);

    if (error) {
        last_error = error;
    }
}

int __mx_launch_error(int clear)
{
    int error = last_error;

    if (clear) {
        last_error = 0;
    }
    return error;
}

/* An error of another function, kept for mcGetLastError(). */
int __mx_launch_keep(int error)
{
    if (error) {
        last_error = error;
    }
    return error;
}

/* The device that runs this, or how many there are. */
int __mx_launch_device(int count)
{
    const struct mc_launch_area *area = __mx_launch;

    return area ? (int)(count ? area->devices : area->device) : 0;
}

/* What the host's mcDeviceGetAttribute() says of this device, in so far as
 * kernels ask for it. */
int __mx_launch_attribute(int attribute, int *value)
{
    const struct mc_launch_area *area = __mx_launch;

    if (!area) {
        return NOT_SUPPORTED;
    }
    switch (attribute) {
    case mcDeviceAttributeMaxThreadsPerBlock:
        *value = (int)area->block_threads;
        return 0;
    case mcDeviceAttributeMaxSharedMemoryPerBlock:
        *value = (int)area->cu_shared;
        return 0;
    case mcDeviceAttributeWarpSize:
        *value = (int)area->warp_size;
        return 0;
    case mcDeviceAttributeMaxRegistersPerBlock:
        *value = (int)area->cu_registers;
        return 0;
    case mcDeviceAttributeMultiProcessorCount:
        *value = (int)area->compute_units;
        return 0;
    }
    return INVALID_VALUE;
}
