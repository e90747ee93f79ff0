/* SPDX-License-Identifier: MIT */
/*
 * Programs, options, headers as files and errors of libmcrtc. mxcc is a script
 * here, which does what a test wants of it; test-compile.c has the real one.
 */
#include <glib.h>
#include <glib/gstdio.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "mcr/mcrtc.h"

#define SOURCE "__global__ void k() {}"

static char *folder; /* MACA_PATH: the script, and what it says of its call */
static char *tool;
static char *temps;  /* TMPDIR */

/* In the script: $out is where code goes, $src the source. */
#define PARSE                                                                  \
    "for word; do\n"                                                           \
    "  case $last in -o) out=$word ;; -mcrtc-names) names=$word ;;\n"          \
    "  -idirafter) after=$word ;; -ivfsoverlay) overlay=$word ;;\n"            \
    "  esac\n"                                                                 \
    "  [ \"$last\" = -I ] && [ -z \"$first\" ] && first=$word\n"               \
    "  last=$word\n"                                                           \
    "done\n"                                                                   \
    "src=$last\n"
#define SUCCEED "printf code >\"$out\"\n"

static void expect(mcrtcResult got, mcrtcResult want, int line)
{
    if (got != want) {
        g_error("line %d: %s, expected %s", line, mcrtcGetErrorString(got),
                mcrtcGetErrorString(want));
    }
}
#define gives(result, call) expect(call, MCRTC_##result, __LINE__)
#define ok(call)            gives(SUCCESS, call)

static void script(const char *body)
{
    g_autofree char *text = g_strdup_printf(
        "#!/bin/sh\nprintf '%%s\\n' \"$@\" >\"$MACA_PATH/arguments\"\n" PARSE
        "%s", body);

    g_unlink(tool);
    g_assert_true(g_file_set_contents(tool, text, -1, NULL));
    g_assert_cmpint(chmod(tool, 0700), ==, 0);
}

static char *result(const char *name)
{
    g_autofree char *path = g_build_filename(folder, name, NULL);
    char *text = NULL;

    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    return text;
}

/* Whether mxcc was given these words, one behind the other. */
static bool was_given(const char *words)
{
    g_autofree char *arguments = result("arguments");
    g_autofree char *line = g_strdup_printf("\n%s\n", words);
    g_strdelimit(line, " ", '\n');

    return strstr(arguments, line) != NULL;
}

static mcrtcProgram create(void)
{
    mcrtcProgram program = NULL;

    ok(mcrtcCreateProgram(&program, SOURCE, "k.cu", 0, NULL, NULL));
    g_assert_nonnull(program);
    return program;
}

static char *log_of(mcrtcProgram program)
{
    size_t size = 0;

    ok(mcrtcGetProgramLogSize(program, &size));
    char *log = g_malloc0(size);
    ok(mcrtcGetProgramLog(program, log));
    g_assert_cmpuint(strlen(log) + 1, ==, size);
    return log;
}

static bool says(mcrtcProgram program, const char *text)
{
    g_autofree char *log = log_of(program);

    if (!strstr(log, text)) {
        g_test_message("log: %s", log);
    }
    return strstr(log, text) != NULL;
}

static unsigned left_behind(void)
{
    GDir *dir = g_dir_open(temps, 0, NULL);
    unsigned count = 0;

    while (g_dir_read_name(dir)) {
        count++;
    }
    g_dir_close(dir);
    return count;
}

/* ---- tests ---- */

