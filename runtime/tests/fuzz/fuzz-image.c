/* SPDX-License-Identifier: MIT */
/* libFuzzer: kernel images and fat binaries. */
#include "fuzz-image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_image(data, size);
    return 0;
}
