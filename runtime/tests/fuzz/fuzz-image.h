/* SPDX-License-Identifier: MIT */
/* Drives the loader with foreign bytes; shared by the fuzzer and a test. */
#ifndef MC_TESTS_FUZZ_IMAGE_H
#define MC_TESTS_FUZZ_IMAGE_H

#include "image/elf.h"
#include "image/fatbin.h"
#include "image/relocatable.h"

static inline void fuzz_image(const uint8_t *data, size_t size)
{
    McRelocatableKind kind;
    const char *why;
    const void *file;
    size_t file_size;
    McImage image;
    McKernelInfo info;
    uint64_t address, bytes;

    mc_relocatable_check(data, size, &kind, &why);
    if (mc_fatbin_find(data, size, &file, &file_size) != mcSuccess ||
        mc_image_parse(file, file_size, &image) != mcSuccess) {
        return;
    }
    if (mc_image_relocate(&image, 0x700000000000ull, file, file_size) ==
        mcSuccess) {
        volatile unsigned sum = 0;

        for (uint32_t i = 0; i < image.desc_count && i < 64; i++) {
            if (mc_image_kernel(&image, i, &info)) {
                for (const char *p = info.name; *p; p++) {
                    sum += *p;
                }
            }
        }
        mc_image_symbol(&image, "table", &address, &bytes);
        mc_image_constants(&image, &address, &bytes);
    }
    mc_image_free(&image);
}

#endif
