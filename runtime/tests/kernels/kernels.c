/* SPDX-License-Identifier: MIT */
/*
 * Kernels of the runtime tests, with their descriptors written by hand. The
 * fake back end has the same ones in C (fake/kernels.c).
 */
#include <stddef.h>
#include <stdint.h>

#include "mxgpu/kernel.h"

#define CSR(number)                                                            \
    ({                                                                         \
        uint64_t value_;                                                       \
        __asm__ volatile("csrr %0, %1" : "=r"(value_) : "i"(number));          \
        value_;                                                                \
    })

static inline uint64_t thread_index(void)
{
    return CSR(MXGPU_CSR_CTAID_X) * CSR(MXGPU_CSR_NTID_X) +
           CSR(MXGPU_CSR_TID_X);
}

static inline __attribute__((noreturn)) void leave(void)
{
    __asm__ volatile(".insn r 0x0b, 0, 0, x0, x0, x0");
    __builtin_unreachable();
}

/* ---- kernels: a0 is the argument block ---- */

#define KERNEL __attribute__((noreturn, used, visibility("default")))

KERNEL void k_empty(const void *args)
{
    leave();
}

struct add_args {
    uint32_t *data;
    uint32_t count;
    uint32_t value;
};

KERNEL void k_add(const struct add_args *args)
{
    uint64_t i = thread_index();

    if (i < args->count) {
        args->data[i] += args->value;
    }
    leave();
}

struct mixed_args {
    uint64_t *out;
    uint8_t a;
    uint16_t b;
    uint32_t c;
    double d;
    int32_t e[3];
};

KERNEL void k_mixed(const struct mixed_args *args)
{
    args->out[0] = args->a;
    args->out[1] = args->b;
    args->out[2] = args->c;
    __builtin_memcpy(&args->out[3], &args->d, 8);
    args->out[4] = (int64_t)args->e[0];
    args->out[5] = (int64_t)args->e[2];
    leave();
}

struct pointer_args {
    volatile uint64_t *pointer;
};

KERNEL void k_store(const struct pointer_args *args)
{
    *args->pointer = 0x1234;
    leave();
}

KERNEL void k_atomic(const struct pointer_args *args)
{
    uint64_t one = 1;

    __asm__ volatile("amoadd.d x0, %0, (%1)" : : "r"(one), "r"(args->pointer)
                     : "memory");
    leave();
}

/* Until the word is not 0. */
KERNEL void k_spin(const struct pointer_args *args)
{
    while (*args->pointer == 0) {
    }
    leave();
}

KERNEL void k_call(const struct pointer_args *args)
{
    ((void (*)(void))(uintptr_t)args->pointer)();
    leave();
}

KERNEL void k_illegal(const void *args)
{
    __asm__ volatile(".4byte 0xffffffff");
    leave();
}

KERNEL void k_trap(const void *args)
{
    __asm__ volatile("ebreak");
    leave();
}

__attribute__((visibility("default"))) uint32_t table[16] = {1, 2, 3, 4};
__attribute__((visibility("default"))) const uint32_t limits[4] = {10, 20};
__attribute__((visibility("default"))) uint32_t *table_pointer = table;

/* out[i] = table[i] + limits[i % 2], through a pointer that is relocated */
KERNEL void k_globals(const struct pointer_args *args)
{
    uint64_t i = thread_index();

    if (i < 16) {
        args->pointer[i] = table_pointer[i] + limits[i % 2];
    }
    leave();
}

/* ---- descriptors ---- */

#define ARG(type, member)                                                      \
    {offsetof(type, member), sizeof(((type *)0)->member),                      \
     _Alignof(__typeof__(((type *)0)->member)), 0}

static const struct mxgpu_kernel_arg add_list[] = {
    ARG(struct add_args, data),
    ARG(struct add_args, count),
    ARG(struct add_args, value),
};
static const struct mxgpu_kernel_arg mixed_list[] = {
    ARG(struct mixed_args, out), ARG(struct mixed_args, a),
    ARG(struct mixed_args, b),   ARG(struct mixed_args, c),
    ARG(struct mixed_args, d),   ARG(struct mixed_args, e),
};
static const struct mxgpu_kernel_arg pointer_list[] = {
    ARG(struct pointer_args, pointer),
};

struct desc {
    uint32_t magic, abi;
    void (*entry)(void);
    const char *name;
    const struct mxgpu_kernel_arg *args;
    uint32_t arg_count, arg_size, static_shared, private_bytes, registers;
    uint32_t max_threads, reserved[2];
};
_Static_assert(sizeof(struct desc) == sizeof(struct mxgpu_kernel_desc), "");

#define DESC(kernel, list, count, size, shared, regs, threads)                 \
    {MXGPU_KERNEL_MAGIC, MXGPU_KERNEL_ABI, (void (*)(void))(void *)kernel,     \
     #kernel, list, count, size, shared, 256, regs, threads, {0, 0}}
#define POINTER(kernel)                                                        \
    DESC(kernel, pointer_list, 1, sizeof(struct pointer_args), 0, 32, 0)

__attribute__((used)) struct desc kernel_descs[] = {
    DESC(k_empty, NULL, 0, 0, 0, 32, 0),
    DESC(k_add, add_list, 3, sizeof(struct add_args), 0, 32, 0),
    DESC(k_mixed, mixed_list, 6, sizeof(struct mixed_args), 1024, 255, 64),
    POINTER(k_store),
    POINTER(k_atomic),
    POINTER(k_spin),
    POINTER(k_call),
    POINTER(k_globals),
    DESC(k_illegal, NULL, 0, 0, 0, 32, 0),
    DESC(k_trap, NULL, 0, 0, 0, 32, 0),
};

#define COUNT (sizeof(kernel_descs) / sizeof(*kernel_descs))

/* Link-time addresses are not known to C: written in assembly. */
__asm__(".pushsection .note.mxgpu, \"a\", @note\n"
        ".balign 4\n"
        ".4byte 6, 24, 1\n"
        ".asciz \"MXGPU\"\n"
        ".balign 4\n"
        ".4byte 1, 64, kernel_count, 0\n"
        ".8byte kernel_descs_address\n"
        ".popsection\n");
__asm__(".set kernel_count, 10");
_Static_assert(COUNT == 10, "kernel_count");
