/* SPDX-License-Identifier: MIT */
/*
 * mx-kernel-link: device bitcode to a kernel image (mxgpu/kernel.h).
 *
 * Stages, in the order main.c runs them: read and join modules; find kernels
 * (kernels.c) and lay out their arguments (layout.c); give each an entry point
 * that unpacks its argument block (entry.c); optimise; place __shared__
 * variables (shared.c); generate code; link; check the result and fill in
 * what only the finished code tells (image.c, analyse.c).
 *
 * Errors are reported where they are found with kl_error(); functions then
 * return false and main ends with status 1.
 */
#ifndef KL_H
#define KL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <llvm-c/Comdat.h>
#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>
#include <llvm-c/Target.h>

#include "mxgpu/kernel.h"

/* Thread-local storage of the C library in each thread's private memory. */
#define KL_TLS_BYTES 32

/* Of the variables that libmcrtc declares for name expressions. */
#define MXGPU_NAME_PREFIX "__mcrtc_name_"

/* A scalar inside an argument, in memory order. */
typedef struct KlLeaf {
    uint64_t offset, size;
    bool flt; /* floating point */
} KlLeaf;

#define KL_LEAVES 2

/* How an argument lies in memory, from its debug information. */
typedef struct KlLayout {
    uint64_t size;
    uint32_t align;
    bool aggregate; /* class, union, array, complex */
    bool by_ref;    /* a class that must be passed by reference */
    unsigned leaves; /* KL_LEAVES + 1: more, or parts overlap */
    KlLeaf leaf[KL_LEAVES];
} KlLayout;

typedef struct KlArg {
    KlLayout layout;
    uint64_t offset; /* in the argument block */
} KlArg;

typedef struct KlKernel {
    char *name;            /* symbol */
    char *file;            /* of the definition, for messages */
    unsigned line;
    LLVMValueRef body;     /* what the user wrote */
    LLVMValueRef entry;    /* what the hardware starts */
    KlArg *args;
    unsigned arg_count;
    uint64_t arg_size;
    uint32_t max_threads;
    uint64_t static_shared;
    uint64_t constant_bytes; /* of the __constant__ variables it reaches */
    bool has_tls;          /* entry sets up KL_TLS_BYTES at tp */
    /* of the finished code */
    unsigned registers;
    uint64_t private_bytes; /* 0: not known */
    char *why_unknown;      /* then: a function and what it does */
} KlKernel;

typedef struct Kl {
    LLVMContextRef ctx;
    LLVMModuleRef module;
    KlKernel *kernels;
    unsigned count;
    bool debug;            /* keep debug information */
} Kl;

