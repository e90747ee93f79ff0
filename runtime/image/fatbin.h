/* SPDX-License-Identifier: MIT */
/* Where in a fat binary, or what a program was linked with, the image is. */
#ifndef MC_IMAGE_FATBIN_H
#define MC_IMAGE_FATBIN_H

#include <stddef.h>

#include "mcr/mc_runtime_types.h"

/*
 * The image for this device in a fat binary or a plain ELF file, in memory that
 * nobody else writes. mcErrorInvalidKernelImage, mcErrorNoKernelImageForDevice.
 */
mcError_t mc_fatbin_find(const void *data, size_t size, const void **image,
                         size_t *image_size);

/*
 * The same, or for a wrapper of a fat binary, where only an address in the
 * caller's memory is known. *image is a copy, to be freed, for which every byte
 * was read at most once. Memory that is not readable: mcErrorInvalidKernelImage.
 */
mcError_t mc_fatbin_copy(const void *data, void **image, size_t *image_size);

#endif
