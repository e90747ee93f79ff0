/* SPDX-License-Identifier: MIT */
/*
 * Random numbers in memory: generators that kernels run (link with -lmcrand).
 * Functions put their kernels on the generator's stream and return; those of
 * mcrandCreateGeneratorHost() write to host memory and wait.
 * docs/random-numbers.md.
 */
#ifndef MCRAND_MCRAND_H
#define MCRAND_MCRAND_H

#include <stddef.h>

#include "mcr/mc_runtime_api.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MCRAND_VERSION 10209

typedef enum mcrandStatus {
    MCRAND_STATUS_SUCCESS = 0,
    MCRAND_STATUS_VERSION_MISMATCH = 100,
    MCRAND_STATUS_NOT_INITIALIZED = 101, /* no generator */
    MCRAND_STATUS_ALLOCATION_FAILED = 102,
    MCRAND_STATUS_TYPE_ERROR = 103, /* no such generator, or not for this */
    MCRAND_STATUS_OUT_OF_RANGE = 104,
    MCRAND_STATUS_LENGTH_NOT_MULTIPLE = 105, /* of 2, for normal numbers */
    MCRAND_STATUS_DOUBLE_PRECISION_REQUIRED = 106,
    MCRAND_STATUS_LAUNCH_FAILURE = 201,
    MCRAND_STATUS_PREEXISTING_FAILURE = 202,
    MCRAND_STATUS_INITIALIZATION_FAILED = 203,
    MCRAND_STATUS_ARCH_MISMATCH = 204,
    MCRAND_STATUS_INTERNAL_ERROR = 999
} mcrandStatus_t;

/* Those without "have" are refused with MCRAND_STATUS_TYPE_ERROR. */
typedef enum mcrandRngType {
    MCRAND_RNG_TEST = 0,
    MCRAND_RNG_PSEUDO_DEFAULT = 100, /* XORWOW: have */
    MCRAND_RNG_PSEUDO_XORWOW = 101, /* have */
    MCRAND_RNG_PSEUDO_MRG32K3A = 121,
    MCRAND_RNG_PSEUDO_MTGP32 = 141,
    MCRAND_RNG_PSEUDO_MT19937 = 142,
    MCRAND_RNG_PSEUDO_PHILOX4_32_10 = 161, /* have */
    MCRAND_RNG_QUASI_DEFAULT = 200,
    MCRAND_RNG_QUASI_SOBOL32 = 201,
    MCRAND_RNG_QUASI_SCRAMBLED_SOBOL32 = 202,
    MCRAND_RNG_QUASI_SOBOL64 = 203,
    MCRAND_RNG_QUASI_SCRAMBLED_SOBOL64 = 204
} mcrandRngType_t;

/* One order is kept for all. */
typedef enum mcrandOrdering {
    MCRAND_ORDERING_PSEUDO_BEST = 100,
    MCRAND_ORDERING_PSEUDO_DEFAULT = 101,
    MCRAND_ORDERING_PSEUDO_SEEDED = 102,
    MCRAND_ORDERING_PSEUDO_LEGACY = 103,
    MCRAND_ORDERING_PSEUDO_DYNAMIC = 104,
    MCRAND_ORDERING_QUASI_DEFAULT = 201
} mcrandOrdering_t;

typedef struct mcrandGenerator_st *mcrandGenerator_t;

mcrandStatus_t mcrandCreateGenerator(mcrandGenerator_t *generator,
                                     mcrandRngType_t type);
mcrandStatus_t mcrandCreateGeneratorHost(mcrandGenerator_t *generator,
                                         mcrandRngType_t type);
mcrandStatus_t mcrandDestroyGenerator(mcrandGenerator_t generator);
mcrandStatus_t mcrandGetVersion(int *version);
mcrandStatus_t mcrandSetStream(mcrandGenerator_t generator, mcStream_t stream);
/* Both begin the sequence anew. */
mcrandStatus_t
mcrandSetPseudoRandomGeneratorSeed(mcrandGenerator_t generator,
                                   unsigned long long seed);
mcrandStatus_t mcrandSetGeneratorOffset(mcrandGenerator_t generator,
                                        unsigned long long offset);
mcrandStatus_t mcrandSetGeneratorOrdering(mcrandGenerator_t generator,
                                          mcrandOrdering_t order);
mcrandStatus_t
mcrandSetQuasiRandomGeneratorDimensions(mcrandGenerator_t generator,
                                        unsigned int dimensions);
/* What the first numbers would wait for is done now. */
mcrandStatus_t mcrandGenerateSeeds(mcrandGenerator_t generator);

mcrandStatus_t mcrandGenerate(mcrandGenerator_t generator,
                              unsigned int *output, size_t count);
/* Only Sobol's generators of 64 bits have these: MCRAND_STATUS_TYPE_ERROR. */
mcrandStatus_t mcrandGenerateLongLong(mcrandGenerator_t generator,
                                      unsigned long long *output,
                                      size_t count);
mcrandStatus_t mcrandGenerateUniform(mcrandGenerator_t generator,
                                     float *output, size_t count);
mcrandStatus_t mcrandGenerateUniformDouble(mcrandGenerator_t generator,
                                           double *output, size_t count);
/* `count` is even. */
mcrandStatus_t mcrandGenerateNormal(mcrandGenerator_t generator, float *output,
                                    size_t count, float mean, float stddev);
mcrandStatus_t mcrandGenerateNormalDouble(mcrandGenerator_t generator,
                                          double *output, size_t count,
                                          double mean, double stddev);
mcrandStatus_t mcrandGenerateLogNormal(mcrandGenerator_t generator,
                                       float *output, size_t count, float mean,
                                       float stddev);
mcrandStatus_t mcrandGenerateLogNormalDouble(mcrandGenerator_t generator,
                                             double *output, size_t count,
                                             double mean, double stddev);
mcrandStatus_t mcrandGeneratePoisson(mcrandGenerator_t generator,
                                     unsigned int *output, size_t count,
                                     double mean);

#ifdef __cplusplus
}
#endif

#endif
