/* SPDX-License-Identifier: MIT */
/*
 * What the files of the compute units ask of each other, and what is short and
 * used everywhere. Their structures are in state.h.
 */
#ifndef MXGPU_SIMT_INTERNAL_H
#define MXGPU_SIMT_INTERNAL_H

#include "state.h"

/* ---- returned.c */
/* A grid, told from others of the slot: the upper bits of next, and slot. */
static inline uint64_t simt_grid(uint64_t next, unsigned slot)
{
    return (next & ~SLOT_NEXT) | slot;
}

static inline unsigned simt_grid_slot(uint64_t grid)
{
    return grid & SLOT_NEXT;
}

typedef enum SimtTake { TAKE_NONE, TAKE_NO_ROOM, TAKE_BLOCK } SimtTake;

/* The unit gives n blocks of a grid to whoever has room for them. */
void mxgpu_returned_add(MxgpuCu *cu, uint64_t grid, uint64_t first, unsigned n);
/* The first block that was given up of the slot's, if the unit has room. */
SimtTake mxgpu_returned_take(MxgpuCu *cu, unsigned slot, uint64_t *block);
/* They will not be run; returns how many. */
unsigned mxgpu_returned_drop(MxgpuSimt *simt, uint64_t grid);

/* ---- run.c */
extern const _Atomic bool mxgpu_simt_not_held;

/* ---- turn.c */
/* Give a warp its turn, or its whole block while that is together, without
 * counting accesses; or count them, and take samples that are due. Return
 * instructions run. */
uint64_t mxgpu_simt_run_fast(MxgpuCu *cu, MxgpuWarp *w, uint64_t budget);
uint64_t mxgpu_simt_run_counted(MxgpuCu *cu, MxgpuWarp *w, uint64_t budget);

/* ---- simt.c */
/* Zeroed address space; memory comes when touched. NULL: there is none. */
void *mxgpu_cu_reserve(size_t size);
/* Whether the units can run such a grid; its blocks. */
bool mxgpu_simt_can_run(const MxgpuSimt *simt, const MxgpuDispatch *d,
                        uint64_t *total);
/* Translations, and so code, may have changed. */
void mxgpu_cu_invalidate(MxgpuCu *cu);

/* ---- forget.c */
/* The registers as software sees them: what a unit keeps is one of many ways
 * to hold them. 0 in lanes that are not live, and in x of a fresh block. */
typedef struct SimtRegisters {
    uint64_t x[32][LANES], f[32][LANES];
} SimtRegisters;
void mxgpu_warp_save(MxgpuWarp *w, bool fresh, SimtRegisters *out);
/* All but state and registers is as after mxgpu_cu_forget(). */
void mxgpu_warp_load(MxgpuWarp *w, const SimtRegisters *in);
/*
 * For tests, between two runs of the unit: overwrites all that is neither state
 * nor a counter with bits that are wrong, and drops it. What runs do then does
 * not change but for TLB misses, and the work of loading again what is cached.
 */
void mxgpu_cu_forget(MxgpuCu *cu);
/* The part of it that is not of a warp. */
void mxgpu_cu_drop_cache(MxgpuCu *cu);

/* ---- code.c */
/* The page of pc, decoded; NULL and *fault when it cannot be fetched. */
SimtPage *mxgpu_simt_page(MxgpuCu *cu, const MxgpuWarp *w, uint64_t pc,
                          enum mxgpu_fault *fault);
/* Decodes op index of a page; a fault of the next page is returned. */
enum mxgpu_fault mxgpu_simt_decode(MxgpuCu *cu, const MxgpuWarp *w,
                                   SimtPage *page, unsigned index);
void mxgpu_simt_drop_code(MxgpuCu *cu);

/* ---- memory.c */
void mxgpu_simt_drop_tlb(MxgpuCu *cu);
/* Host address of [va, va + len) in one cached granule, loading it if needed;
 * 0 when there is none (*fault says why, NONE: use the slow path). */
