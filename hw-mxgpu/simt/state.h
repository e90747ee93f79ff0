/* SPDX-License-Identifier: MIT */
/*
 * The structures of the compute units. docs/state.md tells what the parts of
 * each are:
 *
 *   state     what a restored unit would need: plain, without host pointers
 *   cache     made from state, or from memory; may be dropped between two steps
 *   counters  what has been counted: observable, but nothing depends on it
 *   run       has a meaning during a step only
 *   host      where memory and other parts are; constant
 *
 * mxgpu_cu_forget() (forget.c) drops and poisons what is not state, and
 * mxgpu_simt_visit() (visit.c) walks all that is: a member that is added here
 * is added to one of them.
 */
#ifndef MXGPU_SIMT_STATE_H
#define MXGPU_SIMT_STATE_H

#include <pthread.h>

#include "mxgpu/isa.h"
#include "mxgpu/packets.h"
#include "rv/rv.h"
#include "simt/debug.h"
#include "simt/simt.h"

#define LANES      MXGPU_WARP_SIZE
#define ALL_LANES  UINT64_MAX
#define CU_WARPS   (MXGPU_CU_THREADS / LANES)
#define SINK       32 /* x register that takes results for x0 */
#define X_REGS     35 /* with two more for operands: simt/jit */
#define FP_SCRATCH 32 /* f registers for operands of one instruction */

#define PAGE_BYTES  4096u
#define PAGE_OPS    (PAGE_BYTES / 2)
#define LARGE_BYTES (1ull << MXGPU_LARGE_SHIFT)

/* ---- decoded code: cache */

/* What SimtOp.op holds besides values of RvOp. */
enum {
    OP_DECODE = 0,        /* not decoded yet */
    OP_BAD = RV_OP_COUNT, /* illegal instruction */
    OP_END,               /* behind the last instruction of a page */
    OP_NOP,               /* no effect but counting */
    OP_KINDS
};

/* One decoded instruction, 16 bytes. */
typedef struct SimtOp {
    uint16_t op;
    uint8_t len; /* halfwords */
    uint8_t rm;  /* FP: 0 nearest even, 1 dynamic, 2 another fixed one */
    uint8_t rd, r1, r2, r3; /* rd: SINK for x0; r3 of amocas: rd, or x0 */
    int32_t imm;      /* branches and jumps: distance in bytes */
    uint8_t far;      /* their target is in another page */
    uint8_t rm_field; /* as encoded */
    uint8_t link;     /* jumps: 1 call, 2 return */
    uint8_t classes;  /* RV_CLASS_* */
} SimtOp;

/* Where warps may leave the interpreter for compiled code: the head of a loop,
 * which a branch of its page goes back to, or where groups of lanes begin. */
typedef struct SimtHead {
    struct JitRegion *region; /* simt/jit/code.h; NULL: none was asked for */
    int32_t count;             /* of times that a warp came here, up to
                                * simt->jit_first */
    uint32_t rounds;           /* of simt->jit_patience of these */
    uint32_t bails;            /* of times that it could not enter the code */
    uint32_t entries;          /* of times that it did, since last looked at */
    uint64_t ran;              /* instructions in these */
    bool ready;                /* the region has code */
    bool refused;              /* it will not have any */
    bool stale;                /* other code is to be asked for */
    uint8_t early;             /* looks since the last round: for code that is
                                * asked for */
    uint16_t end;              /* halfwords: behind the last branch back; 0: it
                                * is no loop's */
} SimtHead;

#define LOOP_HEADS 255

