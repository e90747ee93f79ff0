/* SPDX-License-Identifier: MIT */
/*
 * The decoder against LLVM's disassembler (rv_vectors.h is generated at build
 * time): 32-bit encodings by their text, compressed ones exhaustively by the
 * text of the instruction they stand for.
 */
#include <glib.h>
#include <stdio.h>
#include <string.h>

#include "rv/rv.h"

typedef struct RvVector {
    unsigned xlen;
    uint32_t insn;
    const char *text;
} RvVector;

#include "rv_vectors.h"

enum {
    EXT32 = RV_EXT_I | RV_EXT_M | RV_EXT_A | RV_EXT_C | RV_EXT_ZICSR |
            RV_EXT_ZIFENCEI,
    EXT64 = EXT32 | RV_EXT_F | RV_EXT_D | RV_EXT_ZBA | RV_EXT_ZBB |
            RV_EXT_ZICOND | RV_EXT_ZFHMIN | RV_EXT_ZFH | RV_EXT_ZFBFMIN |
            RV_EXT_ZACAS,
};

/*
 * "dyn" and rounding modes of exact conversions are spelled differently by
 * versions of llvm: compare what is meant. CSR numbers are decimal or names.
 */
static void normalise(char *text)
{
    char *dyn = strstr(text, ", dyn");
    char *hex = strstr(text, "0x");

    if (dyn) {
        *dyn = '\0';
    }
    if (hex && g_str_has_prefix(text, "csr")) {
        g_autofree char *rest = NULL;
        char *end;
        unsigned long value = strtoul(hex, &end, 16);

        rest = g_strdup(end);
        sprintf(hex, "%lu%s", value, rest);
    }
}

/* llvm names some CSRs: only the other operands are compared then. */
static bool same_csr(const char *a, const char *b)
{
    const char *ca = strchr(a, ','), *cb = strchr(b, ',');

    return g_str_has_prefix(a, "csr") && ca && cb && ca - a == cb - b &&
           memcmp(a, b, ca - a) == 0 && g_ascii_isalpha(ca[2]) &&
           strcmp(strrchr(a, ','), strrchr(b, ',')) == 0;
}

/* A hint or variant that llvm prints in its own way or does not know. */
static bool is_fence(const RvInsn *insn)
{
    return insn->op == RV_FENCE || insn->op == RV_FENCE_I;
}

/* llvm prints reserved RV32 shifts by 32 and more. */
static bool big_shift(const RvVector *v)
{
    if (v->insn > 0xffff) {
        return v->xlen == 32 && (v->insn & 0x0200307f) == 0x02001013 &&
               v->text[0] == 's';
    }
    return v->xlen == 32 && (v->insn & 0x1000) &&
           ((v->insn & 0xe003) == 0x0002 || (v->insn & 0xe803) == 0x8001);
}

/* Exact conversions ignore rm, and llvm then does not print rne. */
static bool same_rne(const char *want, char *text)
{
    char *rne = strstr(text, ", rne");

    if (rne) {
        *rne = '\0';
    }
    return g_str_has_prefix(text, "fcvt.") && strcmp(want, text) == 0;
}

static void check_wide(const RvVector *v)
{
    RvInsn insn;
    char text[96], want[96];
    bool ok = rv_decode(v->insn, v->xlen, v->xlen == 32 ? EXT32 : EXT64, &insn);

    g_assert_cmpuint(insn.length, ==, 4);
    if (ok && is_fence(&insn)) {
        return; /* reserved fields are ignored, as the specification asks */
    }
    if (big_shift(v)) {
        g_assert_false(ok);
        return;
    }
    rv_format(&insn, text, sizeof(text));
    g_strlcpy(want, v->text, sizeof(want));
    normalise(text);
    normalise(want);
    if (ok != (want[0] != '\0') ||
        (ok && strcmp(text, want) != 0 && !same_csr(want, text) &&
         !same_rne(want, text))) {
        g_test_message("rv%u %08x: \"%s\", llvm \"%s\"", v->xlen, v->insn,
                       ok ? text : "", want);
        g_test_fail();
    }
}

static void test_wide(void)
{
    for (size_t i = 0; i < G_N_ELEMENTS(wide_vectors); i++) {
        check_wide(&wide_vectors[i]);
    }
}