uintptr_t mxgpu_simt_fill(MxgpuCu *cu, const MxgpuWarp *w, SimtKind kind,
                          uint64_t va, uint64_t len, enum mxgpu_fault *fault);
/* Before a load or store of a strict dispatch: whether the addresses of mask's
 * lanes are naturally aligned; if not, the first of these lanes faults. */
bool mxgpu_simt_aligned(MxgpuCu *cu, MxgpuWarp *w, const SimtOp *p,
                        uint64_t pc, uint64_t mask);
/* One lane, any address, any alignment. */
enum mxgpu_fault mxgpu_simt_read(MxgpuCu *cu, MxgpuWarp *w, unsigned lane,
                                 uint64_t va, void *buf, unsigned len,
                                 uint64_t *at);
enum mxgpu_fault mxgpu_simt_write(MxgpuCu *cu, MxgpuWarp *w, unsigned lane,
                                  uint64_t va, const void *buf, unsigned len,
                                  uint64_t *at);
/* Host address for an atomic of lane; 0 and *fault when it cannot be. */
uintptr_t mxgpu_simt_atomic_at(MxgpuCu *cu, MxgpuWarp *w, unsigned lane,
                               uint64_t va, unsigned len,
                               enum mxgpu_fault *fault);

/* ---- atomic.c: lr, sc, amo*, mx.af*; false: faulted, or tired */
bool mxgpu_simt_atomic(MxgpuCu *cu, MxgpuWarp *w, const SimtOp *p, uint64_t pc,
                       uint64_t mask);

/* ---- count.c */
static inline void simt_count(MxgpuCu *cu, SimtCount counter, uint64_t n)
{
    atomic_store_explicit(
        &cu->n.count[counter],
        atomic_load_explicit(&cu->n.count[counter], memory_order_relaxed) + n,
        memory_order_relaxed);
}

/* Counts a load, store or atomic of the lanes of mask at x[r] + imm, if that is
 * what the unit does now. */
void mxgpu_simt_count_access(MxgpuCu *cu, MxgpuWarp *w, unsigned r,
                             uint64_t imm, uint64_t mask, unsigned size);
/* ---- counters.c */
/* What was run since this was last done, instructions of warps. */
void mxgpu_simt_count_turn(MxgpuCu *cu, uint64_t instructions);
/* Before the slot's dispatch starts; no unit has a block of it. */
void mxgpu_simt_profile_start(MxgpuSimt *simt, unsigned slot);
/* A block of a profiled dispatch begins or ends. */
void mxgpu_simt_profile_block(MxgpuCu *cu, unsigned slot, unsigned warps);

/* ---- profile.c */
/* Takes a sample; false: it could not be stored, which is a fault now, or the
 * unit is tired. */
bool mxgpu_simt_sample(MxgpuCu *cu, MxgpuWarp *w, uint64_t pc, uint64_t mask,
                       uint64_t instructions);
/* Gives a warp of a profiled dispatch its turn; returns instructions run. */
uint64_t mxgpu_simt_run_profiled(MxgpuCu *cu, MxgpuWarp *w, uint64_t budget);

/* ---- csr.c */
bool mxgpu_simt_csr(MxgpuCu *cu, MxgpuWarp *w, const SimtOp *p, uint64_t pc,
                    uint64_t mask);
/* Whether the instruction only reads what all lanes of w's block read alike. */
bool mxgpu_simt_csr_uniform(const MxgpuCu *cu, const MxgpuWarp *w,
                            const SimtOp *p, uint64_t *value);

/* ---- float.c */
/* Any FP arithmetic instruction, lane by lane: every rounding mode, flags. */
bool mxgpu_simt_float(MxgpuCu *cu, MxgpuWarp *w, const SimtOp *p, uint64_t pc,
                      uint64_t mask);
void mxgpu_simt_fp_level(MxgpuWarp *w, bool flags);

/* ---- warp.c */
/* All but x registers; written_d: d planes of an earlier owner that may not be
 * 0. */
void mxgpu_warp_start(MxgpuWarp *w, uint64_t lanes, uint64_t entry,
                      uint32_t written_d);
