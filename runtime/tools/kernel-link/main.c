/* SPDX-License-Identifier: MIT */
/* mx-kernel-link: command line, and the stages in order. */
#include "kl.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <llvm-c/Analysis.h>
#include <llvm-c/BitReader.h>
#include <llvm-c/BitWriter.h>
#include <llvm-c/Linker.h>
#include <llvm-c/Support.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>

#define CPU "generic-rv64"
#define FEATURES "+m,+a,+f,+d,+c,+zicsr,+zba,+zbb,+zicond,+zfh,+experimental-zacas"
#define MAX_LINK_ARGS 32
#define MAX_LLVM_ARGS 32

enum { EMIT_CONTAINER, EMIT_ELF, EMIT_ASM, EMIT_BITCODE };

typedef struct Options {
    const char *output, *temps, *lld, *names, *libs[MAX_LINK_ARGS];
    const char *llvm[MAX_LLVM_ARGS];
    unsigned lib_count, llvm_count;
    char opt;       /* 0 1 2 3 s z */
    bool debug, lines, usage, verify;
    int emit;
    const char **inputs, **lazy;
    unsigned input_count, lazy_count;
} Options;

static const char *color(const char *code)
{
    return isatty(2) ? code : "";
}

void kl_error(const char *fmt, ...)
{
    va_list ap;

    fprintf(stderr, "mxcc: %serror:%s ", color("\033[1;31m"), color("\033[0m"));
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
}

void kl_kernel_error(const KlKernel *kernel, const char *fmt, ...)
{
    va_list ap;

    fprintf(stderr, "%s:%u: %serror:%s kernel %s: ", kernel->file,
            kernel->line, color("\033[1;31m"), color("\033[0m"), kernel->name);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
}

void *kl_alloc(size_t size)
{
    void *p = calloc(1, size ? size : 1);

    if (!p) {
        kl_error("out of memory");
        exit(1);
    }
    return p;
}

char *kl_printf(const char *fmt, ...)
{
    va_list ap;
    char *s;

    va_start(ap, fmt);
    if (vasprintf(&s, fmt, ap) < 0) {
        kl_error("out of memory");
        exit(1);
    }
    va_end(ap);
    return s;
}

void *kl_read_file(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    long end = -1;
    void *data = NULL;

    if (f && !fseek(f, 0, SEEK_END) && (end = ftell(f)) >= 0) {
        rewind(f);
        data = kl_alloc(end);
        if (fread(data, 1, end, f) != (size_t)end) {
            free(data);
            data = NULL;
        }
    }
    if (!data) {
        kl_error("%s: %s", path, strerror(errno));
    }
    if (f) {
        fclose(f);
    }
    *size = end < 0 ? 0 : end;
    return data;
}

bool kl_write_file(const char *path, const void *data, size_t size)
{
    FILE *f = fopen(path, "wb");
    bool ok = f && fwrite(data, 1, size, f) == size;

    if (f && fclose(f)) {
        ok = false;
    }
    if (!ok) {
        kl_error("%s: %s", path, strerror(errno));
    }
    return ok;
}

static void diagnose(LLVMDiagnosticInfoRef info, void *opaque)
{
    char *text = LLVMGetDiagInfoDescription(info);
    bool *failed = opaque;

    switch (LLVMGetDiagInfoSeverity(info)) {
    case LLVMDSError:
        *failed = true;
        kl_error("%s", text);
        break;
    case LLVMDSWarning:
        fprintf(stderr, "mxcc: warning: %s\n", text);
        break;
    default:
        break;
    }
    LLVMDisposeMessage(text);
}

static bool verify(LLVMModuleRef module, const char *where)
{
    char *message = NULL;
    bool broken = LLVMVerifyModule(module, LLVMReturnStatusAction, &message);

    if (broken) {
        kl_error("%s: damaged bitcode: %s", where, message);
    }
    LLVMDisposeMessage(message);
    return !broken;
}

static LLVMModuleRef read_module(Kl *kl, const char *path)
{
    LLVMMemoryBufferRef buffer;
    LLVMModuleRef module;
    char *message = NULL;

    if (LLVMCreateMemoryBufferWithContentsOfFile(path, &buffer, &message)) {
        kl_error("%s: %s", path, message);
        return NULL;
    }
    if (LLVMParseBitcodeInContext2(kl->ctx, buffer, &module)) {
        kl_error("%s: not LLVM bitcode", path);
        return NULL;
    }
    if (!verify(module, path)) {
        return NULL;
    }
    kl_name_kernels(module);
    return module;
}

