/* SPDX-License-Identifier: MIT */
#include "jumps.h"

#include <string.h>

#define RA 1
#define T0 5

static int64_t branch_offset(uint32_t insn)
{
    return kl_sext(kl_bits(insn, 31, 1) << 12 | kl_bits(insn, 7, 1) << 11 |
                   kl_bits(insn, 25, 6) << 5 | kl_bits(insn, 8, 4) << 1, 13);
}

static int64_t narrow_branch_offset(uint32_t insn)
{
    return kl_sext(kl_bits(insn, 12, 1) << 8 | kl_bits(insn, 5, 2) << 6 |
                   kl_bits(insn, 2, 1) << 5 | kl_bits(insn, 10, 2) << 3 |
                   kl_bits(insn, 3, 2) << 1, 9);
}

uint8_t *kl_jumps_targets(const uint8_t *text, uint64_t size)
{
    uint8_t *targets = kl_alloc(size / 2 + 1);

    for (uint64_t i = 0; i + 2 <= size;) {
        uint32_t insn = text[i] | text[i + 1] << 8;
        bool wide = (insn & 3) == 3;
        int64_t offset = 0;

        if (wide && i + 4 > size) {
            break;
        }
        if (wide) {
            insn |= (uint32_t)text[i + 2] << 16 | (uint32_t)text[i + 3] << 24;
            offset = kl_bits(insn, 0, 7) == 0x63   ? branch_offset(insn)
                     : kl_bits(insn, 0, 7) == 0x6f ? kl_jal_offset(insn) : 0;
        } else if ((insn & 3) == 1 && kl_bits(insn, 13, 3) >= 5) {
            offset = kl_bits(insn, 13, 3) == 5 ? kl_cj_offset(insn)
                                               : narrow_branch_offset(insn);
        }
        if (offset && i + offset < size) {
            targets[(i + offset) / 2] = 1;
        }
        i += wide ? 4 : 2;
    }
    return targets;
}

void kl_jumps_join(KlJumps *j)
{
    memset(j, 0, sizeof(*j));
}

static bool is_place(KlValue v)
{
    return v.kind == KL_ADDRESS || v.kind == KL_INDEXED;
}

static KlValue moved(KlValue v, int64_t by)
{
    if (!is_place(v)) {
        return by ? (KlValue){ 0 } : v;
    }
    v.base += by;
    return v;
}

static KlValue sum(KlValue a, KlValue b)
{
    if (is_place(b)) {
        KlValue swap = a;

        a = b;
        b = swap;
    }
    if (!is_place(a) || is_place(b) || b.kind == KL_TARGET) {
        return (KlValue){ 0 };
    }
    if (b.kind == KL_LOADED) {
        return a.kind == KL_ADDRESS && a.base == b.base && b.width == 4
                   ? (KlValue){ .kind = KL_TARGET, .base = a.base }
                   : (KlValue){ 0 };
    }
    return (KlValue){ .kind = KL_INDEXED, .base = a.base };
}

static KlValue loaded(KlValue from, int64_t offset, unsigned width)
{
    if (!is_place(from)) {
        return (KlValue){ 0 };
    }
    return (KlValue){ .kind = KL_LOADED, .width = width,
                      .base = from.base + offset };
}

static void set(KlJumps *j, unsigned reg, KlValue value)
{
    j->x[reg] = reg ? value : (KlValue){ 0 };
}

void kl_jumps_wide(KlJumps *j, uint32_t insn, uint64_t pc)
{
    unsigned op = kl_bits(insn, 0, 7), f3 = kl_bits(insn, 12, 3);
    unsigned rd = kl_bits(insn, 7, 5), f7 = kl_bits(insn, 25, 7);
    KlValue a = j->x[kl_bits(insn, 15, 5)], b = j->x[kl_bits(insn, 20, 5)];
    int64_t imm = kl_sext(insn >> 20, 12);

    switch (op) {
    case 0x63: /* branch */
    case 0x23: /* stores */
    case 0x27:
        return;
    case 0x6f: /* jal */
    case 0x67: /* jalr: what comes back, or from elsewhere, is not known */
        kl_jumps_join(j);
        return;
    case 0x17: /* auipc */
        set(j, rd, (KlValue){ .kind = KL_ADDRESS,
                              .base = pc + kl_sext(insn & 0xfffff000u, 32) });
        return;
    case 0x13: /* addi */
        set(j, rd, f3 ? (KlValue){ 0 } : moved(a, imm));
        return;
    case 0x03: /* lw, ld, lwu */
        set(j, rd, f3 == 2 || f3 == 3 || f3 == 6
                       ? loaded(a, imm, f3 == 3 ? 8 : 4) : (KlValue){ 0 });
        return;
    case 0x33:
        if (f3 == 0 && f7 == 0) { /* add */
            set(j, rd, sum(a, b));
        } else if (f7 == 0x10 && f3 && !a.kind) { /* shNadd */
            set(j, rd, sum(a, b));
        } else {
            set(j, rd, (KlValue){ 0 });
        }
        return;
    default:
        set(j, rd, (KlValue){ 0 });
        return;
    }
}

