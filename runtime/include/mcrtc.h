/* SPDX-License-Identifier: MIT */
/* The header of the same name in mcr/, for sources that omit the directory. */
#include "mcr/mcrtc.h"
