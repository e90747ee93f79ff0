/* SPDX-License-Identifier: MIT */
/*
 * What linked code needs: reads RV64GC machine code function by function. Only
 * register fields, calls and stack adjustments are looked at.
 *
 * Rule for registers: each x register other than zero and each f register that
 * a kernel or anything it can call names counts two (they are 64 bits wide).
 */
#include "kl.h"

#include <stdlib.h>

#include "mxgpu/isa.h"

#define TP 4
#define SP 2

typedef struct Fn {
    uint64_t addr, size;
    uint64_t *callees;
    unsigned callee_count;
    uint32_t x, f;       /* registers named */
    uint64_t stack;
    bool indirect, tp, odd_stack;
    /* a register whose value the instructions up to here have built */
    unsigned built_reg;  /* 0: none */
    uint64_t built;
    /* of the current walk */
    bool busy, done, known;
    uint64_t depth;
} Fn;

struct KlCode {
    Fn *fns;
    unsigned count;
};

static unsigned bits(uint32_t insn, unsigned lo, unsigned n)
{
    return insn >> lo & ((1u << n) - 1);
}

static int64_t sext(uint64_t value, unsigned width)
{
    return (int64_t)(value << (64 - width)) >> (64 - width);
}

KlCode *kl_code_new(void)
{
    return kl_alloc(sizeof(KlCode));
}

void kl_code_free(KlCode *code)
{
    for (unsigned i = 0; i < code->count; i++) {
        free(code->fns[i].callees);
    }
    free(code->fns);
    free(code);
}

static void add_callee(Fn *fn, uint64_t addr)
{
    fn->callees = realloc(fn->callees,
                          (fn->callee_count + 1) * sizeof(*fn->callees));
    if (!fn->callees) {
        abort();
    }
    fn->callees[fn->callee_count++] = addr;
}

static void use_x(Fn *fn, unsigned reg)
{
    fn->x |= 1u << reg;
    fn->tp |= reg == TP;
}

static void use_f(Fn *fn, unsigned reg)
{
    fn->f |= 1u << reg;
}

/* A jump inside the function is none of our business, unless it is a call. */
static void jump(Fn *fn, uint64_t target, bool call)
{
    if (call || target < fn->addr || target >= fn->addr + fn->size) {
        add_callee(fn, target);
    }
}

/* A stack pointer moved down by amount. */
static void grow(Fn *fn, int64_t amount)
{
    if (amount < 0) {
        fn->stack += -(uint64_t)amount;
    }
}

static void build(Fn *fn, unsigned reg, uint64_t value)
{
    fn->built_reg = reg;
    fn->built = value;
}

/* sp changes by what reg holds times scale: a frame too large for an immediate
 * operand, or one whose size is not known. */
static void move_stack(Fn *fn, unsigned reg, int scale)
{
    if (reg && reg == fn->built_reg) {
        grow(fn, (int64_t)(fn->built * (uint64_t)(int64_t)scale));
    } else {
        fn->odd_stack = true;
    }
}

/* Follows constants through instructions that stand together, as the compiler
 * puts them before an addition to sp. */
static void wide_constant(Fn *fn, uint32_t insn)
{
    unsigned op = bits(insn, 0, 7), f3 = bits(insn, 12, 3);
    unsigned rd = bits(insn, 7, 5), rs1 = bits(insn, 15, 5);
    unsigned rs2 = bits(insn, 20, 5), f7 = bits(insn, 25, 7);
    bool goes_on = rs1 && rs1 == fn->built_reg;
    int64_t imm = sext(insn >> 20, 12);

    if (op == 0x37) { /* lui */
        build(fn, rd, sext(insn & 0xfffff000u, 32));
    } else if (op == 0x13 && f3 == 0 && (!rs1 || goes_on)) { /* addi */
        build(fn, rd, (rs1 ? fn->built : 0) + imm);
    } else if (op == 0x1b && f3 == 0 && goes_on) { /* addiw */
        build(fn, rd, sext(fn->built + imm, 32));
    } else if (op == 0x13 && f3 == 1 && goes_on) { /* slli */
        build(fn, rd, fn->built << bits(insn, 20, 6));
    } else if (op == 0x33 && rd == SP) {
        if (f3 == 0 && f7 == 0 && (rs1 == SP || rs2 == SP)) { /* add */
            move_stack(fn, rs1 == SP ? rs2 : rs1, 1);
        } else if (f3 == 0 && f7 == 0x20 && rs1 == SP) { /* sub */
            move_stack(fn, rs2, -1);
        } else if (f7 == 0x10 && f3 && f3 % 2 == 0 && rs2 == SP) { /* shNadd */
            move_stack(fn, rs1, 1 << f3 / 2);
        } else {
            fn->odd_stack = true;
        }
        fn->built_reg = 0;
    } else {
        fn->built_reg = 0;
    }
}

