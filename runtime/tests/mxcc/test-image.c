/* SPDX-License-Identifier: MIT */
/* What mxcc puts into kernel images. */
#include "image.h"
#include "run.h"

#include <stdlib.h>
#include <string.h>

/* Of the kernels in NAME.maca. */
static const char *assembly_of(const char *name)
{
    g_autofree char *source = g_strdup_printf("%s.maca", name);
    g_autofree char *assembly = g_strdup_printf("%s.s", name);
    const char *out;

    test_mxcc("-S", "-maca-device-only", source, NULL);
    g_assert_cmpint(test_run(&out, "cat", assembly, NULL), ==, 0);
    return out;
}

/* Offsets, sizes and alignments against what the host's compiler has. */
static void test_args(void)
{
    g_autofree char *source =
        g_build_filename(g_getenv("MXCC_TESTS"), "args.maca", NULL);
    g_auto(GStrv) lines = NULL;
    TestImage *im;
    const char *out;
    unsigned kernels = 0;

    test_mxcc("-std=c++20", source, "-o", "args", NULL);
    test_mxcc("-std=c++20", "-fatbin", source, "-o", "args.fatbin", NULL);
    g_assert_cmpint(test_run(&out, "./args", "layout", NULL), ==, 0);
    lines = g_strsplit(out, "\n", 0);
    im = test_image_open("args.fatbin");
    for (unsigned l = 0; lines[l] && *lines[l]; l++) {
        g_auto(GStrv) part = g_strsplit(lines[l], " ", 0);
        const struct mxgpu_kernel_desc *d = test_image_kernel(im, part[0]);

        g_assert_cmpuint(g_strv_length(part), ==, d->arg_count + 1);
        for (unsigned i = 0; i < d->arg_count; i++) {
            const struct mxgpu_kernel_arg *a = test_image_arg(im, d, i);
            g_autofree char *text = g_strdup_printf("%u:%u:%u", a->offset,
                                                    a->size, a->align);

            g_assert_cmpstr(part[i + 1], ==, text);
        }
        kernels++;
    }
    g_assert_cmpuint(kernels, ==, 16);
    test_image_free(im);
}

static void test_shared(void)
{
    static const char source[] =
        "__device__ __noinline__ int *common() {\n"
        "    __shared__ int c[100]; return c; }\n"
        "extern \"C\" __global__ void none(int *p) { *p = 1; }\n"
        "extern \"C\" __global__ void one(int *p) {\n"
        "    __shared__ int a[10]; a[*p] = 1; __syncthreads();\n"
        "    *p = a[p[1]]; }\n"
        "extern \"C\" __global__ void aligned(char *p) {\n"
        "    __shared__ char c; __shared__ __attribute__((aligned(64)))\n"
        "    char d[64]; c = p[1]; d[p[2]] = p[3]; __syncthreads();\n"
        "    p[4] = c + d[p[5]]; }\n"
        "extern \"C\" __global__ void first(int *p) { common()[*p] = 1;\n"
        "    __syncthreads(); *p = common()[p[1]]; }\n"
        "extern \"C\" __global__ void second(int *p) {\n"
        "    __shared__ double e[8]; e[*p] = *p; common()[*p] = 1;\n"
        "    __syncthreads(); *p = e[p[1]] + common()[p[2]]; }\n"
        "template <class T> __global__ void dynamic(T *p) {\n"
        "    extern __shared__ char memory[]; __shared__ T v[3];\n"
        "    v[*p > 0] = 1; memory[1] = 1; __syncthreads();\n"
        "    *p = v[*p > 1] + memory[*p > 2]; }\n"
        "template __global__ void dynamic<short>(short *);\n"
        "template __global__ void dynamic<double>(double *);\n";
    TestImage *im;
    guint32 small, large;

    test_file("shared.maca", source);
    test_mxcc("-fatbin", "shared.maca", NULL);
    im = test_image_open("shared.fatbin");
    g_assert_cmpuint(test_image_kernel(im, "none")->static_shared, ==, 0);
    g_assert_cmpuint(test_image_kernel(im, "one")->static_shared, ==, 40);
    g_assert_cmpuint(test_image_kernel(im, "aligned")->static_shared, ==, 65);
    g_assert_cmpuint(test_image_kernel(im, "first")->static_shared, ==, 400);
    g_assert_cmpuint(test_image_kernel(im, "second")->static_shared, ==, 464);
    small = test_image_kernel(im, "_Z7dynamicIsEvPT_")->static_shared;
    large = test_image_kernel(im, "_Z7dynamicIdEvPT_")->static_shared;
    g_assert_cmpuint(small, ==, large); /* one place for the array */
    g_assert_cmpuint(small, ==, 32);
    test_image_free(im);

    test_file("toomuch.maca",
              "extern \"C\" __global__ void greedy(int *p) {\n"
              "    __shared__ int a[16384], b; a[*p] = p[1]; b = p[2];\n"
              "    __syncthreads(); *p = a[p[3]] + b; }\n");
    test_mxcc_fails("toomuch.maca:1: error: kernel greedy: 65540 bytes of "
                    "__shared__", "-fatbin", "toomuch.maca", NULL);
    g_assert_false(g_file_test("toomuch.fatbin", G_FILE_TEST_EXISTS));
}

