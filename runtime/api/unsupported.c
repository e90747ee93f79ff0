/* SPDX-License-Identifier: MIT */
/* Entry points that exist and say that they cannot, from api.def. */
#include "api.h"

#define MC_SECTION(title)
#define MC_API(status, result, name, parameters, text)                         \
    MC_API_##status(result, name, parameters)
#define MC_API_WORKS(result, name, parameters)
#define MC_API_UNSUPPORTED(result, name, parameters)                           \
    MC_EXPORT result name parameters                                           \
    {                                                                          \
        API_ENTER("%s", "");                                                   \
        API_RETURN(mcErrorNotSupported);                                       \
    }
#include "api.def"
