/* SPDX-License-Identifier: MIT */
#include "env.h"

#include "kernels-image.h"
#include "mxgpu/fatbin.h"

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

const void *env_symbol(const char *name)
{
    static struct mxgpu_fatbin_wrapper wrapper = {
        MXGPU_FATBIN_WRAPPER_MAGIC, MXGPU_FATBIN_WRAPPER_VERSION, NULL, NULL,
    };
    static GHashTable *symbols;
    static void **program;

    if (!symbols) {
        size_t at = MXGPU_FATBIN_ALIGN;
        struct {
            struct mxgpu_fatbin_header header;
            struct mxgpu_fatbin_entry entry;
        } *fat = g_malloc0(at + env_image_size);

        memcpy(fat->header.magic, MXGPU_FATBIN_MAGIC, 8);
        fat->header.version = MXGPU_FATBIN_VERSION;
        fat->header.count = 1;
        fat->header.total_size = at + env_image_size;
        fat->entry.offset = at;
        fat->entry.size = env_image_size;
        g_strlcpy(fat->entry.target, MXGPU_FATBIN_TARGET,
                  sizeof(fat->entry.target));
        memcpy((uint8_t *)fat + at, env_image, env_image_size);
        wrapper.data = fat;
        program = __mcRegisterFatBinary(&wrapper);
        symbols = g_hash_table_new(g_str_hash, g_str_equal);
    }
    char *symbol = g_hash_table_lookup(symbols, name);
    if (!symbol) {
        symbol = g_strdup(name);
        g_hash_table_insert(symbols, symbol, symbol);
        __mcRegisterFunction(program, symbol, symbol, symbol, -1, NULL, NULL,
                             NULL, NULL, NULL);
    }
    return symbol;
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

bool env_driver(void)
{
    return !g_strcmp0(g_getenv("MXGPU_DEVICE"), "driver");
}

bool env_vfio(void)
{
    const char *device = g_getenv("MXGPU_DEVICE");

    return (!device || g_str_has_prefix(device, "vfio") ||
            !strcmp(device, "auto")) &&
           g_file_test("/dev/vfio/vfio", G_FILE_TEST_EXISTS);
}

void env_two_devices(void)
{
    int count = 0;

    ok(mcGetDeviceCount(&count));
    g_assert_cmpint(count, >=, 2);
    ok(mcSetDevice(0));
}