void kl_jumps_narrow(KlJumps *j, uint32_t insn)
{
    unsigned f3 = kl_bits(insn, 13, 3), rd = kl_bits(insn, 7, 5);
    unsigned low = 8 + kl_bits(insn, 2, 3), high = 8 + kl_bits(insn, 7, 3);
    unsigned rs2 = kl_bits(insn, 2, 5);
    int64_t imm = kl_sext(kl_bits(insn, 12, 1) << 5 | rs2, 6);
    KlValue none = { 0 };

    switch (insn & 3) {
    case 0:
        if (f3 == 2) { /* c.lw */
            set(j, low, loaded(j->x[high], kl_bits(insn, 5, 1) << 6 |
                               kl_bits(insn, 10, 3) << 3 |
                               kl_bits(insn, 6, 1) << 2, 4));
        } else if (f3 == 3) { /* c.ld */
            set(j, low, loaded(j->x[high], kl_bits(insn, 5, 2) << 6 |
                               kl_bits(insn, 10, 3) << 3, 8));
        } else if (f3 == 0) { /* c.addi4spn */
            set(j, low, none);
        }
        return;
    case 1:
        if (f3 == 5) { /* c.j */
            kl_jumps_join(j);
        } else if (f3 == 0) { /* c.addi */
            set(j, rd, moved(j->x[rd], imm));
        } else if (f3 < 4) {
            set(j, rd, none);
        } else if (f3 == 4) {
            set(j, high, none);
        }
        return;
    case 2:
        if (f3 == 4 && !rs2) { /* c.jr, c.jalr */
            kl_jumps_join(j);
        } else if (f3 == 4) { /* c.mv, c.add */
            set(j, rd, kl_bits(insn, 12, 1) ? sum(j->x[rd], j->x[rs2])
                                            : j->x[rs2]);
        } else if (f3 == 0 || f3 == 2 || f3 == 3) {
            set(j, rd, none);
        }
        return;
    }
}

/* Whether a table of jumps begins with one into the function: of offsets from
 * the table, or of addresses. */
static bool table_leads(KlValue v, uint64_t start, uint64_t end, KlRead *read,
                        void *opaque)
{
    int32_t offset;
    uint64_t to;

    if (v.kind == KL_TARGET) {
        if (!read(opaque, v.base, &offset, sizeof(offset))) {
            return false;
        }
        to = v.base + offset;
    } else if (v.width != 8 || !read(opaque, v.base, &to, sizeof(to))) {
        return false;
    }
    return to >= start && to < end;
}

KlWhere kl_jumps_where(const KlJumps *j, unsigned reg, int64_t offset,
                       uint64_t start, uint64_t end, KlRead *read,
                       void *opaque, uint64_t *target)
{
    KlValue v = j->x[reg];
    uint64_t to = v.base + offset;

    switch (v.kind) {
    case KL_ADDRESS:
        *target = to;
        return KL_GOES_TO;
    case KL_INDEXED:
        return to >= start && to < end ? KL_GOES_INSIDE : KL_GOES_ANYWHERE;
    case KL_LOADED:
    case KL_TARGET:
        return !offset && table_leads(v, start, end, read, opaque)
                   ? KL_GOES_INSIDE : KL_GOES_ANYWHERE;
    default:
        return reg == RA || reg == T0 ? KL_GOES_BACK : KL_GOES_ANYWHERE;
    }
}
