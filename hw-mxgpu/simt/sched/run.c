/* SPDX-License-Identifier: MIT */
/* A step of a unit: blocks begin, warps run in turns, blocks end. */
#include "run.h"

#include "barrier.h"
#include "block.h"
#include "counters.h"
#include "debug.h"
#include "parked.h"
#include "private.h"
#include "profile.h"
#include "saved.h"
#include "simt/warp/budget.h"
#include "simt/warp/code.h"
#include "simt/warp/count.h"
#include "simt/warp/memory.h"
#include "simt/warp/warp.h"
#include "slots.h"
#include "turn.h"

#include <fenv.h>

void mxgpu_cu_invalidate(MxgpuCu *cu)
{
    mxgpu_simt_drop_tlb(cu);
    mxgpu_simt_drop_code(cu);
    cu->s.drops++;
}

static void end_block(MxgpuCu *cu, SimtBlock *b)
{
    SimtSlot *s = &cu->simt->slots[b->slot];

    if (atomic_load(&s->stop)) {
        mxgpu_block_fault_stopped(cu, b, atomic_load(&s->stop_code));
        mxgpu_slot_cancel(cu->simt, mxgpu_slot_grid(cu->simt, b->slot));
        if (s->dispatch.cooperative || s->dispatch.recover) {
            /* units wait for this block, or for software */
            cu->simt->config.wake(cu->simt->config.opaque);
        }
    } else if (s->dispatch.cooperative) {
        mxgpu_block_grid_end(cu->simt, s);
    }
    mxgpu_block_end(cu, b);
    if (!cu->s.num_blocks) {
        atomic_store_explicit(&cu->n.where, 0, memory_order_relaxed);
    }
    simt_count(cu, COUNT_blocks, 1);
    if (s->dispatch.profile) {
        mxgpu_simt_profile_block(cu, b->slot, 0);
    }
    mxgpu_slot_count_end(cu, b->slot);
}

/* Looks at blocks that wait for others of their grid, or for software: they go
 * on when the grid's barrier has opened, when a fault is to be replayed, and end
 * when the grid was stopped. */
static void poll_waits(MxgpuCu *cu)
{
    bool room = true;

    for (unsigned i = 0; i < MXGPU_CU_BLOCKS; i++) {
        SimtBlock *b = &cu->s.blocks[i];

        if (!b->used) {
            continue;
        }
        if (b->faults && !atomic_load(&cu->simt->slots[b->slot].stop)) {
            room = mxgpu_park_poll(cu, b, room);
        }
        if (b->grid_wait) {
            mxgpu_block_grid_poll(cu, b);
        }
        if ((b->grid_wait || b->faults) &&
            atomic_load(&cu->simt->slots[b->slot].stop)) {
            end_block(cu, b);
        }
    }
}

/* Ends blocks all of whose threads have ended, that cannot go on, or whose grid
 * was stopped. */
static void reap(MxgpuCu *cu)
{
    for (unsigned i = 0; i < MXGPU_CU_BLOCKS && cu->s.num_blocks; i++) {
        SimtBlock *b = &cu->s.blocks[i];

        if (!b->used) {
            continue;
        }
        if (b->exited < b->threads &&
            !atomic_load(&cu->simt->slots[b->slot].stop) &&
            mxgpu_block_stuck(cu, b)) {
            if (b->faults) {
                mxgpu_park_block(cu, b);
            } else {
                mxgpu_block_fault_stuck(cu, b);
            }
        }
        if (b->exited == b->threads ||
            atomic_load(&cu->simt->slots[b->slot].stop)) {
            end_block(cu, b);
        }
    }
}

/* For mxgpu_simt_unit_pc(). */
static void note_where(MxgpuCu *cu, const MxgpuWarp *w)
{
    uint64_t pc;

    if (mxgpu_warp_where(w, &pc)) {
        atomic_store_explicit(&cu->n.where,
                              (pc & 0xffffffffffffull) |
                                  (uint64_t)w->c.vmid << 48 | 1ull << 63,
                              memory_order_relaxed);
    }
}

