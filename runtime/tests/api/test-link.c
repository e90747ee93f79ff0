/* SPDX-License-Identifier: MIT */
/*
 * The linker's states, inputs, options and errors. mxcc is a script here, which
 * does what a test wants of it; tests/mxcc has the real one.
 */
#include <ar.h>
#include <elf.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "env.h"
#include "mxgpu/fatbin.h"

static char *folder; /* MACA_PATH: the script, and what it says of its call */
static char *tool;

/* What follows -o is where the image goes. */
#define SUCCEED "cp \"$MACA_PATH/image\" linked.fatbin\n"

static void script(const char *body)
{
    g_autofree char *text = g_strdup_printf(
        "#!/bin/sh\necho \"$@\" >\"$MACA_PATH/arguments\"\n"
        "pwd >\"$MACA_PATH/where\"\n%s", body);

    /* Written anew: a file that runs cannot be. */
    g_unlink(tool);
    g_assert_true(g_file_set_contents(tool, text, -1, NULL));
    g_assert_cmpint(chmod(tool, 0700), ==, 0);
}

static char *result(const char *name)
{
    g_autofree char *path = g_build_filename(folder, name, NULL);
    char *text = NULL;

    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    return g_strchomp(text);
}

/* ---- inputs ---- */

/* A record of device code. */
static GByteArray *record(void)
{
    static const uint8_t bitcode[12] = {'B', 'C', 0xc0, 0xde};
    struct mxgpu_rdc_header header = {.size = sizeof(bitcode)};
    GByteArray *bytes = g_byte_array_new();

    memcpy(header.magic, MXGPU_RDC_MAGIC, sizeof(header.magic));
    g_byte_array_append(bytes, (const uint8_t *)&header, sizeof(header));
    return g_byte_array_append(bytes, bitcode, sizeof(bitcode));
}

/* An object file with content in a section of that name. */
static GByteArray *object(const char *section, const GByteArray *content)
{
    static const uint8_t zeros[4];
    GByteArray *bytes = g_byte_array_new();
    char names[32] = "\0";
    Elf64_Ehdr eh = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
                    ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_REL,
        .e_machine = EM_X86_64,
        .e_shoff = sizeof(eh),
        .e_shentsize = sizeof(Elf64_Shdr),
        .e_shnum = 3,
        .e_shstrndx = 1,
    };
    Elf64_Shdr sh[3] = {{0}};

    g_strlcpy(names + 1, section, sizeof(names) - 1);
    sh[1].sh_type = SHT_STRTAB;
    sh[1].sh_offset = sizeof(eh) + sizeof(sh);
    sh[1].sh_size = sizeof(names);
    sh[2].sh_name = 1;
    sh[2].sh_type = SHT_PROGBITS;
    sh[2].sh_offset = sh[1].sh_offset + sizeof(names);
    sh[2].sh_size = content->len + sizeof(zeros);
    g_byte_array_append(bytes, (const uint8_t *)&eh, sizeof(eh));
    g_byte_array_append(bytes, (const uint8_t *)sh, sizeof(sh));
    g_byte_array_append(bytes, (const uint8_t *)names, sizeof(names));
    g_byte_array_append(bytes, content->data, content->len);
    return g_byte_array_append(bytes, zeros, sizeof(zeros));
}

static void add_member(GByteArray *library, const char *name,
                       const GByteArray *body)
{
    g_autofree char *header = g_strdup_printf(
        "%-16s%-12d%-6d%-6d%-8o%-10u" ARFMAG, name, 0, 0, 0, 0644, body->len);

    g_byte_array_append(library, (const uint8_t *)header,
                        sizeof(struct ar_hdr));
    g_byte_array_append(library, body->data, body->len);
    if (body->len % 2) {
        g_byte_array_append(library, (const uint8_t *)"\n", 1);
    }
}

static GByteArray *library(const GByteArray *member)
{
    g_autoptr(GByteArray) text = g_byte_array_new();
    GByteArray *bytes = g_byte_array_new();

    g_byte_array_append(text, (const uint8_t *)"text\n", 5);
    g_byte_array_append(bytes, (const uint8_t *)ARMAG, SARMAG);
    add_member(bytes, "notes/", text);
    add_member(bytes, "member.o/", member);
    return bytes;
}