/* The 32-bit instruction meant by the text of a compressed one. */
static void expanded(const char *c, char *buf, size_t size)
{
    char name[16] = "", a[16] = "", b[24] = "", d[16] = "";
    int n = sscanf(c, "c.%15s %15[^,], %23[^,], %15s", name, a, b, d);

    if (!strcmp(name, "nop")) {
        g_snprintf(buf, size, "addi x0, x0, %s", n > 1 ? a : "0");
    } else if (!strcmp(name, "unimp")) {
        buf[0] = '\0';
    } else if (!strcmp(name, "ebreak")) {
        g_snprintf(buf, size, "ebreak");
    } else if (!strcmp(name, "addi4spn")) {
        g_snprintf(buf, size, "addi %s, %s, %s", a, b, d);
    } else if (!strcmp(name, "addi16sp")) {
        g_snprintf(buf, size, "addi %s, %s, %s", a, a, b);
    } else if (!strcmp(name, "li")) {
        g_snprintf(buf, size, "addi %s, x0, %s", a, b);
    } else if (!strcmp(name, "lui")) {
        unsigned imm = strtol(b, NULL, 0) & 0xfffff;

        /* llvm prints the reserved zero */
        g_snprintf(buf, size, imm ? "lui %s, %u" : "", a, imm);
    } else if (!strcmp(name, "mv")) {
        g_snprintf(buf, size, "add %s, x0, %s", a, b);
    } else if (!strcmp(name, "j")) {
        g_snprintf(buf, size, "jal x0, %s", a);
    } else if (!strcmp(name, "jal")) {
        g_snprintf(buf, size, "jal x1, %s", a);
    } else if (!strcmp(name, "jr") || !strcmp(name, "jalr")) {
        if (!strcmp(name, "jr")) {
            g_snprintf(buf, size, "jalr x0, 0(%s)", a);
        } else {
            g_snprintf(buf, size, "jalr x1, 0(%s)", a);
        }
    } else if (!strcmp(name, "beqz") || !strcmp(name, "bnez")) {
        g_snprintf(buf, size, "%.3s %s, x0, %s", name, a, b);
    } else if (strchr(b, '(')) { /* loads and stores, with or without sp */
        char *sp = strstr(name, "sp");

        if (sp) {
            *sp = '\0';
        }
        g_snprintf(buf, size, "%s %s, %s", name, a, b);
    } else if (!strcmp(name, "slli64") || !strcmp(name, "srli64") ||
               !strcmp(name, "srai64")) {
        g_snprintf(buf, size, "%.4s %s, %s, 0", name, a, a);
    } else { /* two-operand arithmetic */
        g_snprintf(buf, size, "%s %s, %s, %s", name, a, a, b);
    }
}

static void test_compressed(void)
{
    for (size_t i = 0; i < G_N_ELEMENTS(narrow_vectors); i++) {
        const RvVector *v = &narrow_vectors[i];
        RvInsn insn;
        char text[96], want[96] = "";
        bool ok = rv_decode(0xabcd0000u | v->insn, v->xlen,
                            v->xlen == 32 ? EXT32 : EXT64, &insn);

        g_assert_cmpuint(insn.length, ==, 2);
        if (v->text[0]) {
            expanded(v->text, want, sizeof(want));
        }
        if (big_shift(v)) {
            want[0] = '\0';
        }
        rv_format(&insn, text, sizeof(text));
        if (ok != (want[0] != '\0') || (ok && strcmp(text, want) != 0)) {
            g_test_message("rv%u %04x: \"%s\", llvm \"%s\" (%s)", v->xlen,
                           v->insn, ok ? text : "", want, v->text);
            g_test_fail();
        }
    }
}

/* Extensions and XLEN that are not given make their instructions illegal. */
static void test_extensions(void)
{
    static const struct {
        uint32_t insn;
        unsigned ext;
    } t[] = {
        { 0x00000013, RV_EXT_I },      { 0x02000033, RV_EXT_M },
        { 0x0000202f, RV_EXT_A },      { 0x00002007, RV_EXT_F },
        { 0x00003007, RV_EXT_D },      { 0x00000001, RV_EXT_C | RV_EXT_I },
        { 0x00001073, RV_EXT_ZICSR },  { 0x0000100f, RV_EXT_ZIFENCEI },
        { 0x20002033, RV_EXT_ZBA },    { 0x60001013, RV_EXT_ZBB },
        { 0x0e005033, RV_EXT_ZICOND }, { 0x00001007, RV_EXT_ZFHMIN },
        { 0x04000053, RV_EXT_ZFH },    { 0x30200073, RV_EXT_M_MODE },
        { 0x0000000b, RV_EXT_MX },     { 0x40600053, RV_EXT_ZFBFMIN },
    };
    RvInsn insn;

    for (size_t i = 0; i < G_N_ELEMENTS(t); i++) {
        g_assert_true(rv_decode(t[i].insn, 64, t[i].ext, &insn));
        g_assert_false(rv_decode(t[i].insn, 64, ~t[i].ext, &insn));
        g_assert_cmpuint(insn.op, ==, RV_ILLEGAL);
    }
}