static void test_queries(void)
{
    int major = -1, minor = -1, count = 0, archs[4] = {0};

    ok(mcrtcVersion(&major, &minor));
    g_assert_cmpint(major, ==, 1);
    g_assert_cmpint(minor, ==, 0);
    gives(ERROR_INVALID_INPUT, mcrtcVersion(NULL, &minor));
    gives(ERROR_INVALID_INPUT, mcrtcVersion(&major, NULL));
    ok(mcrtcGetNumSupportedArchs(&count));
    g_assert_cmpint(count, ==, 1);
    ok(mcrtcGetSupportedArchs(archs));
    g_assert_cmpint(archs[0], ==, 100);
    g_assert_cmpint(archs[1], ==, 0);
    gives(ERROR_INVALID_INPUT, mcrtcGetNumSupportedArchs(NULL));
    gives(ERROR_INVALID_INPUT, mcrtcGetSupportedArchs(NULL));
    g_assert_cmpstr(mcrtcGetErrorString(MCRTC_SUCCESS), ==, "MCRTC_SUCCESS");
    g_assert_cmpstr(mcrtcGetErrorString(MCRTC_ERROR_INTERNAL_ERROR), ==,
                    "MCRTC_ERROR_INTERNAL_ERROR");
    g_assert_cmpstr(mcrtcGetErrorString((mcrtcResult)12), ==,
                    "MCRTC_ERROR unknown");
    g_assert_cmpstr(mcrtcGetErrorString((mcrtcResult)-1), ==,
                    "MCRTC_ERROR unknown");
}

static void test_create(void)
{
    const char *text[] = {"int a;", NULL}, *names[] = {"a.h", NULL};
    mcrtcProgram p = NULL, gone;

    gives(ERROR_INVALID_INPUT,
          mcrtcCreateProgram(NULL, SOURCE, "k", 0, NULL, NULL));
    gives(ERROR_INVALID_INPUT,
          mcrtcCreateProgram(&p, NULL, "k", 0, NULL, NULL));
    gives(ERROR_INVALID_INPUT,
          mcrtcCreateProgram(&p, SOURCE, "k", -1, NULL, NULL));
    gives(ERROR_INVALID_INPUT,
          mcrtcCreateProgram(&p, SOURCE, "k", 1, NULL, names));
    gives(ERROR_INVALID_INPUT,
          mcrtcCreateProgram(&p, SOURCE, "k", 1, text, NULL));
    gives(ERROR_INVALID_INPUT,
          mcrtcCreateProgram(&p, SOURCE, "k", 2, text, names));
    g_assert_null(p);
    ok(mcrtcCreateProgram(&p, SOURCE, NULL, 1, text, names));
    gone = p;
    ok(mcrtcDestroyProgram(&p));
    g_assert_null(p);
    gives(ERROR_INVALID_PROGRAM, mcrtcDestroyProgram(&p));
    gives(ERROR_INVALID_PROGRAM, mcrtcDestroyProgram(NULL));
    gives(ERROR_INVALID_PROGRAM, mcrtcDestroyProgram(&gone));
}

static void test_header_names(void)
{
    g_autofree char *part = g_strnfill(256, 'x');
    g_autofree char *all = g_strnfill(701, 'x');
    g_autofree char *up = g_strdup("x.h");
    const char *bad[] = {"", "a/", ".", "..", "a/..", part, all};
    const char *text = "";
    mcrtcProgram p = NULL;

    for (unsigned i = 0; i < 700; i += 100) {
        all[i] = '/';
    }
    for (unsigned i = 0; i < G_N_ELEMENTS(bad); i++) {
        gives(ERROR_INVALID_INPUT,
              mcrtcCreateProgram(&p, SOURCE, "k", 1, &text, &bad[i]));
    }
    for (unsigned i = 0; i < 65; i++) {
        char *longer = g_strconcat("../", up, NULL);

        g_free(up);
        up = longer;
    }
    const char *name = up;
    gives(ERROR_INVALID_INPUT,
          mcrtcCreateProgram(&p, SOURCE, "k", 1, &text, &name));
    name = up + 3;
    ok(mcrtcCreateProgram(&p, SOURCE, "k", 1, &text, &name));
    ok(mcrtcDestroyProgram(&p));
}