static bool read_modules(Kl *kl, const Options *o)
{
    LLVMModuleRef *lazy = kl_alloc((o->lazy_count + 1) * sizeof(*lazy));

    for (unsigned i = 0; i < o->input_count; i++) {
        LLVMModuleRef module = read_module(kl, o->inputs[i]);

        if (!module) {
            return false;
        }
        if (!kl->module) {
            kl->module = module;
        } else if (LLVMLinkModules2(kl->module, module)) {
            return false;
        }
    }
    for (unsigned i = 0; i < o->lazy_count; i++) {
        lazy[i] = read_module(kl, o->lazy[i]);
        if (!lazy[i]) {
            return false;
        }
    }
    return kl_link_needed(kl, lazy, o->lazy_count);
}

static LLVMTargetMachineRef target_machine(const Options *o)
{
    const char *triple = "riscv64-unknown-elf";
    LLVMTargetRef target;
    char *message = NULL;
    LLVMCodeGenOptLevel level = o->opt == '0' ? LLVMCodeGenLevelNone
                                : o->opt == '3' ? LLVMCodeGenLevelAggressive
                                                : LLVMCodeGenLevelDefault;

    LLVMInitializeRISCVTargetInfo();
    LLVMInitializeRISCVTarget();
    LLVMInitializeRISCVTargetMC();
    LLVMInitializeRISCVAsmPrinter();
    LLVMInitializeRISCVAsmParser();
    if (LLVMGetTargetFromTriple(triple, &target, &message)) {
        kl_error("%s", message);
        return NULL;
    }
    return LLVMCreateTargetMachine(target, triple, CPU, FEATURES, level,
                                   LLVMRelocPIC, LLVMCodeModelMedium);
}

/* -O1 to -O3: loops are unrolled, and registers allocated over functions. What would
 * make functions of parts of others, where size counts, comes later, and knows nothing
 * of this. */
static bool is_for_speed(const Options *o)
{
    return o->opt >= '1' && o->opt <= '3';
}

/*
 * Of a warp every instruction counts, and its bytes do not: loops are unrolled
 * further than for a processor. mxcc asks for the target's way of doing it
 * (no-default-unroll); the default one leaves loops alone that it cannot unroll
 * completely. Blocks stay in the order of kl_order(), and are not copied into
 * those before them, which would keep lanes from meeting there. An index of
 * names in the debug information would not have those of inlined functions,
 * and gdb finds no others if there is one.
 */
static void set_llvm_options(const Options *o)
{
    const char *argv[MAX_LLVM_ARGS + 16] = {
        "mxcc", "-unroll-max-count=8", "-unroll-partial-threshold=400",
        "-unroll-runtime=false", /* at first: see transform() */
        "-disable-block-placement", "-disable-early-taildup",
        "-disable-tail-duplicate",
        "-accel-tables=Disable",
    };
    int n = 0;

    while (argv[n]) {
        n++;
    }
    if (is_for_speed(o)) {
        argv[n++] = "-enable-ipra";
        argv[n++] = "-enable-machine-outliner=never";
    }
    for (unsigned i = 0; i < o->llvm_count; i++) {
        size_t name = strcspn(o->llvm[i], "=");

        for (int j = 1; j < n; j++) { /* LLVM takes most only once */
            if (strcspn(argv[j], "=") == name &&
                !strncmp(argv[j], o->llvm[i], name)) {
                argv[j] = argv[--n];
            }
        }
        argv[n++] = o->llvm[i];
    }
    argv[n] = NULL;
    LLVMParseCommandLineOptions(n, argv, "mx-kernel-link");
}

static bool run_passes(Kl *kl, LLVMTargetMachineRef tm, const char *passes)
{
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef error;

    LLVMPassBuilderOptionsSetLoopVectorization(options, false);
    LLVMPassBuilderOptionsSetSLPVectorization(options, false);
    LLVMPassBuilderOptionsSetLoopUnrolling(options, true);
    error = LLVMRunPasses(kl->module, passes, tm, options);
    LLVMDisposePassBuilderOptions(options);
    if (error) {
        char *message = LLVMGetErrorMessage(error);

        kl_error("%s", message);
        LLVMDisposeErrorMessage(message);
        return false;
    }
    return true;
}

/* Loops whose number of turns is known when they run. */
#define UNROLL                                                                 \
    "function(loop-unroll<O2;runtime;no-partial;no-peeling>,"                  \
    "instcombine<no-verify-fixpoint>,loop-mssa(licm),simplifycfg)"

