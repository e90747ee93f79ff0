/* SPDX-License-Identifier: MIT */
/*
 * What people are told on standard error without having asked (docs/errors.md),
 * each once a process: that a kernel failed, and which one does not end.
 */
#ifndef MC_CORE_NOTICE_H
#define MC_CORE_NOTICE_H

#include "queue.h"

/* A kernel failed; name: as in the source. Not when MXGPU_LOG or MXGPU_CHECK is
 * set, the former also to off, as then there is more, or nothing is wanted. */
void mc_notice_failed(const char *name, mcError_t error);

/* Of one wait. Zero at first. */
typedef struct McNoticeWait {
    uint64_t since, word; /* the queue has not advanced since */
} McNoticeWait;

/* Whether that will be said, so that modules keep their source lines. */
bool mc_notice_may_tell(void);

/* Called now and then while a queue is waited for, without locks: names the
 * kernel that has been running for MXGPU_ENDLESS_MS (10 s; 0: never), and where
 * one of its warps is, on a simulated device, if standard error is a terminal. */
void mc_notice_waiting(McNoticeWait *wait, McQueue *queue);

#endif
