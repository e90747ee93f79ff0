/* SPDX-License-Identifier: MIT */
/* Reports: what they say of kernels, places and memory. */
#ifndef MC_CHECK_REPORT_H
#define MC_CHECK_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "live.h"
#include "mxgpu/observer.h"
#include "text.h"

/* "at FUNCTION in FILE:LINE:COLUMN", and what it is inlined into; lead: what
 * stands in front of it. */
void mc_report_pc(McReport *r, const char *lead, uint64_t pc);
/* Drops the report if pc is in a function of the runtime's own, __mx_...: what
 * these do with memory is no mistake of the program. */
void mc_report_unless_own(McReport *r, uint64_t pc);
/* The kernel, and where it was launched if that is known. */
void mc_report_kernel(McReport *r, const MxgpuObservedWarp *w);
/* What addr belongs to, or is nearest to, with backtraces. */
void mc_report_address(McReport *r, uint64_t addr, unsigned size);
void mc_report_trace(McReport *r, const char *title, const McTrace *trace);
/* Writes it and counts an error, unless the user has suppressed it; over the
 * limit it is counted only. */
void mc_report_end(McReport *r);

/* To mx-memcheck: P, this process uses the runtime; E, an error; M, it is not
 * shown; U, a device that cannot be checked. */
void mc_report_status(const char *letters);
/* Errors so far; those that were not printed. */
unsigned mc_report_errors(void);
unsigned mc_report_muted(void);
/* A line that is no error. */
void mc_report_note(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* ---- kernels and launches */

void mc_kernels_add(uint64_t entry, const char *name);
/* Of its first instruction: as in the source, or "". */
void mc_kernels_name(uint64_t entry, char *text, size_t size);
bool mc_kernels_wanted(uint64_t entry);
/* The calling thread launches with arguments at args. */
void mc_launch_note(uint64_t args);

#endif
