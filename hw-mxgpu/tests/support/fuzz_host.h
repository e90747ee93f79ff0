/* SPDX-License-Identifier: MIT */
/* The one device of a fuzzer's process, as new for each of its runs. */
#ifndef FUZZ_HOST_H
#define FUZZ_HOST_H

#include "fuzz_main.h"
#include "test_host.h"

/* Without threads; made once: that takes longer than most runs. */
static inline TestHost *fuzz_host(void)
{
    static TestHost *host;

    if (!host) {
        host = test_host_new(true);
    } else {
        test_host_renew(host);
    }
    return host;
}

#endif