/* The GPU instructions of mxgpu/isa.h, which llvm does not know. */
static void test_custom(void)
{
    static const struct {
        uint32_t insn;
        const char *text;
    } t[] = {
        { 0x0000000b, "mx.exit" },
        { 0x0200000b, "mx.barrier" },
        { 0x0405050b, "mx.bar.and x10, x10" },
        { 0x0605858b, "mx.bar.or x11, x11" },
        { 0x0806060b, "mx.bar.count x12, x12" },
        { 0x0a05000b, "mx.warpsync x10" },
        { 0x00c5950b, "mx.shfl x10, x11, x12" },
        { 0x0005a50b, "mx.ballot x10, x11" },
        { 0x0200250b, "mx.active x10" },
        { 0x0405a50b, "mx.match.any x10, x11" },
        { 0x00c5b50b, "mx.afadd.s x10, x11, x12" },
        { 0x0ac5b50b, "mx.afmax.d x10, x11, x12" },
        { 0x0cc5800b, "mx.bar.sync x11, x12" },
        { 0x0ec5800b, "mx.bar.arrive x11, x12" },
        { 0x1000000b, "mx.grid.sync" },
        { 0x00c5c50b, "mx.reduce.add x10, x11, x12" },
        { 0x08c5c50b, "mx.reduce.maxu x10, x11, x12" },
        { 0x1ec5c50b, "mx.reduce.xor.w x10, x11, x12" },
        { 0x24c5c50b, "mx.reduce.fmax.s x10, x11, x12" },
        { 0x28c5c50b, "mx.reduce.fadd.d x10, x11, x12" },
        { 0x00c5de0b, "mx.mma.f32.f16 f28, x11, x12" },
        { 0x02c5d00b, "mx.mma.f32.bf16 f0, x11, x12" },
        { 0x04c5d08b, "mx.mma.i32.i8 x1, x11, x12" },
        { 0x06c5de0b, "mx.mma.i32.u8 x28, x11, x12" },
        /* a field that must be 0 is not */
        { 0x0000008b, "illegal" }, { 0x0001000b, "illegal" },
        { 0x0210000b, "illegal" }, { 0x0a05008b, "illegal" },
        { 0x0a15000b, "illegal" }, { 0x0415050b, "illegal" },
        { 0x0220250b, "illegal" }, { 0x0201250b, "illegal" },
        { 0x0c00008b, "illegal" }, { 0x02c5950b, "illegal" },
        { 0x0605a50b, "illegal" }, { 0x0cc5b50b, "illegal" },
        { 0x1010000b, "illegal" }, { 0x1200000b, "illegal" },
        { 0x26c5c50b, "illegal" }, { 0x2ec5c50b, "illegal" },
        { 0x08c5d50b, "illegal" }, { 0x0000700b, "illegal" },
        { 0x0000600b, "illegal" },
        /* no room for four registers, or x0 among them */
        { 0x00c5de8b, "illegal" }, { 0x04c5de8b, "illegal" },
        { 0x04c5d00b, "illegal" },
    };
    RvInsn insn;
    char text[64];

    for (size_t i = 0; i < G_N_ELEMENTS(t); i++) {
        bool ok = rv_decode(t[i].insn, 64, RV_EXT_MX, &insn);

        rv_format(&insn, text, sizeof(text));
        g_assert_cmpstr(text, ==, t[i].text);
        g_assert_cmpint(ok, ==, strcmp(t[i].text, "illegal") != 0);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/rv/wide", test_wide);
    g_test_add_func("/rv/compressed", test_compressed);
    g_test_add_func("/rv/extensions", test_extensions);
    g_test_add_func("/rv/custom", test_custom);
    return g_test_run();
}
