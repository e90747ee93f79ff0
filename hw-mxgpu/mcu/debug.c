/* SPDX-License-Identifier: MIT */
/*
 * Points and steps. A core with any of them has "attention" set, so that the
 * instruction loop asks here before each instruction; one without pays nothing.
 */
#include "debug.h"

#include <string.h>

#include "internal.h"

static void update(MxgpuMcu *mcu)
{
    McuDebug *d = &mcu->debug;

    d->active = d->points || d->stepping || d->pending || d->history;
    mxgpu_mcu_update(mcu);
}

void mxgpu_mcu_debug_attach(MxgpuMcu *mcu, bool attached)
{
    (void)mxgpu_mcu_history_start(mcu, 0);
    memset(&mcu->debug, 0, sizeof(mcu->debug));
    mcu->debug.attached = attached;
    update(mcu);
}

bool mxgpu_mcu_debug_insert(MxgpuMcu *mcu, MxgpuMcuPoint kind, uint32_t addr,
                            uint32_t len)
{
    McuDebug *d = &mcu->debug;

    if (d->points == MXGPU_MCU_POINTS || !len || len - 1 > UINT32_MAX - addr) {
        return false;
    }
    d->point[d->points++] = (McuPoint){kind, addr, len};
    update(mcu);
    return true;
}

bool mxgpu_mcu_debug_remove(MxgpuMcu *mcu, MxgpuMcuPoint kind, uint32_t addr,
                            uint32_t len)
{
    McuDebug *d = &mcu->debug;

    for (unsigned i = 0; i < d->points; i++) {
        const McuPoint *p = &d->point[i];

        if (p->kind == kind && p->addr == addr && p->len == len) {
            d->point[i] = d->point[--d->points];
            update(mcu);
            return true;
        }
    }
    return false;
}

const MxgpuMcuDebugStop *mxgpu_mcu_debug_stop(const MxgpuMcu *mcu)
{
    return &mcu->debug.stop;
}

/* ---- before an instruction */

static bool decode_at(const MxgpuMcu *mcu, uint32_t pc, RvInsn *in)
{
    uint16_t half[2] = {0, 0};

    return mxgpu_mcu_debug_read(mcu, pc, half, 2) &&
           (rv_length(half[0]) == 2 ||
            mxgpu_mcu_debug_read(mcu, pc + 2, half + 1, 2)) &&
           rv_decode(half[0] | (uint32_t)half[1] << 16, 32, MCU_EXTENSIONS, in);
}

typedef struct Access {
    uint32_t addr;
    unsigned len; /* 0: none */
    bool reads, writes;
} Access;

/* What of memory the instruction is about to touch. */
static Access access_of(const MxgpuMcu *mcu, const RvInsn *in)
{
    Access a = {.addr = mcu->s.x[in->rs1]};

    switch (in->op) {
    case RV_LB:
    case RV_LBU:
    case RV_SB:
        a.len = 1;
        break;
    case RV_LH:
    case RV_LHU:
    case RV_SH:
        a.len = 2;
        break;
    case RV_LW:
    case RV_SW:
        a.len = 4;
        break;
    default:
        if (in->format == RV_FMT_AMO || in->format == RV_FMT_LR) {
            a.len = 4;
            a.reads = in->op != RV_SC_W;
            a.writes = in->format == RV_FMT_AMO;
        }
        return a;
    }
    a.addr += (uint32_t)in->imm;
    a.writes = in->op == RV_SB || in->op == RV_SH || in->op == RV_SW;
    a.reads = !a.writes;
    return a;
}

/* What the instruction at pc stores: bytes, 0 for none, and where. */
static unsigned stores(const MxgpuMcu *mcu, uint32_t *addr)
{
    RvInsn in;
    Access a;

    *addr = 0;
    if (!decode_at(mcu, mcu->s.pc, &in)) {
        return 0;
    }
    a = access_of(mcu, &in);
    *addr = a.addr;
    return a.writes || in.op == RV_SC_W ? a.len : 0;
}

static bool watches(const McuPoint *p, const Access *a)
{
    uint32_t last = a->addr + a->len - 1;

    return ((a->reads && p->kind != MXGPU_MCU_WATCH_WRITE) ||
            (a->writes && p->kind != MXGPU_MCU_WATCH_READ)) &&
           last >= a->addr && a->addr <= p->addr + (p->len - 1) &&
           last >= p->addr;
}

static bool stop_at(MxgpuMcu *mcu, const McuPoint *p, uint32_t addr)
{
    mcu->debug.stop = (MxgpuMcuDebugStop){
        .why = MXGPU_MCU_DEBUG_POINT,
        .kind = p->kind,
        .addr = addr,
        .pc = mcu->s.pc,
    };
    return true;
}

static bool at_break(MxgpuMcu *mcu)
{
    const McuDebug *d = &mcu->debug;

    for (unsigned i = 0; i < d->points; i++) {
        const McuPoint *p = &d->point[i];

        if (p->kind == MXGPU_MCU_BREAK && p->addr == mcu->s.pc) {
            return stop_at(mcu, p, p->addr);
        }
    }
    return false;
}

static bool at_watch(MxgpuMcu *mcu)
{
    const McuDebug *d = &mcu->debug;
    Access a = {0};
    RvInsn in;

    for (unsigned i = 0; i < d->points; i++) {
        const McuPoint *p = &d->point[i];

        if (p->kind == MXGPU_MCU_BREAK) {
            continue;
        }
        if (!a.len) { /* the first of them */
            if (!decode_at(mcu, mcu->s.pc, &in)) {
                return false;
            }
            a = access_of(mcu, &in);
            if (!a.len) {
                return false;
            }
        }
        if (watches(p, &a)) {
            return stop_at(mcu, p, a.addr > p->addr ? a.addr : p->addr);
        }
    }
    return false;
}

