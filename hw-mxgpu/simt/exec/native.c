/* SPDX-License-Identifier: MIT */
/* For meson.build: prints which of its instruction sets is this machine's best,
 * "base" when it has none of the others. */
#include "host.h"

#include <stdio.h>

int main(void)
{
    puts(simt_host_has_avx512() ? "avx512"
         : simt_host_has_avx2() ? "avx2"
                                : "base");
    return 0;
}
