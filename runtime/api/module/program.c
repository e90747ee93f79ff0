/* SPDX-License-Identifier: MIT */
/* What mxcc's generated code calls. */
#include "api/api.h"
#include "core/program/program.h"

MC_EXPORT void **__mcRegisterFatBinary(const void *data)
{
    return mc_program_register(data);
}

MC_EXPORT void __mcUnregisterFatBinary(void **modules)
{
    mc_program_unregister(modules);
}

MC_EXPORT void __mcRegisterFunction(void **modules, const void *hostFunction,
                                    char *deviceFunction,
                                    const char *deviceName,
                                    unsigned int threadLimit, void *tid,
                                    void *bid, dim3 *blockDim, dim3 *gridDim,
                                    int *wSize)
{
    mc_program_function(modules, hostFunction, deviceName);
}

MC_EXPORT void __mcRegisterVar(void **modules, void *var, char *hostVar,
                               char *deviceVar, int ext, size_t size,
                               int constant, int global)
{
    mc_program_variable(modules, var, deviceVar, size);
}

MC_EXPORT void __mcRegisterManagedVar(void **modules, void **pointer,
                                      void *init, const char *name,
                                      size_t size, unsigned int align)
{
    mc_program_managed(modules, pointer, init, name, size, align);
}

/* Variables that the runtime writes. */
MC_EXPORT void __mcRegisterTexture(void **modules, const void *var,
                                   const void **address, const char *name,
                                   int type, int normalized, int ext)
{
    mc_program_variable(modules, var, name, sizeof(textureReference));
}

MC_EXPORT void __mcRegisterSurface(void **modules, const void *var,
                                   const void **address, const char *name,
                                   int type, int ext)
{
    mc_program_variable(modules, var, name, sizeof(surfaceReference));
}

/* kernel<<<grid, block, shared, stream>>>() pushes; the stub pops. */
MC_EXPORT mcError_t __mcPushCallConfiguration(dim3 gridDim, dim3 blockDim,
                                              size_t sharedMem,
                                              mcStream_t stream)
{
    McThread *thread = mc_thread();

    if (thread->configs == MC_CALL_DEPTH) {
        API_RETURN(mcErrorInvalidConfiguration);
    }
    thread->config[thread->configs++] = (McCallConfig){
        .grid = gridDim,
        .block = blockDim,
        .shared = sharedMem,
        .stream = stream,
    };
    return mcSuccess;
}

MC_EXPORT mcError_t __mcPopCallConfiguration(dim3 *gridDim, dim3 *blockDim,
                                             size_t *sharedMem,
                                             mcStream_t *stream)
{
    McThread *thread = mc_thread();

    if (thread->configs == 0) {
        API_RETURN(mcErrorMissingConfiguration);
    }
    McCallConfig *config = &thread->config[--thread->configs];
    *gridDim = config->grid;
    *blockDim = config->block;
    *sharedMem = config->shared;
    *stream = config->stream;
    return mcSuccess;
}