/* From the modules as clang wrote them to one ready for code generation. */
static bool transform(Kl *kl, const Options *o, LLVMTargetMachineRef tm,
                      const char *list)
{
    char *passes = kl_printf("default<O%c>", o->opt);
    KlReach *reach;

    if (!kl_find_kernels(kl)) {
        return false;
    }
    if (!kl_lower_launches(kl)) {
        return false;
    }
    kl_shared_prepare(kl);
    for (unsigned i = 0; i < kl->count; i++) {
        if (!kl_make_entry(kl, &kl->kernels[i])) {
            return false;
        }
    }
    if (!kl_localize(kl, list)) {
        return false;
    }
    if (!kl->debug) {
        LLVMStripModuleDebugInfo(kl->module);
    } else if (o->lines && !run_passes(kl, tm, "strip-nonlinetable-debuginfo")) {
        return false;
    }
    if (!verify(kl->module, "before optimisation") || !run_passes(kl, tm, passes)) {
        return false;
    }
    if (is_for_speed(o)) {
        kl_unroll_uniform(kl);
        if (!run_passes(kl, tm, UNROLL)) {
            return false;
        }
    }
    reach = kl_reach_new(kl);
    for (unsigned i = 0; i < kl->count; i++) {
        if (kl_reaches_library(reach, i)) {
            kl_add_tls(kl, &kl->kernels[i]);
        }
    }
    if (!kl_shared_place(kl, reach)) {
        return false;
    }
    kl_place_constants(kl, reach);
    kl_emit_descs(kl, reach);
    kl_order(kl);
    if (is_for_speed(o)) {
        kl_free_registers(kl);
    }
    return verify(kl->module, "before code generation");
}

static bool emit(Kl *kl, LLVMTargetMachineRef tm, const char *path,
                 LLVMCodeGenFileType type)
{
    char *message = NULL;

    if (LLVMTargetMachineEmitToFile(tm, kl->module, path, type, &message)) {
        kl_error("%s", message);
        return false;
    }
    return true;
}

static bool run(const char *const argv[])
{
    int status;
    pid_t pid = fork();

    if (!pid) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* as the process that waits */
        execvp(argv[0], (char *const *)argv);
        kl_error("%s: %s", argv[0], strerror(errno));
        _exit(127);
    }
    if (pid < 0 || waitpid(pid, &status, 0) < 0) {
        kl_error("%s: %s", argv[0], strerror(errno));
        return false;
    }
    return WIFEXITED(status) && !WEXITSTATUS(status);
}

static bool link_image(const Options *o, const char *object, const char *list,
                       const char *image)
{
    const char *argv[MAX_LINK_ARGS + 32] = {
        o->lld, "-m", "elf64lriscv", "-pie", "--no-dynamic-linker",
        "-z", "notext", "-z", "relro", "-z", "max-page-size=4096",
        "-z", "separate-code", "--apply-dynamic-relocs", "--gc-sections",
        "--hash-style=sysv", "--build-id=none", "-X", "-e", "0", "-u",
        "__mx_kernel_descs", "-u", MXGPU_KERNEL_FACTS, "--dynamic-list", list, "-o", image, object,
    };
    unsigned n = 0;

    while (argv[n]) {
        n++;
    }
    if (!o->debug) {
        argv[n++] = "--strip-debug";
    }
    for (unsigned i = 0; i < o->lib_count; i++) {
        argv[n++] = o->libs[i];
    }
    return run(argv);
}

static void report_usage(const Kl *kl)
{
    for (unsigned i = 0; i < kl->count; i++) {
        const KlKernel *k = &kl->kernels[i];

        fprintf(stderr, "%s:%u: kernel %s: %u registers, %llu bytes shared, ",
                k->file, k->line, k->name, k->registers,
                (unsigned long long)k->static_shared);
        if (k->private_bytes) {
            fprintf(stderr, "%llu bytes stack, ",
                    (unsigned long long)k->private_bytes);
        } else {
            fprintf(stderr, "stack not known (%s), ", k->why_unknown);
        }
        fprintf(stderr, "%llu bytes of arguments\n",
                (unsigned long long)k->arg_size);
    }
}

static void usage(void)
{
    fputs("usage: mx-kernel-link [options] FILE.bc...\n"
          "  -o FILE        output\n"
          "  -O LEVEL       0 1 2 3 s z\n"
          "  --temps DIR    for intermediate files\n"
          "  --lld PROGRAM  linker\n"
          "  --lib FILE     device library or object; may be repeated\n"
          "  --lazy FILE    bitcode that takes part if others need it; likewise\n"
          "  --llvm OPTION  for LLVM, after our own; may be repeated\n"
          "  --debug        keep debug information\n"
          "  --lines        keep line tables only\n"
          "  --emit KIND    container, elf, asm or bitcode, which is the input\n"
          "  --names FILE   where to write what name expressions denote\n"
          "  --usage        report resources of each kernel\n",
          stderr);
}

