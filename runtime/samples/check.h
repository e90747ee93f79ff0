/* SPDX-License-Identifier: MIT */
/* What the samples share: error checks, and the line that says the result. */
#ifndef SAMPLES_CHECK_H
#define SAMPLES_CHECK_H

#include <mc_runtime.h>

#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                            \
    do {                                                                       \
        mcError_t error_ = (call);                                             \
        if (error_ != mcSuccess) {                                             \
            fprintf(stderr, "%s:%d: %s: %s (%s)\n", __FILE__, __LINE__, #call, \
                    mcGetErrorName(error_), mcGetErrorString(error_));         \
            exit(2);                                                           \
        }                                                                      \
    } while (0)

/* Prints the verdict; to be returned from main. */
static inline int verdict(const char *name, bool ok)
{
    printf("%s: %s\n", name, ok ? "PASS" : "FAIL");
    return ok ? 0 : 1;
}

#endif
