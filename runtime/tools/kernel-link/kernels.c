/* SPDX-License-Identifier: MIT */
/* Which functions are kernels, what stays visible, and their descriptors. */
#include "kl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANNOTATIONS "llvm.global.annotations"

/* Fields of an annotation record. */
enum { ANNOTATED, TEXT, FILENAME, LINE, ARGS };

static const char *string_of(LLVMValueRef global)
{
    LLVMValueRef init;
    size_t len;

    if (!global || !LLVMIsAGlobalVariable(global)) {
        return "";
    }
    init = LLVMGetInitializer(global);
    if (!init || !LLVMIsAConstantDataArray(init)) {
        return "";
    }
    return LLVMGetAsString(init, &len); /* with its NUL */
}

/* First argument of an annotation. */
static uint64_t annotation_arg(LLVMValueRef args)
{
    LLVMValueRef init, value;

    if (!LLVMIsAGlobalVariable(args)) {
        return 0;
    }
    init = LLVMGetInitializer(args);
    value = init && LLVMGetNumOperands(init) ? LLVMGetOperand(init, 0) : NULL;
    return value && LLVMIsAConstantInt(value) ? LLVMConstIntGetZExtValue(value)
                                              : 0;
}

bool kl_is_kernel(Kl *kl, LLVMValueRef fn)
{
    LLVMValueRef table = LLVMGetNamedGlobal(kl->module, ANNOTATIONS);
    LLVMValueRef init = table ? LLVMGetInitializer(table) : NULL;
    unsigned n = init ? LLVMGetNumOperands(init) : 0;

    for (unsigned i = 0; i < n; i++) {
        LLVMValueRef record = LLVMGetOperand(init, i);

        if (LLVMGetOperand(record, ANNOTATED) == fn &&
            !strcmp(string_of(LLVMGetOperand(record, TEXT)),
                    "mxgpu.kernel")) {
            return true;
        }
    }
    return false;
}

static KlKernel *find(Kl *kl, LLVMValueRef fn)
{
    for (unsigned i = 0; i < kl->count; i++) {
        if (kl->kernels[i].body == fn) {
            return &kl->kernels[i];
        }
    }
    return NULL;
}

static void add_kernel(Kl *kl, LLVMValueRef fn, LLVMValueRef record)
{
    LLVMValueRef line = LLVMGetOperand(record, LINE);
    KlKernel *kernel = &kl->kernels[kl->count];
    size_t len;

    if (!LLVMIsAFunction(fn) || LLVMIsDeclaration(fn) || find(kl, fn)) {
        return;
    }
    kernel->body = fn;
    kernel->name = kl_printf("%s", LLVMGetValueName2(fn, &len));
    kernel->file = kl_printf("%s", string_of(LLVMGetOperand(record, FILENAME)));
    kernel->line = LLVMConstIntGetZExtValue(line);
    kl->count++;
}

static bool lay_out_args(KlKernel *kernel)
{
    LLVMValueRef *types;
    unsigned count;
    uint64_t end = 0;

    if (!kl_param_types(kernel->body, &types, &count)) {
        kl_kernel_error(kernel, "no debug information");
        return false;
    }
    kernel->arg_count = count ? count - 1 : 0;
    kernel->args = kl_alloc((kernel->arg_count + 1) * sizeof(KlArg));
    for (unsigned i = 0; i < kernel->arg_count; i++) {
        KlArg *arg = &kernel->args[i];
        const char *why = "variable arguments";

        if (!types[i + 1] ||
            !kl_layout(LLVMValueAsMetadata(types[i + 1]), &arg->layout,
                       &why)) {
            kl_kernel_error(kernel, "parameter %u: %s", i + 1, why);
            return false;
        }
        end = (end + arg->layout.align - 1) / arg->layout.align *
              arg->layout.align;
        arg->offset = end;
        end += arg->layout.size;
    }
    kernel->arg_size = end;
    return true;
}

bool kl_find_kernels(Kl *kl)
{
    LLVMValueRef table = LLVMGetNamedGlobal(kl->module, ANNOTATIONS);
    LLVMValueRef init = table ? LLVMGetInitializer(table) : NULL;
    unsigned n = init ? LLVMGetNumOperands(init) : 0;

    kl->kernels = kl_alloc((n + 1) * sizeof(KlKernel));
    for (unsigned i = 0; i < n; i++) {
        LLVMValueRef record = LLVMGetOperand(init, i);

        if (!strcmp(string_of(LLVMGetOperand(record, TEXT)),
                    "mxgpu.kernel")) {
            add_kernel(kl, LLVMGetOperand(record, ANNOTATED), record);
        }
    }
    for (unsigned i = 0; i < n; i++) {
        LLVMValueRef record = LLVMGetOperand(init, i);
        KlKernel *kernel = find(kl, LLVMGetOperand(record, ANNOTATED));
        uint64_t bound;

        if (kernel && !strcmp(string_of(LLVMGetOperand(record, TEXT)),
                              "mxgpu.launch_bounds")) {
            bound = annotation_arg(LLVMGetOperand(record, ARGS));
            kernel->max_threads = bound > 1024 ? 1024 : bound;
        }
        if (!strcmp(string_of(LLVMGetOperand(record, TEXT)),
                    "mxgpu.constant")) {
            kl_mark_constant(LLVMGetOperand(record, ANNOTATED));
        }
    }
    if (table) {
        LLVMDeleteGlobal(table);
    }
    for (unsigned i = 0; i < kl->count; i++) {
        if (!lay_out_args(&kl->kernels[i])) {
            return false;
        }
    }
    return true;
}

