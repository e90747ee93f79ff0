/* SPDX-License-Identifier: MIT */
/* Shared libraries with kernels, opened and closed while the program runs, and
 * when kernels of a program are loaded. */
#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

#include "mcr/mc_runtime_api.h"
#include "run.h"

#define ok(call) g_assert_cmpint(call, ==, mcSuccess)
#define fails(error, call) g_assert_cmpint(call, ==, error)

static const char source[] =
    "__device__ int counter = VALUE;\n"
    "__managed__ int both = 10 * VALUE;\n"
    "static __global__ void k(int *p) { *p = counter++; both++; }\n"
    "static __global__ void wait_for(volatile int *flags)\n"
    "{ while (!flags[0]) {} flags[1] = both; }\n"
    "extern \"C\" const void *kernel() { return (const void *)k; }\n"
    "extern \"C\" int *managed() { return &both; }\n"
    "extern \"C\" int set(int v)\n"
    "{ return mcMemcpyToSymbol(counter, &v, sizeof(v)); }\n"
    "extern \"C\" int next()\n"
    "{ int *d, h = -1; mcMalloc(&d, 4); k<<<1, 1>>>(d);\n"
    "  mcMemcpy(&h, d, 4, mcMemcpyDeviceToHost); mcFree(d); return h; }\n"
    "extern \"C\" void start(int *flags) { wait_for<<<1, 1>>>(flags); }\n";

typedef struct Library {
    void *handle;
    const void *(*kernel)(void);
    int *(*managed)(void);
    int (*set)(int value);
    int (*next)(void);
    void (*start)(int *flags);
} Library;

static Library open_library(const char *path)
{
    Library lib = {.handle = dlopen(path, RTLD_NOW | RTLD_LOCAL)};

    if (!lib.handle) {
        g_error("%s", dlerror());
    }
    *(void **)&lib.kernel = dlsym(lib.handle, "kernel");
    *(void **)&lib.managed = dlsym(lib.handle, "managed");
    *(void **)&lib.set = dlsym(lib.handle, "set");
    *(void **)&lib.next = dlsym(lib.handle, "next");
    *(void **)&lib.start = dlsym(lib.handle, "start");
    return lib;
}

static void close_library(Library *lib)
{
    g_assert_cmpint(dlclose(lib->handle), ==, 0);
    /* It is really gone. */
    g_assert_null(dlopen("./libone.so", RTLD_NOW | RTLD_NOLOAD));
}

static void test_use(void)
{
    Library lib = open_library("./libone.so");

    g_assert_cmpint(*lib.managed(), ==, 10);
    g_assert_cmpint(lib.next(), ==, 1);
    g_assert_cmpint(lib.next(), ==, 2);
    ok(lib.set(70));
    g_assert_cmpint(lib.next(), ==, 70);
    g_assert_cmpint(*lib.managed(), ==, 13);
    close_library(&lib);
}

/* What was had of it names nothing afterwards. */
static void test_close(void)
{
    Library lib = open_library("./libone.so");
    const void *kernel = lib.kernel();
    int *managed = lib.managed(), value;
    mcFunction_t function;
    mcModule_t module;
    mcPointerAttribute_t attributes;
    mcFuncAttributes about;
    const dim3 one = {1, 1, 1};
    void *args[] = {&managed};

    g_assert_cmpint(lib.next(), ==, 1);
    ok(mcGetFuncBySymbol(&function, kernel));
    ok(mcFuncGetModule(&module, function));
    fails(mcErrorNotPermitted, mcModuleUnload(module));
    ok(mcPointerGetAttributes(&attributes, managed));
    g_assert_true(attributes.isManaged);
    close_library(&lib);
    fails(mcErrorInvalidResourceHandle,
          mcModuleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, args,
                               NULL));
    fails(mcErrorInvalidResourceHandle, mcFuncGetModule(&module, function));
    fails(mcErrorInvalidResourceHandle,
          mcFuncGetAttribute(&value, MC_FUNC_ATTRIBUTE_NUM_REGS, function));
    fails(mcErrorInvalidResourceHandle,
          mcModuleGetFunction(&function, module, "k"));
    fails(mcErrorInvalidDeviceFunction,
          mcLaunchKernel(kernel, one, one, args, 0, NULL));
    fails(mcErrorInvalidDeviceFunction, mcGetFuncBySymbol(&function, kernel));
    fails(mcErrorInvalidDeviceFunction, mcFuncGetAttributes(&about, kernel));
    ok(mcPointerGetAttributes(&attributes, managed));
    g_assert_false(attributes.isManaged);
    ok(mcDeviceSynchronize());
}