/* No call takes what is no program. */
static void test_handles(void)
{
    mcrtcProgram p = create(), gone = p, bad[] = {NULL, NULL, NULL};
    const char *lowered;
    size_t size;
    char byte;

    ok(mcrtcDestroyProgram(&p));
    bad[1] = gone;
    bad[2] = (mcrtcProgram)&size;
    for (unsigned i = 0; i < G_N_ELEMENTS(bad); i++) {
        gives(ERROR_INVALID_PROGRAM, mcrtcCompileProgram(bad[i], 0, NULL));
        gives(ERROR_INVALID_PROGRAM, mcrtcGetProgramLogSize(bad[i], &size));
        gives(ERROR_INVALID_PROGRAM, mcrtcGetProgramLog(bad[i], &byte));
        gives(ERROR_INVALID_PROGRAM, mcrtcGetCodeSize(bad[i], &size));
        gives(ERROR_INVALID_PROGRAM, mcrtcGetCode(bad[i], &byte));
        gives(ERROR_INVALID_PROGRAM, mcrtcGetPTXSize(bad[i], &size));
        gives(ERROR_INVALID_PROGRAM, mcrtcGetPTX(bad[i], &byte));
        gives(ERROR_INVALID_PROGRAM, mcrtcGetBitcodeSize(bad[i], &size));
        gives(ERROR_INVALID_PROGRAM, mcrtcGetBitcode(bad[i], &byte));
        gives(ERROR_INVALID_PROGRAM, mcrtcAddNameExpression(bad[i], "k"));
        gives(ERROR_INVALID_PROGRAM,
              mcrtcGetLoweredName(bad[i], "k", &lowered));
    }
}

static void test_results(void)
{
    mcrtcProgram p = create();
    char code[8] = "", ptx[8] = "", bitcode[8] = "";
    size_t size = 0;

    gives(ERROR_INVALID_PROGRAM, mcrtcGetCodeSize(p, &size));
    gives(ERROR_INVALID_PROGRAM, mcrtcGetPTX(p, ptx));
    g_assert_true(says(p, ""));
    script("echo a word\n" SUCCEED);
    ok(mcrtcCompileProgram(p, 0, NULL));
    ok(mcrtcGetCodeSize(p, &size));
    g_assert_cmpuint(size, ==, 4);
    ok(mcrtcGetPTXSize(p, &size));
    g_assert_cmpuint(size, ==, 4);
    ok(mcrtcGetBitcodeSize(p, &size));
    g_assert_cmpuint(size, ==, 4);
    ok(mcrtcGetCode(p, code));
    ok(mcrtcGetPTX(p, ptx));
    ok(mcrtcGetBitcode(p, bitcode));
    g_assert_cmpstr(code, ==, "code");
    g_assert_cmpstr(ptx, ==, "code");
    g_assert_cmpstr(bitcode, ==, "code");
    g_assert_true(says(p, "a word\n"));
    gives(ERROR_INVALID_INPUT, mcrtcGetCodeSize(p, NULL));
    gives(ERROR_INVALID_INPUT, mcrtcGetCode(p, NULL));
    gives(ERROR_INVALID_INPUT, mcrtcGetPTXSize(p, NULL));
    gives(ERROR_INVALID_INPUT, mcrtcGetPTX(p, NULL));
    gives(ERROR_INVALID_INPUT, mcrtcGetBitcodeSize(p, NULL));
    gives(ERROR_INVALID_INPUT, mcrtcGetBitcode(p, NULL));
    gives(ERROR_INVALID_INPUT, mcrtcGetProgramLogSize(p, NULL));
    gives(ERROR_INVALID_INPUT, mcrtcGetProgramLog(p, NULL));
    gives(ERROR_INVALID_INPUT, mcrtcCompileProgram(p, -1, NULL));
    gives(ERROR_INVALID_INPUT, mcrtcCompileProgram(p, 1, NULL));
    ok(mcrtcGetCode(p, code));
    /* Once more, in vain: the old code goes. */
    script("echo broken; exit 1\n");
    gives(ERROR_COMPILATION, mcrtcCompileProgram(p, 0, NULL));
    gives(ERROR_INVALID_PROGRAM, mcrtcGetCode(p, code));
    g_assert_true(says(p, "broken\n"));
    g_assert_false(says(p, "a word"));
    ok(mcrtcDestroyProgram(&p));
    g_assert_cmpuint(left_behind(), ==, 0);
}