static bool stops_before(MxgpuMcu *mcu)
{
    McuDebug *d = &mcu->debug;
    bool first = d->first, watched = d->watched;
    uint32_t pc = mcu->s.pc;

    if (d->pending) {
        d->pending = false;
        update(mcu);
        return true;
    }
    d->first = d->watched = false;
    if (d->stepping && !first && (pc < d->low || pc >= d->high)) {
        d->stop = (MxgpuMcuDebugStop){.why = MXGPU_MCU_DEBUG_STEP, .pc = pc};
        return true;
    }
    /* A step gets somewhere, whatever is in its way. */
    return (!(d->stepping && first) && at_break(mcu)) ||
           (!watched && at_watch(mcu));
}

bool mxgpu_mcu_debug_before(MxgpuMcu *mcu)
{
    if (mcu->debug.history) {
        uint32_t addr;
        unsigned len = stores(mcu, &addr);

        mxgpu_mcu_history_note(mcu, addr, len);
    }
    return stops_before(mcu);
}

bool mxgpu_mcu_debug_trap(MxgpuMcu *mcu, uint32_t cause)
{
    McuDebug *d = &mcu->debug;

    if (!d->attached || (cause & CAUSE_INTERRUPT) || cause == CAUSE_ECALL) {
        return false;
    }
    if (d->pass && d->pass_pc == mcu->s.pc) {
        d->pass = false;
        return false;
    }
    d->stop = (MxgpuMcuDebugStop){
        .why = MXGPU_MCU_DEBUG_TRAP,
        .cause = cause,
        .pc = mcu->s.pc,
    };
    d->pending = true;
    update(mcu);
    return true;
}

void mxgpu_mcu_debug_resume(MxgpuMcu *mcu, bool step, uint32_t low,
                            uint32_t high, bool pass)
{
    McuDebug *d = &mcu->debug;
    bool here = d->stop.pc == mcu->s.pc;
    RvInsn in;

    d->first = true;
    d->watched = here && d->stop.why == MXGPU_MCU_DEBUG_POINT &&
                 d->stop.kind != MXGPU_MCU_BREAK;
    d->pass = false;
    if (here && d->stop.why == MXGPU_MCU_DEBUG_TRAP) {
        if (d->stop.cause == CAUSE_BREAKPOINT &&
            decode_at(mcu, mcu->s.pc, &in) && in.op == RV_EBREAK) {
            mcu->s.pc += in.length;
            d->first = false; /* that was the step */
        } else {
            d->pass = pass;
            d->pass_pc = mcu->s.pc;
        }
    }
    d->stop = (MxgpuMcuDebugStop){.why = MXGPU_MCU_DEBUG_STEP, .pc = UINT32_MAX};
    d->pending = false;
    d->stepping = step;
    d->low = low;
    d->high = high;
    update(mcu);
}

/* ---- through the history */

bool mxgpu_mcu_debug_record(MxgpuMcu *mcu, uint64_t changes)
{
    bool ok = mxgpu_mcu_history_start(mcu, changes);

    update(mcu);
    return ok;
}

bool mxgpu_mcu_debug_recorded(const MxgpuMcu *mcu, uint64_t *behind,
                              uint64_t *ahead)
{
    return mxgpu_mcu_history_length(mcu, behind, ahead);
}

bool mxgpu_mcu_debug_again(MxgpuMcu *mcu)
{
    uint64_t behind, ahead;

    mxgpu_mcu_debug_recorded(mcu, &behind, &ahead);
    while (ahead--) {
        if (stops_before(mcu)) {
            return true;
        }
        mxgpu_mcu_history_forward(mcu);
    }
    return false;
}

/* The instruction that was just taken back did what a point waits for. */
static bool stops_after(MxgpuMcu *mcu)
{
    return at_break(mcu) || at_watch(mcu);
}

void mxgpu_mcu_debug_back(MxgpuMcu *mcu, bool step, uint32_t low,
                          uint32_t high)
{
    McuDebug *d = &mcu->debug;

    d->pending = d->pass = d->stepping = false;
    d->stop = (MxgpuMcuDebugStop){.why = MXGPU_MCU_DEBUG_HISTORY};
    while (mxgpu_mcu_history_back(mcu)) {
        if (step && (mcu->s.pc < low || mcu->s.pc >= high)) {
            d->stop.why = MXGPU_MCU_DEBUG_STEP;
            break;
        }
        if (stops_after(mcu)) {
            break;
        }
    }
    d->stop.pc = mcu->s.pc;
    update(mcu);
}

void mxgpu_mcu_debug_changed(MxgpuMcu *mcu)
{
    mxgpu_mcu_history_changed(mcu);
}

/* ---- a look inside */

bool mxgpu_mcu_debug_read(const MxgpuMcu *mcu, uint32_t addr, void *buf,
                          uint32_t len)
{
    uint32_t offset = addr - mcu->sram_base;

    if (offset > mcu->sram_size || len > mcu->sram_size - offset) {
        return false;
    }
    memcpy(buf, mcu->sram + offset, len);
    return true;
}

bool mxgpu_mcu_debug_write(MxgpuMcu *mcu, uint32_t addr, const void *buf,
                           uint32_t len)
{
    uint32_t offset = addr - mcu->sram_base;
    const uint8_t *bytes = buf;

    if (offset > mcu->sram_size || len > mcu->sram_size - offset) {
        return false;
    }
    mxgpu_mcu_history_changed(mcu);
    for (uint32_t i = 0; i < len; i++) {
        if (mxgpu_mcu_store(mcu, addr + i, 1, bytes[i]) != CAUSE_NONE) {
            return false;
        }
    }
    return true;
}
