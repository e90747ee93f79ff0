/* SPDX-License-Identifier: MIT */
/*
 * initcheck: what is read was written before, by a kernel, a copy or a fill.
 * Memory of mcMalloc and pools, which begins with a bit of 0 for each byte, and
 * shared memory of blocks. Reads of which only a part was written are not
 * reported: compilers read fields together with what lies between them.
 */
#include <inttypes.h>
#include <string.h>

#include "block.h"
#include "mxgpu/kernel.h"
#include "mxgpu/pte.h"
#include "once.h"
#include "shadow.h"
#include "tools.h"

#define PAGES_MAX (1u << 17) /* of 512 bytes, for 512 MiB */

/* Of a page: bits of bytes that were written. */
typedef struct Bits {
    uint64_t written[MC_SHADOW_PAGE / 64];
} Bits;

typedef struct Init {
    McBlockState state;
    uint64_t written[MXGPU_SHARED_MAX / 64];
} Init;

static McShadow shadow = {.bytes = sizeof(Bits), .limit = PAGES_MAX};

/* ---- bits ---- */

static bool get(const uint64_t *bits, uint64_t at)
{
    return __atomic_load_n(&bits[at / 64], __ATOMIC_RELAXED) >> at % 64 & 1;
}

static bool any(const uint64_t *bits, uint64_t at, unsigned size)
{
    bool found = false;

    for (unsigned i = 0; i < size && !found; i++) {
        found = get(bits, at + i);
    }
    return found;
}

static void set(uint64_t *bits, uint64_t at, uint64_t size)
{
    for (uint64_t part; size; at += part, size -= part) {
        uint64_t room = 64 - at % 64;
        uint64_t mask;

        part = size < room ? size : room;
        mask = (part == 64 ? ~0ull : (1ull << part) - 1) << at % 64;
        __atomic_fetch_or(&bits[at / 64], mask, __ATOMIC_RELAXED);
    }
}

static void clear(uint64_t *bits, uint64_t at, uint64_t size)
{
    for (uint64_t part; size; at += part, size -= part) {
        uint64_t room = 64 - at % 64;
        uint64_t mask;

        part = size < room ? size : room;
        mask = (part == 64 ? ~0ull : (1ull << part) - 1) << at % 64;
        __atomic_fetch_and(&bits[at / 64], ~mask, __ATOMIC_RELAXED);
    }
}

static bool all(uint64_t *bits, uint64_t at, uint64_t size)
{
    for (uint64_t part; size; at += part, size -= part) {
        uint64_t room = 64 - at % 64;
        uint64_t mask, word = __atomic_load_n(&bits[at / 64], __ATOMIC_RELAXED);

        part = size < room ? size : room;
        mask = (part == 64 ? ~0ull : (1ull << part) - 1) << at % 64;
        if ((word & mask) != mask) {
            return false;
        }
    }
    return true;
}

/* ---- global memory */

/* Calls fn for what is of each page. false: one has said so. */
static bool each_page(uint64_t addr, uint64_t size,
                      bool (*fn)(uint64_t *bits, uint64_t at, uint64_t size))
{
    while (size) {
        uint64_t at = addr % MC_SHADOW_PAGE, room = MC_SHADOW_PAGE - at;
        uint64_t part = size < room ? size : room;
        McShadowPage *page = mc_shadow_page(&shadow, addr);

        if (page && !fn(((Bits *)page->bytes)->written, at, part)) {
            return false;
        }
        addr += part;
        size -= part;
    }
    return true;
}

static bool set_page(uint64_t *bits, uint64_t at, uint64_t size)
{
    set(bits, at, size);
    return true;
}

static bool clear_page(uint64_t *bits, uint64_t at, uint64_t size)
{
    clear(bits, at, size);
    return true;
}

static bool none_page(uint64_t *bits, uint64_t at, uint64_t size)
{
    return !any(bits, at, (unsigned)size);
}

/* An allocation is new: nobody has written to it. Of a pool it may be made of
 * memory that work uses which runs still: what that writes is not told apart. */
static void see_made(const McAlloc *alloc)
{
    if (alloc->kind == MC_RANGE_DEVICE) {
        each_page(alloc->base, alloc->size, clear_page);
    }
}

static void see_written(void *opaque, unsigned vmid, uint64_t addr,
                        uint64_t size)
{
    if (addr < MXGPU_VA_LIMIT && size <= MXGPU_VA_LIMIT - addr) {
        each_page(addr, size, set_page);
    }
}

