/* SPDX-License-Identifier: MIT */
/*
 * State of the compute units. Everything a kernel can observe is in plain
 * structures; host pointers are only in caches (TLB, code pages) that may be
 * dropped at any instruction boundary.
 */
#ifndef MXGPU_SIMT_INTERNAL_H
#define MXGPU_SIMT_INTERNAL_H

#include <pthread.h>

#include "mxgpu/isa.h"
#include "mxgpu/packets.h"
#include "rv/rv.h"
#include "simt/simt.h"

#define LANES      MXGPU_WARP_SIZE
#define ALL_LANES  UINT64_MAX
#define CU_WARPS   (MXGPU_CU_THREADS / LANES)
#define SINK       32 /* x register that takes results for x0 */
#define FP_SCRATCH 32 /* f registers for operands of one instruction */

#define PAGE_BYTES  4096u
#define PAGE_OPS    (PAGE_BYTES / 2)
#define LARGE_BYTES (1ull << MXGPU_LARGE_SHIFT)

/* Instructions a warp runs before the next one may, and, in a diverged warp,
 * before a group that waits for its turn gets one (fewer after an atomic or a
 * fence, for it may be a lock that is waited for). */
#define WARP_QUANTUM 16384
#define GROUP_SLICE  16384
#define SPIN_SLICE   128

/* ---- decoded code */

/* What Op.op holds besides RvOp; 0 is an op not decoded yet. */
enum {
    OP_DECODE = 0,
    OP_BAD = RV_OP_COUNT, /* illegal instruction */
    OP_END,               /* behind the last instruction of a page */
    OP_NOP,               /* no effect but counting */
    OP_KINDS
};

/* One instruction. Branches and jumps: imm in bytes, far 0 when the target is
 * in the same page. rd is SINK for x0. */
typedef struct SimtOp {
    uint16_t op;
    uint8_t len; /* halfwords */
    uint8_t rm;  /* FP: 0 nearest even, 1 dynamic, 2 another fixed one */
    uint8_t rd, r1, r2, r3;
    int32_t imm;
    uint8_t far;
    uint8_t rm_field; /* as encoded */
    uint8_t link;     /* jumps: 1 call, 2 return */
    uint8_t classes;  /* RV_CLASS_* */
} SimtOp;

typedef struct SimtPage {
    uint64_t tag;    /* va | vmid; SIMT_NO_PAGE: unused */
    uint64_t check;  /* MxgpuCu.code_check when last compared with memory */
    unsigned decoding; /* MxgpuCu.decoding when decoded */
    uint8_t bytes[PAGE_BYTES];
    SimtOp ops[PAGE_OPS + 2];
} SimtPage;

#define SIMT_NO_PAGE UINT64_MAX
#define CODE_PAGES   64 /* of a compute unit, direct mapped */

/* ---- translations */

typedef enum SimtKind { KIND_READ, KIND_WRITE, KIND_ATOMIC, KINDS } SimtKind;

/* tag: page number | vmid << 52; host address = add + va */
typedef struct SimtTlb {
    uint64_t tag;
    uintptr_t add;
} SimtTlb;

#define TLB_LARGE 64
#define TLB_SMALL 256
#define TLB_VMID_SHIFT 52

/* ---- warps */

/* Lanes at one pc. */
typedef struct SimtGroup {
    uint64_t pc, mask;
    uint64_t stamp; /* when it last ran */
    int32_t depth;  /* calls minus returns */
} SimtGroup;

/*
 * Parts of a group are read right after they were written. One vector load of
 * several parts would have to wait until these are in the cache; compilers make
 * one of a structure's assignment.
 */
static inline uint64_t simt_alone(uint64_t v)
{
    __asm__("" : "+r"(v));
    return v;
}

static inline void simt_copy_group(SimtGroup *to, const SimtGroup *from)
{
    to->pc = simt_alone(from->pc);
    to->mask = simt_alone(from->mask);
    to->stamp = simt_alone(from->stamp);
    to->depth = (int32_t)simt_alone(from->depth);
}

