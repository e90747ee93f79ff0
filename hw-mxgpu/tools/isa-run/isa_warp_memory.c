/* SPDX-License-Identifier: MIT */
/*
 * Memory of programs on a warp. Of 64 lanes each has the program's memory for
 * itself: page tables give only fetches, of code that all lanes share, and
 * loads and stores go to the lane's copy. A single lane has all permissions in
 * one copy, and uses the usual paths.
 *
 * vram: tables, code that is shared if there are several lanes, the lanes'.
 */
#include "isa_warp.h"

#include <string.h>

/* Each grain needs two tables at most besides the root, and so does the stub. */
#define TABLES_BYTES ISA_GRAIN

static uint64_t code_at(const IsaWarp *s)
{
    return TABLES_BYTES;
}

static uint64_t lane_at(const IsaWarp *s, unsigned lane)
{
    return TABLES_BYTES + (lane + (s->lanes > 1)) * s->image->size;
}

uint64_t isa_warp_vram_bytes(const IsaWarp *s)
{
    return lane_at(s, s->lanes);
}

void *isa_warp_memory(void *warp, unsigned lane, uint64_t va, uint64_t len)
{
    const IsaWarp *s = warp;
    uint64_t offset;

    return isa_image_find(s->image, va, len, &offset)
               ? s->vram + lane_at(s, lane) + offset
               : NULL;
}

uint32_t isa_warp_insn(const IsaWarp *s, uint64_t pc)
{
    const uint8_t *code = s->vram + code_at(s);
    uint32_t insn = 0;
    uint64_t offset;

    if (isa_image_find(s->image, pc, 2, &offset)) {
        memcpy(&insn, code + offset, 2);
    }
    if (rv_length((uint16_t)insn) == 4 &&
        isa_image_find(s->image, pc, 4, &offset)) {
        memcpy(&insn, code + offset, 4);
    }
    return insn;
}

static uint64_t new_table(IsaWarp *s)
{
    uint64_t at = s->tables_used;

    s->tables_used += MXGPU_PT_ENTRIES * sizeof(uint64_t);
    return at | MXGPU_PTE_VALID | MXGPU_PTE_TABLE;
}

static void map(IsaWarp *s, uint64_t root, uint64_t va, uint64_t addr,
                unsigned level, uint64_t bits)
{
    uint64_t table = root, *pte;

    for (unsigned l = MXGPU_PT_LEVELS - 1;; l--) {
        pte = (uint64_t *)(s->vram + (table & MXGPU_PTE_ADDRESS)) +
              MXGPU_PT_INDEX(va, l);
        if (l == level) {
            break;
        }
        if (!*pte) {
            *pte = new_table(s);
        }
        table = *pte;
    }
    *pte = addr | bits | MXGPU_PTE_VALID;
}

static void map_all(IsaWarp *s)
{
    uint64_t rw = MXGPU_PTE_READ | MXGPU_PTE_WRITE | MXGPU_PTE_ATOMIC;
    uint64_t bits = MXGPU_PTE_EXECUTE | (s->lanes == 1 ? rw : 0);
    uint64_t root = new_table(s), stub;

    for (unsigned i = 0; i < s->image->grains; i++) {
        map(s, root, s->image->grain[i], code_at(s) + i * ISA_GRAIN, 1, bits);
    }
    stub = new_table(s) & MXGPU_PTE_ADDRESS; /* a page like any other */
    s->stub_words = (uint32_t *)(s->vram + stub);
    map(s, root, s->stub, stub, 0, MXGPU_PTE_EXECUTE);
    mxgpu_mmu_set_root(s->mmu, ISA_VMID, root);
}

/* Pages that hold anything but zeros, for each lane. */
void isa_warp_load(IsaWarp *s)
{
    static const uint8_t zeros[PAGE_BYTES];

    map_all(s);
    for (uint64_t at = 0; at < s->image->size; at += PAGE_BYTES) {
        const uint8_t *page = s->image->bytes + at;

        if (memcmp(page, zeros, PAGE_BYTES) == 0) {
            continue;
        }
        memcpy(s->vram + code_at(s) + at, page, PAGE_BYTES);
        for (unsigned i = 0; i < s->lanes; i++) {
            memcpy(s->vram + lane_at(s, i) + at, page, PAGE_BYTES);
        }
    }
}

void isa_warp_sync_code(IsaWarp *s, unsigned lane)
{
    uint8_t *code = s->vram + code_at(s);
    const uint8_t *memory = s->vram + lane_at(s, lane);

    for (uint64_t at = 0; s->lanes > 1 && at < s->image->size;
         at += PAGE_BYTES) {
        if (memcmp(code + at, memory + at, PAGE_BYTES) != 0) {
            memcpy(code + at, memory + at, PAGE_BYTES);
        }
    }
}