static void test_failures(void)
{
    mcrtcProgram p = create();

    script("echo \"error: unknown argument: '-fx'\"; exit 1\n");
    gives(ERROR_INVALID_OPTION, mcrtcCompileProgram(p, 0, NULL));
    script("exit 3\n");
    gives(ERROR_BUILTIN_OPERATION_FAILURE, mcrtcCompileProgram(p, 0, NULL));
    g_assert_true(says(p, "not installed"));
    script("exit 2\n");
    gives(ERROR_BUILTIN_OPERATION_FAILURE, mcrtcCompileProgram(p, 0, NULL));
    script("kill -9 $$\n");
    gives(ERROR_BUILTIN_OPERATION_FAILURE, mcrtcCompileProgram(p, 0, NULL));
    g_assert_true(says(p, "ended"));
    script("exit 0\n"); /* and nothing made */
    gives(ERROR_BUILTIN_OPERATION_FAILURE, mcrtcCompileProgram(p, 0, NULL));
    g_unlink(tool);
    gives(ERROR_BUILTIN_OPERATION_FAILURE, mcrtcCompileProgram(p, 0, NULL));
    g_assert_true(says(p, "not installed"));
    g_setenv("TMPDIR", "/nowhere/at/all", true);
    script(SUCCEED);
    gives(ERROR_BUILTIN_OPERATION_FAILURE, mcrtcCompileProgram(p, 0, NULL));
    g_assert_true(says(p, "no folder"));
    g_setenv("TMPDIR", temps, true);
    ok(mcrtcCompileProgram(p, 0, NULL));
    ok(mcrtcDestroyProgram(&p));
    g_assert_cmpuint(left_behind(), ==, 0);
}

/* What each becomes; NULL: nothing. */
static void test_options(void)
{
    static const struct {
        const char *first, *second, *given;
    } good[] = {
        {"--gpu-architecture=compute_70", NULL, NULL},
        {"-arch=sm_90a", NULL, NULL},
        {"-arch", "sm_60", NULL},
        {"--offload-arch=gfx906:sramecc+:xnack-", NULL, NULL},
        {"--gpu-architecture=xcore1000", NULL, NULL},
        {"-arch=native", NULL, NULL},
        {"-DA=1", NULL, "-DA=1"},
        {"-D", "B", "-DB"},
        {"-D C", NULL, "-DC"},
        {"-D=D", NULL, "-DD"},
        {"--define-macro=E=2", NULL, "-DE=2"},
        {"--define-macro", "F", "-DF"},
        {"-UG", NULL, "-UG"},
        {"--undefine-macro=H", NULL, "-UH"},
        {"-I/i", NULL, "-I/i"},
        {"-I", "/j", "-I/j"},
        {"--include-path=/k", NULL, "-I/k"},
        {"--pre-include=l.h", NULL, "-include l.h"},
        {"-include", "m.h", "-include m.h"},
        {"-isystem", "/n", "-isystem /n"},
        {"--std=c++14", NULL, "-std=c++14"},
        {"-std=c++03", NULL, "-std=c++11"},
        {"-std", "c++20", "-std=c++20"},
        {"--use_fast_math", NULL, "-use_fast_math"},
        {"--fmad=false", NULL, "-fmad=false"},
        {"-fmad=true", NULL, "-fmad=true"},
        {"-ftz=true", NULL, "-ftz=true"},
        {"--prec-div=false", NULL, "-prec-div=false"},
        {"--prec-sqrt=true", NULL, "-prec-sqrt=true"},
        {"-lineinfo", NULL, "-lineinfo"},
        {"--generate-line-info", NULL, "-lineinfo"},
        {"-G", NULL, "-G"},
        {"--device-debug", NULL, "-G"},
        {"--dopt=on", NULL, "-dopt=on"},
        {"--ptxas-options=-v", NULL, "-Xptxas=-v"},
        {"--maxrregcount=32", NULL, NULL},
        {"-maxrregcount", "32", NULL},
        {"-w", NULL, "-w"},
        {"--disable-warnings", NULL, "-w"},
        {"-rdc=true", NULL, "-rdc=true"},
        {"--relocatable-device-code=true", NULL, "-rdc=true"},
        {"--device-c", NULL, "-rdc=true"},
        {"-dlto", NULL, "-rdc=true"},
        {"-fgpu-rdc", NULL, "-rdc=true"},
        {"--restrict", NULL, NULL},
        {"--device-int128", NULL, NULL},
        {"--version-ident=true", NULL, NULL},
        {"--diag-suppress=177", NULL, NULL},
        {"-O2", NULL, "-O2"},
        {"-Wall", NULL, "-Wall"},
        {"-ffast-math", NULL, "-ffast-math"},
        {"-g", NULL, "-g"},
        {"-mllvm", "-x=1", "-mllvm -x=1"},
        {"-no-source-include", NULL, NULL},
        {"-default-device", NULL, NULL},
    };
    const char *options[2 * G_N_ELEMENTS(good)];
    mcrtcProgram p = create();
    int count = 0;

    for (unsigned i = 0; i < G_N_ELEMENTS(good); i++) {
        options[count++] = good[i].first;
        if (good[i].second) {
            options[count++] = good[i].second;
        }
    }
    script(SUCCEED);
    ok(mcrtcCompileProgram(p, count, options));
    for (unsigned i = 0; i < G_N_ELEMENTS(good); i++) {
        if (good[i].given && !was_given(good[i].given)) {
            g_error("%s is not %s", good[i].first, good[i].given);
        }
        if (!good[i].given && was_given(good[i].first)) {
            g_error("%s is given", good[i].first);
        }
    }
    g_assert_false(was_given("-iquote"));
    const char *last[] = {"-rdc=true", "-dw"};
    ok(mcrtcCompileProgram(p, 2, last));
    g_assert_true(was_given("-iquote ."));
    g_assert_false(was_given("-rdc=true"));
    ok(mcrtcDestroyProgram(&p));
}

