/* SPDX-License-Identifier: MIT */
/* What the libraries of CUDA's and HIP's names share. */
#ifndef ADAPTORS_LIB_ADAPTOR_H
#define ADAPTORS_LIB_ADAPTOR_H

#include <mc_runtime_api.h>

#define MC_EXPORT __attribute__((visibility("default")))

/* Errors from here on are the mc* interface's own. */
#define ADAPTOR_FIRST_OWN_ERROR 1000

typedef struct AdaptorError {
    int number;
    const char *name;
} AdaptorError;

/* All numbers the other interface has, with its names; -1 ends it. */
extern const AdaptorError adaptor_errors[];

/* NULL: no such number. */
const char *adaptor_error_name(int number);

/* The error that CUDA or HIP returns in its place; not of mcSuccess. */
mcError_t adaptor_other_error(mcError_t error);

static inline mcError_t adaptor_error(mcError_t error)
{
    return __builtin_expect(error == mcSuccess, 1) ?
               error : adaptor_other_error(error);
}

/* The block of f with the best occupancy, at most limit threads (0: as f can
 * have), and the grid that fills the device. Dynamic shared memory is shared
 * bytes, or what sharedOf says for a block. */
mcError_t adaptor_best_block(mcFunction_t f, size_t shared, int limit,
                             size_t (*sharedOf)(int blockSize), int *gridSize,
                             int *blockSize);

#endif
