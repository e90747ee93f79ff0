/* SPDX-License-Identifier: MIT */
#ifndef MXGPU_SIMT_JIT_COMPILER_COMPILE_H
#define MXGPU_SIMT_JIT_COMPILER_COMPILE_H

#include "simt/jit/code.h"

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>

/* Of this host; NULL: LLVM has none. */
LLVMTargetMachineRef jit_host_machine(void);
/* An object file with one function for that many lanes, LANES or JIT_FEW; NULL:
 * it cannot be. dump: a file that gets LLVM's code, or NULL. */
LLVMMemoryBufferRef jit_object(LLVMTargetMachineRef machine,
                               const JitCode *code, unsigned lanes,
                               const char *dump);

#endif
