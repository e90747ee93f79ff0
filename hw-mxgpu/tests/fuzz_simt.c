/* SPDX-License-Identifier: MIT */
/*
 * Random code in random warps must neither crash nor hang the host, nor reach
 * memory that was not given. Input: 8 bytes of configuration, the rest is code
 * (and, as arguments, data). With MXGPU_LIBFUZZER a libFuzzer target, else a
 * test that makes its own inputs from fixed seeds.
 */
#include <string.h>

#include "rv/rv.h"
#include "simt_host.h"

#define CODE_BYTES 8192

static SimtHost *host;

static void fuzz_one(const uint8_t *data, size_t size)
{
    uint8_t *code;
    uint64_t *args;
    MxgpuDispatch d;
    MxgpuSimtCounters c;

    if (size < 12) {
        return;
    }
    if (!host) {
        host = simt_host_new(2);
    }
    code = simt_host_data(host, HOST_CODE_VA);
    args = simt_host_data(host, HOST_DATA_VA);
    memset(code, 0, CODE_BYTES);
    memcpy(code, data + 8, size - 8 < CODE_BYTES ? size - 8 : CODE_BYTES);
    for (unsigned i = 0; i < 32; i++) { /* addresses of every kind */
        static const uint64_t base[] = {
            HOST_DATA_VA, HOST_SMALL_VA, HOST_SYS_VA, HOST_HOLE_VA,
            MXGPU_SHARED_BASE, MXGPU_PRIVATE_END - 2048, HOST_CODE_VA, 0,
        };

        args[i] = base[i % 8] + (data[i % 8] << (i / 8));
    }
    d = simt_host_dispatch(HOST_CODE_VA + data[0] % 16 * 2, 1 + data[1] % 4,
                           1 + data[2]);
    d.shared = data[3] * 64;
    d.shared_static = d.shared / 2;
    d.private_bytes = data[4] % 4 * 1024;
    host->done = 0;
    if (mxgpu_simt_start(host->simt, 0, &d) != MXGPU_FAULT_NONE) {
        return;
    }
    for (unsigned n = 0; n < 20 && !host->done; n++) {
        mxgpu_simt_run(host->simt, n % 2, 500 + data[5]);
    }
    mxgpu_simt_abort(host->simt, 0);
    for (unsigned n = 0; n < 4 && !host->done; n++) {
        mxgpu_simt_run(host->simt, n % 2, 50000);
    }
    g_assert_cmphex(host->done, ==, 1);
    g_assert_false(mxgpu_simt_has_work(host->simt));
    mxgpu_simt_counters(host->simt, &c);
    g_assert_cmpuint(c.lane_instructions, <=, 64 * c.warp_instructions);
}

#ifdef MXGPU_LIBFUZZER
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_one(data, size);
    return 0;
}
#else
static const struct {
    uint32_t match, mask;
} insns[] = {
#define RV_GROUP(name, major)
#define RV_INSN(id, name, match, mask, format, classes, ext, xlen)             \
    {match, mask},
#include "rv/insns.def"
#undef RV_GROUP
#undef RV_INSN
};

/* ld a1 to a4 from a random argument: an address, most likely */
static uint32_t load_address(GRand *rng)
{
    return 0x00053003 | (11 + g_rand_int(rng) % 4) << 7 |
           (g_rand_int(rng) % 32) << 23;
}

/* Operands that let a program go on for a while. */
static uint32_t tame(uint32_t insn, uint32_t v)
{
    static const uint16_t csrs[] = { 1, 2, 3, 0xc00, 0xcc0, 0xccc, 0xcd2 };

    switch (insn & 0x7f) {
    case 0x63: /* branches: at most 64 bytes away */
        return (insn & 0x01fff07f) | (v & 0x600) |
               (v >> 31 ? 0xfe000080 : 0x800);
    case 0x6f: /* jal: 64 bytes ahead */
        return (insn & 0xfff) | (v & 0x01c00000) | 0x02000000;
    case 0x67:
        return v % 8 ? 0x13 : insn;
    case 0x03: /* memory: near an address of the arguments */
    case 0x07:
        return (insn & 0x07f07fff) | (11 + v % 4) << 15;
    case 0x23:
    case 0x27:
    case 0x2f:
        return (insn & ~(insn & 0x7f ? 0xf8000u : 0)) | (11 + v % 4) << 15;
    case 0x73:
        return insn & 0x7000
                   ? (insn & 0xfffff) | (uint32_t)csrs[v % 7] << 20
                   : v % 16 ? 0x13 : insn;
    case 0x0b:
        return insn == 0x0b && v % 16 ? 0x13 : insn;
    }
    return insn;
}

static uint32_t random_insn(GRand *rng)
{
    RvInsn in;

    for (;;) {
        unsigned n = g_rand_int_range(rng, 0, G_N_ELEMENTS(insns));
        uint32_t v = g_rand_int(rng);
        uint32_t insn = insns[n].match | (v & ~insns[n].mask);

        switch (v % 64) {
        case 0:
            return g_rand_int(rng);
        case 1:
        case 2: /* two compressed ones, or what looks so */
            return g_rand_int(rng) & ~(v & 0x00020002);
        }
        if (v % 32 < 3) {
            return load_address(rng);
        }
        insn = tame(insn, g_rand_int(rng));
        if (rv_decode(insn, 64, ~RV_EXT_M_MODE, &in)) {
            return insn;
        }
    }
}

static void test_random(void)
{
    GRand *rng = g_rand_new_with_seed(7);
    MxgpuSimtCounters c;
    uint32_t input[130];

    for (unsigned n = 0; n < 20000; n++) {
        for (unsigned i = 0; i < G_N_ELEMENTS(input); i++) {
            input[i] = i < 2 ? g_rand_int(rng) : random_insn(rng);
        }
        if (n % 4) { /* begin with lanes that differ, and with addresses */
            ((uint8_t *)input)[0] &= 0xf0;
            for (unsigned i = 2; i < 6; i++) {
                input[i] = load_address(rng);
            }
            input[6] = 0xccc022f3; /* csrr t0, lane */
            input[7] = 0x00329313; /* slli t1, t0, 3 */
            input[8] = 0x006505b3; /* add a1, a0, t1 */
            input[9] = 0x0005b483; /* ld s1, (a1) */
        }
        fuzz_one((const uint8_t *)input, sizeof(input));
    }
    mxgpu_simt_counters(host->simt, &c);
    g_test_message("%lu instructions, %lu divergent branches",
                   (unsigned long)c.warp_instructions,
                   (unsigned long)c.divergent_branches);
    g_assert_cmpuint(c.warp_instructions, >, 200000);
    g_rand_free(rng);
    simt_host_free(host);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/simt/fuzz", test_random);
    return g_test_run();
}
#endif
