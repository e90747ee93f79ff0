/* SPDX-License-Identifier: MIT */
/* Reports as the process gets them (step.h): check/report.h of the checker in
 * QEMU. */
#include "../report.h"

#include <stdio.h>
#include <string.h>

#include "remote.h"
#include "step.h"

void mc_report_pc(McReport *r, const char *lead, uint64_t pc)
{
    mc_line_add(r, "%c%c%" PRIx64 " %s\n", MC_STEP, MC_STEP_PC, pc, lead);
}

void mc_report_unless_own(McReport *r, uint64_t pc)
{
    mc_line_add(r, "%c%c%" PRIx64 "\n", MC_STEP, MC_STEP_OWN, pc);
}

void mc_report_address(McReport *r, uint64_t addr, unsigned size)
{
    mc_line_add(r, "%c%c%" PRIx64 " %u\n", MC_STEP, MC_STEP_ADDRESS, addr,
                size);
}

void mc_report_kernel(McReport *r, const MxgpuObservedWarp *w)
{
    mc_line_add(r, "%c%c" MC_STEP_KERNEL_PRINT "\n", MC_STEP, MC_STEP_KERNEL,
                w->entry, w->args, w->grid[0], w->grid[1], w->grid[2],
                w->size[0], w->size[1], w->size[2]);
}

void mc_report_end(McReport *r)
{
    mc_remote_tell(MC_LINK_REPORT, r->text, r->length);
}

void mc_report_note(const char *format, ...)
{
    char text[1024];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    mc_remote_tell(MC_LINK_NOTE, text, strlen(text));
}
