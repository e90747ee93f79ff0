/* SPDX-License-Identifier: MIT */
/*
 * Errors. The core's status type is mcError_t; kmd speaks -errno and queues
 * leave error records: both are translated here and nowhere else.
 */
#ifndef MC_CORE_ERROR_H
#define MC_CORE_ERROR_H

#include "mcr/mc_runtime_types.h"
#include "mxgpu/packets.h"

const char *mc_error_name(mcError_t error);
const char *mc_error_string(mcError_t error);

/* What -errno of a back end means while a device is opened. */
mcError_t mc_error_from_open(int error);
/* And of an operation on an open device. */
mcError_t mc_error_from_kmd(int error);

/* What stopped a queue; text gets one line that says so. Of a kernel, block is
 * the size of its blocks. */
mcError_t mc_error_from_record(const struct mxgpu_queue_error *record,
                               const uint16_t *block, char *text,
                               size_t size);

#endif
