/* SPDX-License-Identifier: MIT */
#include "arguments.h"

#include <string.h>

mcError_t mc_marshal(const McFunction *f, uint8_t *block, void **params,
                     const void *buffer, size_t buffer_size)
{
    memset(block, 0, f->arg_size);
    if (buffer) {
        if (buffer_size < f->arg_end ||
            buffer_size > ((f->arg_size + 15u) & ~15u)) {
            KERNEL_ERROR(f, "%zu bytes of arguments, it takes %u",
                         buffer_size, f->arg_size);
            return mcErrorInvalidValue;
        }
        memcpy(block, buffer, buffer_size < f->arg_size ? buffer_size
                                                        : f->arg_size);
        return mcSuccess;
    }
    if (f->arg_count && !params) {
        KERNEL_ERROR(f, "no arguments, it takes %u", f->arg_count);
        return mcErrorInvalidValue;
    }
    for (uint32_t i = 0; i < f->arg_count; i++) {
        const void *from = __atomic_load_n(&params[i], __ATOMIC_RELAXED);

        if (!from) {
            KERNEL_ERROR(f, "argument %u of %u is missing", i, f->arg_count);
            return mcErrorInvalidValue;
        }
        memcpy(block + f->args[i].offset, from, f->args[i].size);
    }
    return mcSuccess;
}

bool mc_read_extra(void **extra, const void **buffer, size_t *size)
{
    bool have_size = false;

    for (unsigned i = 0; i < 8; i += 2) {
        const void *key = __atomic_load_n(&extra[i], __ATOMIC_RELAXED);

        /* A null pointer ends the list too, as elsewhere. */
        if (key == MC_LAUNCH_PARAM_END || !key) {
            break;
        }
        const void *value = __atomic_load_n(&extra[i + 1], __ATOMIC_RELAXED);
        if (key == MC_LAUNCH_PARAM_BUFFER_POINTER) {
            *buffer = value;
        } else if (key == MC_LAUNCH_PARAM_BUFFER_SIZE && value) {
            memcpy(size, value, sizeof(*size));
            have_size = true;
        } else {
            return false;
        }
    }
    return *buffer && have_size;
}

mcError_t mc_arguments_of(const McFunction *f, void **params,
                          const void *buffer, size_t buffer_size,
                          McArguments **out)
{
    McArguments *a = mc_arguments_new(f->arg_size, f->arg_count);

    if (!a) {
        return mcErrorMemoryAllocation;
    }
    for (uint32_t i = 0; i < f->arg_count; i++) {
        a->params[i] = a->block + f->args[i].offset;
    }
    mcError_t error = mc_marshal(f, a->block, params, buffer, buffer_size);
    if (error != mcSuccess) {
        mc_arguments_free(a);
        return error;
    }
    if (buffer) {
        mc_arguments_pack(a, buffer_size);
    }
    *out = a;
    return mcSuccess;
}
