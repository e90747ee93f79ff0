/* SPDX-License-Identifier: MIT */
/* libFuzzer: what kernels leave for printf, as foreign bytes. */
#include "fuzz-print.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static FILE *sink;

    if (!sink) {
        sink = fopen("/dev/null", "w");
    }
    fuzz_print(data, size, sink);
    return 0;
}
