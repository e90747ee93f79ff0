/* SPDX-License-Identifier: MIT */
#include "maca_mma.h"