/* The optimiser must not take shared memory for that of one thread. */
static void test_shared_is_shared(void)
{
    const char *out;

    test_file("visible.maca",
              "__global__ void k(int *p) { __shared__ int s; s = 0;\n"
              "    __syncthreads(); atomicAdd(&s, 1); __syncthreads();\n"
              "    p[threadIdx.x] = s; }\n");
    out = assembly_of("visible");
    g_assert_nonnull(strstr(out, "amoadd.w"));
    g_assert_nonnull(strstr(out, "lui"));
}

static unsigned occurrences(const char *text, const char *part)
{
    unsigned n = 0;

    while ((text = strstr(text, part))) {
        text += strlen(part);
        n++;
    }
    return n;
}

/* One base a kernel, the rest is in the offsets of loads and stores: an
 * unrolled product of tiles has no other additions, and spills nothing. */
static void test_shared_offsets(void)
{
    const char *out;

    test_file("tile.maca",
              "extern \"C\" __global__ void tile(const float *p, float *q) {\n"
              "    __shared__ float a[16][16], b[16][16];\n"
              "    int x = threadIdx.x, y = threadIdx.y; float sum = 0;\n"
              "    a[y][x] = p[y * 16 + x]; b[x][y] = p[x * 16 + y];\n"
              "    __syncthreads();\n"
              "    for (int k = 0; k < 16; k++) sum += a[y][k] * b[k][x];\n"
              "    q[y * 16 + x] = sum; }\n");
    out = assembly_of("tile");
    g_assert_cmpuint(occurrences(out, "\tlui\t"), ==, 1);
    g_assert_cmpuint(occurrences(out, "\taddiw\t"), ==, 0);
    g_assert_cmpuint(occurrences(out, "(sp)"), ==, 0);
    g_assert_cmpuint(occurrences(out, "\tflw\t"), ==, 2 + 32);
}

/* Helpers are inlined and their loops unrolled. */
static void test_loops(void)
{
    const char *out;

    test_file("loop.maca",
              "static __device__ float dot(const float *a, const float *b,\n"
              "                            int n) {\n"
              "    float sum = 0;\n"
              "    for (int i = 0; i < n; i++) sum += a[i] * b[i];\n"
              "    return sum; }\n"
              "extern \"C\" __global__ void k(const float *a, float *b) {\n"
              "    *b = dot(a, b, 512); }\n");
    out = assembly_of("loop");
    /* the one call that names the entry point, which is not linked */
    g_assert_cmpuint(occurrences(out, "\tcall\tk\n"), ==, 1);
    g_assert_cmpuint(occurrences(out, "\tcall\t"), ==, 1);
    g_assert_cmpuint(occurrences(out, "\tfmadd.s\t"), ==, 8);
}

