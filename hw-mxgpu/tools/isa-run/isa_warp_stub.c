/* SPDX-License-Identifier: MIT */
/*
 * The page behind the program: starts of lanes, fence.i, where lanes wait for
 * each other because they share code, and slots for instructions that some
 * lanes may execute and others may not.
 */
#include "isa_warp.h"
#include "simt/warp/code.h"

#include <string.h>

#define EBREAK   0x00100073u
#define ADDI     0xfff28293u /* t0, t0, -1 */
#define BNEZ     0xfe029ee3u /* t0, -4 */
#define FENCE    0x0ff0000fu
#define J_BACK   0xffdff06fu /* -4 */
#define WAIT_LIMIT 1000000 /* instructions that lanes wait for others */

static uint32_t *wait_words(IsaWarp *s, unsigned wait)
{
    return s->stub_words + (STUB_WAIT + wait * STUB_WAIT_BYTES) / 4;
}

static void close_wait(IsaWarp *s, unsigned wait)
{
    wait_words(s, wait)[0] = FENCE; /* lets others run soon */
    wait_words(s, wait)[1] = J_BACK;
}

static void open_wait(IsaWarp *s, unsigned wait)
{
    wait_words(s, wait)[0] = EBREAK;
    wait_words(s, wait)[1] = EBREAK;
}

void isa_warp_stub_init(IsaWarp *s)
{
    s->stub_words[0] = EBREAK;
    s->stub_words[1] = ADDI;
    s->stub_words[2] = BNEZ;
    s->stub_words[3] = EBREAK;
    for (unsigned i = 0; i < STUB_WAITS; i++) {
        close_wait(s, i);
    }
}

/* All lanes are there: they see the code that the first of them has. */
static void release(IsaWarp *s)
{
    isa_warp_sync_code(s, (unsigned)__builtin_ctzll(s->waiting));
    open_wait(s, s->wait);
    s->wait = (s->wait + 1) % STUB_WAITS;
    close_wait(s, s->wait); /* nobody is there any more */
    s->waiting = 0;
    mxgpu_simt_drop_code(&s->simt->cus[0]);
}

static bool all_wait(const IsaWarp *s)
{
    return (s->waiting | s->ended) == UINT64_MAX >> (ISA_LANES - s->lanes);
}

uint64_t isa_warp_wait(IsaWarp *s, unsigned lane)
{
    uint64_t pc = s->stub + STUB_WAIT + s->wait * STUB_WAIT_BYTES;

    if (!s->waiting) {
        s->waiting_since = s->instructions;
    }
    s->waiting |= 1ull << lane;
    if (all_wait(s)) {
        release(s);
    }
    return pc;
}

void isa_warp_wait_poll(IsaWarp *s)
{
    if (s->waiting &&
        (all_wait(s) || s->instructions - s->waiting_since > WAIT_LIMIT)) {
        release(s);
    }
}

/* ---- slots */

static uint64_t slot_pc(const IsaWarp *s, unsigned i)
{
    return s->stub + STUB_SLOTS + i * STUB_SLOT_BYTES;
}

/* Lanes with the same instruction share a slot, so that they execute it
 * together. There are as many slots as lanes: one is free. */
uint64_t isa_warp_slot_enter(IsaWarp *s, uint32_t insn)
{
    unsigned length = rv_length((uint16_t)insn), found = 0;
    uint8_t words[STUB_SLOT_BYTES] = {0}, *at;
    uint32_t ebreak = EBREAK;

    for (unsigned i = 0; i < ISA_SLOTS; i++) {
        if (s->slot[i].insn == insn) {
            found = i;
            break;
        }
        if (!s->slot[i].users) {
            found = i;
        }
    }
    memcpy(words, &insn, length);
    memcpy(words + length, &ebreak, sizeof(ebreak));
    at = (uint8_t *)s->stub_words + (slot_pc(s, found) - s->stub);
    if (memcmp(at, words, sizeof(words)) != 0) {
        memcpy(at, words, sizeof(words));
        mxgpu_simt_drop_code(&s->simt->cus[0]);
    }
    s->slot[found].insn = insn;
    s->slot[found].users++;
    return slot_pc(s, found);
}

bool isa_warp_slot_leave(IsaWarp *s, uint64_t pc, unsigned *length)
{
    uint64_t offset = pc - slot_pc(s, 0);
    IsaSlot *slot = &s->slot[offset / STUB_SLOT_BYTES];

    slot->users--;
    *length = rv_length((uint16_t)slot->insn);
    return offset % STUB_SLOT_BYTES == *length;
}
