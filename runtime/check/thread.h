/* SPDX-License-Identifier: MIT */
/* Threads of the checkers beside those of a program. */
#ifndef MC_CHECK_THREAD_H
#define MC_CHECK_THREAD_H

#include <stdbool.h>

/* One that is waited for by nobody and takes no signals, which are for others.
 * false: there is none. */
bool mc_check_thread(void *(*run)(void *));

#endif