static GByteArray *fatbin(const char *target, const GByteArray *content)
{
    uint64_t at = MXGPU_FATBIN_ALIGN;
    GByteArray *bytes = g_byte_array_new();
    struct mxgpu_fatbin_header header = {
        .magic = MXGPU_FATBIN_MAGIC,
        .version = MXGPU_FATBIN_VERSION,
        .count = 1,
        .total_size = at + content->len,
    };
    struct mxgpu_fatbin_entry entry = {.offset = at, .size = content->len};

    g_strlcpy(entry.target, target, sizeof(entry.target));
    g_byte_array_set_size(bytes, at);
    memset(bytes->data, 0, at);
    memcpy(bytes->data, &header, sizeof(header));
    memcpy(bytes->data + sizeof(header), &entry, sizeof(entry));
    return g_byte_array_append(bytes, content->data, content->len);
}

static mcError_t add(mcLinkState_t state, mcJitInputType type,
                     const GByteArray *data, const char *name)
{
    return mcLinkAddData(state, type, data->data, data->len, name, 0, NULL,
                         NULL);
}

static mcLinkState_t begin(void)
{
    mcLinkState_t state = NULL;

    ok(mcLinkCreate(0, NULL, NULL, &state));
    g_assert_nonnull(state);
    return state;
}

/* ---- tests ---- */

static void test_state(void)
{
    g_autoptr(GByteArray) data = record();
    mcLinkState_t state = begin(), other = begin();
    void *image, *again;
    size_t size;

    g_assert_true(state != other);
    fails(mcErrorInvalidValue, mcLinkCreate(0, NULL, NULL, NULL));
    fails(mcErrorInvalidValue, mcLinkComplete(state, &image, &size));
    ok(add(state, mcJitInputObject, data, NULL));
    fails(mcErrorInvalidValue, mcLinkComplete(state, NULL, &size));
    fails(mcErrorInvalidValue, mcLinkComplete(state, &image, NULL));
    script(SUCCEED);
    ok(mcLinkComplete(state, &image, &size));
    g_assert_cmpuint(size, ==, env_image_size);
    g_assert_cmpint(memcmp(image, env_image, size), ==, 0);
    ok(mcLinkComplete(state, &again, &size));
    g_assert_true(again == image);
    fails(mcErrorInvalidHandle, add(state, mcJitInputObject, data, "late"));
    fails(mcErrorInvalidHandle, mcLinkAddFile(state, mcJitInputObject, tool, 0,
                                              NULL, NULL));
    ok(mcLinkDestroy(state));
    fails(mcErrorInvalidValue, mcLinkDestroy(state));
    fails(mcErrorInvalidValue, mcLinkDestroy(NULL));
    fails(mcErrorInvalidValue, mcLinkComplete(state, &image, &size));
    fails(mcErrorInvalidHandle, add(state, mcJitInputObject, data, "gone"));
    fails(mcErrorInvalidHandle, mcLinkAddFile((mcLinkState_t)&size,
                                              mcJitInputObject, tool, 0, NULL,
                                              NULL));
    ok(mcLinkDestroy(other));
}

