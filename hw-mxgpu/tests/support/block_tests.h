/* SPDX-License-Identifier: MIT */
/* Tests of what a driver sees of a device with its firmware, for every host. */
#ifndef MXGPU_TESTS_BLOCK_TESTS_H
#define MXGPU_TESTS_BLOCK_TESTS_H

#include "dut.h"

/* How much of Dut.sys and Dut.vram they need. */
#define BLOCK_TEST_BYTES 0x40000u

typedef struct BlockTest {
    const char *name; /* group/name */
    /* The firmware runs, sys and vram are mapped, and a page behind each is
     * not; queues 0 to 7 and vectors 0 to 8 are free. */
    void (*func)(Dut *d);
} BlockTest;

extern const BlockTest block_tests[];
extern const unsigned block_test_count;

/* fault_tests.c */
void fault_test_copy(Dut *d);
void fault_test_kill(Dut *d);
void fault_test_engine_reset(Dut *d);
void fault_test_refused(Dut *d);
void fault_test_kernel(Dut *d);

/* sched_tests.c */
void sched_test_urgent(Dut *d);
void sched_test_turns(Dut *d);
void sched_test_queue_reset(Dut *d);
void sched_test_unit_reset(Dut *d);

#endif