typedef struct SimtPage {
    uint64_t tag;    /* va | vmid; SIMT_NO_PAGE: unused */
    uint64_t check;  /* SimtCuCache.code_check when last compared with memory */
    unsigned decoding; /* SimtCuCache.decoding when decoded */
    uint8_t bytes[PAGE_BYTES];
    SimtOp ops[PAGE_OPS + 2];
    uint32_t live[PAGE_OPS]; /* x registers that may be read: warp/live.h */
    uint32_t flive[PAGE_OPS]; /* f registers, of ops whose x registers are known */
    unsigned num_heads;
    SimtHead heads[LOOP_HEADS];
    SimtHead convoys[LOOP_HEADS]; /* the same of code for whole warps */
    uint8_t head_of[PAGE_OPS]; /* which of these an op is, + 1; 0: none */
} SimtPage;

#define SIMT_NO_PAGE UINT64_MAX
#define CODE_PAGES   64 /* of a compute unit, direct mapped */

/* ---- translations: cache */

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

/* Lanes of a warp that are at one pc, and run together. */
typedef struct SimtGroup {
    uint64_t pc, mask;
    uint64_t stamp; /* SimtWarpState.stamps when it last ran */
    int32_t depth;  /* of its call frame: calls minus returns */
} SimtGroup;

/*
 * Members of a group are read right after they were written. Compilers make one
 * vector load of a structure's assignment, and such a load cannot take its data
 * from several narrower stores that are still under way: it waits for the
 * cache. So members are copied one by one; simt_alone() hides from the compiler
 * that they could be copied together.
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

/* What a group waits for: the block's barrier, with the result that the
 * instruction gives; lanes of its warp; a named barrier; the grid's barrier;
 * software, after a fault. */
typedef enum SimtWait {
    WAIT_BARRIER, WAIT_AND, WAIT_OR, WAIT_COUNT,
    WAIT_WARPSYNC, WAIT_NAMED, WAIT_GRID,
    /* The access that faulted can be mended: nobody has been told; the fault
     * was reported. The group's pc is that of the instruction. */
    WAIT_FAULT, WAIT_VERDICT
} SimtWait;

typedef struct SimtWaiter {
    SimtGroup group; /* pc behind the instruction */
    uint64_t sync;   /* warpsync: the lanes that wait for each other; named: the
                      * barrier's number; faults: the address */
    uint8_t wait;
    uint8_t rd;      /* faults: the lane */
    uint8_t code, access; /* of faults */
    uint32_t sequence;    /* of one that was reported */
} SimtWaiter;

/*
 * What the lanes of an x register hold is kept in up to three forms; those
 * named in MxgpuWarp.form[r] are valid. The wide form can be made of any other.
 * Code that writes a register leaves one valid form; code that needs another
 * one makes it.
 */
enum {
    FORM_WIDE = 1,    /* x[r] */
    FORM_WORD = 2,    /* word[r], sign-extended */
    FORM_LINE = 4,    /* line[r] */
    FORM_UNIFORM = 8, /* and its steps are 0 */
    FORM_ALL = 15
};

/*
 * The lanes of a register that are evenly spaced (an affine register): lane l
 * holds
 *
 *   base + (l % lanes of a row) * step + (l / lanes of a row) * row
 *
 * as indices of threads, and addresses made of them, do. A row is the threads
 * of a block with one y and z, where whole rows fill a warp, else it is the
 * warp. In a convoy the n-th warp adds n * warp; a register of a warp has 0
 * there.
 */
typedef struct SimtLine {
    uint64_t base, step, row, warp;
} SimtLine;

/* Lanes of a row: 1 << shift; last: number of the last warp of a convoy, or
 * 0. */
typedef struct SimtRows {
    uint8_t shift, last;
} SimtRows;

/* State, with the registers of MxgpuWarp. What belongs to lanes that are not
 * live may be anything, except frm and fflags. */
