/* SPDX-License-Identifier: MIT */
#include "adaptor.h"

mcError_t adaptor_best_block(mcFunction_t f, size_t shared, int limit,
                             size_t (*sharedOf)(int blockSize), int *gridSize,
                             int *blockSize)
{
    int device = 0, units = 0, warp = 0, most = 0, best = 0;
    mcError_t error = mcFuncGetAttribute(
        &most, MC_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, f);

    if (error == mcSuccess) {
        error = mcGetDevice(&device);
    }
    if (error == mcSuccess) {
        error = mcDeviceGetAttribute(
            &units, mcDeviceAttributeMultiProcessorCount, device);
    }
    if (error == mcSuccess) {
        error = mcDeviceGetAttribute(&warp, mcDeviceAttributeWarpSize, device);
    }
    if (error != mcSuccess) {
        return adaptor_error(error);
    }
    if (limit && limit < most) {
        most = limit;
    }
    /* From the largest down in whole warps; equals keep the larger block. */
    for (int threads = most < warp ? most : most / warp * warp;
         error == mcSuccess && threads > 0; threads -= warp) {
        int blocks = 0;

        error = mcModuleOccupancyMaxActiveBlocksPerMultiprocessor(
            &blocks, f, threads, sharedOf ? sharedOf(threads) : shared);
        if (error == mcSuccess && blocks * threads > best) {
            best = blocks * threads;
            *blockSize = threads;
            *gridSize = blocks * units;
        }
    }
    return error == mcSuccess && !best ? mcErrorInvalidValue :
                                         adaptor_error(error);
}
