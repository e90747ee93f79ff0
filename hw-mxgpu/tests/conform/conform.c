/* SPDX-License-Identifier: MIT */
/* The conformance test: programs around an instruction, and the table. */
#include "conform.h"

#include <string.h>

#include "mxgpu/isa.h"
#include "simt/state.h"

SimtHost *host;
GRand *rng;

static CheckFn *table[RV_OP_COUNT];

/* How x11 and x12 are made, see fill_records(); lines are in memory too. */
typedef enum Form { FORM_ANY, FORM_SEXT, FORM_LINEAR } Form;

typedef struct Line {
    uint64_t base, step, row;
} Line;

static Form form[2];
static unsigned num_columns = 64;

static const struct {
    uint32_t match, extension;
    unsigned xlen;
} lines[RV_OP_COUNT] = {
#define RV_GROUP(name, major)
#define RV_INSN(id, name, match, mask, format, classes, ext, xlen)             \
    [RV_##id] = {match, RV_EXT_##ext, xlen},
#include "rv/insns.def"
#undef RV_GROUP
#undef RV_INSN
};

/* ---- values and encodings */

unsigned random_below(unsigned n)
{
    return (unsigned)g_rand_int_range(rng, 0, (int)n);
}

uint64_t random64(void)
{
    static const uint64_t special[] = {
        0, 1, 2, 31, 32, 63, 64, 0x7fffffff, 0x80000000, 0xffffffff,
        0x100000000, 0x7fffffffffffffff, 0x8000000000000000, UINT64_MAX,
        UINT64_MAX - 1, 0xffffffff80000000, 0xffffffff7fffffff,
    };
    uint64_t v = (uint64_t)g_rand_int(rng) << 32 | g_rand_int(rng);

    switch (random_below(4)) {
    case 0:
        return special[random_below(G_N_ELEMENTS(special))];
    case 1:
        return v >> random_below(64);
    default:
        return v;
    }
}

RvInsn info_of(RvOp op)
{
    RvInsn in;

    g_assert_true(rv_decode(match_of(op), 64, ~0u, &in));
    return in;
}

/* ---- programs */

#define RECORDS 256 /* behind HOST_DATA_VA, where the lines are */

Record *record(unsigned lane)
{
    return (Record *)simt_host_data(host, HOST_DATA_VA + RECORDS) + lane;
}

unsigned columns(void)
{
    return num_columns;
}

static void set_operand(unsigned k, unsigned lane, uint64_t value)
{
    *(k ? &record(lane)->b : &record(lane)->a) = value;
}

void any_operand(unsigned k)
{
    form[k] = FORM_ANY;
}

void line_operand(unsigned k, uint64_t base, uint64_t step, uint64_t row)
{
    Line *line = (Line *)simt_host_data(host, HOST_DATA_VA) + k;

    *line = (Line){base, step, row};
    form[k] = FORM_LINEAR;
    for (unsigned i = 0; i < 64; i++) {
        set_operand(k, i, base + i % num_columns * step +
                              i / num_columns * row);
    }
}

static uint64_t small64(void)
{
    return random_below(2) ? (uint64_t)(int64_t)((int)random_below(200) - 100)
           : random_below(2) ? 1ull << random_below(64)
                             : random64();
}

static void random_form(unsigned k)
{
    uint64_t step, row, base;

    switch (random_below(6)) {
    case 0:
        form[k] = FORM_SEXT;
        for (unsigned i = 0; i < 64; i++) {
            uint64_t v = k ? record(i)->b : record(i)->a;

            set_operand(k, i, (uint64_t)(int64_t)(int32_t)v);
        }
        return;
    case 1:
        line_operand(k, random64(), 0, 0);
        return;
    case 2:
    case 3:
        step = random_below(4) ? small64() : 0;
        row = random_below(3) ? step * num_columns : small64();
        base = random64();
        if (random_below(3) == 0) { /* its end is an edge */
            base -= (num_columns - 1) * step + (63 / num_columns) * row;
        }
        line_operand(k, base, step, row);
        return;
    default:
        form[k] = FORM_ANY;
    }
}

unsigned threads_of(Mode mode)
{
    return mode == MODE_PART ? 37 : mode == MODE_ONE ? 1 : 64;
}

void fill_records(Mode mode)
{
    for (unsigned i = 0; i < 64; i++) {
        Record *r = record(i);

        memset(r, 0x55, sizeof(*r));
        r->a = random64();
        r->b = random_below(8) ? random64() : r->a;
        r->old_x = random64();
        r->old_f = random64();
        for (unsigned k = 0; k < 3; k++) {
            r->f[k] = random64();
        }
        r->active = mode == MODE_ALL || mode == MODE_ONE ||
                    g_rand_boolean(rng);
        r->frm = (uint8_t)random_below(5);
        for (unsigned k = 0; k < 4; k++) {
            r->narrow[k] = random_below(3) == 0;
        }
    }
    num_columns = threads_of(mode) < 64 ? threads_of(mode)
                                        : 64u >> random_below(5);
    random_form(0);
    random_form(1);
}

uint64_t f_operand(const Record *r, unsigned k)
{
    uint64_t v = k < 3 ? r->f[k] : r->old_f;

    return r->narrow[k] ? v | 0xffffffff00000000ull : v;
}

#define AT(field) ((int)offsetof(Record, field))
G_STATIC_ASSERT(sizeof(Record) == 128);

/* x11 or x12. */
static uint32_t *operand(uint32_t *code, unsigned k)
{
    unsigned rd = A1 + k;

    if (form[k] != FORM_LINEAR) {
        *code++ = enc_i(form[k] == FORM_SEXT ? RV_LW : RV_LD, rd, T1,
                        k ? AT(b) : AT(a));
        return code;
    }
    *code++ = enc_i(RV_LD, rd, A0, (int)(k * sizeof(Line)));
    for (unsigned dim = 0; dim < 2; dim++) {
        *code++ = enc_i(RV_LD, A5, A0, (int)(k * sizeof(Line) + 8 + 8 * dim));
        *code++ = enc_i(RV_CSRRS, T2, ZERO, MXGPU_CSR_TID_X + (int)dim);
        *code++ = enc(RV_MUL, A5, A5, T2);
        *code++ = enc(RV_ADD, rd, rd, A5);
    }
    return code;
}

static uint32_t *operands(uint32_t *code, const Shape *s)
{
    static const int f_at[] = { AT(f[0]), AT(f[1]), AT(f[2]), AT(old_f) };

    *code++ = match_of(RV_CSRRS) | T0 << 7 | (uint32_t)MXGPU_CSR_LANE << 20;
    *code++ = enc_i(RV_SLLI, T0, T0, 7);
    *code++ = enc(RV_ADD, T1, A0, T0);
    *code++ = enc_i(RV_ADDI, T1, T1, RECORDS);
    *code++ = enc_i(RV_LD, A5, A0, 0); /* fills the TLB */
    code = operand(code, 0);
    code = operand(code, 1);
    *code++ = enc_i(RV_LD, A4, T1, AT(old_x));
    for (unsigned k = 0; k < 4; k++) {
        *code++ = enc_i(RV_FLD, A1 + k, T1, f_at[k]);
        *code++ = enc_i(RV_LBU, A5, T1, AT(narrow) + (int)k);
        *code++ = enc_b(RV_BEQ, A5, ZERO, 8);
        *code++ = enc_i(RV_FLW, A1 + k, T1, f_at[k]);
    }
    if (s->dynamic) {
        *code++ = enc_i(RV_LBU, A5, T1, AT(frm));
        *code++ = enc_i(RV_CSRRW, ZERO, A5, 2);
    }
    if (s->flags) {
        *code++ = enc_i(RV_CSRRWI, ZERO, 0, 1);
    }
    return code;
}

static void build(uint32_t insn, unsigned rd_x, unsigned rd_f, const Shape *s)
{
    uint32_t *code = operands(simt_host_data(host, HOST_CODE_VA), s);

    for (unsigned i = 0; i < s->num_before; i++) {
        *code++ = s->before[i];
    }
    *code++ = enc_i(RV_LD, A5, T1, AT(active));
    if (s->mode == MODE_EXITED) {
        *code++ = enc_b(RV_BNE, A5, ZERO, 8);
        *code++ = match_of(RV_MX_EXIT);
    } else {
        *code++ = enc_b(RV_BEQ, A5, ZERO, 8);
    }
    *code++ = insn;
    *code++ = enc_s(RV_SD, rd_x, T1, AT(out_x));
    *code++ = enc_s(RV_FSD, rd_f, T1, AT(out_f));
    for (unsigned i = 0; i < s->num_after; i++) {
        *code++ = s->after[i];
    }
    if (s->flags) {
        *code++ = enc_i(RV_CSRRS, A5, ZERO, 1);
        *code++ = enc_s(RV_SD, A5, T1, AT(out_flags));
    }
    *code++ = match_of(RV_MX_EXIT);
}

MxgpuDispatchFault try_insn(uint32_t insn, unsigned rd_x, unsigned rd_f,
                            const Shape *s)
{
    MxgpuDispatch d = simt_host_dispatch(HOST_CODE_VA, 1, threads_of(s->mode));

    d.block[0] = num_columns;
    d.block[1] = threads_of(s->mode) / num_columns;
    d.shared = MXGPU_SHARED_MAX;
    build(insn, rd_x, rd_f, s);
    d.fp_flags = s->flags || s->reads_flags;
    return simt_host_run(host, &d);
}

void run_insn(uint32_t insn, unsigned rd_x, unsigned rd_f, const Shape *s)
{
    MxgpuDispatchFault f = try_insn(insn, rd_x, rd_f, s);

    if (f.code) {
        g_test_message("%08x: fault %d at %lx, pc %lx, thread %u", insn, f.code,
                       (long)f.addr, (long)f.pc, f.thread);
    }
    g_assert_cmpint(f.code, ==, MXGPU_FAULT_NONE);
}

void differ(RvOp op, unsigned lane, const Record *r, uint64_t got,
            uint64_t want, const char *what)
{
    static unsigned told[RV_OP_COUNT];

    if (told[op]++ < 4) {
        g_test_message("%s lane %u %s: %016lx, not %016lx (a %lx b %lx f %lx "
                       "%lx %lx)", rv_name(op), lane, what, (long)got,
                       (long)want, (long)r->a, (long)r->b,
                       (long)f_operand(r, 0), (long)f_operand(r, 1),
                       (long)f_operand(r, 2));
    }
    g_test_fail();
}

/* ---- the table */

/* Machine mode and RV32: not instructions here. */
static void check_illegal(RvOp op)
{
    fill_records(MODE_ALL);
    g_assert_cmpint(try_insn(match_of(op), A4, A4, &(Shape){0}).code, ==,
                    MXGPU_FAULT_ILLEGAL);
}

static void check_op(gconstpointer data)
{
    RvOp op = (RvOp)(uintptr_t)data;

    if (!table[op]) {
        g_test_message("%s has no conformance entry", rv_name(op));
        g_test_fail();
        return;
    }
    table[op](op);
}

static void add_tests(void)
{
    for (unsigned op = 1; op < RV_OP_COUNT; op++) {
        const bool here = lines[op].xlen & RV_64 &&
                          lines[op].extension != RV_EXT_M_MODE;
        g_autofree char *path = NULL;

        path = g_strdup_printf("/conform/%s%s", rv_name(op),
                               lines[op].xlen == RV_32 ? "-32" : "");
        if (!here && lines[op].extension == RV_EXT_M_MODE) {
            table[op] = check_illegal;
        } else if (!here) {
            continue; /* an encoding that RV64 reads otherwise */
        }
        g_test_add_data_func(path, (void *)(uintptr_t)op, check_op);
    }
}

int main(int argc, char **argv)
{
    int result;

    g_test_init(&argc, &argv, NULL);
    host = simt_host_new(1);
    rng = g_rand_new_with_seed(5);
    /* each start scans all code there is */
    for (uint64_t at = 8192; at < 1 << 20; at += 4096) {
        *simt_host_pte(host, HOST_VMID, HOST_CODE_VA + at) = 0;
    }
    conform_integer(table);
    conform_float(table);
    conform_memory(table);
    conform_control(table);
    conform_group(table);
    add_tests();
    result = g_test_run();
    g_rand_free(rng);
    simt_host_free(host);
    return result;
}
