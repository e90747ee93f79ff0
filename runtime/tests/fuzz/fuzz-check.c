/* SPDX-License-Identifier: MIT */
/* libFuzzer: what a guest tells the checkers in QEMU, and kernels that access
 * memory meanwhile. */
#include <string.h>

#include "check/options.h"
#include "check/remote/remote.h"
#include "check/tools.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Addresses that differ in few bits, so that they meet. */
static uint64_t address(uint64_t a)
{
    return (a & 0xff) << 8 | (a & 0x3f00) << 30 | (a >> 60) << 44;
}

static void access_memory(const McLinkRecord *r)
{
    uint64_t addr[64] = {address(r->a), address(r->b), address(r->c)};
    const MxgpuObservedWarp w = {
        .lanes = 7, .slot = r->flags % 4, .size = {64, 1, 1},
    };
    const MxgpuObservedAccess a = {
        .access = MXGPU_ACCESS_WRITE, .size = 1 + r->flags % 8, .addr = addr,
    };

    mc_memcheck.grid(NULL, w.slot, r->c % 4, 0, true);
    mc_memcheck.range(NULL, 0, a.access, addr[0], addr[0] + a.size);
    mc_memcheck.access(NULL, &w, &a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    McLinkRecord r = {.type = MC_LINK_HELLO, .a = MC_LINK_VERSION};

    mc_check_options.log = mc_check_options.status = -1;
    (void)mc_remote_start(); /* without a socket */
    mc_remote_take(&r);
    for (; size >= sizeof(r); data += sizeof(r), size -= sizeof(r)) {
        memcpy(&r, data, sizeof(r));
        r.type %= 16;
        if (r.type > MC_LINK_BYE) {
            access_memory(&r);
        } else {
            if (r.flags & 0x100) {
                r.a = address(r.a);
                r.flags &= 0xf;
            }
            mc_remote_take(&r);
        }
    }
    return 0;
}