/* It begins anew each time, and nothing of it stays. */
static void test_again(void)
{
    size_t before, after, total;

    ok(mcMemGetInfo(&before, &total));
    for (int i = 0; i < 10; i++) {
        Library lib = open_library("./libone.so");

        g_assert_cmpint(*lib.managed(), ==, 10);
        g_assert_cmpint(lib.next(), ==, 1);
        g_assert_cmpint(lib.next(), ==, 2);
        close_library(&lib);
    }
    ok(mcMemGetInfo(&after, &total));
    g_assert_cmpuint(after, ==, before);
}

static gpointer close_in_thread(gpointer opaque)
{
    close_library(opaque);
    return NULL;
}

/* A kernel of it runs: its code stays until that is done. */
static void test_busy(void)
{
    Library lib = open_library("./libone.so");
    int *flags;

    ok(mcMallocHost((void **)&flags, 2 * sizeof(int), mcMallocHostDefault));
    flags[0] = flags[1] = 0;
    mcGetLastError();
    lib.start(flags);
    ok(mcGetLastError());
    GThread *thread = g_thread_new("close", close_in_thread, &lib);
    g_usleep(100 * 1000); /* the loader's lock is held, the loop gets hot */
    __atomic_store_n(&flags[0], 1, __ATOMIC_RELEASE);
    g_thread_join(thread);
    g_assert_cmpint(__atomic_load_n(&flags[1], __ATOMIC_ACQUIRE), ==, 10);
    ok(mcDeviceSynchronize());
    ok(mcFreeHost(flags));
}

/* Two, with the same names in them; one goes. */
static void test_two(void)
{
    Library one = open_library("./libone.so");
    Library two = open_library("./libtwo.so");

    g_assert_cmpint(one.next(), ==, 1);
    g_assert_cmpint(two.next(), ==, 5);
    g_assert_cmpint(one.next(), ==, 2);
    close_library(&one);
    g_assert_cmpint(two.next(), ==, 6);
    g_assert_cmpint(*two.managed(), ==, 52);
    /* After a reset it is loaded anew, and may be closed before that. */
    ok(mcDeviceReset());
    g_assert_cmpint(two.next(), ==, 5);
    ok(mcDeviceReset());
    g_assert_cmpint(dlclose(two.handle), ==, 0);
    two = open_library("./libtwo.so");
    g_assert_cmpint(two.next(), ==, 5);
    g_assert_cmpint(dlclose(two.handle), ==, 0);
}

/* Never used: closed without a device having seen it. */
static void test_unused(void)
{
    Library lib = open_library("./libone.so");

    *lib.managed() = 3;
    close_library(&lib);
    ok(mcDeviceReset()); /* no device is open */
    lib = open_library("./libone.so");
    g_assert_cmpint(*lib.managed(), ==, 10);
    close_library(&lib);
}

/* At the first call that needs the device, or when a kernel is used. */
static void test_loading(void)
{
    static const struct {
        const char *how;
        bool eager;
    } cases[] = {{"EAGER", true}, {"LAZY", false}, {"SOON", false}};
    const char *out;

    test_file("main.maca",
              "__global__ void k() {}\n"
              "int main(int argc, char **) { mcFree(0); puts(\"opened\");\n"
              "    fflush(stdout); if (argc > 1) { k<<<1, 1>>>(); }\n"
              "    return mcDeviceSynchronize(); }\n");
    test_mxcc("main.maca", "-o", "main", NULL);
    g_setenv("MXGPU_LOG", "info", TRUE);
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_setenv("MACA_MODULE_LOADING", cases[i].how, TRUE);
        g_assert_cmpint(test_run(&out, "./main", NULL), ==, 0);
        g_assert_cmpint(strstr(out, "module of 1 kernels") != NULL, ==,
                        cases[i].eager);
        g_assert_cmpint(strstr(out, "MACA_MODULE_LOADING=SOON") != NULL, ==,
                        i == 2);
        g_assert_cmpint(test_run(&out, "./main", "use", NULL), ==, 0);
        g_assert_nonnull(strstr(out, "module of 1 kernels"));
    }
    g_unsetenv("MACA_MODULE_LOADING");
    g_unsetenv("MXGPU_LOG");
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    test_run_begin();
    test_file("library.maca", source);
    test_mxcc("-fPIC", "-shared", "-DVALUE=1", "library.maca", "-o",
              "libone.so", NULL);
    test_mxcc("-fPIC", "-shared", "-DVALUE=5", "library.maca", "-o",
              "libtwo.so", NULL);
    g_test_add_func("/library/use", test_use);
    g_test_add_func("/library/close", test_close);
    g_test_add_func("/library/again", test_again);
    g_test_add_func("/library/busy", test_busy);
    g_test_add_func("/library/two", test_two);
    g_test_add_func("/library/unused", test_unused);
    g_test_add_func("/library/loading", test_loading);
    return test_run_end(g_test_run());
}
