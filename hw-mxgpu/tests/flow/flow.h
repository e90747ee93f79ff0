/* SPDX-License-Identifier: MIT */
/*
 * Random control flow: programs whose lanes branch, loop, call, recurse, jump
 * through tables and end as they like, and a thread that executes them alone,
 * which says what each lane must come to.
 */
#ifndef MXGPU_TESTS_FLOW_H
#define MXGPU_TESTS_FLOW_H

#include "rv/rv.h"
#include "simt_host.h"

#define FLOW_LANE_BYTES  1024 /* of data that only one thread uses */
#define FLOW_STACK_BYTES 8192
#define FLOW_TABLE       64   /* entries of the table of jump targets */

/* Data of thread n, and the table, in the global address space. */
#define FLOW_DATA_VA  (HOST_DATA_VA + (16 << 20))
#define FLOW_TABLE_VA (HOST_DATA_VA + (8 << 20))
/* Where in a thread's data registers end up, and the ballot. */
#define FLOW_RESULTS 768

/* Registers: x8 own data, x9 fuel, x18 call depth, x19 table, x20 all ones,
 * x2 stack; the program computes in x10 to x17 and x28, x29. */
enum { SP = 2, RA = 1, S0 = 8, S1 = 9, S2 = 18, S3 = 19, S4 = 20,
       T0 = 5, T1 = 6, T2 = 7, A0 = 10, T5 = 30, T6 = 31 };

typedef struct Flow {
    uint32_t *code; /* at HOST_CODE_VA */
    unsigned length, room;
    uint64_t table[FLOW_TABLE];
    GRand *rng;
    unsigned depth; /* of nesting, while it is made */
    bool quiet;     /* neither atomics nor fences, behind which groups of lanes
                       soon take turns; no loads and stores either */
} Flow;

/* Makes a program of either kind; fuel bounds what a thread executes. */
void flow_unstructured(Flow *f, unsigned fuel);
void flow_structured(Flow *f, unsigned fuel);

typedef struct FlowThread {
    uint64_t pc, x[32], instructions;
    uint64_t data_va, global;  /* number of the thread in the grid */
    unsigned lane;
    bool exited;
    GArray *steps;             /* takes those of ideal.h; NULL: nobody asks */
    uint8_t data[FLOW_LANE_BYTES], stack[FLOW_STACK_BYTES];
} FlowThread;

/* Runs until the thread ends (true) or comes to mx.warpsync or mx.ballot. */
bool flow_run(const Flow *f, FlowThread *t, uint64_t limit);

#endif
