/* SPDX-License-Identifier: MIT */
/* What of the program mx-prof records. */
#include "api.h"

MC_EXPORT mcError_t mcProfilerStart(void)
{
    API_ENTER("%s", "");
    mc_profile_switch(true);
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcProfilerStop(void)
{
    API_ENTER("%s", "");
    mc_profile_switch(false);
    API_RETURN(mcSuccess);
}