static uint64_t run_warp(MxgpuCu *cu, MxgpuWarp *w, uint64_t budget)
{
    const SimtSlot *s = simt_slot(cu, w);
    uint64_t n;

    if (atomic_load_explicit(&s->stop, memory_order_relaxed)) {
        return 0;
    }
    if (__builtin_expect(cu->simt->debugged, 0)) {
        n = mxgpu_simt_run_debugged(cu, w, budget);
    } else if (__builtin_expect(s->dispatch.profile, 0)) {
        n = mxgpu_simt_run_profiled(cu, w, budget);
    } else if (__builtin_expect(s->dispatch.accesses, 0)) {
        n = mxgpu_simt_run_counted(cu, w, budget);
    } else {
        n = mxgpu_simt_run_fast(cu, w, budget);
    }
    note_where(cu, w);
    return n;
}

static unsigned num_warps(const MxgpuCu *cu)
{
    return __builtin_popcount(cu->s.used_warps);
}

/* The first warp in use from n on, in a circle; there is one. */
static unsigned warp_from(const MxgpuCu *cu, unsigned n)
{
    uint32_t later = cu->s.used_warps & UINT32_MAX << n;

    return __builtin_ctz(later ? later : cu->s.used_warps);
}

/* The host has no address space for private memory: ends grids that wait for a
 * unit, rather than let them wait for ever. */
static void refuse(MxgpuSimt *simt)
{
    for (unsigned i = 0; i < MXGPU_DISPATCH_SLOTS; i++) {
        if (mxgpu_slot_has_blocks(&simt->slots[i])) {
            mxgpu_slot_stop(simt, &simt->slots[i], MXGPU_FAULT_CONFIG);
        }
    }
}

/* Kernels run in the default environment, whatever the host's is. */
#if defined(__x86_64__)
typedef unsigned HostEnv;

static void enter_env(HostEnv *host)
{
    *host = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr(0x1f80);
}

static void leave_env(const HostEnv *host)
{
    __builtin_ia32_ldmxcsr(*host);
}
#else
typedef fenv_t HostEnv;

static void enter_env(HostEnv *host)
{
    fegetenv(host);
    fesetenv(FE_DFL_ENV);
}

static void leave_env(const HostEnv *host)
{
    fesetenv(host);
}
#endif

const _Atomic bool mxgpu_simt_not_held = false;

bool mxgpu_simt_run(MxgpuSimt *simt, unsigned index, unsigned budget)
{
    return mxgpu_simt_run_held(simt, index, budget, &mxgpu_simt_not_held);
}

/* Before blocks start and warps run: takes notice of what has changed. */
static void notice_changes(MxgpuCu *cu)
{
    MxgpuSimt *simt = cu->simt;
    uint64_t check = atomic_load(&simt->code_check);

    /* Before a block starts: it must not get private memory that belongs to
     * an address space whose tables have changed. */
    if (mxgpu_mmu_client_poll(&cu->client)) {
        mxgpu_cu_invalidate(cu);
    }
    if (check != cu->c.dispatches_seen) {
        cu->c.dispatches_seen = check;
        mxgpu_simt_drop_code(cu);
    }
    if (cu->s.held && atomic_load(&simt->slots[cu->s.held_slot].stop)) {
        mxgpu_slot_drop_held(cu);
    }
    if (cu->s.num_waiting || cu->s.faults) {
        poll_waits(cu);
    }
    if (cu->saved || atomic_load(&simt->held_slots)) {
        mxgpu_saved_poll(cu);
    }
}

/* Instructions, and not work: how much of that there is depends on what is
 * cached, and a device that was saved and loaded is to run as if it had not been.
 */
static void spend(MxgpuCu *cu, unsigned slot, uint64_t instructions)
{
    uint64_t so_far =
        atomic_load_explicit(&cu->n.spent[slot], memory_order_relaxed);

    atomic_store_explicit(&cu->n.spent[slot], so_far + instructions,
                          memory_order_relaxed);
}

/* Whose time it was, by what ran. Time that nothing ran in is nobody's. */
static void charge(MxgpuCu *cu, uint64_t ns)
{
    uint64_t all = 0;

    for (unsigned i = 0; i < MXGPU_NUM_VMIDS; i++) {
        all += cu->n.vmid_ran[i];
    }
    for (unsigned i = 0; all && i < MXGPU_NUM_VMIDS; i++) {
        uint64_t ran = cu->n.vmid_ran[i], so_far;

        if (ran) {
            so_far = atomic_load_explicit(&cu->n.vmid_ns[i],
                                          memory_order_relaxed);
            atomic_store_explicit(
                &cu->n.vmid_ns[i],
                so_far + (uint64_t)((double)ns * (double)ran / (double)all),
                memory_order_relaxed);
            cu->n.vmid_ran[i] = 0;
        }
    }
}