/* Nothing calls a kernel: it keeps no registers. Functions do, and what returns to
 * their callers. */
static void test_kept_registers(void)
{
    const char *out;

    test_file("kept.maca",
              "static __device__ __noinline__ int leaf(int n) {\n"
              "    asm volatile(\"\" : \"+r\"(n)); return n * n; }\n"
              "static __device__ __noinline__ int twice(int n) {\n"
              "    return leaf(n) + leaf(n + 1) * n; }\n"
              "extern \"C\" __global__ void k(int *p, int n) {\n"
              "    int before = p[1]; *p = twice(n) + before + n; }\n");
    out = assembly_of("kept");
    g_assert_cmpuint(occurrences(out, "\tsd\tra, "), ==, 1);
    g_assert_cmpuint(occurrences(out, "\tsd\ts0, "), ==, 1);
    out = strstr(out, "\nk:\n");
    g_assert_nonnull(out);
    g_assert_nonnull(strstr(out, "s0"));
    g_assert_null(strstr(out, "(sp)"));
}

/* How many products the code of a loop with n turns has. */
static unsigned products(const char *n)
{
    g_autofree char *text = g_strdup_printf(
        "static __device__ __noinline__ float sum_of(const float *a, int n) {\n"
        "    float sum = 0;\n"
        "    for (int i = 0; i < n; i++) sum += a[i] * a[i + 1024];\n"
        "    return sum; }\n"
        "extern \"C\" __global__ void k(const float *a, const int *p,\n"
        "                             float *b, int n) {\n"
        "    __shared__ int s[64]; int t = threadIdx.x, m = n;\n"
        "    s[t] = p[t]; if (t > 5) m = 7; __syncthreads();\n"
        "    b[t] = sum_of(a, %s); }\n", n);
    const char *out;

    test_file("turns.maca", text);
    out = assembly_of("turns");
    return occurrences(out, "\tfmadd.s\t");
}

/* Loops are unrolled where all lanes have as many turns, and nowhere else. */
static void test_turns(void)
{
    static const char *const same[] = {
        "n", "p[0]", "p[blockIdx.x] + n * gridDim.x", "s[n]",
    };
    static const char *const apart[] = {
        "t", "p[t]", "s[n - t]", "m", "atomicAdd((int *)p, 1)", "p[p[t]]",
        "n + (p[t] > 0 ? 1 : 2)",
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(same); i++) {
        g_assert_cmpuint(products(same[i]), >=, 8);
    }
    for (unsigned i = 0; i < G_N_ELEMENTS(apart); i++) {
        g_assert_cmpuint(products(apart[i]), ==, 1);
    }
}

static void test_symbols(void)
{
    TestImage *im;
    const Elf64_Sym *sym;

    test_file("vars.maca",
              "__device__ int counter[3] = {1, 2, 3};\n"
              "__constant__ double table[4];\n"
              "namespace n { __device__ char c; }\n"
              "static __device__ int unused;\n"
              "__device__ int helper(int x) { return x + counter[1]; }\n"
              "__global__ void __launch_bounds__(128) k(double *p) {\n"
              "    *p = helper(1) + table[1] + n::c; }\n"
              "namespace { __global__ void hidden(int *p) { *p = 1; } }\n"
              "static __global__ void local(int *p) { *p = 2; }\n"
              "void use() { hidden<<<1, 1>>>(nullptr);\n"
              "    local<<<1, 1>>>(nullptr); }\n");
    test_mxcc("-fatbin", "vars.maca", NULL);
    im = test_image_open("vars.fatbin");
    sym = test_image_symbol(im, "counter");
    g_assert_nonnull(sym);
    g_assert_cmpuint(sym->st_size, ==, 12);
    g_assert_nonnull(test_image_at(im, sym->st_value, 12, PF_R | PF_W));
    sym = test_image_symbol(im, "table");
    g_assert_nonnull(sym);
    g_assert_cmpuint(sym->st_size, ==, 32);
    g_assert_nonnull(test_image_symbol(im, "_ZN1n1cE"));
    g_assert_null(test_image_symbol(im, "_Z6helperi"));
    g_assert_cmpuint(test_image_kernel(im, "_Z1kPd")->max_threads, ==, 128);
    g_assert_cmpuint(im->count, ==, 3);
    g_assert_false(test_image_has_section(im, ".debug_info"));
    test_image_free(im);
    test_mxcc("-g", "-fatbin", "vars.maca", NULL);
    im = test_image_open("vars.fatbin");
    g_assert_true(test_image_has_section(im, ".debug_info"));
    test_image_free(im);
    test_mxcc("-lineinfo", "-fatbin", "vars.maca", NULL);
    im = test_image_open("vars.fatbin");
    g_assert_true(test_image_has_section(im, ".debug_line"));
    test_image_free(im);
}

