/* SPDX-License-Identifier: MIT */
#include "agent.h"

#define DEPTH 64
#define LIMIT 4096 /* operations */

/* Operations by their numbers in the manual; those of tracing are unknown. */
enum {
    OP_ADD = 0x02, OP_SUB, OP_MUL, OP_DIV_SIGNED, OP_DIV_UNSIGNED,
    OP_REM_SIGNED, OP_REM_UNSIGNED, OP_LSH, OP_RSH_SIGNED, OP_RSH_UNSIGNED,
    OP_LOG_NOT = 0x0e, OP_BIT_AND, OP_BIT_OR, OP_BIT_XOR, OP_BIT_NOT, OP_EQUAL,
    OP_LESS_SIGNED, OP_LESS_UNSIGNED, OP_EXT, OP_REF8, OP_REF16, OP_REF32,
    OP_REF64,
    OP_IF_GOTO = 0x20, OP_GOTO, OP_CONST8, OP_CONST16, OP_CONST32, OP_CONST64,
    OP_REG, OP_END, OP_DUP, OP_POP, OP_ZERO_EXT, OP_SWAP,
    OP_PICK = 0x32, OP_ROT
};

typedef struct Machine {
    const uint8_t *code;
    size_t len, at;
    const MxgpuAgentOps *ops;
    void *opaque;
    uint64_t stack[DEPTH];
    unsigned depth;
    bool ok;
} Machine;

static void push(Machine *m, uint64_t value)
{
    if (m->depth == DEPTH) {
        m->ok = false;
        return;
    }
    m->stack[m->depth++] = value;
}

static uint64_t pop(Machine *m)
{
    if (!m->depth) {
        m->ok = false;
        return 0;
    }
    return m->stack[--m->depth];
}

/* An operand of so many bytes, the most significant one first. */
static uint64_t operand(Machine *m, unsigned bytes)
{
    uint64_t value = 0;

    if (m->len - m->at < bytes) {
        m->ok = false;
        return 0;
    }
    while (bytes--) {
        value = value << 8 | m->code[m->at++];
    }
    return value;
}

static uint64_t divide(Machine *m, unsigned op, uint64_t a, uint64_t b)
{
    bool overflow = a == 1ull << 63 && b == UINT64_MAX;

    if (!b) {
        m->ok = false;
        return 0;
    }
    switch (op) {
    case OP_DIV_SIGNED:
        return overflow ? a : (uint64_t)((int64_t)a / (int64_t)b);
    case OP_REM_SIGNED:
        return overflow ? 0 : (uint64_t)((int64_t)a % (int64_t)b);
    case OP_DIV_UNSIGNED:
        return a / b;
    default:
        return a % b;
    }
}

static uint64_t shift_signed(uint64_t a, uint64_t b)
{
    uint64_t sign = -(a >> 63);

    return b > 63 ? sign : b ? a >> b | sign << (64 - b) : a;
}

static void binary(Machine *m, unsigned op)
{
    uint64_t b = pop(m), a = pop(m);

    switch (op) {
    case OP_ADD:
        push(m, a + b);
        break;
    case OP_SUB:
        push(m, a - b);
        break;
    case OP_MUL:
        push(m, a * b);
        break;
    case OP_LSH:
        push(m, b > 63 ? 0 : a << b);
        break;
    case OP_RSH_SIGNED:
        push(m, shift_signed(a, b));
        break;
    case OP_RSH_UNSIGNED:
        push(m, b > 63 ? 0 : a >> b);
        break;
    case OP_BIT_AND:
        push(m, a & b);
        break;
    case OP_BIT_OR:
        push(m, a | b);
        break;
    case OP_BIT_XOR:
        push(m, a ^ b);
        break;
    case OP_EQUAL:
        push(m, a == b);
        break;
    case OP_LESS_SIGNED:
        push(m, (int64_t)a < (int64_t)b);
        break;
    case OP_LESS_UNSIGNED:
        push(m, a < b);
        break;
    default:
        push(m, divide(m, op, a, b));
    }
}