/* Gives each warp with a group to run its turn, as far as "left" instructions
 * and the work budget go; returns how many were run. */
static uint64_t run_turns(MxgpuCu *cu, uint64_t left)
{
    uint64_t ran = 0;

    for (unsigned i = 0; i < num_warps(cu) && ran < left; i++) {
        MxgpuWarp *w;

        cu->s.next_warp = warp_from(cu, cu->s.next_warp);
        w = &cu->warps[cu->s.next_warp];
        if (w->s.cur.mask || w->s.num_ready) {
            uint64_t quantum = WARP_QUANTUM - cu->s.turn, n;
            unsigned slot = w->c.slot, vmid = w->c.vmid;

            if (mxgpu_mmu_client_poll(&cu->client)) {
                mxgpu_cu_invalidate(cu);
            }
            n = run_warp(cu, w, quantum < left - ran ? quantum : left - ran);
            spend(cu, slot, n);
            cu->n.vmid_ran[vmid] += n;
            ran += n;
            cu->s.turn += n;
            if ((ran >= left || simt_exhausted(cu)) &&
                cu->s.turn < WARP_QUANTUM) {
                break; /* the same warp goes on in the next step */
            }
        }
        cu->s.turn = 0;
        cu->s.next_warp = (cu->s.next_warp + 1) % CU_WARPS;
    }
    return ran;
}

/* Counts the instructions of a round of turns until a block is taken again. */
static void count_since_take(MxgpuCu *cu, uint64_t ran)
{
    cu->s.since_take += ran;
    if (cu->n.restarts) { /* these were instructions of several blocks */
        cu->s.since_take /= cu->n.restarts + 1;
        cu->n.restarts = 0;
    }
}

/* Runs about "left" instructions; returns whether the unit has more work.
 * *had_blocks becomes true when a block begins. */
static bool run_step(MxgpuCu *cu, uint64_t left, bool *had_blocks)
{
    while (left && !simt_exhausted(cu)) {
        uint64_t ran;

        if (mxgpu_simt_debug_holds(cu)) {
            return false;
        }
        notice_changes(cu);
        if ((cu->s.num_blocks == cu->s.num_waiting ||
             cu->s.since_take >= BLOCK_QUANTUM) &&
            mxgpu_slot_take_block(cu)) {
            cu->s.since_take = 0;
            cu->s.has_private = *had_blocks = true;
        }
        if (cu->s.unclean && !mxgpu_private_clean(cu)) {
            break;
        }
        if (cu->s.num_blocks == cu->s.num_waiting) {
            return simt_exhausted(cu); /* maybe not all faults were reported */
        }
        ran = run_turns(cu, left);
        reap(cu);
        ran += ran == 0; /* reaping is work, too */
        count_since_take(cu, ran);
        left -= ran < left ? ran : left;
    }
    return true;
}

bool mxgpu_simt_run_held(MxgpuSimt *simt, unsigned index, unsigned budget,
                         const _Atomic bool *hold)
{
    MxgpuCu *cu = &simt->cus[index];
    bool more, had_blocks = cu->s.num_blocks != 0;
    uint64_t began, now;
    HostEnv env;

    cu->c.work = WORK_BUDGET(budget) + simt->extra_work;
    cu->c.work_spare = cu->c.work - WORK_LEAST;
    cu->c.hold = hold;
    cu->c.counting = cu->c.parks = false;
    if (cu->s.num_blocks == 0 && !mxgpu_simt_has_work(simt)) {
        return !mxgpu_private_clean(cu);
    }
    if (!mxgpu_private_reserve(cu)) {
        refuse(simt);
        return false;
    }
    began = simt_clock(cu);
    if (mxgpu_mmu_client_begin(&cu->client)) {
        mxgpu_cu_invalidate(cu);
    }
    enter_env(&env);
    more = run_step(cu, budget, &had_blocks);
    if (mxgpu_simt_debug_holds(cu)) { /* also when there are no blocks left */
        more = false;
    }
    leave_env(&env);
    mxgpu_mmu_client_end(&cu->client);
    now = simt_clock(cu);
    simt_count(cu, COUNT_busy_ns, now - began);
    charge(cu, now - began);
    if (had_blocks) {
        cu->s.ran_at = now;
    }
    return more;
}
