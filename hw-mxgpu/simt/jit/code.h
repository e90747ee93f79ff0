/* SPDX-License-Identifier: MIT */
/*
 * Compiled code of hot code. Where warps begin again and again, each for
 * itself or all of a block together (the head of a loop, an arm of a branch, the
 * place that a call returns to), what follows is compiled for the host by LLVM,
 * in a process of its own, while the interpreter goes on with it. Then a warp
 * that comes there leaves the interpreter, and comes back at an instruction that
 * is not compiled, at the end of the region and when its turn ends. What it does
 * in between is what the interpreter does: the same instructions for the same
 * lanes in the same order, counted alike.
 *
 *   code.h      code and all that goes with it
 *   types.c     what instructions are, and what registers hold
 *   region.c    code as blocks of instructions
 *   flow.c      what all lanes of whole warps come to together
 *   jit.c       regions that are hot, and what has been compiled of them
 *   worker.c    the threads that get code of them
 *   process.c   the compiler's process
 *   compiler/   the program mxgpu-jit: LLVM code of a region
 *   exec/jit*.c (of each instruction set) warps enter and leave
 *
 * Nothing of this is state of a device: what runs does not depend on it.
 */
#ifndef MXGPU_SIMT_JIT_CODE_H
#define MXGPU_SIMT_JIT_CODE_H

#include "simt/state.h"

#define JIT_BLOCKS 96
#define JIT_OPS    400
#define JIT_FEW    8 /* lanes that code for few takes */

/* Registers for operands of one instruction, behind the sink. */
#define JIT_R1 33
#define JIT_R2 34
#define JIT_R3 SINK /* what amocas compares with; its result comes there */

/* What is known of all lanes of an x register: they are one value, a line
 * (SimtLine; in code for whole warps alone), or each its own; _WORD:
 * sign-extended from 32 bits. Each of them can be made of those above it, but
 * for words of others. */
typedef enum JitType {
    JIT_NONE, /* not used in more than one block */
    JIT_UNIFORM_WORD,
    JIT_UNIFORM,
    JIT_LINE_WORD,
    JIT_LINE,
    JIT_WORD,
    JIT_WIDE
} JitType;

/* What an f register holds; in all of a region maybe both. */
typedef enum JitFloat {
    JIT_NO_FLOAT,
    JIT_SINGLE = 1,
    JIT_DOUBLE = 2
} JitFloat;

typedef enum JitKind {
    JIT_STUB,   /* not compiled: warps leave in front of it */
    JIT_INT,    /* computes x[rd] from x registers */
    JIT_CALL,   /* the same by a call of the interpreter's function */
    JIT_ATOMIC, /* by such a call, and may fault */
    JIT_CSR,    /* reads what is one value or a line: for whole warps alone */
    JIT_LOAD,
    JIT_STORE,
    JIT_FLOAT,
    JIT_BRANCH,
    JIT_JUMP
} JitKind;

/* A straight run of instructions, in order of addresses; count 0: a place where
 * warps leave the region. */
typedef struct JitBlock {
    int32_t at; /* bytes from the beginning of the page */
    uint16_t first, count;
    uint8_t full;   /* for whole warps: all lanes are here, if any is */
    uint32_t awaited; /* ... x registers that lanes may read which wait somewhere
                       * while others are here */
    uint32_t live;  /* x registers that may be read from here on */
    uint32_t flive[2]; /* f registers, in the region: singles, doubles */
    uint32_t fread;    /* ... anywhere, as either */
    uint8_t x[32];  /* JitType: of registers that somebody may read */
} JitBlock;

/* What is compiled: as it is sent to the compiler. The same wherever the page is:
 * code that was compiled is kept for other processes. */
typedef struct JitCode {
    uint32_t num_ops, num_blocks, head_block;
    SimtOp ops[JIT_OPS];
    uint8_t kind[JIT_OPS];  /* JitKind */
    uint16_t site[JIT_OPS]; /* of loads, stores, atomics and branches */
    int32_t at[JIT_OPS];    /* bytes from the beginning of the page */
    uint32_t live[JIT_OPS], fread[JIT_OPS]; /* before each op */
    JitBlock blocks[JIT_BLOCKS];
    uint8_t entry[32]; /* JitType that was seen at the head */
    /* Code for whole warps, all lanes of which are at the head: it takes for
     * granted that what is computed of lines is one, that all lanes take the
     * same way at branches on these, and that what is loaded from one address
     * is one value; and leaves in front of an instruction where this is not
     * so. */
    uint8_t whole;
    uint8_t row_shift;       /* of its warps */
    uint8_t varies[JIT_OPS]; /* ... but for these */
    uint8_t together[JIT_OPS]; /* branches that all lanes take the same way, too,
                                * whatever they compare */
    int64_t step[32];        /* at the head, of what "entry" says is a line */
    uint8_t x[32];     /* JitType, in all blocks: of registers that several use */
    uint8_t f[32];     /* JitFloat, one or both */
} JitCode;

/* What is compared with a site's key is found by the kind of memory in it. */
typedef enum JitMemory {
    JIT_NOWHERE, JIT_GLOBAL, JIT_SHARED, JIT_PRIVATE, JIT_MEMORIES
} JitMemory;

/*
 * Where a load or store of a unit went last. Addresses lo to lo + span - 1 are at
 * the host's address + add; or they are private memory. "key" says of which
 * address space, block or size, and the JitMemory. That it is private has a word of
 * its own: what is made of the key keeps a register over the whole access.
 */
