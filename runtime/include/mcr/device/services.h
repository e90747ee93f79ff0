/* SPDX-License-Identifier: MIT */
/* Text and memory for kernels: printf, assert, malloc, new. */
#ifndef MCR_DEVICE_SERVICES_H
#define MCR_DEVICE_SERVICES_H

#include <cstddef>
#include <new>

#include "keywords.h"

extern "C" {
/*
 * Formats as the host does, but for wide characters and long double. Printed
 * when the host synchronises. Returns the number of arguments it took, -1
 * without a format, -2 when the FIFO is full. The other name keeps the compiler
 * from making puts() of it.
 */
__device__ int printf(const char *format, ...) __asm__("__mx_printf")
    __attribute__((format(printf, 1, 2)));
__device__ int vprintf(const char *format, __builtin_va_list args) __asm__(
    "__mx_vprintf") __attribute__((format(printf, 1, 0)));

__device__ void __mx_assert(const char *expression, const char *file,
                            unsigned line, const char *function) noexcept
    __attribute__((cold));

/* The message of a failed assert() is printed when the host synchronises, which
 * then gets mcErrorAssert. */
__attribute__((noreturn, cold)) inline __device__ void
__assert_fail(const char *expression, const char *file, unsigned line,
              const char *function) noexcept
{
    __mx_assert(expression, file, line, function);
    __asm__ volatile("li a7, %0\n\tecall"
                     :
                     : "i"(MXGPU_SYS_ASSERT)
                     : "a7", "memory");
    __builtin_unreachable();
}
}

#endif