/* What the linker makes outlives the state as a module. */
static void test_module(void)
{
    g_autoptr(GByteArray) data = record();
    mcLinkState_t state = begin();
    mcModule_t module;
    mcFunction_t function;
    void *image;
    size_t size;

    script(SUCCEED);
    ok(add(state, mcJitInputObject, data, "a"));
    ok(mcLinkComplete(state, &image, &size));
    ok(mcModuleLoadData(&module, image));
    ok(mcLinkDestroy(state));
    ok(mcModuleGetFunction(&function, module, "k_empty"));
    ok(mcModuleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    ok(mcDeviceSynchronize());
    ok(mcModuleUnload(module));
}

static void test_inputs(void)
{
    g_autoptr(GByteArray) data = record();
    g_autoptr(GByteArray) file = object(MXGPU_RDC_SECTION, data);
    g_autoptr(GByteArray) archive = library(file);
    g_autoptr(GByteArray) fat = fatbin(MXGPU_FATBIN_RELOCATABLE, data);
    g_autofree char *path = g_build_filename(folder, "x.a", NULL);
    mcLinkState_t state = begin();
    void *image;
    size_t size;

    g_assert_true(g_file_set_contents(path, (char *)archive->data,
                                      archive->len, NULL));
    ok(add(state, mcJitInputObject, data, NULL));
    ok(add(state, mcJitInputObject, file, "../a b;c.o"));
    ok(add(state, mcJitInputObject, archive, "-x"));
    ok(add(state, mcJitInputLibrary, archive, "folder/lib.a"));
    ok(add(state, mcJitInputObject, fat, "..."));
    ok(add(state, mcJitInputFatBinary, fat, ""));
    ok(mcLinkAddFile(state, mcJitInputLibrary, path, 0, NULL, NULL));
    fails(mcErrorInvalidKernelImage, add(state, mcJitInputLibrary, file, "a"));
    fails(mcErrorInvalidKernelImage, add(state, mcJitInputFatBinary, archive,
                                         "a"));
    fails(mcErrorInvalidValue, add(state, 1, data, "a"));
    fails(mcErrorInvalidValue, add(state, 99, data, "a"));
    fails(mcErrorInvalidValue, mcLinkAddData(state, mcJitInputObject, NULL, 1,
                                             "a", 0, NULL, NULL));
    fails(mcErrorInvalidValue, mcLinkAddData(state, mcJitInputObject,
                                             data->data, 0, "a", 0, NULL,
                                             NULL));
    script("cat 0/* 1/* >/dev/null || exit 1\n" SUCCEED);
    ok(mcLinkComplete(state, &image, &size));
    g_autofree char *arguments = result("arguments");
    g_assert_cmpstr(arguments, ==,
                    "-dlink -fatbin -o linked.fatbin 0/input.o 1/a_b_c.o "
                    "2/-x.a 3/lib.a 4/....o 5/.o 6/x.a");
    /* Nothing is left of it. */
    g_autofree char *where = result("where");
    g_assert_false(g_file_test(where, G_FILE_TEST_EXISTS));
    ok(mcLinkDestroy(state));
}

static void test_files(void)
{
    g_autofree char *path = g_build_filename(folder, "no such file", NULL);
    g_autofree char *empty = g_build_filename(folder, "empty", NULL);
    mcLinkState_t state = begin();

    g_assert_true(g_file_set_contents(empty, "", 0, NULL));
    fails(mcErrorFileNotFound, mcLinkAddFile(state, mcJitInputObject, path, 0,
                                             NULL, NULL));
    fails(mcErrorInvalidKernelImage, mcLinkAddFile(state, mcJitInputObject,
                                                   empty, 0, NULL, NULL));
    fails(mcErrorInvalidKernelImage, mcLinkAddFile(state, mcJitInputObject,
                                                   folder, 0, NULL, NULL));
    g_assert_cmpint(mkfifo(path, 0600), ==, 0);
    fails(mcErrorInvalidKernelImage, mcLinkAddFile(state, mcJitInputObject,
                                                   path, 0, NULL, NULL));
    g_assert_cmpint(g_unlink(path), ==, 0);
    fails(mcErrorInvalidValue, mcLinkAddFile(state, mcJitInputObject, NULL, 0,
                                             NULL, NULL));
    fails(mcErrorInvalidValue, mcLinkAddFile(state, 77, tool, 0, NULL, NULL));
    ok(mcLinkDestroy(state));
}

/* Every prefix and every changed byte: an error that is documented, or
 * nothing; and no byte is read that is not there. */
static void attack(mcLinkState_t state, const GByteArray *data)
{
    long page = sysconf(_SC_PAGESIZE);
    size_t room = (data->len + page - 1) / page * page;
    uint8_t *memory = mmap(NULL, room + page, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    unsigned step = data->len > 2000 ? 97 : 1;

    g_assert_true(memory != MAP_FAILED);
    g_assert_cmpint(munmap(memory + room, page), ==, 0);
    for (unsigned size = 1; size < data->len; size += step) {
        uint8_t *end = memory + room - size;

        memcpy(end, data->data, size);
        mcError_t error = mcLinkAddData(state, mcJitInputObject, end, size,
                                        "cut", 0, NULL, NULL);
        g_assert_true(error == mcErrorInvalidKernelImage ||
                      error == mcErrorNoKernelImageForDevice ||
                      (error == mcSuccess && size + 4 >= data->len));
        /* The rest is said to be there. */
        fails(mcErrorInvalidKernelImage,
              mcLinkAddData(state, mcJitInputObject, end, data->len, "cut", 0,
                            NULL, NULL));
    }
    uint8_t *start = memory + room - data->len;
    memcpy(start, data->data, data->len);
    for (unsigned i = 0; i < data->len; i += data->len > 2000 && i > 200
                                                 ? step : 1) {
        for (unsigned bit = 0; bit < 8; bit += 7) {
            start[i] ^= 1u << bit;
            mcError_t error = mcLinkAddData(state, mcJitInputObject, start,
                                            data->len, "flip", 0, NULL, NULL);
            g_assert_true(error == mcSuccess ||
                          error == mcErrorInvalidKernelImage ||
                          error == mcErrorNoKernelImageForDevice);
            start[i] ^= 1u << bit;
        }
    }
    munmap(memory, room);
}

static void test_damaged(void)
{
    g_autoptr(GByteArray) data = record();
    g_autoptr(GByteArray) file = object(MXGPU_RDC_SECTION, data);
    g_autoptr(GByteArray) plain = object(".text", data);
    g_autoptr(GByteArray) archive = library(file);
    g_autoptr(GByteArray) hollow = library(plain);
    g_autoptr(GByteArray) fat = fatbin(MXGPU_FATBIN_RELOCATABLE, data);
    g_autoptr(GByteArray) image = fatbin(MXGPU_FATBIN_TARGET, data);
    g_autoptr(GByteArray) thin = library(file);
    mcLinkState_t state = begin();

    memcpy(thin->data, "!<thin>\n", SARMAG);
    fails(mcErrorInvalidKernelImage, add(state, 0, thin, "thin.a"));
    fails(mcErrorNoKernelImageForDevice, add(state, 0, plain, "plain.o"));
    fails(mcErrorNoKernelImageForDevice, add(state, 0, hollow, "plain.a"));
    fails(mcErrorNoKernelImageForDevice, add(state, 0, image, "linked"));
    attack(state, data);
    attack(state, file);
    attack(state, archive);
    attack(state, fat);
    ok(mcLinkDestroy(state));
}

/* A code object is the result, if it is alone. */
static void test_linked(void)
{
    g_autoptr(GByteArray) data = record();
    g_autoptr(GByteArray) image = g_byte_array_new();
    mcLinkState_t state = begin();
    void *result;
    size_t size;

    g_byte_array_append(image, env_image, (guint)env_image_size);
    g_autoptr(GByteArray) fat = fatbin(MXGPU_FATBIN_TARGET, image);
    ok(add(state, mcJitInputObject, image, "linked"));
    fails(mcErrorNoKernelImageForDevice,
          add(state, mcJitInputObject, data, "more"));
    fails(mcErrorNoKernelImageForDevice,
          add(state, mcJitInputObject, image, "again"));
    ok(mcLinkComplete(state, &result, &size));
    g_assert_cmpuint(size, ==, env_image_size);
    g_assert_cmpint(memcmp(result, env_image, size), ==, 0);
    fails(mcErrorInvalidHandle, add(state, mcJitInputObject, data, "late"));
    ok(mcLinkDestroy(state));

    state = begin();
    ok(add(state, mcJitInputObject, data, "first"));
    fails(mcErrorNoKernelImageForDevice,
          add(state, mcJitInputObject, image, "linked"));
    ok(mcLinkDestroy(state));

    state = begin();
    ok(add(state, mcJitInputObject, fat, "fat"));
    ok(mcLinkComplete(state, &result, &size));
    g_assert_cmpuint(size, ==, fat->len);
    ok(mcLinkDestroy(state));
}

static uintptr_t value_of(void *value)
{
    return (uintptr_t)value;
}

static void test_logs(void)
{
    g_autoptr(GByteArray) data = record();
    mcJitOption options[] = {
        mcJitOptionInfoLogBuffer, mcJitOptionInfoLogBufferSizeBytes,
        mcJitOptionErrorLogBuffer, mcJitOptionErrorLogBufferSizeBytes,
        mcJitOptionWallTime,
    };
    char info[64], errors[16];
    void *values[] = {info, (void *)sizeof(info), errors,
                      (void *)sizeof(errors), NULL};
    mcLinkState_t state;
    void *image;
    size_t size;
    float ms;

    memset(info, 'x', sizeof(info));
    memset(errors, 'x', sizeof(errors));
    ok(mcLinkCreate(5, options, values, &state));
    g_assert_cmpstr(info, ==, "");
    g_assert_cmpstr(errors, ==, "");
    ok(add(state, mcJitInputObject, data, "a"));
    g_assert_cmpuint(value_of(values[1]), ==, 0);
    g_assert_cmpuint(value_of(values[3]), ==, 0);
    script("echo bad >&2\nexit 1\n");
    fails(mcErrorInvalidKernelImage, mcLinkComplete(state, &image, &size));
    g_assert_cmpstr(errors, ==, "bad\n");
    g_assert_cmpuint(value_of(values[3]), ==, 4);
    fails(mcErrorInvalidKernelImage,
          mcLinkAddData(state, 0, errors, 16, "thing", 0, NULL, NULL));
    g_assert_cmpstr(errors, ==, "bad\nerror: thin"); /* as much as fits */
    g_assert_cmpuint(value_of(values[3]), ==, 15);
    script("echo told\necho also >&2\n" SUCCEED);
    ok(mcLinkComplete(state, &image, &size));
    g_assert_cmpstr(info, ==, "told\nalso\n");
    g_assert_cmpuint(value_of(values[1]), ==, 10);
    g_assert_cmpuint(value_of(values[3]), ==, 15);
    memcpy(&ms, &values[4], sizeof(ms));
    g_assert_cmpfloat(ms, >, 0);
    g_assert_cmpfloat(ms, <, 1e7);
    ok(mcLinkDestroy(state));
}

static mcError_t create(mcJitOption option, uintptr_t value)
{
    void *values[] = {(void *)value};
    mcLinkState_t state;
    mcError_t error = mcLinkCreate(1, &option, values, &state);

    if (error == mcSuccess) {
        ok(mcLinkDestroy(state));
    }
    return error;
}

static const struct {
    mcJitOption option;
    uintptr_t good, bad;
} compiler_options[] = {
    {mcJitOptionMaxRegisters, 32, (uintptr_t)1 << 40},
    {mcJitOptionThreadsPerBlock, 256, (uintptr_t)1 << 40},
    {mcJitOptionOptimizationLevel, 4, 5},
    {mcJitOptionFallbackStrategy, 1, 2},
    {mcJitOptionCacheMode, 2, 3},
};

static void test_options(void)
{
    mcJitOption option = mcJitOptionLogVerbose;
    mcLinkState_t state;
    void *none = NULL;

    fails(mcErrorInvalidValue, mcLinkCreate(1, NULL, &none, &state));
    fails(mcErrorInvalidValue, mcLinkCreate(1, &option, NULL, &state));
    for (size_t i = 0; i < G_N_ELEMENTS(compiler_options); i++) {
        ok(create(compiler_options[i].option, compiler_options[i].good));
        fails(mcErrorInvalidValue, create(compiler_options[i].option,
                                          compiler_options[i].bad));
    }
    ok(create(mcJitOptionTargetFromContext, 0));
    ok(create(mcJitOptionTarget, 100));
    fails(mcErrorInvalidValue, create(mcJitOptionTarget, 80));
    fails(mcErrorInvalidValue, create(mcJitOptionNumOptions, 0));
    fails(mcErrorInvalidValue, create(-1, 0));
    /* A buffer without a size has none, and a size no buffer. */
    ok(create(mcJitOptionInfoLogBuffer, (uintptr_t)&state));
    ok(create(mcJitOptionErrorLogBufferSizeBytes, 1000));
}

static void check_words(unsigned count, mcJitOption *options, void **values,
                        const char *expected)
{
    g_autoptr(GByteArray) data = record();
    g_autofree char *all = g_strdup_printf(
        "-dlink -fatbin -o linked.fatbin %s0/a.o", expected);
    mcLinkState_t state;
    void *image;
    size_t size;

    script(SUCCEED);
    ok(mcLinkCreate(count, options, values, &state));
    ok(add(state, mcJitInputObject, data, "a"));
    ok(mcLinkComplete(state, &image, &size));
    ok(mcLinkDestroy(state));
    g_autofree char *arguments = result("arguments");
    g_assert_cmpstr(arguments, ==, all);
}

/* What becomes of them. */
static void test_linker_options(void)
{
    mcJitOption options[] = {
        mcJitOptionOptimizationLevel, mcJitOptionGenerateDebugInfo,
        mcJitOptionLogVerbose,
    };
    void *values[] = {(void *)1, (void *)1, (void *)1};
    mcJitOption lines = mcJitOptionGenerateLineInfo;

    check_words(3, options, values, "-O1 -g -resource-usage ");
    values[0] = (void *)4;
    values[1] = values[2] = NULL;
    check_words(3, options, values, "-O3 ");
    values[0] = (void *)1;
    check_words(1, &lines, values, "-lineinfo ");
}

static void test_input_options(void)
{
    g_autoptr(GByteArray) data = record();
    static const mcJitOption refused[] = {
        mcJitOptionWallTime, mcJitOptionInfoLogBuffer,
        mcJitOptionInfoLogBufferSizeBytes, mcJitOptionErrorLogBuffer,
        mcJitOptionErrorLogBufferSizeBytes, mcJitOptionTargetFromContext,
        mcJitOptionTarget, mcJitOptionNumOptions,
    };
    mcLinkState_t state = begin();
    mcJitOption option = mcJitOptionOptimizationLevel;
    void *value = (void *)100;

    for (size_t i = 0; i < G_N_ELEMENTS(refused); i++) {
        option = refused[i];
        fails(mcErrorInvalidValue,
              mcLinkAddData(state, 0, data->data, data->len, "a", 1, &option,
                            &value));
        fails(mcErrorInvalidValue, mcLinkAddFile(state, 0, tool, 1, &option,
                                                 &value));
    }
    option = mcJitOptionOptimizationLevel;
    fails(mcErrorInvalidValue, mcLinkAddData(state, 0, data->data, data->len,
                                             "a", 1, &option, &value));
    value = (void *)2;
    ok(mcLinkAddData(state, 0, data->data, data->len, "a", 1, &option,
                     &value));
    fails(mcErrorInvalidValue, mcLinkAddData(state, 0, data->data, data->len,
                                             "a", 1, &option, NULL));
    fails(mcErrorInvalidValue, mcLinkAddFile(state, 0, tool, 1, NULL, &value));
    ok(mcLinkDestroy(state));
}

/* However the process ends. */
static void test_tool(void)
{
    g_autoptr(GByteArray) data = record();
    mcLinkState_t state = begin(), none;
    void *image;
    size_t size;

    ok(add(state, mcJitInputObject, data, "a"));
    script("exit 3\n");
    fails(mcErrorJitCompilerNotFound, mcLinkComplete(state, &image, &size));
    script("kill -9 $$\n");
    fails(mcErrorOperatingSystem, mcLinkComplete(state, &image, &size));
    script("exit 0\n"); /* and no image */
    fails(mcErrorOperatingSystem, mcLinkComplete(state, &image, &size));
    g_unlink(tool);
    fails(mcErrorJitCompilerNotFound, mcLinkComplete(state, &image, &size));
    fails(mcErrorJitCompilerNotFound, mcLinkCreate(0, NULL, NULL, &none));
    g_assert_true(g_file_set_contents(tool, "#!/no/such/program\n", -1, NULL));
    g_assert_cmpint(chmod(tool, 0700), ==, 0);
    fails(mcErrorJitCompilerNotFound, mcLinkComplete(state, &image, &size));
    script("i=0\nwhile [ $i -lt 30000 ]; do\n"
           "echo 'a message that nobody will ever read to its end'\n"
           "i=$((i + 1)); done\n" SUCCEED);
    ok(mcLinkComplete(state, &image, &size));
    ok(mcLinkDestroy(state));
    setenv("TMPDIR", "/no/such/folder", 1);
    state = begin();
    ok(add(state, mcJitInputObject, data, "a"));
    fails(mcErrorOperatingSystem, mcLinkComplete(state, &image, &size));
    unsetenv("TMPDIR");
    /* Nobody gets a status: what is there counts. */
    signal(SIGCHLD, SIG_IGN);
    script("exit 1\n");
    fails(mcErrorInvalidKernelImage, mcLinkComplete(state, &image, &size));
    script(SUCCEED);
    ok(mcLinkComplete(state, &image, &size));
    signal(SIGCHLD, SIG_DFL);
    ok(mcLinkDestroy(state));
}

static gpointer complete(gpointer opaque)
{
    void *image;
    size_t size;

    return GINT_TO_POINTER(mcLinkComplete(opaque, &image, &size));
}

/* Of four that complete one state the first links; who destroys it meanwhile
 * takes nothing from them. */
static void test_threads(void)
{
    g_autoptr(GByteArray) data = record();
    g_autofree char *path = g_build_filename(folder, "begun", NULL);
    mcLinkState_t state = begin();
    GThread *threads[4];

    script("echo >\"$MACA_PATH/begun\"\n"
           "while [ -e \"$MACA_PATH/begun\" ]; do sleep 0.01; done\n" SUCCEED);
    ok(add(state, mcJitInputObject, data, "a"));
    for (size_t i = 0; i < G_N_ELEMENTS(threads); i++) {
        threads[i] = g_thread_new("complete", complete, state);
    }
    while (!g_file_test(path, G_FILE_TEST_EXISTS)) {
        g_usleep(1000);
    }
    ok(mcLinkDestroy(state));
    g_assert_cmpint(g_unlink(path), ==, 0);
    int successes = 0;
    for (size_t i = 0; i < G_N_ELEMENTS(threads); i++) {
        int error = GPOINTER_TO_INT(g_thread_join(threads[i]));

        /* One that came late found no state. */
        g_assert_true(error == mcSuccess || error == mcErrorInvalidValue);
        successes += error == mcSuccess;
    }
    g_assert_cmpint(successes, >=, 1);
}

static void prepare(void)
{
    g_autofree char *bin = NULL, *image = NULL;

    folder = g_dir_make_tmp("test-link-XXXXXX", NULL);
    g_assert_nonnull(folder);
    bin = g_build_filename(folder, "mxgpu_llvm", "bin", NULL);
    image = g_build_filename(folder, "image", NULL);
    tool = g_build_filename(bin, "mxcc", NULL);
    g_assert_cmpint(g_mkdir_with_parents(bin, 0700), ==, 0);
    g_assert_true(g_file_set_contents(image, (const char *)env_image,
                                      env_image_size, NULL));
    unsetenv("TMPDIR");
    setenv("MACA_PATH", folder, 1);
    script(SUCCEED);
}

static void clean_up(void)
{
    static const char *const names[] = {
        "mxgpu_llvm/bin/mxcc", "mxgpu_llvm/bin", "mxgpu_llvm", "image", "x.a",
        "arguments", "where", "empty", "",
    };

    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autofree char *path = g_build_filename(folder, names[i], NULL);

        g_assert_cmpint(g_remove(path), ==, 0);
    }
    g_free(folder);
    g_free(tool);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    prepare();
    g_test_add_func("/link/state", test_state);
    g_test_add_func("/link/module", test_module);
    g_test_add_func("/link/inputs", test_inputs);
    g_test_add_func("/link/files", test_files);
    g_test_add_func("/link/damaged", test_damaged);
    g_test_add_func("/link/linked", test_linked);
    g_test_add_func("/link/logs", test_logs);
    g_test_add_func("/link/options", test_options);
    g_test_add_func("/link/linker-options", test_linker_options);
    g_test_add_func("/link/input-options", test_input_options);
    g_test_add_func("/link/tool", test_tool);
    g_test_add_func("/link/threads", test_threads);
    int status = g_test_run();
    clean_up();
    return status;
}
