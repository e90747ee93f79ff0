/* SPDX-License-Identifier: MIT */
/*
 * What libmcToolsExt (toolsext/) asks of libmcruntime, not for programs: the
 * recorded file is the runtime's, and ranges and marks belong among the calls
 * and kernels there.
 */
#ifndef MC_PROFILE_ANNOTATION_H
#define MC_PROFILE_ANNOTATION_H

#include <stddef.h>

enum {
    MC_ANNOTATE_OPEN = 1,   /* there is a file: names are recorded */
    MC_ANNOTATE_ACTIVE = 2, /* it is not paused: so are ranges and marks */
};

/* Of the flags above; 0 in a program that is not profiled. */
int __mcAnnotateState(void);
/* An entry of profile_format.h: its structure, and the text at its end. */
void __mcAnnotate(unsigned type, const void *head, size_t size,
                  const char *text);

#endif