/* The C library, its thread-local errno, helper functions, deep stacks. */
static void test_library(void)
{
    static const char source[] =
        "extern \"C\" __global__ void libm(float *f, double *d) {\n"
        "    int i = threadIdx.x, e;\n"
        "    f[i] = sinf(f[i]) + std::pow(f[i], 1.5f) + expf(f[i])\n"
        "        + std::fmod(f[i], 3.0f) + tgammaf(f[i]) + atan2f(f[i], 2);\n"
        "    d[i] = cos(d[i]) + log(d[i]) + frexp(d[i], &e) + fmod(d[i], 7)\n"
        "        + sqrt(d[i]) + hypot(d[i], 1.0) + lgamma(d[i]); }\n"
        "extern \"C\" __global__ void wide(unsigned __int128 *p) {\n"
        "    p[0] = p[1] / p[2]; }\n"
        "__device__ __noinline__ int fib(int n) {\n"
        "    return n < 2 ? n : fib(n - 1) + fib(n - 2); }\n"
        "extern \"C\" __global__ void recursive(int *p) { *p = fib(*p); }\n"
        "__device__ __noinline__ int deep(int *p) {\n"
        "    volatile int a[1000]; a[*p] = 1; return a[p[1]]; }\n"
        "extern \"C\" __global__ void stack(int *p) { *p = deep(p); }\n"
        "__device__ __noinline__ int deeper(int *p) {\n"
        "    volatile int a[30000]; a[*p] = 1; return a[p[1]] + deep(p); }\n"
        "extern \"C\" __global__ void large(int *p) { *p = deeper(p); }\n"
        "extern \"C\" __global__ void plain(int *p) { *p = 1; }\n"
        "extern \"C\" __global__ void pointer(int (*f)(int), int *p) {\n"
        "    *p = f(*p); }\n";
    TestImage *im;

    test_file("library.maca", source);
    test_mxcc("-fatbin", "library.maca", NULL);
    im = test_image_open("library.fatbin");
    g_assert_cmpuint(test_image_kernel(im, "libm")->private_bytes, !=, 16);
    g_assert_cmpuint(test_image_kernel(im, "libm")->registers, >, 20);
    g_assert_cmpuint(test_image_kernel(im, "recursive")->private_bytes, ==, 0);
    g_assert_cmpuint(test_image_kernel(im, "pointer")->private_bytes, ==, 0);
    g_assert_cmpuint(test_image_kernel(im, "stack")->private_bytes, >=, 4000);
    g_assert_cmpuint(test_image_kernel(im, "stack")->private_bytes, <, 4200);
    g_assert_cmpuint(test_image_kernel(im, "large")->private_bytes, >=,
                     124000);
    g_assert_cmpuint(test_image_kernel(im, "large")->private_bytes, <, 124400);
    g_assert_cmpuint(test_image_kernel(im, "plain")->private_bytes, ==, 16);
    g_assert_cmpuint(test_image_kernel(im, "plain")->registers, <, 10);
    test_image_free(im);
    /* and without any optimisation */
    test_mxcc("-O0", "-fatbin", "library.maca", NULL);
    test_image_free(test_image_open("library.fatbin"));
}