static void reference(Machine *m, unsigned bytes)
{
    uint8_t buf[8];
    uint64_t addr = pop(m), value = 0;

    m->ok = m->ok && m->ops->memory(m->opaque, addr, buf, bytes);
    for (unsigned i = bytes; m->ok && i--;) {
        value = value << 8 | buf[i];
    }
    push(m, value);
}

static void extend(Machine *m, bool is_signed)
{
    uint64_t bits = operand(m, 1), a = pop(m);

    if (bits && bits < 64) {
        a = is_signed ? shift_signed(a << (64 - bits), 64 - bits)
                      : a & ((1ull << bits) - 1);
    }
    push(m, a);
}

/* Of the words on the stack, the one so far below the top. */
static void pick(Machine *m)
{
    uint64_t n = operand(m, 1);

    if (n >= m->depth) {
        m->ok = false;
        return;
    }
    push(m, m->stack[m->depth - 1 - n]);
}

/* a b c becomes c a b, swap of two of them likewise. */
static void rotate(Machine *m, unsigned count)
{
    uint64_t c = pop(m), b = pop(m), a = count == 3 ? pop(m) : 0;

    push(m, c);
    if (count == 3) {
        push(m, a);
    }
    push(m, b);
}

static void read_register(Machine *m)
{
    uint64_t number = operand(m, 2), value = 0;

    m->ok = m->ok && m->ops->reg(m->opaque, (unsigned)number, &value);
    push(m, value);
}

static void jump(Machine *m, bool always)
{
    uint64_t to = operand(m, 2);

    if (always || pop(m)) {
        m->at = to;
    }
}

static void duplicate(Machine *m)
{
    uint64_t a = pop(m);

    push(m, a);
    push(m, a);
}

static void other(Machine *m, unsigned op)
{
    switch (op) {
    case OP_LOG_NOT:
        push(m, !pop(m));
        break;
    case OP_BIT_NOT:
        push(m, ~pop(m));
        break;
    case OP_EXT:
    case OP_ZERO_EXT:
        extend(m, op == OP_EXT);
        break;
    case OP_REF8:
    case OP_REF16:
    case OP_REF32:
    case OP_REF64:
        reference(m, 1u << (op - OP_REF8));
        break;
    case OP_IF_GOTO:
    case OP_GOTO:
        jump(m, op == OP_GOTO);
        break;
    case OP_CONST8:
    case OP_CONST16:
    case OP_CONST32:
    case OP_CONST64:
        push(m, operand(m, 1u << (op - OP_CONST8)));
        break;
    case OP_REG:
        read_register(m);
        break;
    case OP_DUP:
        duplicate(m);
        break;
    case OP_POP:
        (void)pop(m);
        break;
    case OP_SWAP:
        rotate(m, 2);
        break;
    case OP_ROT:
        rotate(m, 3);
        break;
    case OP_PICK:
        pick(m);
        break;
    default:
        m->ok = false;
    }
}

bool mxgpu_agent_evaluate(const uint8_t *code, size_t len,
                          const MxgpuAgentOps *ops, void *opaque,
                          uint64_t *value)
{
    Machine m = {.code = code, .len = len, .ops = ops, .opaque = opaque,
                 .ok = true};

    for (unsigned n = 0; m.ok && n < LIMIT && m.at < len; n++) {
        unsigned op = code[m.at++];

        if (op == OP_END) {
            *value = pop(&m);
            return m.ok;
        }
        if ((op >= OP_ADD && op <= OP_RSH_UNSIGNED) ||
            (op >= OP_BIT_AND && op <= OP_LESS_UNSIGNED &&
             op != OP_BIT_NOT)) {
            binary(&m, op);
        } else {
            other(&m, op);
        }
    }
    return false;
}
