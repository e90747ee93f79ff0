/* SPDX-License-Identifier: MIT */
/* Test programs on the microcontroller: its SRAM is all the memory there is. */
#include "isa_run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mcu/mcu.h"

#define SLICE 1024 /* instructions between looks at tohost */

static bool no_read(void *opaque, uint32_t addr, uint32_t *value)
{
    return false;
}

static bool no_write(void *opaque, uint32_t addr, uint32_t value)
{
    return false;
}

static const MxgpuMcuOps ops = { .read = no_read, .write = no_write };

static void stopped(MxgpuMcu *mcu, IsaResult *r)
{
    uint32_t cause, pc, value;

    mxgpu_mcu_lockup(mcu, &cause, &pc, &value);
    r->status = ISA_ERROR;
    snprintf(r->text, sizeof(r->text),
             "locked up: cause %" PRIu32 ", pc 0x%" PRIx32 ", value 0x%" PRIx32,
             cause, pc, value);
}

static IsaResult run(MxgpuMcu *mcu, const IsaImage *image, const uint8_t *sram,
                     uint64_t limit)
{
    IsaResult r = {.status = ISA_LIMIT};
    uint32_t tohost = 0;

    while (r.instructions < limit) {
        MxgpuMcuStop stop = mxgpu_mcu_run(mcu, SLICE);

        r.instructions += SLICE;
        memcpy(&tohost, sram + (image->tohost - image->base), sizeof(tohost));
        if (tohost) {
            r.tohost = tohost;
            r.status = tohost == 1 ? ISA_PASS : ISA_FAIL;
            break;
        }
        if (stop == MXGPU_MCU_STOP_LOCKUP) {
            stopped(mcu, &r);
            break;
        }
    }
    return r;
}

IsaResult isa_run_mcu(const IsaImage *image, const IsaOptions *options)
{
    IsaResult r = {.status = ISA_ERROR};
    uint8_t *sram;
    MxgpuMcu *mcu;

    if (image->base + image->size > 1ull << 32) {
        snprintf(r.text, sizeof(r.text), "linked above 4 GiB");
        return r;
    }
    sram = malloc(image->size);
    mcu = sram ? mxgpu_mcu_new(sram, (uint32_t)image->size, &ops, NULL) : NULL;
    if (mcu) {
        memcpy(sram, image->bytes, image->size);
        mxgpu_mcu_set_base(mcu, (uint32_t)image->base);
        mxgpu_mcu_reset(mcu, (uint32_t)image->entry);
        r = run(mcu, image, sram, options->max_instructions);
        mxgpu_mcu_free(mcu);
    } else {
        snprintf(r.text, sizeof(r.text), "out of memory");
    }
    free(sram);
    return r;
}