static void test_language(void)
{
    mcrtcProgram p = create();

    script(SUCCEED);
    ok(mcrtcCompileProgram(p, 0, NULL));
    g_assert_true(was_given("-x maca"));
    g_assert_true(was_given("-D__MACACC_RTC__=1"));
    ok(mcrtcSetLanguage(p, MCRTC_LANGUAGE_CUDA));
    ok(mcrtcCompileProgram(p, 0, NULL));
    g_assert_true(was_given("-x cu"));
    g_assert_true(was_given("-D__CUDACC_RTC__=1"));
    ok(mcrtcSetLanguage(p, MCRTC_LANGUAGE_HIP));
    gives(ERROR_INVALID_INPUT, mcrtcSetLanguage(p, (mcrtcLanguage)3));
    ok(mcrtcCompileProgram(p, 0, NULL));
    g_assert_true(was_given("-x hip"));
    g_assert_true(was_given("-D__HIPCC_RTC__=1"));
    ok(mcrtcDestroyProgram(&p));
    gives(ERROR_INVALID_PROGRAM, mcrtcSetLanguage(p, MCRTC_LANGUAGE_HIP));
}

static void test_bad_options(void)
{
    g_autofree char *huge = g_strnfill(1 << 20, 'x');
    const char *bad[] = {
        "--no-such-option", "", "-", "--", "---G", "source.cu", "@file", "-o",
        "-c", "-x", "--D=A", "-Wl,-x", "-fplugin=x.so", "-fsyntax-only",
        "-G=1", "--gpu-architecture", "-arch=", "-arch=sm_", "-arch=sm_7x",
        "-arch=z80", "--fmad=perhaps", "--maxrregcount=many", "-rdc=1",
        "--std=c17", "--dopt=off", "-D", huge, NULL,
    };
    mcrtcProgram p = create();

    script(SUCCEED);
    for (unsigned i = 0; i < G_N_ELEMENTS(bad); i++) {
        const char *options[] = {"-lineinfo", bad[i]};

        expect(mcrtcCompileProgram(p, 2, options), MCRTC_ERROR_INVALID_OPTION,
               i);
        g_autofree char *log = log_of(p);
        g_autofree char *name = g_strndup(bad[i] ? bad[i] : "", 200);
        g_assert_nonnull(strstr(log, name));
        g_assert_cmpuint(strlen(log), <, 400);
    }
    ok(mcrtcDestroyProgram(&p));
}

