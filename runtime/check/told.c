/* SPDX-License-Identifier: MIT */
#include "told.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "remote/step.h"
#include "report.h"
#include "watch.h"

/* A line that asks for something. */
static void step(McReport *r, char kind, const char *text)
{
    MxgpuObservedWarp w = {.unit = 0};
    uint64_t a;
    unsigned size;
    int end = 0;

    if (kind == MC_STEP_KERNEL) {
        if (sscanf(text, MC_STEP_KERNEL_SCAN, &w.entry, &w.args, &w.grid[0],
                   &w.grid[1], &w.grid[2], &w.size[0], &w.size[1],
                   &w.size[2]) == 8) {
            mc_report_kernel(r, &w);
        }
        return;
    }
    if (sscanf(text, "%" SCNx64 "%n", &a, &end) != 1) {
        return;
    }
    text += end;
    if (kind == MC_STEP_PC && *text == ' ') {
        mc_report_pc(r, text + 1, a);
    } else if (kind == MC_STEP_OWN) {
        mc_report_unless_own(r, a);
    } else if (kind == MC_STEP_ADDRESS && sscanf(text, "%u", &size) == 1) {
        mc_report_address(r, a, size);
    }
}

void mc_told_report(McReport *r, char *text)
{
    char *rest = text, *line;

    *r = (McReport){.length = 0};
    while ((line = strsep(&rest, "\n")) != NULL) {
        if (line[0] == MC_STEP && line[1]) {
            step(r, line[1], line + 2);
        } else if (line[0]) {
            size_t from = r->length;

            mc_line_add(r, "%s", line);
            mc_line_end(r, from);
        }
    }
}

static void told(enum McLinkType type, char *text, size_t length)
{
    McReport r;

    (void)length; /* it ends with a 0, and may have others: it ends there */
    if (type == MC_LINK_NOTE) {
        mc_report_note("%s", text);
        return;
    }
    mc_told_report(&r, text);
    mc_report_end(&r);
}

const McLinkUser mc_told = {
    .text = told,
    .idle = mc_watch_settle,
};