static bool parse(Options *o, int argc, char **argv)
{
    enum { TEMPS = 256, LLD, LIB, LAZY, LLVM, DEBUG, LINES, EMIT, USAGE,
           NAMES };
    static const struct option longs[] = {
        { "temps", required_argument, NULL, TEMPS },
        { "lld", required_argument, NULL, LLD },
        { "lib", required_argument, NULL, LIB },
        { "lazy", required_argument, NULL, LAZY },
        { "llvm", required_argument, NULL, LLVM },
        { "debug", no_argument, NULL, DEBUG },
        { "lines", no_argument, NULL, LINES },
        { "emit", required_argument, NULL, EMIT },
        { "usage", no_argument, NULL, USAGE },
        { "names", required_argument, NULL, NAMES },
        { 0 },
    };
    int c;

    o->lazy = kl_alloc(argc * sizeof(*o->lazy));
    while ((c = getopt_long(argc, argv, "o:O:", longs, NULL)) >= 0) {
        switch (c) {
        case 'o':
            o->output = optarg;
            break;
        case 'O':
            o->opt = strchr("0123sz", optarg[0]) ? optarg[0] : '3';
            break;
        case TEMPS:
            o->temps = optarg;
            break;
        case LLD:
            o->lld = optarg;
            break;
        case LIB:
            if (o->lib_count == MAX_LINK_ARGS) {
                return false;
            }
            o->libs[o->lib_count++] = optarg;
            break;
        case LAZY:
            o->lazy[o->lazy_count++] = optarg;
            break;
        case LLVM:
            if (o->llvm_count == MAX_LLVM_ARGS) {
                return false;
            }
            o->llvm[o->llvm_count++] = optarg;
            break;
        case DEBUG:
            o->debug = true;
            break;
        case LINES:
            o->debug = o->lines = true;
            break;
        case EMIT:
            o->emit = !strcmp(optarg, "asm") ? EMIT_ASM
                      : !strcmp(optarg, "elf") ? EMIT_ELF
                      : !strcmp(optarg, "bitcode") ? EMIT_BITCODE
                                                   : EMIT_CONTAINER;
            break;
        case NAMES:
            o->names = optarg;
            break;
        case USAGE:
            o->usage = true;
            break;
        default:
            return false;
        }
    }
    o->inputs = (const char **)argv + optind;
    o->input_count = argc - optind;
    return o->output && o->temps && o->input_count;
}

/* A pass ends with its process and frees nothing; a sanitizer build need not
 * list it all. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "detect_leaks=0";
}

static int work(void *opaque)
{
    const Options *o = opaque;
    Kl kl = { 0 };
    LLVMTargetMachineRef tm;
    char *list = kl_printf("%s/device.list", o->temps);
    char *object = kl_printf("%s/device.o", o->temps);
    char *image = kl_printf("%s/device.elf", o->temps);
    bool failed = false;

    kl.ctx = LLVMGetGlobalContext();
    kl.debug = o->debug;
    LLVMContextSetDiagnosticHandler(kl.ctx, diagnose, &failed);
    set_llvm_options(o);
    tm = target_machine(o);
    if (!tm || !read_modules(&kl, o)) {
        return 1;
    }
    kl_guard_input_read();
    if (o->names && !kl_take_names(&kl, o->names)) {
        return 1;
    }
    if (o->emit == EMIT_BITCODE) {
        return LLVMWriteBitcodeToFile(kl.module, o->output) != 0;
    }
    if (!transform(&kl, o, tm, list)) {
        return 1;
    }
    if (o->emit == EMIT_ASM) {
        return !emit(&kl, tm, o->output, LLVMAssemblyFile) || failed;
    }
    if (!emit(&kl, tm, object, LLVMObjectFile) || failed ||
        !link_image(o, object, list, image) ||
        !kl_finish_image(&kl, image, o->output, o->emit == EMIT_CONTAINER)) {
        return 1;
    }
    if (o->usage) {
        report_usage(&kl);
    }
    return 0;
}

int main(int argc, char **argv)
{
    Options o = { .opt = '3', .lld = "ld.lld-19" };
    bool ok;

    if (!parse(&o, argc, argv)) {
        usage();
        return 2;
    }
    o.output = kl_output_begin(o.output, o.temps);
    if (!o.output) {
        return 1;
    }
    ok = !kl_guard(work, &o);
    return !kl_output_end(ok) || !ok;
}