/* Jumps within a function are no calls; what makes a stack unknown is named. */
static void test_stacks(void)
{
    static const char source[] =
        "#define K extern \"C\" __global__ void\n"
        "#define NI __device__ __noinline__\n"
        "K set(int *o, int n) { char a[9000]; memset(a, o[0], n); int s = 0;\n"
        "    for (int i = 0; i < n; i += 3) s += a[(i * 7) % n]; *o = s; }\n"
        "NI int choose(int k, int x) { switch (k) { case 0: return x * 3;\n"
        "    case 1: return x ^ 0x55; case 2: return x / 7; case 3: x += 9;\n"
        "    return x * x; case 4: return ~x; case 5: return x - 1000;\n"
        "    case 6: return x % 13; default: return 0; } }\n"
        "K table(int *o, int n) { *o = choose(o[1], n); }\n"
        "K labels(int *o, int n) { static void *const t[] = { &&a, &&b, &&c };"
        "\n    int s = 0; goto *t[n % 3]; a: s += 5; if (s > 100) goto c;\n"
        "    goto *t[o[s] % 3]; b: s ^= o[2]; goto *t[o[s & 7] % 3];\n"
        "    c: *o = s; }\n"
        "NI int tail(int (*f)(int), int x) { return f(x); }\n"
        "__device__ int f1(int x) { volatile int a[5000]; a[x] = 1;\n"
        "    return a[0]; }\n"
        "__device__ int f2(int x) { return x + 1; }\n"
        "K pointer(int *o, int n) { *o = tail(n ? f1 : f2, n); }\n"
        "NI int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }\n"
        "K recursive(int *o) { *o = fib(*o); }\n"
        "struct B { virtual __device__ int go(int) = 0; };\n"
        "struct D1 : B { __device__ int go(int x) { return x + 1; } };\n"
        "struct D2 : B { __device__ int go(int x) { return x * 2; } };\n"
        "K dispatch(int *o, int n) { D1 a; D2 b;\n"
        "    B *p = n ? (B *)&a : (B *)&b; *o = p->go(n); }\n"
        "K variable(int *o, int n) { int *a = (int *)alloca(n * 4);\n"
        "    a[n - 1] = 1; a[o[1]] = 2; *o = a[o[2]]; }\n";
    static const struct {
        const char *kernel, *why;
    } unknown[] = {
        { "pointer", "tail(int (*)(int), int) calls through a pointer" },
        { "recursive", "fib(int) is recursive" },
        { "dispatch", "dispatch calls through a pointer" },
        { "variable", "variable has a frame of variable size" },
    };
    static const char *const levels[] = { "-O0", "-O2", "-O3" };
    TestImage *im;
    const char *out;

    test_file("stacks.maca", source);
    for (unsigned l = 0; l < G_N_ELEMENTS(levels); l++) {
        g_assert_cmpint(test_run(&out, g_getenv("MXCC"), levels[l],
                                 "-resource-usage", "-fatbin", "stacks.maca",
                                 NULL), ==, 0);
        for (size_t i = 0; i < G_N_ELEMENTS(unknown); i++) {
            g_autofree char *text = g_strdup_printf("stack not known (%s)",
                                                    unknown[i].why);

            if (!strstr(out, text)) {
                g_error("'%s' is not in: %s", text, out);
            }
        }
        im = test_image_open("stacks.fatbin");
        for (size_t i = 0; i < G_N_ELEMENTS(unknown); i++) {
            g_assert_cmpuint(test_image_kernel(im, unknown[i].kernel)
                                 ->private_bytes, ==, 0);
        }
        g_assert_cmpuint(test_image_kernel(im, "set")->private_bytes, >, 9000);
        g_assert_cmpuint(test_image_kernel(im, "set")->private_bytes, <, 9200);
        g_assert_cmpuint(test_image_kernel(im, "set")->registers, <, 60);
        g_assert_cmpuint(test_image_kernel(im, "table")->private_bytes, !=, 0);
        g_assert_cmpuint(test_image_kernel(im, "labels")->private_bytes, !=,
                         0);
        test_image_free(im);
    }
}