/* mxcc leaves it in relocatable code in which kernels are functions
 * (driver/launches.py). */
#define NAMES_MARK "_ZL17__mc_kernel_names"
#define CUID       "__hip_cuid_"

void kl_name_kernels(LLVMModuleRef module)
{
    LLVMValueRef table = LLVMGetNamedGlobal(module, ANNOTATIONS), v;
    LLVMValueRef init = table ? LLVMGetInitializer(table) : NULL;
    unsigned n = init ? LLVMGetNumOperands(init) : 0;
    const char *cuid = NULL;
    size_t len;

    for (v = LLVMGetFirstGlobal(module); v; v = LLVMGetNextGlobal(v)) {
        const char *name = LLVMGetValueName2(v, &len);

        if (!strncmp(name, CUID, strlen(CUID))) {
            cuid = name + strlen(CUID);
        }
    }
    if (!cuid || !LLVMGetNamedGlobal(module, NAMES_MARK)) {
        return;
    }
    for (unsigned i = 0; i < n; i++) {
        LLVMValueRef record = LLVMGetOperand(init, i);
        LLVMValueRef fn = LLVMGetOperand(record, ANNOTATED);

        if (LLVMIsAFunction(fn) &&
            LLVMGetLinkage(fn) == LLVMInternalLinkage &&
            !strcmp(string_of(LLVMGetOperand(record, TEXT)),
                    "mxgpu.kernel")) {
            char *name = kl_printf("%s.intern.%s", LLVMGetValueName2(fn, &len),
                                   cuid);

            LLVMSetValueName2(fn, name, strlen(name));
            LLVMSetLinkage(fn, LLVMExternalLinkage);
            free(name);
        }
    }
}

static bool is_entry(Kl *kl, LLVMValueRef fn)
{
    for (unsigned i = 0; i < kl->count; i++) {
        if (kl->kernels[i].entry == fn) {
            return true;
        }
    }
    return false;
}

static void drop(Kl *kl, const char *name)
{
    LLVMValueRef global = LLVMGetNamedGlobal(kl->module, name);

    if (global) {
        LLVMDeleteGlobal(global);
    }
}

static void make_local(LLVMValueRef value)
{
    LLVMSetLinkage(value, LLVMInternalLinkage);
    LLVMSetVisibility(value, LLVMDefaultVisibility);
    LLVMSetComdat(value, NULL);
}

bool kl_localize(Kl *kl, const char *list)
{
    FILE *f = fopen(list, "w");
    LLVMValueRef v, next;
    size_t len;

    if (!f) {
        kl_error("%s: cannot write", list);
        return false;
    }
    fprintf(f, "{\n  __mx_kernel_descs;\n  " MXGPU_KERNEL_FACTS ";\n"
               "  __mx_fifo;\n  __mx_heap;\n  __mx_launch;\n"
               "  __mx_multimem;\n");
    drop(kl, "llvm.compiler.used");
    for (v = LLVMGetFirstGlobal(kl->module); v; v = next) {
        const char *name = LLVMGetValueName2(v, &len);

        next = LLVMGetNextGlobal(v);
        if (!strncmp(name, "__hip_cuid_", 11)) {
            LLVMDeleteGlobal(v);
        } else if (LLVMIsDeclaration(v) || !strncmp(name, "llvm.", 5)) {
            continue;
        } else if (LLVMIsExternallyInitialized(v) &&
                   LLVMGetLinkage(v) != LLVMInternalLinkage) {
            LLVMSetLinkage(v, LLVMExternalLinkage);
            LLVMSetComdat(v, NULL);
            fprintf(f, "  \"%s\";\n", name);
        } else {
            make_local(v);
        }
    }
    for (v = LLVMGetFirstFunction(kl->module); v; v = LLVMGetNextFunction(v)) {
        if (is_entry(kl, v)) {
            fprintf(f, "  \"%s\";\n", LLVMGetValueName2(v, &len));
        } else if (!LLVMIsDeclaration(v)) {
            make_local(v);
        }
    }
    fprintf(f, "};\n");
    if (fclose(f)) {
        kl_error("%s: cannot write", list);
        return false;
    }
    return true;
}

static LLVMValueRef int32(Kl *kl, uint64_t value)
{
    return LLVMConstInt(LLVMInt32TypeInContext(kl->ctx), value, false);
}

