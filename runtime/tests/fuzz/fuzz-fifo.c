/* SPDX-License-Identifier: MIT */
/* libFuzzer: the FIFO of printf, header and ring, as foreign bytes. */
#include "fuzz-fifo.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static FILE *sink;

    if (!sink) {
        sink = fopen("/dev/null", "w");
    }
    fuzz_fifo(data, size, sink);
    return 0;
}
