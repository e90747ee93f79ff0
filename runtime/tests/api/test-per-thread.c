/* SPDX-License-Identifier: MIT */
/* The default stream is the calling thread's: the same test with that choice. */
#define MACA_API_PER_THREAD_DEFAULT_STREAM
#include "test-default-stream.c"