typedef struct SimtWarpState {
    SimtGroup cur;          /* the group that runs; mask 0: none is chosen */
    SimtGroup ready[LANES]; /* sorted: the last one is next */
    SimtWaiter waiting[LANES];
    unsigned num_ready, num_waiting;
    uint64_t live;      /* lanes that have not exited */
    uint64_t stamps;    /* how often a group has been chosen */
    uint64_t slice_end; /* "instructions" at the end of cur's slice; 0: it has
                         * not begun, or the warp is not diverged */
    bool rotated;       /* cur runs out of order, for fairness */

    uint8_t frm[LANES], fflags[LANES]; /* fcsr of each lane */

    /* lr: lanes that hold a reservation, its address and the value read */
    uint64_t reserved;
    uint64_t reserved_addr[LANES], reserved_value[LANES];
    uint8_t reserved_size[LANES];

    uint64_t instructions; /* that the warp has executed, of any group */
} SimtWarpState;

/* Cache: from the block, its dispatch and the state. */
typedef struct SimtWarpCache {
    /* The active mask that m64 and m32 hold expanded, all ones in the lanes of
     * the mask; 0: unknown. Not kept for a mask of all lanes. */
    uint64_t expanded;
    _Alignas(64) uint64_t m64[LANES];
    _Alignas(64) uint32_t m32[LANES];

    /* Under a mask: x registers, a bit each, that no lane outside it will read:
     * results may go to all lanes. */
    uint64_t dead;

    uint64_t vmid_tag; /* vmid << TLB_VMID_SHIFT */
    uint8_t *shared;   /* host pointer into the unit's shared memory */
    uint64_t shared_size;
    uint8_t *private;  /* see private_at() */
    uint64_t private_size;
    /* 0 every frm is nearest-even, 1 some is not, 2 flags are recorded: see
     * float.c */
    unsigned fp_level;
    uint8_t row_shift; /* lanes of a row: 1 << row_shift */
    uint8_t slot, block, index, vmid;
} SimtWarpCache;

typedef struct MxgpuWarp {
    /* State: the values of x1 to x31 and f0 to f31. How they are kept is cache,
     * and so are x0, the sink and the scratch registers. */
    _Alignas(64) uint64_t x[X_REGS][LANES];
    _Alignas(64) uint32_t word[X_REGS][LANES];
    _Alignas(32) SimtLine line[X_REGS];
    uint8_t form[X_REGS];
    /* Lane l of f register r is the f32 (or boxed f16) f[r][l], properly
     * boxed, where bit l of narrow[r] is set, else the 64 bits d[r][l]. */
    _Alignas(64) uint32_t f[FP_SCRATCH + 3][LANES];
    _Alignas(64) uint64_t d[FP_SCRATCH + 3][LANES];
    uint64_t narrow[FP_SCRATCH + 3];

    SimtWarpCache c;
    SimtWarpState s;
} MxgpuWarp;

/* ---- blocks: state */

/* One of a block's named barriers. */
typedef struct SimtNamed {
    uint16_t arrived; /* threads that have */
    uint16_t count;   /* threads that open it; 0: not in use */
    bool whole;       /* it is for all threads: those that end count, too */
} SimtNamed;

typedef struct SimtBlock {
    bool used;
    bool grid_wait; /* all its threads wait for the grid's barrier */
    bool has_named; /* a named barrier was used */
    /* Its warps may all be at one pc, and then run together: see
     * exec/convoy.h. State, for it decides in which order they run. */
    bool convoy;
    bool fresh; /* x registers of its warps are not set yet:
                 * mxgpu_block_init_x() */
    /* Warps that have instructions of a span left to run, a bit each, and how
     * many: sched/profile.c. */
    uint16_t spans;
    uint16_t span_left[MXGPU_BLOCK_THREADS / LANES];
    bool fault_wait; /* no thread can go on before a fault is replayed */
    uint16_t faults; /* groups of its warps that wait for that */
    uint8_t slot;
    uint8_t num_warps;
    uint8_t warps[MXGPU_BLOCK_THREADS / LANES];
    uint32_t id[3];
    uint32_t threads, exited;
    uint32_t arrived;  /* at the block's barrier */
    uint32_t count;    /* of these, threads with a nonzero rs1 */
    uint32_t grid_arrived, grid_phase; /* see SimtSlot.grid_phase */
    SimtNamed named[MXGPU_NAMED_BARRIERS];
    uint32_t shared_at, shared_len; /* allocated */
    uint32_t registers;
    uint32_t private_kib;
} SimtBlock;