static void narrow_constant(Fn *fn, uint32_t insn)
{
    unsigned quadrant = bits(insn, 0, 2), f3 = bits(insn, 13, 3);
    unsigned rd = bits(insn, 7, 5), shift;
    int64_t imm = sext(bits(insn, 12, 1) << 5 | bits(insn, 2, 5), 6);
    bool goes_on = rd && rd == fn->built_reg;

    shift = bits(insn, 12, 1) << 5 | bits(insn, 2, 5);
    if (quadrant == 1 && f3 == 2) { /* c.li */
        build(fn, rd, imm);
    } else if (quadrant == 1 && f3 == 3 && rd != SP) { /* c.lui */
        build(fn, rd, (uint64_t)imm << 12);
    } else if (quadrant == 1 && f3 == 0 && goes_on) { /* c.addi */
        build(fn, rd, fn->built + imm);
    } else if (quadrant == 1 && f3 == 1 && goes_on) { /* c.addiw */
        build(fn, rd, sext(fn->built + imm, 32));
    } else if (quadrant == 2 && f3 == 0 && goes_on) { /* c.slli */
        build(fn, rd, fn->built << shift);
    } else {
        if (quadrant == 2 && f3 == 4 && rd == SP && bits(insn, 2, 5)) {
            /* c.add, or c.mv */
            move_stack(fn, bits(insn, 12, 1) ? bits(insn, 2, 5) : 0, 1);
        }
        fn->built_reg = 0;
    }
}

static void wide_fp(Fn *fn, uint32_t insn)
{
    unsigned funct7 = bits(insn, 25, 7), op = funct7 >> 2;
    bool to_x = op == 0x14 || op == 0x18 || op == 0x1c;
    bool from_x = op == 0x1a || op == 0x1e;

    if (to_x) {
        use_x(fn, bits(insn, 7, 5));
    } else {
        use_f(fn, bits(insn, 7, 5));
    }
    if (from_x) {
        use_x(fn, bits(insn, 15, 5));
    } else {
        use_f(fn, bits(insn, 15, 5));
    }
    if (op < 6 || op == 0x14) { /* two operands */
        use_f(fn, bits(insn, 20, 5));
    }
}

static void wide(Fn *fn, uint32_t insn, uint64_t pc, uint32_t before)
{
    unsigned op = bits(insn, 0, 7), rd = bits(insn, 7, 5);
    unsigned rs1 = bits(insn, 15, 5), rs2 = bits(insn, 20, 5);
    int64_t imm_i = sext(insn >> 20, 12);

    switch (op) {
    case 0x37: /* lui */
    case 0x17: /* auipc */
        use_x(fn, rd);
        return;
    case 0x6f: /* jal */
        use_x(fn, rd);
        jump(fn, pc + sext((uint64_t)bits(insn, 31, 1) << 20 |
                           bits(insn, 12, 8) << 12 | bits(insn, 20, 1) << 11 |
                           bits(insn, 21, 10) << 1, 21), rd);
        return;
    case 0x67: /* jalr */
        use_x(fn, rd);
        use_x(fn, rs1);
        if (bits(before, 0, 7) == 0x17 && bits(before, 7, 5) == rs1) {
            jump(fn, pc - 4 + sext(before & 0xfffff000u, 32) + imm_i, rd);
        } else if (rd) {
            fn->indirect = true;
        }
        return;
    case 0x63: /* branch */
    case 0x23: /* store */
        use_x(fn, rs1);
        use_x(fn, rs2);
        return;
    case 0x27: /* fp store */
        use_x(fn, rs1);
        use_f(fn, rs2);
        return;
    case 0x07: /* fp load */
        use_x(fn, rs1);
        use_f(fn, rd);
        return;
    case 0x43:
    case 0x47:
    case 0x4b:
    case 0x4f: /* fused */
        use_f(fn, rd);
        use_f(fn, rs1);
        use_f(fn, rs2);
        use_f(fn, bits(insn, 27, 5));
        return;
    case 0x53:
        wide_fp(fn, insn);
        return;
    case 0x73: /* system */
        use_x(fn, rd);
        if (bits(insn, 12, 3) && bits(insn, 12, 3) < 4) {
            use_x(fn, rs1);
        }
        return;
    case 0x33:
    case 0x3b:
    case 0x2f:
    case MXGPU_OPCODE_CUSTOM0:
        use_x(fn, rd);
        use_x(fn, rs1);
        use_x(fn, rs2);
        return;
    case 0x0f: /* fence */
        return;
    default: /* immediate operations and loads */
        use_x(fn, rd);
        use_x(fn, rs1);
        if (op == 0x13 && rd == SP && rs1 == SP) {
            grow(fn, imm_i);
        }
        return;
    }
}