typedef struct JitSite {
    uint64_t key, lo, span, add, is_private;
    uint64_t at_once; /* of a loop's branch: turns for all lanes at once, until they
                       * go one after the other again */
} JitSite;

struct JitFrame;

/* An instruction that is not compiled, or an access that the site does not
 * cover; 0: it faulted, or the work budget is exhausted. */
typedef uint32_t JitCallFn(MxgpuCu *cu, MxgpuWarp *w, struct JitFrame *f,
                           uint32_t op, uint64_t mask);
/* x[r], lanes of mask, from x[JIT_R1]. */
typedef void JitPutFn(MxgpuWarp *w, uint32_t r, uint64_t mask);

/* What a warp takes with it, and brings back. */
typedef struct JitFrame {
    uint64_t pend[JIT_BLOCKS]; /* lanes that are at blocks */
    uint64_t instructions, limit;
    /* What the code stores one by one is not side by side: compilers would load two
     * of them at once, and hosts wait until such stores are done. */
    uint64_t lanes;
    uint64_t few; /* code is left when no more lanes than these are in it, but behind
                   * its end */
    uint64_t divergent;
    uint64_t chosen; /* code for few takes these lanes: index[i] is the i-th, or any
                      * of them behind the last; code for one the first */
    uint64_t slice;
    uint64_t keys[JIT_MEMORIES]; /* of sites that are where the warp's memory is */
    uint64_t atomics; /* lanes may do them themselves */
    uint64_t private_host, page; /* addresses */
    uint64_t index[JIT_FEW];
    JitSite *sites;
    JitCallFn *call;
    JitPutFn *put;
    uint64_t fault_mask, fault_at; /* bytes from the beginning of the page */
    uint64_t fault_op;
    const struct JitRegion *region;
    const MxgpuDispatch *dispatch;
    /* Of "pend" as it was: who has not run since keeps its place among those that
     * wait for their turn. */
    uint64_t came[JIT_BLOCKS], stamp[JIT_BLOCKS];
} JitFrame;

/* All of "pend" go on; lanes of fault_mask have faulted at fault_at, or go on
 * there; all lanes of the warp go on there, and nothing of "pend" counts. */
typedef enum JitLeave {
    JIT_LEFT, JIT_FAULTED, JIT_BAILED, JIT_TOGETHER
} JitLeave;
typedef uint32_t JitFn(MxgpuCu *cu, MxgpuWarp *w, JitFrame *f);

/* ABSENT: it has not been compiled before. */
typedef enum JitState {
    JIT_QUEUED, JIT_READY, JIT_REFUSED, JIT_ABSENT
} JitState;

/* How many lanes functions are for: all, JIT_FEW, one. */
typedef enum JitLanes {
    JIT_FOR_ALL, JIT_FOR_FEW, JIT_FOR_ONE, JIT_SORTS
} JitLanes;

static inline unsigned jit_lanes(JitLanes sort)
{
    return sort == JIT_FOR_ALL ? LANES : sort == JIT_FOR_FEW ? JIT_FEW : 1;
}

/* One function. "fn" and "state" are set by the thread that talks to the
 * compiler, "state" last. */
typedef struct JitMade {
    JitFn *fn;
    size_t size;
    _Atomic int state; /* JitState */
} JitMade;

/* Made once, and kept. */
typedef struct JitRegion {
    struct JitRegion *next;
    uint64_t page;             /* address */
    uint16_t head, asked;      /* halfwords of the page: mxgpu_jit_region() */
    uint8_t bytes[PAGE_BYTES]; /* the page that it was made of */
    JitCode code;
    SimtOp calls[JIT_OPS]; /* ops as they are called: operands in JIT_R1 ... */
    unsigned num_sites;
    JitSite *sites;        /* of each unit */
    uint32_t relevant;     /* x registers whose types at the head matter */
    uint32_t touched;      /* x registers that are written */
    uint32_t used;         /* ... that are of a type somewhere, but x0 */
    uint32_t at_head[JIT_WIDE + 1]; /* ... of each type at the head */
    uint32_t lines;        /* ... that came as lines when the code was asked for */
    JitMade made[JIT_SORTS];
    atomic_bool hot;  /* it is to be compiled if it has not been before */
    _Atomic uint32_t rounds; /* SimtHead.rounds of all units, as far as they have
                              * asked for it */
    _Atomic uint32_t bailed[JIT_OPS]; /* how often code left in front of each */
} JitRegion;

/* What the two processes must agree on; before each JitCode. */
typedef struct JitRequest {
    uint32_t magic, warp_bytes, cu_bytes, frame_bytes, code_bytes;
    uint32_t lanes; /* of a JitLanes */
    uint32_t look;  /* for code that has been compiled before, alone */
} JitRequest;
#define JIT_MAGIC 0x3e4a584du
#define JIT_REQUEST(n)                                                         \
    {                                                                          \
        JIT_MAGIC, sizeof(MxgpuWarp), sizeof(MxgpuCu), sizeof(JitFrame),       \
            sizeof(JitCode), n, 0                                              \
    }
/* The answer: so many bytes follow, which may be anywhere in memory; 0: none, as
 * yet if they are absent. */
typedef struct JitReply {
    uint32_t bytes, entry, absent;
} JitReply;
#define JIT_REPLY_MAX (1u << 22)

#endif
