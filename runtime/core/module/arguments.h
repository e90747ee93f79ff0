/* SPDX-License-Identifier: MIT */
/* Arguments of kernels as they take them. */
#ifndef MC_CORE_ARGUMENTS_H
#define MC_CORE_ARGUMENTS_H

#include "base/log.h"
#include "core/graph/graph_node.h"
#include "module.h"

/* Why it is not launched, with its name as in the source. */
#define KERNEL_ERROR(f, format, ...)                                           \
    do {                                                                       \
        if (mc_log_enabled(MC_LOG_ERROR)) {                                    \
            char name_[256];                                                   \
                                                                               \
            mc_source_name((f)->name, name_, sizeof(name_));                   \
            mc_error("kernel %s: " format, name_, __VA_ARGS__);                \
        }                                                                      \
    } while (0)

/* Into f->arg_size bytes. They come as one pointer each (params) or packed
 * (buffer). What params says is read once: it is the caller's, who may change
 * it. mcErrorInvalidValue: some are missing, or it takes other ones. */
mcError_t mc_marshal(const McFunction *f, uint8_t *block, void **params,
                     const void *buffer, size_t buffer_size);

/* "extra" of a launch: pairs of key and value, each word read once. False: they
 * are not understood. */
bool mc_read_extra(void **extra, const void **buffer, size_t *size);

/* The same as what a node of a graph has. */
mcError_t mc_arguments_of(const McFunction *f, void **params,
                          const void *buffer, size_t buffer_size,
                          McArguments **out);

#endif
