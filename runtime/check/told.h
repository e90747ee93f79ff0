/* SPDX-License-Identifier: MIT */
/* What a checker in QEMU says: the reports of remote/report.c, to which this
 * process adds what its addresses mean. */
#ifndef MC_CHECK_TOLD_H
#define MC_CHECK_TOLD_H

#include "link.h"
#include "text.h"

extern const McLinkUser mc_told;

/* The report that such a text stands for. */
void mc_told_report(McReport *r, char *text);

#endif