typedef enum SimtWait {
    WAIT_BARRIER, WAIT_AND, WAIT_OR, WAIT_COUNT, /* of the block */
    WAIT_WARPSYNC, WAIT_NAMED, WAIT_GRID
} SimtWait;

typedef struct SimtWaiter {
    SimtGroup group; /* pc behind the instruction */
    uint64_t sync;   /* warpsync: lanes to meet; named: which one */
    uint8_t wait, rd;
} SimtWaiter;

/*
 * What the lanes of an x register hold is kept in up to three forms; those of
 * form[r] are valid. Only the wide one always exists or can be made. Whoever
 * writes a register leaves one form; whoever needs another makes it.
 */
enum {
    FORM_WIDE = 1,    /* x[r] */
    FORM_WORD = 2,    /* word[r], sign-extended */
    FORM_LINE = 4,    /* line[r] */
    FORM_UNIFORM = 8, /* and its steps are 0 */
    FORM_ALL = 15
};

/* Lane l holds base + (l & (rows - 1)) * step + (l >> row_shift) * row: what
 * indices of threads, and addresses made of them, look like. In a convoy the
 * n-th warp adds n * warp; a register of a warp has 0 there. */
typedef struct SimtLine {
    uint64_t base, step, row, warp;
} SimtLine;

/* Lanes of a row: 1 << shift; last: the last warp of a convoy, or 0. */
typedef struct SimtRows {
    uint8_t shift, last;
} SimtRows;

typedef struct MxgpuWarp {
    _Alignas(64) uint64_t x[33][LANES];
    _Alignas(64) uint32_t word[33][LANES];
    _Alignas(32) SimtLine line[33];
    uint8_t form[33];
    uint8_t row_shift; /* lanes of a row: 1 << row_shift */
    /* Lane l of f register r is the f32 (or boxed f16) f[r][l], properly
     * boxed, where bit l of narrow[r] is set, else the 64 bits d[r][l]. */
    _Alignas(64) uint32_t f[FP_SCRATCH + 3][LANES];
    _Alignas(64) uint64_t d[FP_SCRATCH + 3][LANES];
    uint64_t narrow[FP_SCRATCH + 3];

    /* The lanes of "spread": of the group that runs, unless it is all. */
    uint64_t spread;
    _Alignas(64) uint64_t m64[LANES];
    _Alignas(64) uint32_t m32[LANES];

    SimtGroup cur;      /* mask 0: none is chosen */
    SimtGroup ready[LANES]; /* sorted: the last one is next */
    SimtWaiter waiting[LANES];
    unsigned num_ready, num_waiting;
    uint64_t live;      /* lanes that have not exited */
    uint64_t stamps;
    uint64_t slice_end; /* of instructions, when the warp is diverged */
    bool rotated;       /* cur runs out of order, for fairness */

    /* fcsr of each lane; fp_level: 0 every frm is nearest-even, 1 some is
     * not, 2 flags are recorded: see float.c */
    uint8_t frm[LANES], fflags[LANES];
    unsigned fp_level;

    /* lr: lanes that hold a reservation, its address and the value read */
    uint64_t reserved;
    uint64_t reserved_addr[LANES], reserved_value[LANES];
    uint8_t reserved_size[LANES];

    uint64_t instructions;
    uint64_t vmid_tag; /* vmid << TLB_VMID_SHIFT */
    uint8_t *shared;   /* host pointer into the unit's shared memory */
    uint64_t shared_size;
    uint8_t *private;  /* see private_at() */
    uint64_t private_size;
    uint8_t slot, block, index, vmid;
} MxgpuWarp;

/* One of a block's named barriers. */
typedef struct SimtNamed {
    uint16_t arrived, count;
    bool whole; /* count stands for all threads that have not ended */
} SimtNamed;