/* Assembly without types and sizes is followed like functions. */
static void test_assembly(void)
{
    static const char source[] =
        "extern \"C\" __global__ void code(int *p) {\n"
        "    asm volatile(\".pushsection .text.asm, \\\"ax\\\"\\n\"\n"
        "    \"leaf: add s2, s3, s4\\n add s5, s6, s7\\n\"\n"
        "    \" add s8, s9, s10\\n\" /* and on to: */\n"
        "    \"behind: fadd.d fs2, fs3, fs4\\n ret\\n .p2align 4\\n\"\n"
        "    \"flags: addi sp, sp, -256\\n csrr a1, fflags\\n\"\n"
        "    \" addi sp, sp, 256\\n ret\\n\"\n"
        "    \"again: bnez a0, 1f\\n ret\\n 1: addi a0, a0, -1\\n\"\n"
        "    \" j again\\n\"\n"
        "    \"turns: call turns\\n ret\\n .popsection\"); *p = 1; }\n"
        "#define K(name, label) \\\n"
        "    extern \"C\" __global__ void name(int *p) { \\\n"
        "        asm volatile(\"call \" #label ::: \"ra\", \"memory\"); \\\n"
        "        *p = 1; }\n"
        "K(plain, behind) K(more, leaf) K(reads, flags) K(loops, again)\n"
        "K(recursive, turns)\n";
    const struct mxgpu_kernel_desc *plain;
    TestImage *im;

    test_file("assembly.maca", source);
    test_mxcc("-fatbin", "assembly.maca", NULL);
    im = test_image_open("assembly.fatbin");
    plain = test_image_kernel(im, "plain");
    g_assert_cmpuint(plain->registers, >=, 2 * 3);
    g_assert_cmpuint(plain->private_bytes, !=, 0);
    g_assert_cmpuint(plain->flags, ==, 0);
    /* s2 to s10 and fs2 to fs4 */
    g_assert_cmpuint(test_image_kernel(im, "more")->registers, ==,
                     plain->registers + 2 * 9);
    g_assert_cmpuint(test_image_kernel(im, "more")->private_bytes, ==,
                     plain->private_bytes);
    g_assert_cmpuint(test_image_kernel(im, "reads")->flags, ==,
                     MXGPU_KERNEL_FP_FLAGS);
    g_assert_cmpuint(test_image_kernel(im, "reads")->private_bytes, >=, 256);
    g_assert_cmpuint(test_image_kernel(im, "loops")->private_bytes, !=, 0);
    g_assert_cmpuint(test_image_kernel(im, "recursive")->private_bytes, ==, 0);
    test_image_free(im);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    test_run_begin();
    g_test_add_func("/mxcc/image/args", test_args);
    g_test_add_func("/mxcc/image/shared", test_shared);
    g_test_add_func("/mxcc/image/shared-is-shared", test_shared_is_shared);
    g_test_add_func("/mxcc/image/shared-offsets", test_shared_offsets);
    g_test_add_func("/mxcc/image/loops", test_loops);
    g_test_add_func("/mxcc/image/kept-registers", test_kept_registers);
    g_test_add_func("/mxcc/image/turns", test_turns);
    g_test_add_func("/mxcc/image/symbols", test_symbols);
    g_test_add_func("/mxcc/image/library", test_library);
    g_test_add_func("/mxcc/image/stacks", test_stacks);
    g_test_add_func("/mxcc/image/assembly", test_assembly);
    return test_run_end(g_test_run());
}
