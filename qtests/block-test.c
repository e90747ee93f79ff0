/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What every host of the device is asked (block_tests.h). */
#include "qemu/osdep.h"
#include "block_tests.h"
#include "driver.h"

#define SYS_VA  0x300000000ull
#define VRAM_VA 0x310000000ull

static void map_areas(MxDevice *dev)
{
    Dut *d = &dev->dut;

    d->sys = (DutArea){
        mx_alloc(dev->machine, BLOCK_TEST_BYTES), SYS_VA, BLOCK_TEST_BYTES,
    };
    d->vram = (DutArea){
        mx_vram_alloc(dev, BLOCK_TEST_BYTES), VRAM_VA, BLOCK_TEST_BYTES,
    };
    mx_map(dev, SYS_VA,
           mx_bus_map(dev->machine, d->sys.at, BLOCK_TEST_BYTES),
           BLOCK_TEST_BYTES, MX_SYS);
    mx_map(dev, VRAM_VA, d->vram.at, BLOCK_TEST_BYTES, MX_RW);
    mx_invalidate(dev);
}

static void run(MxDevice *dev, const void *test)
{
    map_areas(dev);
    ((const BlockTest *)test)->func(&dev->dut);
}

void mx_block_tests(void)
{
    for (unsigned i = 0; i < block_test_count; i++) {
        mx_test_data(block_tests[i].name, MX_BOOTED, run, &block_tests[i]);
    }
}