/* Nothing of it was written, by those whose writes are seen. */
static bool is_unwritten(uint64_t addr, unsigned size)
{
    McAlloc a;

    if (!mc_shadow_page(&shadow, addr) || !each_page(addr, size, none_page) ||
        !mc_live_at(addr, &a)) {
        return false;
    }
    if (a.kind == MC_RANGE_DEVICE || a.kind == MC_RANGE_POOL) {
        return true;
    }
    each_page(addr, size, set_page); /* of the host, a module: never asked */
    return false;
}

#define RANGE_MAX 65536 /* that is looked at before lanes are */

static bool range(void *opaque, unsigned unit, enum mxgpu_access access,
                  uint64_t low, uint64_t high)
{
    return high - low <= RANGE_MAX && each_page(low, high - low, all);
}

/* ---- an access ---- */

static void report(const MxgpuObservedWarp *w, const MxgpuObservedAccess *a,
                   uint64_t bad)
{
    uint64_t addr = a->addr[__builtin_ctzll(bad)];
    McReport r;

    mc_report_begin(&r, "Uninitialized %s memory %s of size %u bytes",
                    mc_space_name(addr), mc_access_name(a->access), a->size);
    mc_report_unless_own(&r, w->pc);
    mc_report_pc(&r, "at", w->pc);
    mc_report_threads(&r, w, bad);
    if (addr < MXGPU_VA_LIMIT) {
        mc_report_address(&r, addr, a->size);
    } else {
        mc_report_line(&r, "Address 0x%" PRIx64 " of the block's memory",
                       (uint64_t)(addr - MXGPU_SHARED_BASE));
    }
    mc_report_kernel(&r, w);
    mc_report_end(&r);
}

static Init *init_of(void *opaque, const MxgpuObservedWarp *w, bool begins)
{
    bool fresh;
    Init *init = mc_block(opaque, w, sizeof(*init), &fresh);

    if (init && (begins || fresh)) {
        /* A block that goes on here has written what is not known. */
        memset(init->written, begins ? 0 : 0xff, sizeof(init->written));
    }
    return init;
}

static bool reads_shared(Init *init, uint64_t offset,
                         const MxgpuObservedAccess *a)
{
    bool bad = a->access != MXGPU_ACCESS_WRITE &&
               !any(init->written, offset, a->size);

    if (a->access != MXGPU_ACCESS_READ || bad) {
        set(init->written, offset, a->size);
    }
    return bad;
}

static bool reads_global(uint64_t addr, const MxgpuObservedAccess *a)
{
    bool bad = a->access != MXGPU_ACCESS_WRITE && is_unwritten(addr, a->size);

    if (a->access != MXGPU_ACCESS_READ) {
        each_page(addr, a->size, set_page);
    }
    return bad;
}

static int access(void *opaque, const MxgpuObservedWarp *w,
                  const MxgpuObservedAccess *a)
{
    McGrid *grid = mc_grid(opaque, w->slot);
    Init *init = init_of(opaque, w, false);
    uint64_t bad = 0;

    for (uint64_t m = w->lanes; m; m &= m - 1) {
        unsigned lane = __builtin_ctzll(m);
        uint64_t addr = a->addr[lane], offset = addr - MXGPU_SHARED_BASE;
        bool wrong = false;

        if (addr < MXGPU_VA_LIMIT) {
            wrong = reads_global(addr, a);
        } else if (init && offset < MXGPU_SHARED_MAX &&
                   offset + a->size <= MXGPU_SHARED_MAX) {
            wrong = reads_shared(init, offset, a);
        }
        bad |= (uint64_t)wrong << lane;
    }
    if (bad && !atomic_load(&grid->ignored) &&
        mc_once(w->pc, 0, grid->number)) {
        report(w, a, bad);
    }
    return -1;
}

static void event(void *opaque, const MxgpuObservedWarp *w,
                  MxgpuObservedEvent what, uint64_t value)
{
    if (what == MXGPU_OBSERVED_BLOCK) {
        init_of(opaque, w, true);
    } else if (what == MXGPU_OBSERVED_BLOCK_END) {
        mc_block_end(opaque, w);
    }
}

void mc_initcheck_start(void)
{
    mc_live_made = see_made;
}

const MxgpuObserver mc_initcheck = {
    .range = range,
    .shared = true,
    .access = access,
    .fault = mc_fault_report,
    .event = event,
    .grid = mc_grid_event,
    .written = see_written,
};
