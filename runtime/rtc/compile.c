/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "compile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "compiler/compiler.h"
#include "names.h"
#include "options.h"
#include "text.h"

#define TEXT_MAX (16u << 20) /* bytes of messages that are kept */
#define WORDS_OWN 40

/* One compilation. */
typedef struct Run {
    McRtcProgram *program;
    McRtcOptions options;
    McText log;
    char folder[MC_COMPILER_FOLDER];
    McRtcFolders folders;
    char *source, *output, *names; /* paths */
    void *code;
    size_t code_size;
} Run;

/* ---- what it reads ---- */

/* The program's text in its own folder, where its headers are found first. */
static mcrtcResult write_source(Run *run)
{
    const McRtcProgram *p = run->program;
    McText text = {0};

    if (run->options.default_device) {
        mc_text_printf(&text, "#pragma clang force_cuda_host_device begin\n");
    }
    mc_text_printf(&text, "#line 1 ");
    mc_text_quote(&text, p->name);
    mc_text_printf(&text, "\n");
    mc_text_add(&text, p->source, strlen(p->source));
    mc_text_printf(&text, "\n\n");
    if (run->options.default_device) {
        mc_text_printf(&text, "#pragma clang force_cuda_host_device end\n");
    }
    mc_rtc_names_declare(p->names, p->name_count, &text);
    if (text.failed) {
        mc_text_free(&text);
        return MCRTC_ERROR_OUT_OF_MEMORY;
    }
    bool written = mc_compiler_write(run->source, text.data, text.size);
    if (!written) {
        mc_text_printf(&run->log, "mcrtc: error: no file for the source: %s\n",
                       strerror(errno));
    }
    mc_text_free(&text);
    return written ? MCRTC_SUCCESS : MCRTC_ERROR_BUILTIN_OPERATION_FAILURE;
}

static mcrtcResult write_all(Run *run)
{
    const McRtcProgram *p = run->program;
    const McRtcHeader *culprit;

    if (!mc_rtc_headers_write(p->headers, p->header_count, run->folder,
                              &run->folders, &culprit)) {
        mc_text_printf(&run->log,
                       "mcrtc: error: header '%.200s' cannot be written: %s\n",
                       culprit ? culprit->name : "", strerror(errno));
        return culprit ? MCRTC_ERROR_INVALID_INPUT
                       : MCRTC_ERROR_BUILTIN_OPERATION_FAILURE;
    }
    if (asprintf(&run->source, "%s-program-", run->folders.first) < 0) {
        run->source = NULL;
        return MCRTC_ERROR_OUT_OF_MEMORY;
    }
    return write_source(run);
}

/* ---- the compiler ---- */

static const char *const languages[] = {
    [MCRTC_LANGUAGE_MACA] = "maca",
    [MCRTC_LANGUAGE_CUDA] = "cu",
    [MCRTC_LANGUAGE_HIP] = "hip",
};

/* Where the source would be, for its own #include "...": not for <...>, as
 * there may be anything. */
static char *source_folder(const char *name)
{
    const char *slash = strrchr(name, '/');

    if (!slash) {
        return strdup(".");
    }
    return strndup(name, slash == name ? 1 : slash - name);
}

/* argv: room for all; near: the folder of the source. */
static void words(const Run *run, const char *tool, const char *near,
                  char **argv)
{
    static const char *const macros[] = {
        [MCRTC_LANGUAGE_MACA] = "-D__MACACC_RTC__=1",
        [MCRTC_LANGUAGE_CUDA] = "-D__CUDACC_RTC__=1",
        [MCRTC_LANGUAGE_HIP] = "-D__HIPCC_RTC__=1",
    };
    const McRtcOptions *o = &run->options;
    const char *own[WORDS_OWN] = {
        tool, "-cubin", "-o", run->output, "-I", run->folders.first,
        "-idirafter", run->folders.last, macros[run->program->language],
    };
    size_t n = 9;

    if (o->relocatable) {
        own[n++] = "-rdc=true";
    }
    if (run->program->name_count) {
        own[n++] = "-mcrtc-names";
        own[n++] = run->names;
    }
    if (run->folders.overlay) {
        own[n++] = "-ivfsoverlay";
        own[n++] = run->folders.overlay;
    }
    if (!o->no_source_folder) {
        own[n++] = "-iquote";
        own[n++] = near;
    }
    memcpy(argv, own, n * sizeof(*argv));
    for (size_t i = 0; i < o->count; i++) {
        argv[n++] = o->words[i];
    }
    argv[n++] = (char *)"-x";
    argv[n++] = (char *)languages[run->program->language];
    argv[n++] = run->source;
    argv[n] = NULL;
}

/* What mxcc calls an option it does not know; it asks clang, whose options
 * are let through. */
static bool is_option_error(const char *text)
{
    return strstr(text, "error: unknown argument") ||
           strstr(text, "error: invalid value '") ||
           strstr(text, "error: invalid integral value '") ||
           strstr(text, "error: unsupported option '");
}

static mcrtcResult result_of(mcError_t error, Run *run, const char *text)
{
    switch ((int)error) {
    case mcSuccess:
        return MCRTC_SUCCESS;
    case mcErrorInvalidKernelImage:
        return is_option_error(text) ? MCRTC_ERROR_INVALID_OPTION
                                     : MCRTC_ERROR_COMPILATION;
    case mcErrorMemoryAllocation:
        return MCRTC_ERROR_OUT_OF_MEMORY;
    case mcErrorJitCompilerNotFound:
        mc_text_printf(&run->log, "mcrtc: error: mxcc, or what it needs, is "
                                  "not installed\n");
        return MCRTC_ERROR_BUILTIN_OPERATION_FAILURE;
    default:
        mc_text_printf(&run->log, "mcrtc: error: the compiler was ended\n");
        return MCRTC_ERROR_BUILTIN_OPERATION_FAILURE;
    }
}