typedef struct SimtBlock {
    bool used;
    bool grid_wait; /* all its threads wait for the grid's barrier */
    bool has_named; /* a named barrier was used */
    bool convoy;    /* its warps may be at one pc: see convoy.inc.h */
    bool fresh;     /* x registers of its warps are not set yet */
    uint8_t slot;
    uint8_t num_warps;
    uint8_t warps[MXGPU_BLOCK_THREADS / LANES];
    uint32_t id[3];
    uint32_t threads, exited, arrived;
    uint32_t count;    /* of arrived threads with a nonzero rs1 */
    uint32_t grid_arrived, grid_phase; /* see SimtSlot.grid_phase */
    SimtNamed named[MXGPU_NAMED_BARRIERS];
    uint32_t shared_at, shared_len; /* allocated */
    uint32_t registers;
    uint32_t private_kib;
} SimtBlock;

struct MxgpuSimt;

/* ---- counters */

typedef enum SimtCount {
#define F(name, index) COUNT_##name,
    MXGPU_SIMT_COUNTERS(F)
#undef F
    COUNTS
} SimtCount;

/* What a unit has counted for the dispatch of a slot, if that is profiled. */
typedef struct SimtSlotProfile {
    _Atomic uint64_t count[COUNTS];
    _Atomic uint64_t first, last;
} SimtSlotProfile;

/* Blocks that a unit has given up before it began them: see returned.c. */
typedef struct SimtReturned {
    uint64_t grid; /* as simt_grid() names it */
    uint64_t next;
    _Atomic unsigned blocks; /* 0: none */
} SimtReturned;

typedef struct MxgpuCu {
    struct MxgpuSimt *simt;
    unsigned index;
    MxgpuMmuClient client;
    SimtTlb large[KINDS][TLB_LARGE];
    SimtTlb small[KINDS][TLB_SMALL];
    SimtPage *pages[CODE_PAGES];
    uint64_t code_check;
    unsigned decoding; /* what can be executed has changed so often */
    /* Lines of x and d planes that decoded code can write: others are 0. */
    uint32_t written_x, written_d;

    MxgpuWarp *warps; /* CU_WARPS */
    uint32_t used_warps;
    SimtBlock blocks[MXGPU_CU_BLOCKS];
    unsigned threads, registers, num_blocks, next_warp, last_slot;
    unsigned num_waiting; /* blocks with grid_wait */
    int64_t patience, spare;  /* see simt_charge(): of that, what only a run
                                 has that nobody waits for */
    const _Atomic bool *hold; /* somebody waits for the end of this run */
    uint64_t turn;            /* instructions of next_warp's turn so far */
    uint64_t since_take;      /* instructions since a block was taken */
    uint64_t taken_from;      /* slot and start of that block */
    /* Blocks taken together that have not begun, and how many of that slot
     * have ended since that SimtSlot.left does not know of: see slot_take(). */
    uint64_t held_next;
    unsigned held, held_slot, held_ended;
    unsigned again; /* blocks begun by mxgpu_block_again() in this turn */
    SimtReturned returned; /* under MxgpuSimt.returned_lock */
    uint64_t dispatches_seen; /* MxgpuSimt.code_check at the last look */
    uint8_t *shared;  /* MXGPU_SHARED_MAX */
    uint8_t *private; /* of all warps; NULL until the first block */
    uint64_t owner[CU_WARPS];  /* whose data private memory holds */
    /* Bytes of a thread: that may be nonzero, and take memory; that the block
     * there asked for; that may stay, of warps in "unclean". */
    uint32_t dirty[CU_WARPS], wants[CU_WARPS], keep[CU_WARPS];
    uint32_t unclean;
    unsigned private_kib; /* what resident blocks ask for */
    bool has_private;     /* a block ran since the memory was given back */
    uint64_t ran_at;      /* clock, of the last block */
    uint64_t drops;            /* TLB drops: address spaces may have changed */

    _Atomic uint64_t count[COUNTS]; /* written by who runs the unit */
    uint64_t lanes_now, divergent_now; /* not yet in the above */
    SimtSlotProfile profile[MXGPU_DISPATCH_SLOTS];
    uint64_t sample_at;   /* instructions of the warp at the next sample */
    uint64_t sample_left; /* instructions of the unit until then */
    uint64_t random;      /* which samples are kept */
} MxgpuCu;

