/* SPDX-License-Identifier: MIT */
/*
 * The text of a report on its way from QEMU to the process: lines as they are
 * shown, and lines that begin with MC_STEP and ask for what only the process
 * knows (report.h).
 */
#ifndef MC_CHECK_REMOTE_STEP_H
#define MC_CHECK_REMOTE_STEP_H

#include <inttypes.h>

#define MC_STEP         '\1' /* no other line has it: mc_line_end() */
#define MC_STEP_PC      'p'  /* PC LEAD */
#define MC_STEP_OWN     'o'  /* PC */
#define MC_STEP_ADDRESS 'a'  /* ADDRESS SIZE */
#define MC_STEP_KERNEL  'k'  /* entry, args, grid, size of blocks */

#define MC_STEP_KERNEL_PRINT                                                   \
    "%" PRIx64 " %" PRIx64 " %u %u %u %u %u %u"
#define MC_STEP_KERNEL_SCAN                                                    \
    "%" SCNx64 " %" SCNx64 " %u %u %u %u %u %u"

#endif