/* Bytes of a path of ours that messages are better without. */
static size_t ours(const Run *run, const char *at)
{
    const char *const folders[] = {run->folders.first, run->folders.last};

    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        size_t size = folders[i] ? strlen(folders[i]) : 0;

        if (size && strncmp(at, folders[i], size) == 0) {
            return size;
        }
    }
    return 0;
}

/* Messages name headers and programs as their makers did. */
static void add_messages(Run *run, const char *text)
{
    const char *at;

    while ((at = strstr(text, run->folder))) {
        size_t skip = ours(run, at);

        mc_text_add(&run->log, text, at - text + !skip);
        text = at + (skip ? skip : 1);
    }
    mc_text_add(&run->log, text, strlen(text));
}

static mcrtcResult run_tool(Run *run, char *const *argv)
{
    McCompilerRun how = {
        .argv = argv,
        .folder = run->folder,
        .output = run->output,
        .text_max = TEXT_MAX,
    };
    char *text;
    mcError_t error = mc_compiler_run(&how, &text);

    add_messages(run, text ? text : "");
    mcrtcResult result = result_of(error, run, text ? text : "");
    free(text);
    if (result == MCRTC_SUCCESS) {
        result = result_of(mc_compiler_read(run->output, &run->code,
                                            &run->code_size),
                           run, "");
    }
    return result;
}

static mcrtcResult call_tool(Run *run)
{
    char tool[PATH_MAX];
    char *near = source_folder(run->program->name);
    char **argv = calloc(run->options.count + WORDS_OWN, sizeof(*argv));
    mcrtcResult result = MCRTC_ERROR_OUT_OF_MEMORY;

    if (!mc_compiler_find(tool, sizeof(tool))) {
        result = result_of(mcErrorJitCompilerNotFound, run, "");
    } else if (near && argv) {
        words(run, tool, near, argv);
        result = run_tool(run, argv);
    }
    free(near);
    free(argv);
    return result;
}

static mcrtcResult read_names(Run *run)
{
    McRtcProgram *p = run->program;
    void *text;
    size_t size;

    if (!p->name_count) {
        return MCRTC_SUCCESS;
    }
    mcError_t error = mc_compiler_read(run->names, &text, &size);
    if (error != mcSuccess) {
        return error == mcErrorMemoryAllocation ? MCRTC_ERROR_OUT_OF_MEMORY
                                                : MCRTC_ERROR_INTERNAL_ERROR;
    }
    mcrtcResult result = mc_rtc_names_read(p->names, p->name_count, text,
                                           &run->log);
    free(text);
    return result;
}

/* ---- one compilation ---- */

static mcrtcResult in_folder(Run *run)
{
    if (asprintf(&run->output, "%s/code", run->folder) < 0) {
        run->output = NULL;
        return MCRTC_ERROR_OUT_OF_MEMORY;
    }
    if (asprintf(&run->names, "%s/names", run->folder) < 0) {
        run->names = NULL;
        return MCRTC_ERROR_OUT_OF_MEMORY;
    }
    mcrtcResult result = write_all(run);
    if (result == MCRTC_SUCCESS) {
        result = call_tool(run);
    }
    return result == MCRTC_SUCCESS ? read_names(run) : result;
}

static mcrtcResult compile(Run *run, int count, const char *const *options)
{
    if (!mc_rtc_options_read(&run->options, count, options, &run->log)) {
        return run->options.failed ? MCRTC_ERROR_OUT_OF_MEMORY
                                   : MCRTC_ERROR_INVALID_OPTION;
    }
    if (!mc_compiler_folder_make(run->folder, "mcrtc")) {
        mc_text_printf(&run->log, "mcrtc: error: no folder for the compiler: "
                                  "%s\n", strerror(errno));
        return MCRTC_ERROR_BUILTIN_OPERATION_FAILURE;
    }
    mcrtcResult result = in_folder(run);
    mc_compiler_folder_remove(run->folder);
    return result;
}

/* Under the lock of the program. */
static mcrtcResult replace(Run *run, mcrtcResult result)
{
    McRtcProgram *p = run->program;

    if (result == MCRTC_SUCCESS && run->log.failed) {
        result = MCRTC_ERROR_OUT_OF_MEMORY;
    }
    p->tried = true;
    free(p->log);
    p->log = run->log.data;
    run->log = (McText){0};
    free(p->code);
    p->code = NULL;
    p->code_size = 0;
    if (result == MCRTC_SUCCESS) {
        p->code = run->code;
        p->code_size = run->code_size;
        run->code = NULL;
    } else {
        mc_error("%s is not compiled: %.1000s", p->name,
                 p->log ? p->log : "no memory");
    }
    return result;
}

mcrtcResult mc_rtc_compile(McRtcProgram *program, int count,
                           const char *const *options)
{
    Run *run = calloc(1, sizeof(*run));

    if (!run) {
        return MCRTC_ERROR_OUT_OF_MEMORY;
    }
    run->program = program;
    pthread_mutex_lock(&program->lock);
    mcrtcResult result = replace(run, compile(run, count, options));
    pthread_mutex_unlock(&program->lock);
    mc_rtc_options_free(&run->options);
    mc_rtc_folders_free(&run->folders);
    free(run->source);
    free(run->output);
    free(run->names);
    free(run->code);
    free(run);
    return result;
}
