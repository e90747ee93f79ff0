/* SPDX-License-Identifier: MIT */
/* What of the program mx-prof records. */
#include "api.h"
#include "profile/annotation.h"

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

/* No calls of a program: they are neither traced nor recorded themselves. */
MC_EXPORT int __mcAnnotateState(void)
{
    return mc_profile_state();
}

MC_EXPORT void __mcAnnotate(unsigned type, const void *head, size_t size,
                            const char *text)
{
    mc_profile_note(type, head, size, text);
}