/* next: generation << 48 | next block; SLOT_NONE in the low bits when no block
 * is left to take. */
#define SLOT_NEXT 0x0000ffffffffffffull
#define SLOT_NONE SLOT_NEXT

typedef struct SimtSlot {
    /* These two change all the time: not beside what all units read. */
    _Atomic uint64_t next;
    uint8_t apart1[120];
    _Atomic uint64_t left; /* blocks not ended */
    uint8_t apart2[120];
    MxgpuDispatch dispatch; /* for those who have taken a block */
    _Atomic uint64_t total;
    _Atomic unsigned returned; /* blocks that units have given up */
    _Atomic uint64_t needs;    /* of a block: read before one is taken */
    _Atomic unsigned priority; /* likewise */
    _Atomic bool stop;        /* fault or abort: blocks end early */
    _Atomic bool fault_taken;
    _Atomic bool active;
    /* Cooperative grids: blocks that have not ended, those of them that have
     * not arrived at the barrier, and how often it has opened. */
    _Atomic uint64_t grid_alive, grid_missing;
    _Atomic uint32_t grid_phase;
    _Atomic unsigned stop_code; /* why it was stopped from outside */
    _Atomic uint64_t samples;
    MxgpuDispatchFault fault;
} SimtSlot;

typedef enum SimtExit {
    EXIT_QUANTUM, EXIT_BLOCKED, EXIT_DONE, EXIT_FAULT
} SimtExit;

/* Runs one warp until its instruction count reaches limit. */
typedef SimtExit SimtExecFn(MxgpuCu *cu, MxgpuWarp *w, uint64_t limit);
/*
 * Runs the warps of a block together, each for about so many instructions;
 * returns how many all of them ran. Clears block->convoy when they have parted,
 * or cannot run so.
 */
typedef uint64_t SimtConvoyFn(MxgpuCu *cu, SimtBlock *block, uint64_t each);

struct MxgpuSimt {
    MxgpuSimtConfig config;
    uint64_t private_bytes; /* most that private memory of a unit takes */
    SimtExecFn *exec;
    SimtExecFn *count; /* the same, counting accesses and taking samples */
    SimtConvoyFn *convoy; /* NULL: each warp runs for itself */
    SimtSlot slots[MXGPU_DISPATCH_SLOTS];
    /* The cooperative grid whose blocks the units take: its generation, as in
     * SimtSlot.next, and slot + 1; 0: none. */
    _Atomic uint64_t gang;
    pthread_mutex_t returned_lock; /* of all MxgpuCu.returned; a leaf */
    _Atomic uint64_t dispatches;
    _Atomic uint64_t code_check; /* starts: code may have changed */
    MxgpuCu *cus;
};

/* exec.inc.h, built once for each instruction set */
SimtExecFn mxgpu_simt_exec_base, mxgpu_simt_exec_avx2, mxgpu_simt_exec_avx512;
SimtExecFn mxgpu_simt_count_base, mxgpu_simt_count_avx2,
    mxgpu_simt_count_avx512;
SimtExecFn mxgpu_simt_exec_plain; /* wide forms only, for comparison */
SimtConvoyFn mxgpu_simt_convoy_base, mxgpu_simt_convoy_avx2,
    mxgpu_simt_convoy_avx512, mxgpu_simt_convoy_plain;

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

/* ---- simt.c */
/* Zeroed address space; memory comes when touched. NULL: there is none. */
void *mxgpu_cu_reserve(size_t size);
/* Translations, and so code, may have changed. */
void mxgpu_cu_invalidate(MxgpuCu *cu);
typedef struct SimtVariant {
    const char *name;
    SimtExecFn *exec, *count;
    SimtConvoyFn *convoy;
} SimtVariant;
#define SIMT_VARIANTS 4
/* Those that this host can run, the best one first, the plain one last;
 * returns how many. */
unsigned mxgpu_simt_variants(SimtVariant out[SIMT_VARIANTS]);

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
        &cu->count[counter],
        atomic_load_explicit(&cu->count[counter], memory_order_relaxed) + n,
        memory_order_relaxed);
}