/* x registers as a thread finds them; written_x: lines that may not be 0. */
void mxgpu_warp_start_x(MxgpuWarp *w, uint64_t args, uint32_t written_x);
/* Makes x[r] valid. */
void mxgpu_warp_widen(MxgpuWarp *w, unsigned r);
/* Puts cur (where its mask is not 0) back and chooses the next group; false
 * when none is ready. rotate: the one that has waited longest. */
bool mxgpu_warp_pick(MxgpuWarp *w, bool rotate);
void mxgpu_warp_park(MxgpuWarp *w, const SimtGroup *group);
void mxgpu_warp_wait(MxgpuWarp *w, const SimtGroup *group, SimtWait wait,
                     uint8_t rd, uint64_t sync);
/* Lanes of mask end. */
void mxgpu_warp_exit(MxgpuWarp *w, uint64_t mask);
/* After arrivals and exits: warps of w whose warpsync is complete go on. */
void mxgpu_warp_sync(MxgpuWarp *w);
uint64_t mxgpu_warp_nonzero(const uint64_t *x);
/* Where it goes on, or waits; false: all its lanes have ended. */
bool mxgpu_warp_where(const MxgpuWarp *w, uint64_t *pc);

/* ---- fault.c */
/* The lane of w faults, at pc. */
void mxgpu_simt_fault_at(MxgpuCu *cu, const MxgpuWarp *w, unsigned lane,
                         enum mxgpu_fault code, enum mxgpu_access access,
                         uint64_t addr, uint64_t pc);

/* ---- block.c */
/* The unit's only block has ended, all its threads at once: its warps begin the
 * next one that the unit holds; false: it does not, or should look up first. */
bool mxgpu_block_again(MxgpuCu *cu, SimtBlock *block);
/* Sets x registers of a fresh block. */
void mxgpu_block_settle(MxgpuCu *cu, SimtBlock *block);
/* Threads of mask arrive at the block's barrier; nonzero: those with rs1. */
void mxgpu_block_arrive(MxgpuCu *cu, MxgpuWarp *w, uint64_t mask,
                        uint64_t nonzero);
void mxgpu_block_exit(MxgpuCu *cu, MxgpuWarp *w, uint64_t mask);
/* The group at pc arrives at named barriers, or at the grid's. false: faulted,
 * or tired, and the group is where it was; else its pc is the next instruction. */
bool mxgpu_block_named(MxgpuCu *cu, MxgpuWarp *w, const SimtOp *p, uint64_t pc);
bool mxgpu_block_grid(MxgpuCu *cu, MxgpuWarp *w, uint64_t pc);

/*
 * Instructions that go lane by lane, walk page tables, fetch code or use DMA
 * take a thousand times longer than others; blocks need memory that is zero.
 * Each run of a unit has patience for so much of this work, in units of about a
 * lane's turn; an instruction of that kind that finds none left is left to the
 * next run. There is always enough to fetch an instruction and do it. A run
 * that somebody waits for has no more than that: see simt_charge().
 */
#define PATIENCE(budget) (PATIENCE_LEAST + 4 * (int64_t)(budget))
#define PATIENCE_LEAST (2 * (COST_FETCH + 16 * COST_BUS) + 64)
#define COST_WALK  2
#define COST_FETCH 48
#define COST_DMA   16
#define COST_BUS   16           /* asking the host for a place on the bus */
#define COST_MMA   16
#define COST_WARP  4            /* starting one */
#define COST_ZERO(bytes) ((bytes) / 1024)
#define COST_PIECE 16           /* memory given back to the host */
static inline void simt_charge(MxgpuCu *cu, unsigned work)
{
    cu->c.patience -= work;
    if (__builtin_expect(atomic_load_explicit(cu->c.hold, memory_order_relaxed),
                         0)) {
        cu->c.patience -= cu->c.spare;
        cu->c.spare = 0;
    }
}

static inline bool simt_tired(const MxgpuCu *cu)
{
    return cu->c.patience < 0;
}

static inline uint64_t simt_clock(const MxgpuCu *cu)
{
    return cu->simt->config.ops->clock(cu->simt->config.host);
}

