/* SPDX-License-Identifier: MIT */
#include "kernel_watch.h"

McKernelWatch mc_kernel_watch;
