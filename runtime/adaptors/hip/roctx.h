/* SPDX-License-Identifier: MIT */
/* roctx as sources also name it. */
#include "roctracer/roctx.h"
