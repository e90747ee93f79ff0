/* SPDX-License-Identifier: MIT */
#include "fuzz-dwarf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_dwarf(data, size);
    return 0;
}