/* Counts a load, store or atomic of the lanes of mask at x[r] + imm. */
void mxgpu_simt_count_access(MxgpuCu *cu, MxgpuWarp *w, unsigned r,
                             uint64_t imm, uint64_t mask, unsigned size);
/* Takes a sample; false: it could not be stored, which is a fault now, or the
 * unit is tired. */
bool mxgpu_simt_sample(MxgpuCu *cu, MxgpuWarp *w, uint64_t pc, uint64_t mask,
                       uint64_t instructions);
/* Runs a warp of a dispatch that counts. */
void mxgpu_simt_run_counted(MxgpuCu *cu, MxgpuWarp *w, uint64_t limit);
/* Before the slot's dispatch starts; no unit has a block of it. */
void mxgpu_simt_profile_start(MxgpuSimt *simt, unsigned slot);
/* A block of a profiled dispatch begins or ends. */
void mxgpu_simt_profile_block(MxgpuCu *cu, unsigned slot, unsigned warps);

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

/* ---- block.c */
/* The unit's only block has ended, all its threads at once: its warps begin the
 * next one that the unit holds; false: it does not, or should look up first. */
bool mxgpu_block_again(MxgpuCu *cu, SimtBlock *block);
/* Sets x registers of a fresh block. */
void mxgpu_block_settle(MxgpuCu *cu, SimtBlock *block);
void mxgpu_simt_fault_at(MxgpuCu *cu, const MxgpuWarp *w, unsigned lane,
                         enum mxgpu_fault code, enum mxgpu_access access,
                         uint64_t addr, uint64_t pc);
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
    cu->patience -= work;
    if (__builtin_expect(atomic_load_explicit(cu->hold, memory_order_relaxed),
                         0)) {
        cu->patience -= cu->spare;
        cu->spare = 0;
    }
}

static inline bool simt_tired(const MxgpuCu *cu)
{
    return cu->patience < 0;
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
        cu->pages[((va >> MXGPU_PAGE_SHIFT) ^ w->vmid) % CODE_PAGES];

    return page && page->tag == (va | w->vmid) &&
                   page->check == cu->code_check
               ? page
               : NULL;
}

static inline SimtSlot *simt_slot(const MxgpuCu *cu, const MxgpuWarp *w)
{
    return &cu->simt->slots[w->slot];
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

    return w->private + (offset >> 3) * (8 * LANES) + (offset & 7);
}

/* Whether [va, va + len) lies in the thread's private memory. */
static inline bool in_private(const MxgpuWarp *w, uint64_t va, uint64_t len)
{
    uint64_t offset = va - (MXGPU_PRIVATE_END - w->private_size);

    return offset < w->private_size && len <= w->private_size - offset;
}

static inline bool in_shared(const MxgpuWarp *w, uint64_t va, uint64_t len)
{
    uint64_t offset = va - MXGPU_SHARED_BASE;

    return offset < w->shared_size && len <= w->shared_size - offset;
}

/* Host address of [va, va + len) from the TLB or shared memory; 0: none. */
static inline uintptr_t simt_span(const MxgpuCu *cu, const MxgpuWarp *w,
                                  SimtKind kind, uint64_t va, uint64_t len)
{
    uint64_t page = va >> MXGPU_LARGE_SHIFT;
    const SimtTlb *t = &cu->large[kind][page % TLB_LARGE];

    if (__builtin_expect(t->tag == (page | w->vmid_tag), 1)) {
        return (va & (LARGE_BYTES - 1)) <= LARGE_BYTES - len ? t->add + va : 0;
    }
    page = va >> MXGPU_PAGE_SHIFT;
    t = &cu->small[kind][page % TLB_SMALL];
    if (t->tag == (page | w->vmid_tag)) {
        return len <= PAGE_BYTES && (va & (PAGE_BYTES - 1)) <= PAGE_BYTES - len
                   ? t->add + va
                   : 0;
    }
    if (in_shared(w, va, len)) {
        return (uintptr_t)w->shared + (va - MXGPU_SHARED_BASE);
    }
    return 0;
}

#endif