/* ---- compute units */

struct MxgpuSimt;

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

/* Blocks that a unit took and gave back before it began them: returned.c. */
typedef struct SimtReturned {
    uint64_t grid; /* as simt_grid() names it */
    uint64_t next;           /* number of the first one */
    _Atomic unsigned blocks; /* how many; 0: none */
} SimtReturned;

typedef struct SimtCuCache {
    SimtTlb large[KINDS][TLB_LARGE];
    SimtTlb small[KINDS][TLB_SMALL];
    SimtPage *pages[CODE_PAGES]; /* the first one always exists */
    uint64_t code_check;
    unsigned decoding; /* counts changes of what can be executed */
    /* x registers whose lines, and f registers whose d planes, decoded code can
     * write: all others hold 0. */
    uint32_t written_x, written_d;
    uint64_t dispatches_seen; /* MxgpuSimt.code_check, when last looked at */

    /* Run. */
    int64_t work;             /* what is left of the work budget: budget.h */
    int64_t work_spare;       /* of that, what goes when somebody waits */
    const _Atomic bool *hold; /* somebody waits for the end of this run */
    uint64_t sample_at; /* instructions of the warp at the next sample */
    bool counting;      /* accesses of the warp that runs */
    bool parks;         /* ... which has faulted, as follows, and parks: */
    MxgpuDispatchFault fault;
} SimtCuCache;

typedef struct SimtCuState {
    uint32_t used_warps; /* a bit each */
    SimtBlock blocks[MXGPU_CU_BLOCKS];
    /* Of all blocks: sums of what each takes. */
    unsigned threads, registers, num_blocks;
    unsigned num_waiting; /* blocks with grid_wait or fault_wait */
    unsigned faults;      /* groups that wait after a fault */
    unsigned private_kib; /* what resident blocks ask for */
    unsigned next_warp;       /* whose turn it is */
    unsigned last_slot;       /* that a block was taken of */
    uint64_t turn;            /* instructions of that turn so far */
    uint64_t since_take;      /* instructions since a block was taken */
    uint64_t taken_from;      /* slot and start of that block */
    /* Held blocks: taken together, and not begun yet (slot_take()): number of
     * the first one, how many, of which slot; and blocks of that slot that have
     * ended meanwhile, which SimtSlot.left still counts. */
    uint64_t held_next;
    unsigned held, held_slot, held_ended;
    SimtReturned returned; /* under MxgpuSimt.returned_lock */

    /* Private memory: see private.c. */
    uint64_t owner[CU_WARPS];  /* whose data it holds */
    /* Bytes of a thread, for each warp: what may be nonzero, and takes memory;
     * what the block there asked for; what may stay when the warp is
     * cleaned. */
    uint32_t dirty[CU_WARPS], wants[CU_WARPS], keep[CU_WARPS];
    uint32_t unclean;     /* warps that are to be cleaned, a bit each */
    bool has_private;     /* a block ran since the memory was given back */
    uint64_t ran_at;      /* clock, of the last block */
    uint64_t drops;       /* TLB drops: address spaces may have changed */

    uint64_t sample_left; /* instructions of the unit until the next sample */
    uint64_t span_wait;   /* instructions until the next span may begin */
    uint64_t random;      /* which samples are kept, when spans begin */
} SimtCuState;

