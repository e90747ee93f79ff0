/* SPDX-License-Identifier: MIT */
#ifndef MC_RTC_COMPILE_H
#define MC_RTC_COMPILE_H

#include "program.h"

/* Runs the compiler; the program's log and code are this run's afterwards. */
mcrtcResult mc_rtc_compile(McRtcProgram *program, int count,
                           const char *const *options);

#endif