/* Files of headers and of the source: theirs only, and gone afterwards. */
static void test_files(void)
{
    const char *text[] = {"int a;", "int b;", "int t;", "int s;", "int u;",
                          "int again;"};
    const char *names[] = {"a.h", "dir/b.h", "type_traits", "/abs/\"s.h",
                           "../../u.h", "a.h"};
    mcrtcProgram p;

    ok(mcrtcCreateProgram(&p, SOURCE, "d/k\\.cu", 6, text, names));
    ok(mcrtcAddNameExpression(p, "k // not a comment"));
    script("cd \"$first\" && cat a.h dir/b.h ../../u.h \"$after/type_traits\" "
           "\"$src\" >\"$MACA_PATH/files\"\n"
           "cat \"$overlay\" >\"$MACA_PATH/overlay\"\n"
           "cd \"$TMPDIR\" && { stat -c %a . \"$src\"; "
           "find . -type f -perm /077; } >\"$MACA_PATH/modes\"\n"
           "printf '0 k_name\\n' >\"$names\"\n" SUCCEED);
    ok(mcrtcCompileProgram(p, 0, NULL));
    g_autofree char *files = result("files");
    g_assert_nonnull(strstr(files, "#line 1 \"a.h\"\nint a;"));
    g_assert_nonnull(strstr(files, "#line 1 \"dir/b.h\"\nint b;"));
    g_assert_nonnull(strstr(files, "#line 1 \"../../u.h\"\nint u;"));
    g_assert_nonnull(strstr(files, "#line 1 \"type_traits\"\nint t;"));
    g_assert_nonnull(strstr(files, "#line 1 \"d/k\\\\.cu\"\n" SOURCE "\n"));
    g_assert_nonnull(strstr(files, "\n&k // not a comment\n);\n"));
    g_assert_null(strstr(files, "again"));
    g_autofree char *overlay = result("overlay");
    g_assert_nonnull(strstr(overlay, "\"name\": \"/abs/\\\"s.h\""));
    g_autofree char *modes = result("modes");
    g_assert_cmpstr(modes, ==, "700\n600\n");
    g_assert_true(was_given("-iquote d"));
    ok(mcrtcDestroyProgram(&p));
    g_assert_cmpuint(left_behind(), ==, 0);
}

/* Headers of which one would be a folder of the other. */
static void test_clash(void)
{
    const char *text[] = {"", ""}, *names[] = {"a.h", "a.h/b.h"};
    const char *turned[] = {"a.h/b.h", "a.h"};
    mcrtcProgram p;

    script(SUCCEED);
    ok(mcrtcCreateProgram(&p, SOURCE, "k", 2, text, names));
    gives(ERROR_INVALID_INPUT, mcrtcCompileProgram(p, 0, NULL));
    g_assert_true(says(p, "'a.h/b.h'"));
    ok(mcrtcDestroyProgram(&p));
    ok(mcrtcCreateProgram(&p, SOURCE, "k", 2, text, turned));
    gives(ERROR_INVALID_INPUT, mcrtcCompileProgram(p, 0, NULL));
    g_assert_true(says(p, "'a.h'"));
    ok(mcrtcDestroyProgram(&p));
    g_assert_cmpuint(left_behind(), ==, 0);
}

