/* SPDX-License-Identifier: MIT */
/*
 * What linked code needs: reads RV64GC machine code function by function. Only
 * register fields, calls and stack adjustments are looked at.
 *
 * Rule for registers: each x register other than zero and each f register that
 * a kernel or anything it can call names counts two (they are 64 bits wide).
 */
#include "jumps.h"

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
    bool calls_known; /* its jumps through registers are no calls */
    char *name;
    KlJumps jumps;
    bool fp_flags;       /* reads fflags or fcsr */
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
    KlRead *read;
    void *opaque;
    /* of the current walk: why the stack is not known, and where that is */
    const char *why, *where;
};

KlCode *kl_code_new(KlRead *read, void *opaque)
{
    KlCode *code = kl_alloc(sizeof(*code));

    code->read = read;
    code->opaque = opaque;
    return code;
}

void kl_code_free(KlCode *code)
{
    for (unsigned i = 0; i < code->count; i++) {
        free(code->fns[i].callees);
        free(code->fns[i].name);
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

/* A jump through a register; link: it is a call. */
static void jump_register(const KlCode *code, Fn *fn, unsigned reg,
                          int64_t offset, bool link)
{
    uint64_t target;

    switch (kl_jumps_where(&fn->jumps, reg, offset, fn->addr,
                           fn->addr + fn->size, code->read, code->opaque,
                           &target)) {
    case KL_GOES_TO:
        /* A call of a part of itself is no recursion: sp does not move. */
        jump(fn, target, link && (target < fn->addr ||
                                  target >= fn->addr + fn->size ||
                                  target == fn->addr));
        break;
    case KL_GOES_INSIDE:
        break;
    case KL_GOES_BACK:
        fn->indirect |= link;
        break;
    case KL_GOES_ANYWHERE:
        fn->indirect |= link || !fn->calls_known;
        break;
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
    unsigned op = kl_bits(insn, 0, 7), f3 = kl_bits(insn, 12, 3);
    unsigned rd = kl_bits(insn, 7, 5), rs1 = kl_bits(insn, 15, 5);
    unsigned rs2 = kl_bits(insn, 20, 5), f7 = kl_bits(insn, 25, 7);
    bool goes_on = rs1 && rs1 == fn->built_reg;
    int64_t imm = kl_sext(insn >> 20, 12);

    if (op == 0x37) { /* lui */
        build(fn, rd, kl_sext(insn & 0xfffff000u, 32));
    } else if (op == 0x13 && f3 == 0 && (!rs1 || goes_on)) { /* addi */
        build(fn, rd, (rs1 ? fn->built : 0) + imm);
    } else if (op == 0x1b && f3 == 0 && goes_on) { /* addiw */
        build(fn, rd, kl_sext(fn->built + imm, 32));
    } else if (op == 0x13 && f3 == 1 && goes_on) { /* slli */
        build(fn, rd, fn->built << kl_bits(insn, 20, 6));
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
    unsigned quadrant = kl_bits(insn, 0, 2), f3 = kl_bits(insn, 13, 3);
    unsigned rd = kl_bits(insn, 7, 5), shift;
    int64_t imm = kl_sext(kl_bits(insn, 12, 1) << 5 | kl_bits(insn, 2, 5), 6);
    bool goes_on = rd && rd == fn->built_reg;

    shift = kl_bits(insn, 12, 1) << 5 | kl_bits(insn, 2, 5);
    if (quadrant == 1 && f3 == 2) { /* c.li */
        build(fn, rd, imm);
    } else if (quadrant == 1 && f3 == 3 && rd != SP) { /* c.lui */
        build(fn, rd, (uint64_t)imm << 12);
    } else if (quadrant == 1 && f3 == 0 && goes_on) { /* c.addi */
        build(fn, rd, fn->built + imm);
    } else if (quadrant == 1 && f3 == 1 && goes_on) { /* c.addiw */
        build(fn, rd, kl_sext(fn->built + imm, 32));
    } else if (quadrant == 2 && f3 == 0 && goes_on) { /* c.slli */
        build(fn, rd, fn->built << shift);
    } else {
        if (quadrant == 2 && f3 == 4 && rd == SP && kl_bits(insn, 2, 5)) {
            /* c.add, or c.mv */
            move_stack(fn, kl_bits(insn, 12, 1) ? kl_bits(insn, 2, 5) : 0, 1);
        }
        fn->built_reg = 0;
    }
}

static void wide_fp(Fn *fn, uint32_t insn)
{
    unsigned funct7 = kl_bits(insn, 25, 7), op = funct7 >> 2;
    bool to_x = op == 0x14 || op == 0x18 || op == 0x1c;
    bool from_x = op == 0x1a || op == 0x1e;

    if (to_x) {
        use_x(fn, kl_bits(insn, 7, 5));
    } else {
        use_f(fn, kl_bits(insn, 7, 5));
    }
    if (from_x) {
        use_x(fn, kl_bits(insn, 15, 5));
    } else {
        use_f(fn, kl_bits(insn, 15, 5));
    }
    if (op < 6 || op == 0x14) { /* two operands */
        use_f(fn, kl_bits(insn, 20, 5));
    }
}

static void wide(const KlCode *code, Fn *fn, uint32_t insn, uint64_t pc)
{
    unsigned op = kl_bits(insn, 0, 7), rd = kl_bits(insn, 7, 5);
    unsigned rs1 = kl_bits(insn, 15, 5), rs2 = kl_bits(insn, 20, 5);
    int64_t imm_i = kl_sext(insn >> 20, 12);

    switch (op) {
    case 0x37: /* lui */
    case 0x17: /* auipc */
        use_x(fn, rd);
        return;
    case 0x6f: /* jal */
        use_x(fn, rd);
        jump(fn, pc + kl_jal_offset(insn), rd);
        return;
    case 0x67: /* jalr */
        use_x(fn, rd);
        use_x(fn, rs1);
        jump_register(code, fn, rs1, imm_i, rd);
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
        use_f(fn, kl_bits(insn, 27, 5));
        return;
    case 0x53:
        wide_fp(fn, insn);
        return;
    case 0x73: /* system */
        use_x(fn, rd);
        if (kl_bits(insn, 12, 3) && kl_bits(insn, 12, 3) < 4) {
            use_x(fn, rs1);
        }
        fn->fp_flags |= kl_bits(insn, 12, 2) && rd &&
                        (insn >> 20 == 1 || insn >> 20 == 3);
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

static void narrow(const KlCode *code, Fn *fn, uint32_t insn, uint64_t pc)
{
    unsigned f3 = kl_bits(insn, 13, 3), rd = kl_bits(insn, 7, 5);
    unsigned low = 8 + kl_bits(insn, 2, 3), high = 8 + kl_bits(insn, 7, 3);
    unsigned rs2 = kl_bits(insn, 2, 5);

    switch (kl_bits(insn, 0, 2)) {
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
            jump(fn, pc + kl_cj_offset(insn), false);
        } else if (f3 >= 4) {
            use_x(fn, high);
            if (f3 == 4 && kl_bits(insn, 10, 2) == 3) {
                use_x(fn, low);
            }
        } else {
            use_x(fn, rd);
            if (f3 == 3 && rd == SP) { /* c.addi16sp */
                grow(fn, kl_sext(kl_bits(insn, 12, 1) << 9 | kl_bits(insn, 3, 2) << 7 |
                              kl_bits(insn, 5, 1) << 6 | kl_bits(insn, 2, 1) << 5 |
                              kl_bits(insn, 6, 1) << 4, 10));
            } else if (f3 == 0 && rd == SP) { /* c.addi */
                grow(fn, kl_sext(kl_bits(insn, 12, 1) << 5 | rs2, 6));
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
            if (f3 == 4 && rd && !rs2) { /* c.jr, c.jalr */
                jump_register(code, fn, rd, 0, kl_bits(insn, 12, 1));
            }
        }
        return;
    }
}

/* Whether nothing follows the instruction but where it jumps to. */
static bool ends(uint32_t insn)
{
    unsigned op = kl_bits(insn, 0, 7), rd = kl_bits(insn, 7, 5);
    unsigned f3 = kl_bits(insn, 13, 3);

    if ((insn & 3) == 3) {
        return (op == 0x6f || op == 0x67) && !rd; /* j, jr */
    }
    return (kl_bits(insn, 0, 2) == 1 && f3 == 5) || /* c.j */
           (kl_bits(insn, 0, 2) == 2 && f3 == 4 && rd &&
            !kl_bits(insn, 2, 5) && !kl_bits(insn, 12, 1)); /* c.jr */
}

static bool is_nop(uint32_t insn)
{
    return insn == 0x13 || insn == 0x01;
}

/* Returns whether the last instruction may be followed by what is behind it. */
static bool read_text(const KlCode *code, Fn *fn, const uint8_t *text,
                      const uint8_t *targets)
{
    bool falls = true;

    for (uint64_t i = 0; i + 2 <= fn->size;) {
        uint32_t insn = text[i] | text[i + 1] << 8;

        if (targets[i / 2]) {
            kl_jumps_join(&fn->jumps);
        }
        if ((insn & 3) != 3) {
            narrow(code, fn, insn, fn->addr + i);
            narrow_constant(fn, insn);
            kl_jumps_narrow(&fn->jumps, insn);
            i += 2;
        } else if (i + 4 <= fn->size) {
            insn |= (uint32_t)text[i + 2] << 16 | (uint32_t)text[i + 3] << 24;
            wide(code, fn, insn, fn->addr + i);
            wide_constant(fn, insn);
            kl_jumps_wide(&fn->jumps, insn, fn->addr + i);
            i += 4;
        } else {
            return true;
        }
        falls = is_nop(insn) ? falls : !ends(insn); /* padding may follow */
    }
    return falls;
}

void kl_code_add(KlCode *code, const KlCodeFn *from)
{
    uint8_t *targets;
    Fn *fn;

    code->fns = realloc(code->fns, (code->count + 1) * sizeof(*code->fns));
    if (!code->fns) {
        abort();
    }
    fn = &code->fns[code->count++];
    *fn = (Fn){ .addr = from->addr, .size = from->size };
    fn->name = kl_printf("%s", from->name);
    fn->calls_known = from->calls != KL_CALLS_UNKNOWN;
    fn->indirect = from->calls == KL_CALLS_POINTERS;
    targets = kl_jumps_targets(from->text, from->size);
    if (read_text(code, fn, from->text, targets) && from->falls) {
        add_callee(fn, fn->addr + fn->size);
    }
    free(targets);
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

static void not_known(KlCode *code, const Fn *fn, const char *why)
{
    if (!code->why) {
        code->why = why;
        code->where = fn->name;
    }
}

/* Adds fn and all it calls to total; false when its stack is not known. */
static bool walk(KlCode *code, Fn *fn, Fn *total, uint64_t *stack)
{
    bool known = !fn->odd_stack && !fn->indirect;
    uint64_t deepest = 0;

    *stack = fn->depth;
    if (fn->busy) {
        not_known(code, fn, "is recursive");
        return false;
    }
    if (fn->done) {
        return fn->known;
    }
    if (!known) {
        not_known(code, fn, fn->indirect ? "calls through a pointer"
                                         : "has a frame of variable size");
    }
    fn->busy = true;
    total->x |= fn->x;
    total->f |= fn->f;
    total->tp |= fn->tp;
    total->fp_flags |= fn->fp_flags;
    if (fn->indirect && !total->indirect) {
        total->indirect = true;
        for (unsigned i = 0; i < code->count; i++) {
            total->x |= code->fns[i].x;
            total->f |= code->fns[i].f;
            total->fp_flags |= code->fns[i].fp_flags;
        }
    }
    for (unsigned i = 0; i < fn->callee_count; i++) {
        Fn *callee = at(code, fn->callees[i]);
        uint64_t needs = 0;

        if (!callee) {
            not_known(code, fn, "jumps to what is no function");
        }
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
    code->why = code->where = NULL;
    known = walk(code, fn, &total, &stack);
    use->why = known ? NULL : code->why;
    use->where = known ? NULL : code->where;
    /* Threads always have some stack; 16 bytes keep 0 for "not known". */
    use->stack = known ? (stack > 16 ? stack : 16) : 0;
    use->tp = total.tp;
    use->fp_flags = total.fp_flags;
    /* The hardware gives every thread sp and a0, used or not. */
    total.x |= 1u << 2 | 1u << 10;
    use->registers = 2 * (__builtin_popcount(total.x & ~1u) +
                          __builtin_popcount(total.f));
    return true;
}
