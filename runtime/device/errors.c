/* SPDX-License-Identifier: MIT */
/* mcGetErrorString() in device code. */
#include "mcr/mc_runtime_types.h"

const char *__mx_error_string(int error);

const char *__mx_error_string(int error)
{
    switch (error) {
#define MC_ERROR(name, text)                                                   \
    case name:                                                                 \
        return text;
#include "def/errors.def"
#undef MC_ERROR
    }
    return "unrecoginzed error code"; /* as the host's */
}
