/* SPDX-License-Identifier: MIT */
/* The hooks of tools: lanes that trap and go on, instructions that the tool
 * executes itself. */
#include <string.h>

#include "rv/rv.h"
#include "simt/state.h"
#include "simt_host.h"

#define MUL      0x02b58533u /* a0, a1, a1 */
#define AMOADD_D 0x00c5b52fu /* a0, a2, (a1) */
#define EBREAK   0x00100073u
#define EXIT     0x0000000bu

typedef struct Tool {
    SimtHost *host;
    bool refuse; /* mul is no instruction */
    unsigned breaks, illegal, misaligned;
} Tool;

static Tool tool;

static void start(const uint32_t *code, size_t bytes)
{
    memset(&tool, 0, sizeof(tool));
    tool.host = simt_host_new(1);
    memcpy(simt_host_data(tool.host, HOST_CODE_VA), code, bytes);
}

static void finish(unsigned lanes, enum mxgpu_fault code)
{
    MxgpuDispatch d = simt_host_dispatch(HOST_CODE_VA, 1, lanes);

    g_assert_cmpint(simt_host_run(tool.host, &d).code, ==, code);
}

/* ---- atomics: what a lane that traps did not do, others have not done yet */

static bool at_atomic(void *opaque, MxgpuSimtTrap *t)
{
    if (t->code == MXGPU_FAULT_BREAKPOINT) { /* some addresses are wrong */
        t->x[11] = HOST_DATA_VA + 8 * t->lane + (t->lane % 10 == 5 ? 2 : 0);
        t->x[12] = 1;
        t->pc += 4;
        return true;
    }
    g_assert_cmpint(t->code, ==, MXGPU_FAULT_MISALIGNED);
    g_assert_cmphex(t->pc, ==, HOST_CODE_VA + 4);
    tool.misaligned++;
    t->x[11] &= ~7ull;
    return true;
}

static void test_atomics_once(void)
{
    static const uint32_t code[] = {EBREAK, AMOADD_D, EXIT};
    const uint64_t *cells;

    start(code, sizeof(code));
    tool.host->simt->config.trap = at_atomic;
    finish(64, MXGPU_FAULT_NONE);
    cells = simt_host_data(tool.host, HOST_DATA_VA);
    g_assert_cmpuint(tool.misaligned, ==, 6);
    for (unsigned i = 0; i < 64; i++) {
        g_assert_cmpuint(cells[i], ==, 1);
    }
    simt_host_free(tool.host);
}

/* ---- instructions of the tool */

static bool native(void *opaque, uint64_t pc, const RvInsn *in)
{
    return !(tool.refuse && in->op == RV_MUL);
}

/* Each time round, the instruction is refused where it was not before. */
static bool at_break(void *opaque, MxgpuSimtTrap *t)
{
    switch (t->code) {
    case MXGPU_FAULT_BREAKPOINT:
        g_assert_cmpuint(t->x[10], ==, 49);
        if (tool.breaks++ == 4) {
            return false;
        }
        tool.refuse = !tool.refuse;
        t->pc = HOST_CODE_VA;
        break;
    case MXGPU_FAULT_ILLEGAL:
        g_assert_cmphex(t->pc, ==, HOST_CODE_VA + 4);
        g_assert_true(tool.refuse);
        tool.illegal++;
        t->x[10] = 49;
        t->pc += 4;
        break;
    default:
        return false;
    }
    mxgpu_simt_decode_again(tool.host->simt);
    return true;
}

static void test_native(void)
{
    static const uint32_t code[] = {0x00700593 /* li a1, 7 */, MUL, EBREAK};

    start(code, sizeof(code));
    tool.host->simt->config.trap = at_break;
    tool.host->simt->config.native = native;
    finish(1, MXGPU_FAULT_BREAKPOINT);
    g_assert_cmpuint(tool.breaks, ==, 5);
    g_assert_cmpuint(tool.illegal, ==, 2);
    simt_host_free(tool.host);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/simt/trap/atomics-once", test_atomics_once);
    g_test_add_func("/simt/trap/native", test_native);
    return g_test_run();
}
