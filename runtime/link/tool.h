/* SPDX-License-Identifier: MIT */
/*
 * The device's linker, which is mxcc -dlink, on inputs in memory.
 */
#ifndef MC_LINK_TOOL_H
#define MC_LINK_TOOL_H

#include <stddef.h>

#include "mcr/mc_runtime_types.h"

typedef struct McLinkInput {
    char *name; /* for messages; a file name, whatever the caller said */
    void *data;
    size_t size;
} McLinkInput;

typedef struct McLinkOutput {
    void *image; /* a code object; NULL: there is none */
    size_t size;
    char *text;  /* what the linker said; NULL: no memory for it */
} McLinkOutput;

/*
 * options: words of mxcc, NULL at the end. mcErrorInvalidKernelImage: the
 * linker refuses the inputs; mcErrorJitCompilerNotFound: it, or a program that
 * it needs, is not installed; mcErrorMemoryAllocation; mcErrorOperatingSystem:
 * there is no folder, or the linker was ended. The caller frees *output.
 */
mcError_t mc_link_run(const McLinkInput *inputs, size_t count,
                      const char *const *options, McLinkOutput *output);

#endif