typedef struct SimtCuCounters {
    _Atomic uint64_t count[COUNTS]; /* written by the thread that runs it */
    SimtSlotProfile profile[MXGPU_DISPATCH_SLOTS];
    _Atomic uint64_t where; /* mxgpu_simt_unit_pc() */
    _Atomic uint64_t spent[MXGPU_DISPATCH_SLOTS]; /* mxgpu_simt_spent() */
    _Atomic uint64_t vmid_ns[MXGPU_NUM_VMIDS]; /* mxgpu_simt_vmid_ns() */

    /* Cache: mxgpu_simt_unit_slots(), of the blocks. */
    _Atomic uint32_t slots;

    /* Run: 0 between two of them. */
    uint64_t lanes_now, divergent_now; /* lane instructions and divergent
                                        * branches that count[] lacks */
    uint64_t vmid_ran[MXGPU_NUM_VMIDS]; /* instructions of this run */
    unsigned restarts; /* of blocks in place, in this turn:
                        * mxgpu_slot_restart_block() */
} SimtCuCounters;

/* Pages of a warp's private memory that are not all zero. */
typedef struct SimtSavedPrivate {
    uint64_t owner; /* as SimtCuState.owner */
    uint32_t count;
    uint32_t *index; /* of each, from the end of the warp's range down */
    uint8_t *bytes;  /* PAGE_BYTES of each */
} SimtSavedPrivate;

/* A block that is not on the unit: all that its threads would miss. */
typedef struct SimtSaved {
    struct SimtSaved *next;
    size_t size; /* of all of it */
    SimtBlock block;
    uint8_t *shared; /* shared_len bytes, behind the warps */
    SimtSavedPrivate private[MXGPU_BLOCK_THREADS / LANES];
    MxgpuWarp warps[];
} SimtSaved;

typedef struct MxgpuCu {
    /* Host. */
    struct MxgpuSimt *simt;
    unsigned index;
    MxgpuMmuClient client; /* state: whether it has seen the last epoch */

    SimtCuCache c;
    MxgpuWarp *warps; /* CU_WARPS: see there */
    uint8_t *shared;  /* state: MXGPU_SHARED_MAX bytes */
    uint8_t *private; /* state, of all warps; NULL until the first block */
    uint64_t tlb_drops; /* cache: translations were dropped so often; what was
                         * made of them names it and must not find it again */
    SimtCuState s;
    SimtSaved *saved; /* state: blocks of held slots, oldest first */
    unsigned saved_private_kib; /* that they ask for, together */
    SimtSaved *spare; /* memory for more of them */
    size_t spare_bytes;
    SimtCuCounters n;
} MxgpuCu;

/* ---- dispatch slots */

/* next: generation << 48 | next block; SLOT_NONE in the low bits when no block
 * is left to take. */
#define SLOT_NEXT 0x0000ffffffffffffull
#define SLOT_NONE SLOT_NEXT

/* State; "returned", "needs" and "priority" follow from other state. */
typedef struct SimtSlot {
    /* These two change all the time: each has two cache lines of its own, so
     * that what all units read stays in their caches. */
    _Atomic uint64_t next;
    uint8_t padding1[120];
    _Atomic uint64_t left; /* blocks not ended */
    uint8_t padding2[120];
    MxgpuDispatch dispatch; /* valid for units that have taken a block */
    _Atomic uint64_t total;
    _Atomic unsigned returned; /* blocks that units have given up */
    _Atomic uint64_t needs;    /* of a block: read before one is taken */
    _Atomic unsigned priority; /* likewise */
    _Atomic bool stop;        /* fault or abort: blocks end early */
    _Atomic bool fault_taken;
    _Atomic bool active;
    /* Cooperative grids: blocks that have not ended; those of them that have
     * not arrived at the grid's barrier; how often that has opened. */
    _Atomic uint64_t grid_alive, grid_missing;
    _Atomic uint32_t grid_phase;
    _Atomic unsigned stop_code; /* why it was stopped from outside */
    _Atomic uint64_t samples;
    _Atomic bool span_begun; /* one of this dispatch */
    _Atomic unsigned saved;  /* blocks that units have saved */
    MxgpuDispatchFault fault;
} SimtSlot;

/* ---- a debugger: simt/debug.h */

#define POINTS 256
#define POINT_FILTER 1024 /* bits */

/* A break or watch point, or, not "used", what is left of one that was
 * removed: gdb takes all away at each stop and puts them back, and what the
 * windows' addresses of a point mean has to stay. */
