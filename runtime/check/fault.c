/* SPDX-License-Identifier: MIT */
/* Faults that devices find by themselves, as reports. */
#include <inttypes.h>

#include "mxgpu/kernel.h"
#include "mxgpu/pte.h"
#include "tools.h"

const char *mc_space_name(uint64_t addr)
{
    if (addr >= MXGPU_PRIVATE_END - MXGPU_PRIVATE_MAX &&
        addr < MXGPU_PRIVATE_END) {
        return "__local__";
    }
    return addr >= MXGPU_SHARED_BASE &&
                   addr - MXGPU_SHARED_BASE < MXGPU_SHARED_MAX
               ? "__shared__"
               : "__global__";
}

const char *mc_access_name(enum mxgpu_access access)
{
    static const char *const names[] = {
        [MXGPU_ACCESS_READ] = "read",
        [MXGPU_ACCESS_WRITE] = "write",
        [MXGPU_ACCESS_EXECUTE] = "fetch",
        [MXGPU_ACCESS_ATOMIC] = "atomic",
    };

    return names[access & 3];
}

static const char *fault_text(enum mxgpu_fault fault)
{
    switch (fault) {
#define MXGPU_FAULT(name, value, text)                                         \
    case MXGPU_FAULT_##name:                                                   \
        return text;
#include "mxgpu/faults.def"
#undef MXGPU_FAULT
    }
    return "unknown fault";
}

static bool is_memory(enum mxgpu_fault code)
{
    return code < MXGPU_FAULT_ILLEGAL;
}

static void describe_window(McReport *r, const MxgpuObservedWarp *w,
                            uint64_t addr)
{
    if (mc_space_name(addr)[2] == 'l') {
        mc_report_line(r, "Address 0x%" PRIx64 " is outside the stack of the "
                       "thread", addr);
    } else if (mc_space_name(addr)[2] == 's') {
        mc_report_line(r, "Address 0x%" PRIx64 " is out of bounds: the block "
                       "has %u bytes", (uint64_t)(addr - MXGPU_SHARED_BASE),
                       w->shared);
    } else {
        mc_report_line(r, "Address 0x%" PRIx64 " is no address", addr);
    }
}

static void begin_memory(McReport *r, enum mxgpu_fault code,
                         enum mxgpu_access access, uint64_t addr)
{
    const char *kind = code == MXGPU_FAULT_MISALIGNED ? "Misaligned"
                                                      : "Invalid";

    if (access == MXGPU_ACCESS_EXECUTE) {
        mc_report_begin(r, "%s program counter: %s", kind, fault_text(code));
    } else {
        mc_report_begin(r, "%s %s %s: %s", kind, mc_space_name(addr),
                        mc_access_name(access), fault_text(code));
    }
}

void mc_fault_report(void *opaque, const MxgpuObservedWarp *w, unsigned lane,
                     enum mxgpu_fault code, enum mxgpu_access access,
                     uint64_t addr)
{
    McGrid *grid = mc_grid(opaque, w->slot);
    McReport r;

    if (atomic_load(&grid->ignored) || atomic_exchange(&grid->told, true) ||
        code == MXGPU_FAULT_ABORTED) {
        return;
    }
    if (is_memory(code)) {
        begin_memory(&r, code, access, addr);
    } else {
        mc_report_begin(&r, "Kernel stopped: %s", fault_text(code));
    }
    mc_report_pc(&r, "at", w->pc);
    mc_report_threads(&r, w, 1ull << lane);
    if (code == MXGPU_FAULT_MISALIGNED) {
        mc_report_line(&r, "Address 0x%" PRIx64 " is misaligned", addr);
    } else if (is_memory(code) && addr >= MXGPU_VA_LIMIT) {
        describe_window(&r, w, addr);
    } else if (is_memory(code) && access != MXGPU_ACCESS_EXECUTE) {
        mc_report_address(&r, addr, 1);
    }
    mc_report_kernel(&r, w);
    mc_report_end(&r);
}
