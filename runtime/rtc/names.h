/* SPDX-License-Identifier: MIT */
/* Name expressions: what the compiler is to find out, and what it found. */
#ifndef MC_RTC_NAMES_H
#define MC_RTC_NAMES_H

#include "program.h"
#include "text.h"

/* Declarations behind the source, one for each expression. */
void mc_rtc_names_declare(const McRtcName *names, size_t count, McText *text);

/*
 * Takes what mx-kernel-link has written: lines of number and name.
 * MCRTC_ERROR_COMPILATION: one denotes neither a kernel nor a variable, *log
 * says which; MCRTC_ERROR_INTERNAL_ERROR: that is not what it writes.
 * Lowered names that are there already stay, their readers may have them.
 */
mcrtcResult mc_rtc_names_read(McRtcName *names, size_t count,
                              const char *written, McText *log);

#endif
