/* SPDX-License-Identifier: MIT */
#include "../maca_cooperative_groups.h"