typedef struct SimtPoint {
    bool used;
    uint64_t removed;     /* SimtDebug.resumes then */
    uint8_t kind;         /* MxgpuSimtPoint */
    uint64_t addr, last;  /* bytes, the last one included */
    void *condition;
    /* Of an address in a window: whose memory is meant; it is gone when another
     * block is there. */
    bool bound;
    MxgpuSimtLane at;
    uint32_t block[3];
    uint8_t slot;
} SimtPoint;

/* None of it is state. Written while no unit runs, but for what is atomic and
 * "moved", which is of the unit that runs the lane. */
typedef struct SimtDebug {
    const MxgpuSimtDebugOps *ops;
    void *opaque;
    _Atomic bool stopped;
    MxgpuSimtStop stop;
    MxgpuSimtLane prefer; /* of lanes that stop together, the one to name */
    MxgpuSimtGo go;
    uint64_t resumes;
    uint32_t go_block[3];
    bool moved;           /* the lane of "go" has executed something */
    _Atomic bool free;    /* ... or waits, or has ended: nobody is held */
    _Atomic bool gone;    /* ... has ended */
    _Atomic bool at_launch;
    _Atomic bool launched[MXGPU_DISPATCH_SLOTS]; /* and was looked at */
    SimtPoint points[POINTS];
    bool watches;
    uint64_t filter[POINT_FILTER / 64]; /* addresses that break */
} SimtDebug;

/* Why an interpreter returns: the limit, or the work budget, is reached; all
 * lanes wait; all have ended; a lane has faulted. */
typedef enum SimtExit {
    EXIT_QUANTUM, EXIT_BLOCKED, EXIT_DONE, EXIT_FAULT
} SimtExit;

/* Runs one warp until its instruction count reaches limit. */
typedef SimtExit SimtExecFn(MxgpuCu *cu, MxgpuWarp *w, uint64_t limit);
/*
 * Runs the warps of a block together, each for about "each" instructions;
 * returns how many all of them ran. Clears block->convoy when they are not
 * together any more, or cannot run so.
 */
typedef uint64_t SimtConvoyFn(MxgpuCu *cu, SimtBlock *block, uint64_t each);

struct MxgpuSimt {
    /* Host. */
    MxgpuSimtConfig config;
    uint64_t private_bytes; /* most that private memory of a unit takes */
    int64_t extra_work; /* on top of each run's work budget: 0 but in tests
                         * whose runs must not depend on what is cached */
    SimtExecFn *exec;
    SimtExecFn *count; /* the same, counting accesses, taking samples, and
                          faulting at misaligned ones */
    SimtConvoyFn *convoy; /* NULL: each warp runs for itself */

    SimtSlot slots[MXGPU_DISPATCH_SLOTS];
    _Atomic uint32_t held_slots; /* state: whose blocks do not run, a bit each */
    /* State: the cooperative grid whose blocks the units take: its generation,
     * as in SimtSlot.next, and slot + 1; 0: none. */
    _Atomic uint64_t gang;
    pthread_mutex_t returned_lock; /* of all SimtCuState.returned; a leaf */
    _Atomic uint64_t dispatches; /* counter */
    _Atomic uint64_t code_check; /* cache; starts: code may have changed */
    struct SimtJit *jit; /* NULL: nothing is compiled */
    /* How often a head is come to until there is something to do for it, the first
     * time and from then on, and how often that is until it is hot. */
    int32_t jit_first, jit_patience;
    unsigned jit_rounds;
    SimtDebug *debug; /* NULL: there is nobody who could */
    bool debugged;    /* a debugger is there */
    int pagemap;      /* which pages have memory: private.c; -1: unknown */
    MxgpuCu *cus;
};

static inline bool simt_slot_held(MxgpuSimt *simt, unsigned slot)
{
    return atomic_load(&simt->held_slots) >> slot & 1;
}

#endif