/* All of x[r] has been written, or a part of it that was wide before. */
static inline void simt_wrote_wide(MxgpuWarp *w, unsigned r)
{
    w->form[r] = r ? FORM_WIDE : FORM_ALL;
}

static inline void simt_set_line(MxgpuWarp *w, unsigned r, SimtLine line)
{
    w->line[r] = line;
    w->form[r] = line.step | line.row ? FORM_LINE : FORM_LINE | FORM_UNIFORM;
}

static inline void simt_set_uniform(MxgpuWarp *w, unsigned r, uint64_t value)
{
    w->line[r] = (SimtLine){.base = value};
    w->form[r] = FORM_LINE | FORM_UNIFORM;
}

/* What mxgpu_simt_page() would give, or NULL when that has work to do. */
static inline SimtPage *simt_known_page(const MxgpuCu *cu, const MxgpuWarp *w,
                                        uint64_t pc)
{
    uint64_t va = pc & ~(uint64_t)(PAGE_BYTES - 1);
    SimtPage *page =
        cu->c.pages[((va >> MXGPU_PAGE_SHIFT) ^ w->c.vmid) % CODE_PAGES];

    return page && page->tag == (va | w->c.vmid) &&
                   page->check == cu->c.code_check
               ? page
               : NULL;
}

static inline SimtSlot *simt_slot(const MxgpuCu *cu, const MxgpuWarp *w)
{
    return &cu->simt->slots[w->c.slot];
}

/* Whether each load and store is looked at: such a dispatch runs in the
 * interpreter of MxgpuSimt.count. */
static inline bool simt_watched(const MxgpuDispatch *d)
{
    return d->accesses | d->strict_align;
}

/*
 * Private memory: 8-byte granules of the 64 lanes side by side, so that lanes
 * that use the same address (their stacks do) touch neighbours. The host
 * address of the granule that holds va, for lane 0.
 */
#define PRIVATE_WARP_BYTES ((uint64_t)MXGPU_PRIVATE_MAX * LANES)
static inline uint8_t *private_at(const MxgpuWarp *w, uint64_t va)
{
    uint64_t offset = va - (MXGPU_PRIVATE_END - MXGPU_PRIVATE_MAX);

    return w->c.private + (offset >> 3) * (8 * LANES) + (offset & 7);
}

/* Whether [va, va + len) lies in the thread's private memory. */
static inline bool in_private(const MxgpuWarp *w, uint64_t va, uint64_t len)
{
    uint64_t offset = va - (MXGPU_PRIVATE_END - w->c.private_size);

    return offset < w->c.private_size && len <= w->c.private_size - offset;
}

static inline bool in_shared(const MxgpuWarp *w, uint64_t va, uint64_t len)
{
    uint64_t offset = va - MXGPU_SHARED_BASE;

    return offset < w->c.shared_size && len <= w->c.shared_size - offset;
}

/* Host address of [va, va + len) from the TLB or shared memory; 0: none. */
static inline uintptr_t simt_span(const MxgpuCu *cu, const MxgpuWarp *w,
                                  SimtKind kind, uint64_t va, uint64_t len)
{
    uint64_t page = va >> MXGPU_LARGE_SHIFT;
    const SimtTlb *t = &cu->c.large[kind][page % TLB_LARGE];

    if (__builtin_expect(t->tag == (page | w->c.vmid_tag), 1)) {
        return (va & (LARGE_BYTES - 1)) <= LARGE_BYTES - len ? t->add + va : 0;
    }
    page = va >> MXGPU_PAGE_SHIFT;
    t = &cu->c.small[kind][page % TLB_SMALL];
    if (t->tag == (page | w->c.vmid_tag)) {
        return len <= PAGE_BYTES && (va & (PAGE_BYTES - 1)) <= PAGE_BYTES - len
                   ? t->add + va
                   : 0;
    }
    if (in_shared(w, va, len)) {
        return (uintptr_t)w->c.shared + (va - MXGPU_SHARED_BASE);
    }
    return 0;
}

#endif
