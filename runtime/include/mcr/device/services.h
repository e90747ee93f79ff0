/* SPDX-License-Identifier: MIT */
/* Text and memory for kernels: printf, assert, malloc, new. */
#ifndef MCR_DEVICE_SERVICES_H
#define MCR_DEVICE_SERVICES_H

#include <cstddef>
#include <new>

#include "keywords.h"

extern "C" {
/*
 * Formats as the host does, but for long double; wide is UTF-8. Printed
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
 * then gets mcErrorAssert. Inlined, so that the place of the fault is that of
 * the assert(). */
__attribute__((noreturn, cold)) __device__ __MC_INLINE__ void
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

/* The same; characters of one byte are the only ones. */
__attribute__((noreturn, cold)) __device__ __MC_INLINE__ void
__assertfail(const char *expression, const char *file, unsigned line,
             const char *function, size_t) noexcept
{
    __assert_fail(expression, file, line, function);
}

/* Memory of the device's heap, aligned to 16 bytes; it lives until it is freed,
 * by any kernel, or the device is reset. NULL when the heap is full. What
 * free() does not know ends the kernel. */
__device__ void *malloc(size_t size) noexcept __asm__("__mx_malloc")
    __attribute__((malloc, alloc_size(1)));
__device__ void free(void *object) noexcept __asm__("__mx_free");
/* Aligned to align, a power of two of at most 4096. */
__device__ void *__mx_aligned_alloc(size_t align, size_t size) noexcept
    __attribute__((malloc, alloc_size(2), alloc_align(1)));

inline __device__ void *calloc(size_t count, size_t size) noexcept
{
    void *object = nullptr;

    if (!__builtin_mul_overflow(count, size, &size)) {
        object = malloc(size);
    }
    if (object) {
        __builtin_memset(object, 0, size);
    }
    return object;
}
}

/* All forms of new give NULL when the heap is full; nothing is constructed
 * then. */
#define __MC_NEW(name)                                                         \
    __device__ inline void *operator name(size_t size)                         \
    {                                                                          \
        return malloc(size);                                                   \
    }                                                                          \
    __device__ inline void *operator name(size_t size,                         \
                                          const std::nothrow_t &) noexcept     \
    {                                                                          \
        return malloc(size);                                                   \
    }
#define __MC_DELETE(name)                                                      \
    __device__ inline void operator name(void *object) noexcept                \
    {                                                                          \
        free(object);                                                          \
    }                                                                          \
    __device__ inline void operator name(void *object,                         \
                                         const std::nothrow_t &) noexcept      \
    {                                                                          \
        free(object);                                                          \
    }                                                                          \
    __device__ inline void operator name(void *object, size_t) noexcept        \
    {                                                                          \
        free(object);                                                          \
    }

__MC_NEW(new)
__MC_NEW(new[])
__MC_DELETE(delete)
__MC_DELETE(delete[])

#undef __MC_NEW
#undef __MC_DELETE

#if __cpp_aligned_new
#define __MC_NEW(name)                                                         \
    __device__ inline void *operator name(size_t size, std::align_val_t align) \
    {                                                                          \
        return __mx_aligned_alloc((size_t)align, size);                        \
    }                                                                          \
    __device__ inline void *operator name(size_t size, std::align_val_t align, \
                                          const std::nothrow_t &) noexcept     \
    {                                                                          \
        return __mx_aligned_alloc((size_t)align, size);                        \
    }
#define __MC_DELETE(name)                                                      \
    __device__ inline void operator name(void *object,                         \
                                         std::align_val_t) noexcept            \
    {                                                                          \
        free(object);                                                          \
    }                                                                          \
    __device__ inline void operator name(void *object, size_t,                 \
                                         std::align_val_t) noexcept            \
    {                                                                          \
        free(object);                                                          \
    }

__MC_NEW(new)
__MC_NEW(new[])
__MC_DELETE(delete)
__MC_DELETE(delete[])

#undef __MC_NEW
#undef __MC_DELETE
#endif

#endif
