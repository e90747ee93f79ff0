/* SPDX-License-Identifier: MIT */
#include "code.h"

#include <string.h>

#include "rv/rv.h"

#define EXTENSIONS                                                             \
    (RV_EXT_I | RV_EXT_M | RV_EXT_A | RV_EXT_F | RV_EXT_D | RV_EXT_C |         \
     RV_EXT_ZICSR | RV_EXT_ZIFENCEI | RV_EXT_ZBA | RV_EXT_ZBB |                \
     RV_EXT_ZICOND | RV_EXT_ZFH | RV_EXT_ZFBFMIN | RV_EXT_ZACAS)

/* Registers named, a bit each. */
typedef struct Named {
    uint32_t x, f;
} Named;

static void name(Named *named, unsigned reg, bool is_f)
{
    if (is_f) {
        named->f |= 1u << reg;
    } else {
        named->x |= 1u << reg;
    }
}

static void name_operands(Named *named, const RvInsn *in)
{
    bool immediate = in->format == RV_FMT_CSRI;
    bool has_rd = in->format != RV_FMT_NONE && in->format != RV_FMT_RS1 &&
                  in->format != RV_FMT_RS12 && in->format != RV_FMT_S &&
                  in->format != RV_FMT_B && in->format != RV_FMT_FENCE;
    bool has_rs1 = in->format != RV_FMT_NONE && in->format != RV_FMT_RD &&
                   in->format != RV_FMT_U && in->format != RV_FMT_J &&
                   in->format != RV_FMT_FENCE && !immediate;
    bool has_rs2 = in->format == RV_FMT_R || in->format == RV_FMT_R_RM ||
                   in->format == RV_FMT_R4 || in->format == RV_FMT_RS12 ||
                   in->format == RV_FMT_AMO || in->format == RV_FMT_CAS ||
                   in->format == RV_FMT_S || in->format == RV_FMT_B;

    if (has_rd) {
        name(named, in->rd, in->classes & RV_CLASS_FD);
    }
    if (has_rs1) {
        name(named, in->rs1, in->classes & RV_CLASS_F1);
    }
    if (has_rs2) {
        name(named, in->rs2, in->classes & RV_CLASS_F2);
    }
    if (in->format == RV_FMT_R4) {
        name(named, in->rs3, in->classes & RV_CLASS_F2);
    }
}

unsigned mc_code_registers(const void *code, size_t size)
{
    Named named = {1u << 2 | 1u << 10, 0}; /* threads get sp and a0 */
    const uint8_t *bytes = code;
    size_t at = 0;

    while (at + 2 <= size) {
        uint32_t insn = 0;
        RvInsn in;

        memcpy(&insn, bytes + at, size - at < 4 ? 2 : 4);
        at += rv_length((uint16_t)insn);
        /* Others, those of the GPU among them, are not looked at. */
        if (at <= size && rv_decode(insn, 64, EXTENSIONS, &in)) {
            name_operands(&named, &in);
        }
    }
    return 2 * (unsigned)(__builtin_popcount(named.x & ~1u) +
                          __builtin_popcount(named.f));
}