void kl_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void kl_kernel_error(const KlKernel *kernel, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void *kl_alloc(size_t size); /* zeroed; ends the program when out of memory */
char *kl_printf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
bool kl_write_file(const char *path, const void *data, size_t size);
void *kl_read_file(const char *path, size_t *size);

/* guard.c: the status of work(opaque), which may crash */
int kl_guard(int (*work)(void *), void *opaque);
/* Called by work: what may last long begins. */
void kl_guard_input_read(void);

/* output.c: where to write what shall become path; NULL: an error was said.
 * Then whether it does; false: it could not. */
const char *kl_output_begin(const char *path, const char *temps);
bool kl_output_end(bool keep);

/* join.c: links those of the modules that define what is declared, again and
 * again; the others are left out. */
bool kl_link_needed(Kl *kl, LLVMModuleRef *modules, unsigned count);

/* kernels.c */
bool kl_find_kernels(Kl *kl);
/* Before that. */
bool kl_is_kernel(Kl *kl, LLVMValueRef fn);
/* Kernels of a module that are local to its file get the names that the host
 * has for them in relocatable code. */
void kl_name_kernels(LLVMModuleRef module);
/* Makes everything local but entries and variables the host can name; writes
 * the names that remain to the file list (an lld dynamic list). */
bool kl_localize(Kl *kl, const char *list);
/* names.c: takes name expressions out, and writes what they name */
bool kl_take_names(Kl *kl, const char *path);

/* layout.c */
bool kl_layout(LLVMMetadataRef type, KlLayout *out, const char **why);
/* Parameter types of a function: *types has the return type first. */
bool kl_param_types(LLVMValueRef fn, LLVMValueRef **types, unsigned *count);

/* launch.c: calls of kernels in device code become launches */
bool kl_lower_launches(Kl *kl);
/* The launches name the table of descriptors, which is there now. */
void kl_resolve_launches(Kl *kl, LLVMValueRef descs);

/* entry.c */
bool kl_make_entry(Kl *kl, KlKernel *kernel);
/* The address of its entry point, for the descriptor. */
LLVMValueRef kl_entry_address(Kl *kl, const KlKernel *kernel);
/* Entry points use registers without keeping them. */
void kl_free_registers(Kl *kl);
void kl_add_tls(Kl *kl, KlKernel *kernel);

/* What is known of a function's calls from elsewhere. */
typedef enum KlCalls {
    KL_CALLS_UNKNOWN,
    KL_CALLS_DIRECT,   /* none through pointers */
    KL_CALLS_POINTERS,
} KlCalls;

/* calls.c: what each kernel can reach, after optimisation */
typedef struct KlReach KlReach;
KlReach *kl_reach_new(Kl *kl);
bool kl_reaches(const KlReach *reach, unsigned kernel, LLVMValueRef fn);
/* Of a function of the module, in the optimised code. */
KlCalls kl_calls_of(LLVMValueRef fn);
/* Whether kernel may run C library code that has thread-local data. */
bool kl_reaches_library(const KlReach *reach, unsigned kernel);
/* MXGPU_KERNEL_USES_* of a kernel. */
unsigned kl_reaches_services(const KlReach *reach, unsigned kernel);

/* kernels.c: the table of descriptors, the note and the facts, from what is
 * known before linking. */
void kl_emit_descs(Kl *kl, const KlReach *reach);

/* order.c: puts the blocks of all functions into the order in which lanes of a
 * warp meet early */
void kl_order(Kl *kl);

/* unroll.c: says of loops whose number of turns differs between lanes, in
 * optimised code, that they are not to be unrolled */
void kl_unroll_uniform(Kl *kl);

/* shared.c */
void kl_shared_prepare(Kl *kl);
bool kl_shared_place(Kl *kl, const KlReach *reach);
/* reached[k]: whether kernel k reaches a use of the variable. */
void kl_mark_users(Kl *kl, const KlReach *reach, LLVMValueRef value,
                   bool *reached);

/* constant.c: what __constant__ made, before optimisation and after */
void kl_mark_constant(LLVMValueRef variable);
void kl_place_constants(Kl *kl, const KlReach *reach);

/* window.c: replaces a variable by its place in the shared window */
void kl_window_resolve(Kl *kl, LLVMValueRef global, uint64_t offset);

/* image.c */
bool kl_finish_image(Kl *kl, const char *elf, const char *out, bool container);

/* analyse.c: code of a linked image */
typedef struct KlCode KlCode;
typedef struct KlUse {
    unsigned registers;
    uint64_t stack; /* 0: not known */
    bool tp;        /* thread pointer is used */
    /* Of a stack that is not known: what the function called where does.
     * They end with the code. */
    const char *why, *where;
    bool fp_flags;  /* fflags or fcsr is read */
} KlUse;
typedef struct KlCodeFn {
    const char *name;
    uint64_t addr, size;
    const uint8_t *text;
    KlCalls calls;
    bool falls; /* may go on behind its end */
} KlCodeFn;
/* read gives contents of the image; false: not there. */
KlCode *kl_code_new(bool (*read)(void *opaque, uint64_t addr, void *data,
                                 size_t size), void *opaque);
void kl_code_free(KlCode *code);
void kl_code_add(KlCode *code, const KlCodeFn *fn);
/* What running the function at addr needs, with all that it calls. */
bool kl_code_use(KlCode *code, uint64_t addr, KlUse *use);

#endif