static void test_names(void)
{
    mcrtcProgram p = create();
    const char *lowered = NULL;

    gives(ERROR_INVALID_INPUT, mcrtcAddNameExpression(p, NULL));
    ok(mcrtcAddNameExpression(p, "k"));
    ok(mcrtcAddNameExpression(p, "&v"));
    ok(mcrtcAddNameExpression(p, "k"));
    gives(ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION,
          mcrtcGetLoweredName(p, "k", &lowered));
    script("printf '1 second\\n0 first\\n' >\"$names\"\n" SUCCEED);
    ok(mcrtcCompileProgram(p, 0, NULL));
    ok(mcrtcGetLoweredName(p, "k", &lowered));
    g_assert_cmpstr(lowered, ==, "first");
    ok(mcrtcGetLoweredName(p, "&v", &lowered));
    g_assert_cmpstr(lowered, ==, "second");
    gives(ERROR_NAME_EXPRESSION_NOT_VALID,
          mcrtcGetLoweredName(p, "v", &lowered));
    gives(ERROR_INVALID_INPUT, mcrtcGetLoweredName(p, NULL, &lowered));
    gives(ERROR_INVALID_INPUT, mcrtcGetLoweredName(p, "k", NULL));
    gives(ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION,
          mcrtcAddNameExpression(p, "late"));
    /* One that is nothing to name, and what mxcc does not write. */
    script("printf '0 first\\n1 \\n' >\"$names\"\n" SUCCEED);
    gives(ERROR_COMPILATION, mcrtcCompileProgram(p, 0, NULL));
    g_assert_true(says(p, "'&v'"));
    const char *odd[] = {"0 first\\n", "0 first\\n2 x\\n", "0first\\n",
                         "x\\n", "0 first\\n1 second", "-1 x\\n"};
    for (unsigned i = 0; i < G_N_ELEMENTS(odd); i++) {
        g_autofree char *body = g_strdup_printf(
            "printf '%s' >\"$names\"\n" SUCCEED, odd[i]);

        script(body);
        expect(mcrtcCompileProgram(p, 0, NULL), MCRTC_ERROR_INTERNAL_ERROR, i);
    }
    script(SUCCEED); /* and no names */
    gives(ERROR_INTERNAL_ERROR, mcrtcCompileProgram(p, 0, NULL));
    ok(mcrtcDestroyProgram(&p));
}

/* Messages do not show where files were. */
static void test_log_folders(void)
{
    mcrtcProgram p = create();

    script("yes \"$first\"a.h | head -n 20000\n" SUCCEED);
    ok(mcrtcCompileProgram(p, 0, NULL));
    g_autofree char *log = log_of(p);
    g_assert_true(g_str_has_prefix(log, "a.h\na.h\n"));
    g_assert_cmpuint(strlen(log), ==, 20000 * strlen("a.h\n"));
    ok(mcrtcDestroyProgram(&p));
}

/* They are kept up to 16 MiB. */
static void test_long_log(void)
{
    mcrtcProgram p = create();
    size_t size;

    script("head -c 17000000 /dev/zero | tr '\\0' x\n" SUCCEED);
    ok(mcrtcCompileProgram(p, 0, NULL));
    ok(mcrtcGetProgramLogSize(p, &size));
    g_assert_cmpuint(size, ==, (16u << 20) + 1);
    g_autofree char *log = log_of(p);
    g_assert_cmpint(log[0], ==, 'x');
    ok(mcrtcDestroyProgram(&p));
}

int main(int argc, char **argv)
{
    const char *cleanup[] = {"rm", "-rf", NULL, NULL};

    g_test_init(&argc, &argv, NULL);
    folder = g_dir_make_tmp("test-rtc-XXXXXX", NULL);
    g_autofree char *bin = g_build_filename(folder, "mxgpu_llvm/bin", NULL);
    tool = g_build_filename(bin, "mxcc", NULL);
    temps = g_build_filename(folder, "temps", NULL);
    g_assert_cmpint(g_mkdir_with_parents(bin, 0700), ==, 0);
    g_assert_cmpint(g_mkdir(temps, 0700), ==, 0);
    g_setenv("MACA_PATH", folder, true);
    g_setenv("TMPDIR", temps, true);
    g_test_add_func("/rtc/queries", test_queries);
    g_test_add_func("/rtc/create", test_create);
    g_test_add_func("/rtc/header-names", test_header_names);
    g_test_add_func("/rtc/handles", test_handles);
    g_test_add_func("/rtc/results", test_results);
    g_test_add_func("/rtc/failures", test_failures);
    g_test_add_func("/rtc/options", test_options);
    g_test_add_func("/rtc/language", test_language);
    g_test_add_func("/rtc/bad-options", test_bad_options);
    g_test_add_func("/rtc/files", test_files);
    g_test_add_func("/rtc/clash", test_clash);
    g_test_add_func("/rtc/names", test_names);
    g_test_add_func("/rtc/log-folders", test_log_folders);
    g_test_add_func("/rtc/long-log", test_long_log);
    int status = g_test_run();
    cleanup[2] = folder;
    g_spawn_sync(NULL, (char **)cleanup, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL,
                 NULL, NULL, NULL, NULL);
    return status;
}
