/* SPDX-License-Identifier: MIT */
/* Test programs on the microcontroller: its SRAM is all the memory there is. */
#include "isa_run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mcu/mcu.h"

#define SLICE     1024 /* instructions between looks at tohost */
#define MAX_BYTES (512ull << 20)

typedef struct IsaMcu {
    uint8_t *sram;
    uint64_t base, size;
    MxgpuMcu *mcu;
} IsaMcu;

static bool no_read(void *opaque, uint32_t addr, uint32_t *value)
{
    return false;
}

static bool no_write(void *opaque, uint32_t addr, uint32_t value)
{
    return false;
}

static const MxgpuMcuOps ops = { .read = no_read, .write = no_write };

static void *memory(void *opaque, unsigned hart, uint64_t addr, uint64_t len)
{
    const IsaMcu *s = opaque;
    uint64_t offset = addr - s->base;

    return offset <= s->size && len <= s->size - offset ? s->sram + offset
                                                        : NULL;
}

/* What is known of a program that failed, behind the given text. */
static void explain(const IsaMcu *s, IsaResult *r)
{
    uint32_t cause, pc, value;
    size_t used = strlen(r->text);

    if (mxgpu_mcu_last_trap(s->mcu, &cause, &pc, &value)) {
        snprintf(r->text + used, sizeof(r->text) - used,
                 "%slast trap: mcause %" PRIu32 ", mepc 0x%" PRIx32
                 ", mtval 0x%" PRIx32, used ? "; " : "", cause, pc, value);
    }
}

static void stopped(const IsaMcu *s, IsaResult *r)
{
    uint32_t cause, pc, value;

    mxgpu_mcu_lockup(s->mcu, &cause, &pc, &value);
    r->status = ISA_ERROR;
    snprintf(r->text, sizeof(r->text),
             "locked up: cause %" PRIu32 ", pc 0x%" PRIx32 ", value 0x%" PRIx32,
             cause, pc, value);
}

static IsaResult run(IsaMcu *s, const IsaImage *image,
                     const IsaOptions *options)
{
    uint64_t end = isa_host_seconds() + options->seconds;
    IsaResult r = {.status = ISA_LIMIT};

    while (r.instructions < options->max_instructions &&
           isa_host_seconds() < end) {
        MxgpuMcuStop stop = mxgpu_mcu_run(s->mcu, SLICE);
        IsaAnswer answer = isa_host_poll(image, memory, s, 0, &r.tohost);

        r.instructions += SLICE;
        if (answer != ISA_NONE) {
            r.status = answer == ISA_PASSED ? ISA_PASS : ISA_FAIL;
            if (answer == ISA_FAILED && isa_trap_unexpected(r.tohost)) {
                explain(s, &r);
            }
            break;
        }
        if (stop == MXGPU_MCU_STOP_LOCKUP) {
            stopped(s, &r);
            break;
        }
    }
    return r;
}

/* The grains of the image, and what is between them, as one SRAM. */
static void load(IsaMcu *s, const IsaImage *image)
{
    for (unsigned i = 0; i < image->grains; i++) {
        memcpy(s->sram + (image->grain[i] - s->base),
               image->bytes + i * ISA_GRAIN, ISA_GRAIN);
    }
    mxgpu_mcu_set_base(s->mcu, (uint32_t)s->base);
    mxgpu_mcu_reset(s->mcu, (uint32_t)image->entry);
}

IsaResult isa_run_mcu(const IsaImage *image, const IsaOptions *options)
{
    IsaResult r = {.status = ISA_ERROR};
    IsaMcu s = {.base = image->grain[0]};

    s.size = image->grain[image->grains - 1] + ISA_GRAIN - s.base;
    if (s.size > MAX_BYTES) {
        snprintf(r.text, sizeof(r.text),
                 "spread over more than 512 MiB, the most that the SRAM may have");
        return r;
    }
    s.sram = calloc(1, s.size);
    s.mcu = s.sram ? mxgpu_mcu_new(s.sram, (uint32_t)s.size, &ops, NULL) : NULL;
    if (s.mcu) {
        load(&s, image);
        r = run(&s, image, options);
        mxgpu_mcu_free(s.mcu);
    } else {
        snprintf(r.text, sizeof(r.text), "out of memory");
    }
    free(s.sram);
    return r;
}
