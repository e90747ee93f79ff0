/* SPDX-License-Identifier: MIT */
/* mx-isa-run: programs on a warp, one hart a lane. */
#ifndef MXGPU_TOOLS_ISA_WARP_H
#define MXGPU_TOOLS_ISA_WARP_H

#include "isa_run.h"
#include "simt/state.h"

#define ISA_VMID 1

/* Of what lanes execute, the part that the tool has to look at. */
#define ISA_WARP_EXTENSIONS                                                    \
    (RV_EXT_I | RV_EXT_A | RV_EXT_F | RV_EXT_D | RV_EXT_C | RV_EXT_ZICSR |     \
     RV_EXT_ZIFENCEI | RV_EXT_ZFHMIN | RV_EXT_ZFH | RV_EXT_ZFBFMIN)

/*
 * The page behind the program. A lane begins at STUB_START: ebreak (it gets its
 * delay in t0); 1: addi t0, t0, -1; bnez t0, 1b; ebreak (it goes to the entry).
 * At each wait: fence; j back, or ebreak when those that wait there may go on.
 * Each slot: an instruction that is executed away from its place, and ebreak.
 */
enum {
    STUB_START = 0,
    STUB_BEGIN = 12,
    STUB_WAIT = 16,
    STUB_WAIT_BYTES = 8,
    STUB_WAITS = 2,
    STUB_SLOTS = 64,
    STUB_SLOT_BYTES = 8,
    ISA_SLOTS = ISA_LANES,
};

typedef struct IsaLane {
    IsaMachine machine;
    uint64_t home; /* pc, while the lane is in the stub page */
    uint32_t delay;
} IsaLane;

typedef struct IsaSlot {
    uint32_t insn;
    unsigned users; /* lanes that are there */
} IsaSlot;

typedef struct IsaWarp {
    const IsaImage *image;
    unsigned lanes;
    uint64_t stub;            /* its address */
    uint32_t *stub_words;
    uint8_t *vram;
    uint64_t vram_size, tables_used;
    MxgpuMmu *mmu;
    MxgpuSimt *simt;
    bool done;
    uint64_t traps, instructions;
    IsaLane lane[ISA_LANES];
    uint64_t ended;           /* lanes that gave their answer */
    uint64_t float_off;       /* lanes whose f registers are off */
    IsaSlot slot[ISA_SLOTS];
    uint64_t waiting;         /* lanes at this wait, since so many instructions */
    unsigned wait;
    uint64_t waiting_since;
} IsaWarp;

/* ---- isa_warp_memory.c */

uint64_t isa_warp_vram_bytes(const IsaWarp *s);
void isa_warp_load(IsaWarp *s);
/* [va, va + len) of a lane; NULL where the program has no memory. */
void *isa_warp_memory(void *warp, unsigned lane, uint64_t va, uint64_t len);
/* As much of the instruction at pc as there is; 0: nothing. */
uint32_t isa_warp_insn(const IsaWarp *s, uint64_t pc);
/* Code is from now on what is in the memory of this lane. */
void isa_warp_sync_code(IsaWarp *s, unsigned lane);

/* ---- isa_warp_trap.c: for MxgpuSimtConfig */

bool isa_warp_trap(void *warp, MxgpuSimtTrap *trap);
bool isa_warp_native(void *warp, uint64_t pc, const RvInsn *insn);

/* ---- isa_warp_stub.c */

void isa_warp_stub_init(IsaWarp *s);
static inline bool isa_warp_in_stub(const IsaWarp *s, uint64_t pc)
{
    return pc - s->stub < PAGE_BYTES;
}
/* The lane executes the instruction of home in a slot: the pc of that. */
uint64_t isa_warp_slot_enter(IsaWarp *s, uint32_t insn);
/* A lane trapped at pc in a slot: leaves it. Whether it had executed the
 * instruction, of *length bytes. */
bool isa_warp_slot_leave(IsaWarp *s, uint64_t pc, unsigned *length);
/* The lane waits for the others before it goes on at home: the pc of that. */
uint64_t isa_warp_wait(IsaWarp *s, unsigned lane);
/* Between instructions: lanes wait no more for others that do not come. */
void isa_warp_wait_poll(IsaWarp *s);

#endif
