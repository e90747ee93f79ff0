/* SPDX-License-Identifier: MIT */
#include "env.h"

#include "kernels-image.h"

static mcModule_t module;

mcFunction_t env_kernel(const char *name)
{
    mcFunction_t function = NULL;

    if (!module) {
        ok(mcModuleLoadData(&module, env_image));
    }
    ok(mcModuleGetFunction(&function, module, name));
    return function;
}

void env_forget(void)
{
    module = NULL;
}

mcError_t env_launch(const char *name, unsigned threads, void *pointer,
                     mcStream_t stream)
{
    void *args[] = {&pointer};
    unsigned block = threads < 64 ? threads : 64;

    return mcModuleLaunchKernel(env_kernel(name), (threads + block - 1) / block,
                                1, 1, block, 1, 1, 0, stream, args, NULL);
}
