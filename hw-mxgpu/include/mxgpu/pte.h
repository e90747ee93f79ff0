/* SPDX-License-Identifier: MIT */
/*
 * Page tables: 48-bit virtual addresses, 4 levels of 512 eight-byte entries.
 *
 *   47     39 38     30 29     21 20     12 11        0
 *  | level 3 | level 2 | level 1 | level 0 |  offset   |
 *
 * Bits 63 to 47 of an address must be equal. Tables serve the lower half; the
 * upper half holds the windows of mxgpu/kernel.h and never reaches a table.
 * An entry with TABLE set names the next table; without it, a leaf: 4 KiB at
 * level 0, 2 MiB at level 1, 1 GiB at level 2. The address of a leaf must be
 * aligned to its size, that of a table to 4 KiB.
 *
 *   63     52 51               12 11   8  7  6  5  4  3  2  1  0
 *  | zero    | address 51..12    | zero | D| A|AT| X| W| R| S| V|   leaf
 *  | zero    | address 51..12    | zero          | 1 at bit 8, S, V  table
 *
 * V valid. S the address is a system (bus) address, else an offset into VRAM.
 * R, W, X, AT permit reads, writes, instruction fetches and atomics (AT also
 * needs R and W). A and D are set by the hardware when a translation is loaded
 * for any access, and for a write or atomic; software clears them and then
 * invalidates. A fault of type TABLE is raised for a set reserved bit, a table
 * entry at level 0, a leaf at level 3, a misaligned leaf, or a table outside
 * VRAM's size.
 */
#ifndef MXGPU_PTE_H
#define MXGPU_PTE_H

#include "types.h"

#define MXGPU_PTE_VALID    (1ull << 0)
#define MXGPU_PTE_SYSTEM   (1ull << 1)
#define MXGPU_PTE_READ     (1ull << 2)
#define MXGPU_PTE_WRITE    (1ull << 3)
#define MXGPU_PTE_EXECUTE  (1ull << 4)
#define MXGPU_PTE_ATOMIC   (1ull << 5)
#define MXGPU_PTE_ACCESSED (1ull << 6)
#define MXGPU_PTE_DIRTY    (1ull << 7)
#define MXGPU_PTE_TABLE    (1ull << 8)
#define MXGPU_PTE_ADDRESS  0x000ffffffffff000ull
#define MXGPU_PTE_LEAF_RESERVED  0xfff0000000000e00ull
#define MXGPU_PTE_TABLE_RESERVED 0xfff0000000000efcull

#define MXGPU_PT_LEVELS      4
#define MXGPU_PT_ENTRIES     512
#define MXGPU_PT_LEVEL_BITS  9
#define MXGPU_PAGE_SHIFT     12
#define MXGPU_LARGE_SHIFT    21
#define MXGPU_HUGE_SHIFT     30
#define MXGPU_VA_BITS        48
#define MXGPU_VA_LIMIT       (1ull << 47) /* of the lower half */
#define MXGPU_PT_SHIFT(level) (12 + 9 * (level))
#define MXGPU_PT_INDEX(va, level)                                              \
    ((unsigned)((va) >> MXGPU_PT_SHIFT(level)) & (MXGPU_PT_ENTRIES - 1))

#endif