/* A read-only variable; NULL section: the compiler's choice. */
static LLVMValueRef constant(Kl *kl, const char *name, const char *section,
                             LLVMValueRef init, unsigned align)
{
    LLVMValueRef v = LLVMAddGlobal(kl->module, LLVMTypeOf(init), name);

    LLVMSetInitializer(v, init);
    LLVMSetGlobalConstant(v, true);
    LLVMSetAlignment(v, align);
    LLVMSetLinkage(v, LLVMInternalLinkage);
    if (section) {
        LLVMSetSection(v, section);
    }
    return v;
}

static LLVMValueRef arg_table(Kl *kl, const KlKernel *kernel)
{
    LLVMTypeRef i32 = LLVMInt32TypeInContext(kl->ctx);
    LLVMTypeRef record = LLVMArrayType2(i32, 4);
    LLVMValueRef *rows = kl_alloc((kernel->arg_count + 1) * sizeof(*rows));

    for (unsigned i = 0; i < kernel->arg_count; i++) {
        const KlArg *arg = &kernel->args[i];
        LLVMValueRef fields[4] = {
            int32(kl, arg->offset),
            int32(kl, arg->layout.size),
            int32(kl, arg->layout.align),
            int32(kl, 0),
        };

        rows[i] = LLVMConstArray2(i32, fields, 4);
    }
    return constant(kl, "__mx_kernel_args", NULL,
                    LLVMConstArray2(record, rows, kernel->arg_count), 8);
}

static LLVMValueRef descriptor(Kl *kl, const KlKernel *kernel)
{
    LLVMValueRef name =
        constant(kl, "__mx_kernel_name", NULL,
                 LLVMConstStringInContext(kl->ctx, kernel->name,
                                          strlen(kernel->name), false),
                 1);
    LLVMValueRef fields[] = {
        int32(kl, MXGPU_KERNEL_MAGIC),
        int32(kl, MXGPU_KERNEL_ABI),
        kl_entry_address(kl, kernel),
        name,
        arg_table(kl, kernel),
        int32(kl, kernel->arg_count),
        int32(kl, kernel->arg_size),
        int32(kl, kernel->static_shared),
        int32(kl, 0), /* private_bytes: image.c */
        int32(kl, 1), /* registers: image.c */
        int32(kl, kernel->max_threads),
        int32(kl, 0), /* flags: image.c */
        int32(kl, 0),
    };

    return LLVMConstStructInContext(kl->ctx, fields,
                                    sizeof(fields) / sizeof(fields[0]), false);
}

static void emit_facts(Kl *kl, const KlReach *reach)
{
    LLVMTypeRef i32 = LLVMInt32TypeInContext(kl->ctx);
    LLVMTypeRef record = LLVMArrayType2(i32, 2);
    LLVMValueRef *rows = kl_alloc((kl->count + 1) * sizeof(*rows)), facts;
    unsigned all = 0;

    for (unsigned i = 0; i < kl->count; i++) {
        all |= kl_reaches_services(reach, i);
    }
    for (unsigned i = 0; i < kl->count; i++) {
        unsigned uses = kl_reaches_services(reach, i);
        /* What it launches may use what any kernel does. */
        LLVMValueRef fields[2] = {
            int32(kl, uses & MXGPU_KERNEL_USES_LAUNCH ? all : uses),
            int32(kl, kl->kernels[i].constant_bytes),
        };

        rows[i] = LLVMConstArray2(i32, fields, 2);
    }
    facts = constant(kl, MXGPU_KERNEL_FACTS, ".mxgpu.facts",
                     LLVMConstArray2(record, rows, kl->count), 8);
    LLVMSetLinkage(facts, LLVMExternalLinkage);
}

void kl_emit_descs(Kl *kl, const KlReach *reach)
{
    LLVMValueRef *rows = kl_alloc((kl->count + 1) * sizeof(*rows));
    LLVMTypeRef row = LLVMInt64TypeInContext(kl->ctx);
    LLVMValueRef descs;
    LLVMValueRef note[] = {
        int32(kl, sizeof(MXGPU_NOTE_OWNER)),
        int32(kl, sizeof(struct mxgpu_kernel_note)),
        int32(kl, MXGPU_NOTE_KERNELS),
        LLVMConstStringInContext(kl->ctx, MXGPU_NOTE_OWNER "\0\0", 8, true),
        int32(kl, MXGPU_KERNEL_ABI),
        int32(kl, sizeof(struct mxgpu_kernel_desc)),
        int32(kl, kl->count),
        int32(kl, 0),
        int32(kl, 0), /* descs, two halves: image.c */
        int32(kl, 0),
    };

    for (unsigned i = 0; i < kl->count; i++) {
        rows[i] = descriptor(kl, &kl->kernels[i]);
        row = LLVMTypeOf(rows[i]);
    }
    descs = constant(kl, "__mx_kernel_descs", ".mxgpu.kernels",
                     LLVMConstArray2(row, rows, kl->count), 64);
    LLVMSetLinkage(descs, LLVMExternalLinkage);
    kl_resolve_launches(kl, descs);
    emit_facts(kl, reach);
    constant(kl, "__mx_kernel_note", ".note.mxgpu",
             LLVMConstStructInContext(kl->ctx, note,
                                      sizeof(note) / sizeof(note[0]), false),
             4);
}