static void narrow(Fn *fn, uint32_t insn, uint64_t pc)
{
    unsigned f3 = bits(insn, 13, 3), rd = bits(insn, 7, 5);
    unsigned low = 8 + bits(insn, 2, 3), high = 8 + bits(insn, 7, 3);
    unsigned rs2 = bits(insn, 2, 5);

    switch (bits(insn, 0, 2)) {
    case 0:
        use_x(fn, f3 ? high : SP);
        if (f3 == 1 || f3 == 5) {
            use_f(fn, low);
        } else {
            use_x(fn, low);
        }
        return;
    case 1:
        if (f3 == 5) { /* c.j */
            jump(fn, pc + sext(bits(insn, 12, 1) << 11 |
                               bits(insn, 8, 1) << 10 | bits(insn, 9, 2) << 8 |
                               bits(insn, 6, 1) << 7 | bits(insn, 7, 1) << 6 |
                               bits(insn, 2, 1) << 5 | bits(insn, 11, 1) << 4 |
                               bits(insn, 3, 3) << 1, 12), false);
        } else if (f3 >= 4) {
            use_x(fn, high);
            if (f3 == 4 && bits(insn, 10, 2) == 3) {
                use_x(fn, low);
            }
        } else {
            use_x(fn, rd);
            if (f3 == 3 && rd == SP) { /* c.addi16sp */
                grow(fn, sext(bits(insn, 12, 1) << 9 | bits(insn, 3, 2) << 7 |
                              bits(insn, 5, 1) << 6 | bits(insn, 2, 1) << 5 |
                              bits(insn, 6, 1) << 4, 10));
            } else if (f3 == 0 && rd == SP) { /* c.addi */
                grow(fn, sext(bits(insn, 12, 1) << 5 | rs2, 6));
            }
        }
        return;
    case 2:
        if (f3 == 1 || f3 == 5) { /* c.fldsp, c.fsdsp */
            use_f(fn, f3 == 1 ? rd : rs2);
            use_x(fn, SP);
        } else if (f3 >= 5) { /* stores */
            use_x(fn, rs2);
            use_x(fn, SP);
        } else {
            use_x(fn, rd);
            use_x(fn, f3 == 4 ? rs2 : f3 ? SP : rd);
            /* c.jalr */
            fn->indirect |= f3 == 4 && bits(insn, 12, 1) && rd && !rs2;
        }
        return;
    }
}

void kl_code_add(KlCode *code, uint64_t addr, const uint8_t *text,
                 uint64_t size)
{
    uint32_t before = 0;
    Fn *fn;

    code->fns = realloc(code->fns, (code->count + 1) * sizeof(*code->fns));
    if (!code->fns) {
        abort();
    }
    fn = &code->fns[code->count++];
    *fn = (Fn){ .addr = addr, .size = size };
    for (uint64_t i = 0; i + 2 <= size;) {
        uint32_t insn = text[i] | text[i + 1] << 8;

        if ((insn & 3) != 3) {
            narrow(fn, insn, addr + i);
            narrow_constant(fn, insn);
            before = 0;
            i += 2;
        } else if (i + 4 <= size) {
            insn |= (uint32_t)text[i + 2] << 16 | (uint32_t)text[i + 3] << 24;
            wide(fn, insn, addr + i, before);
            wide_constant(fn, insn);
            before = insn;
            i += 4;
        } else {
            return;
        }
    }
}

static Fn *at(KlCode *code, uint64_t addr)
{
    for (unsigned i = 0; i < code->count; i++) {
        if (addr >= code->fns[i].addr &&
            addr < code->fns[i].addr + code->fns[i].size) {
            return &code->fns[i];
        }
    }
    return NULL;
}

/* Adds fn and all it calls to total; false when its stack is not known. */
static bool walk(KlCode *code, Fn *fn, Fn *total, uint64_t *stack)
{
    bool known = !fn->odd_stack && !fn->indirect;
    uint64_t deepest = 0;

    *stack = fn->depth;
    if (fn->busy || fn->done) {
        return fn->done && fn->known; /* not in a recursion */
    }
    fn->busy = true;
    total->x |= fn->x;
    total->f |= fn->f;
    total->tp |= fn->tp;
    if (fn->indirect && !total->indirect) {
        total->indirect = true;
        for (unsigned i = 0; i < code->count; i++) {
            total->x |= code->fns[i].x;
            total->f |= code->fns[i].f;
        }
    }
    for (unsigned i = 0; i < fn->callee_count; i++) {
        Fn *callee = at(code, fn->callees[i]);
        uint64_t needs = 0;

        known &= callee && walk(code, callee, total, &needs);
        deepest = needs > deepest ? needs : deepest;
    }
    fn->busy = false;
    fn->done = true;
    fn->known = known;
    fn->depth = *stack = fn->stack + deepest;
    return known;
}

bool kl_code_use(KlCode *code, uint64_t addr, KlUse *use)
{
    Fn *fn = at(code, addr), total = { 0 };
    uint64_t stack;
    bool known;

    if (!fn) {
        return false;
    }
    for (unsigned i = 0; i < code->count; i++) {
        code->fns[i].busy = code->fns[i].done = false;
        code->fns[i].depth = 0;
    }
    known = walk(code, fn, &total, &stack);
    /* Threads always have some stack; 16 bytes keep 0 for "not known". */
    use->stack = known ? (stack > 16 ? stack : 16) : 0;
    use->tp = total.tp;
    /* The hardware gives every thread sp and a0, used or not. */
    total.x |= 1u << 2 | 1u << 10;
    use->registers = 2 * (__builtin_popcount(total.x & ~1u) +
                          __builtin_popcount(total.f));
    return true;
}
