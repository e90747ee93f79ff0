/* SPDX-License-Identifier: MIT */
/* From a region to a function. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dladdr() */
#endif
#include "compile.h"

#include "emit.h"
#include "link.h"

#include <dlfcn.h>

#include <llvm-c/Analysis.h>
#include <llvm-c/Error.h>
#include <llvm-c/Support.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include <stdlib.h>
#include <string.h>

static const char passes[] =
    "mem2reg,instcombine<no-verify-fixpoint>,simplifycfg,early-cse,gvn,"
    "instcombine<no-verify-fixpoint>,simplifycfg,sink,dce";

/* Loop strength reduction makes several numbers of one that goes up, and copies of
 * them: loops of one lane are longer with it, others hardly differ. */
static const char *const options[] = {"mxgpu-jit", "-disable-lsr"};

static LLVMTargetMachineRef machine;

static bool start(JitOrigin *origin)
{
    char *triple, *cpu, *features;
    LLVMTargetRef target;
    Dl_info llvm;

    LLVMParseCommandLineOptions(sizeof(options) / sizeof(options[0]), options,
                                "");
    LLVMInitializeNativeTarget();
    LLVMInitializeNativeAsmPrinter();
    triple = LLVMGetDefaultTargetTriple();
    cpu = LLVMGetHostCPUName();
    features = LLVMGetHostCPUFeatures();
    if (!LLVMGetTargetFromTriple(triple, &target, NULL)) {
        machine = LLVMCreateTargetMachine(target, triple, cpu, features,
                                          LLVMCodeGenLevelDefault,
                                          LLVMRelocPIC, LLVMCodeModelSmall);
    }
    LLVMDisposeMessage(triple);
    LLVMDisposeMessage(cpu);
    LLVMDisposeMessage(features);
    return machine &&
           dladdr((void *)(uintptr_t)LLVMContextCreate, &llvm) &&
           jit_origin(llvm.dli_fname, origin);
}

static void attribute(Emit *e, const char *name, const char *value)
{
    LLVMAddAttributeAtIndex(
        e->fn, LLVMAttributeFunctionIndex,
        LLVMCreateStringAttribute(e->context, name, strlen(name), value,
                                  strlen(value)));
}

/* The function in a module of its own. */
static void make_function(Emit *e)
{
    LLVMTypeRef args[] = {e->ptr, e->ptr, e->ptr};
    char *cpu = LLVMGetTargetMachineCPU(machine);
    char *features = LLVMGetTargetMachineFeatureString(machine);
    char *triple = LLVMGetTargetMachineTriple(machine);
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(machine);

    LLVMSetTarget(e->module, triple);
    LLVMSetModuleDataLayout(e->module, layout);
    e->fn = LLVMAddFunction(e->module, "region",
                            LLVMFunctionType(e->i32, args, 3, 0));
    attribute(e, "target-cpu", cpu);
    attribute(e, "target-features", features);
    attribute(e, "prefer-vector-width", "512");
    attribute(e, "min-legal-vector-width", "512");
    LLVMDisposeTargetData(layout);
    LLVMDisposeMessage(cpu);
    LLVMDisposeMessage(features);
    LLVMDisposeMessage(triple);
}

static bool optimise(Emit *e)
{
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef error = LLVMRunPasses(e->module, passes, machine, options);

    LLVMDisposePassBuilderOptions(options);
    LLVMConsumeError(error);
    return !error;
}

/* An object file with one function. */
static LLVMMemoryBufferRef make_object(const JitCode *code, unsigned lanes,
                                       const char *dump)
{
    LLVMMemoryBufferRef object = NULL;
    Emit *e = calloc(1, sizeof(*e));
    char *message = NULL;

    if (!e) {
        return NULL;
    }
    e->r = code;
    e->n = lanes;
    e->context = LLVMContextCreate();
    e->module = LLVMModuleCreateWithNameInContext("region", e->context);
    e->b = LLVMCreateBuilderInContext(e->context);
    emit_types(e);
    make_function(e);
    emit_region(e);
    LLVMDisposeBuilder(e->b);
    if (!LLVMVerifyFunction(e->fn, LLVMReturnStatusAction) &&
        optimise(e)) {
        if (dump) {
            LLVMPrintModuleToFile(e->module, dump, NULL);
        }
        if (LLVMTargetMachineEmitToMemoryBuffer(machine, e->module,
                                                LLVMObjectFile, &message,
                                                &object)) {
            LLVMDisposeMessage(message);
            object = NULL;
        }
    }
    LLVMDisposeModule(e->module);
    LLVMContextDispose(e->context);
    free(e);
    return object;
}

static uint8_t *compile(const JitCode *code, unsigned lanes, const char *dump,
                        JitReply *reply)
{
    LLVMMemoryBufferRef object = make_object(code, lanes, dump);
    uint8_t *bytes = NULL;

    if (object) {
        bytes = jit_link((const uint8_t *)LLVMGetBufferStart(object),
                         LLVMGetBufferSize(object), reply);
        LLVMDisposeMemoryBuffer(object);
    }
    return bytes;
}

const JitCompiler mxgpu_jit_compiler = {
    .speaks = JIT_REQUEST(0), .start = start, .compile = compile,
};
