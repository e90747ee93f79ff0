/* SPDX-License-Identifier: MIT */
/* Inline PTX: what is not known is refused by name and place, and what is no
 * PTX stays. ptx.maca has what is translated. */
#include "run.h"

#include <string.h>

#define IN_KERNEL(text)                                                        \
    "__global__ void k(unsigned *p, unsigned long long *q)\n{\n    " text      \
    "\n}\n"

/* Compiling one fails with each of these in the message. */
static void refused(const char *text, const char *what, const char *where)
{
    const char *out;
    int status;

    test_file("refused.maca", text);
    status = test_run(&out, g_getenv("MXCC"), "-c", "refused.maca", NULL);
    if (status != 1 || !strstr(out, what) || !strstr(out, where) ||
        !strstr(out, "error:") || g_file_test("refused.o",
                                              G_FILE_TEST_EXISTS)) {
        g_error("status %d: %s", status, out);
    }
}

static void test_refused(void)
{
    refused(IN_KERNEL("asm volatile(\"wgmma.fence.sync.aligned;\");"),
            "wgmma.fence.sync.aligned", "refused.maca:3:");
    refused(IN_KERNEL("asm(\"mov.u32 %0, %%nsmid;\" : \"=r\"(*p));"), "%nsmid",
            "refused.maca:3:");
    refused(IN_KERNEL("*p = 1;\n    asm(\"ld.param.u32 %0, [a];\" : "
                      "\"=r\"(*p));"), "ld.param.u32", "refused.maca:4:");
    refused(IN_KERNEL("asm(\"{ .reg .pred q; L: setp.eq.u32 q, %0, 0;\\n"
                      "@q bra M; }\" :: \"r\"(*p));"), "bra (in '@q bra M')",
            "refused.maca:3:");
    refused(IN_KERNEL("asm(\"sqrt.rn.f16x2 %0, %0;\" : \"+r\"(*p));"),
            "sqrt.rn.f16x2", "refused.maca:3:");
    refused(IN_KERNEL("asm(\"mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 "
                      "{%0}, {%0}, {%0}, {%0};\" : \"+d\"(*q));"),
            "mma.sync.aligned.m8n8k4", "refused.maca:3:");
    refused(IN_KERNEL("asm(\"cp.async.bulk.wait_group 0;\");"),
            "cp.async.bulk.wait_group", "refused.maca:3:");
    refused(IN_KERNEL("asm(\"mov.b128 %0, {%1, %1};\" : \"=q\"(*p) : "
                      "\"l\"(*q));"), "\"=q\"", "refused.maca:3:");
    refused(IN_KERNEL("asm(\"add.u32 %0, %1;\" : \"=r\"(*p) : \"r\"(2));"),
            "add.u32", "refused.maca:3:");
    refused(IN_KERNEL("asm(\".reg .f128 t; mov.u32 %0, t;\" : \"=r\"(*p));"),
            ".reg .f128 t", "refused.maca:3:");
}

/* What -include names is in the translated text, once. */
static void test_include(void)
{
    const char *out;

    test_file("first.h", "struct First {\n    unsigned lane;\n};\n");
    test_file("second.maca",
              "__global__ void k(First *f)\n{\n"
              "    asm(\"mov.u32 %0, %laneid;\" : \"=r\"(f->lane));\n}\n");
    if (test_run(&out, g_getenv("MXCC"), "-include", "first.h", "-c",
                 "second.maca", NULL)) {
        g_error("%s", out);
    }
}

/* The file that has it is a header, and the source has not the word. */
static void test_header(void)
{
    test_file("lane.h",
              "\n__device__ inline unsigned lane()\n{\n    unsigned r;\n"
              "    asm(\"mov.u32 %0, %laneid;\" : \"=r\"(r));\n"
              "    return r;\n}\n");
    test_file("uses.maca", "#include \"lane.h\"\n" IN_KERNEL("*p = lane();"));
    test_mxcc("-c", "uses.maca", NULL);
    test_mxcc("-dc", "-std=c++14", "uses.maca", NULL);
    test_file("lane.h",
              "__device__ inline unsigned lane()\n{\n    unsigned r;\n"
              "    asm(\"mov.u32 %0, %envreg1;\" : \"=r\"(r));\n"
              "    return r;\n}\n");
    refused("#include \"lane.h\"\n" IN_KERNEL("*p = lane();"), "%envreg1",
            "lane.h:4:");
}

/* Of the host and of the device itself; an error beside it keeps its line. */
static void test_others(void)
{
    test_file("host.maca",
              "static int f() asm(\"renamed\");\nstatic int f()\n{\n"
              "    int r;\n    asm(\"movl $3, %0\" : \"=r\"(r));\n"
              "    return r;\n}\n" IN_KERNEL(
                  "asm volatile(\"fence rw, rw\" ::: \"memory\");\n"
                  "    asm(\"mov.u32 %0, %%tid.x;\" : \"=r\"(*p));\n"
                  "    char c = '\\''; const char *s = R\"(asm(\"x)\";\n"
                  "    *q = 1'000 + c + s[0];")
              "int main() { return f() != 3; }\n");
    test_mxcc("host.maca", "-o", "host", NULL);
    refused(IN_KERNEL("asm(\"mov.u32\\n\"\n        \"%0, %%tid.x;\"\n"
                      "        : \"=r\"(*p));\n    undeclared();"),
            "undeclared", "refused.maca:6:");
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    test_run_begin();
    g_test_add_func("/ptx/refused", test_refused);
    g_test_add_func("/ptx/include", test_include);
    g_test_add_func("/ptx/header", test_header);
    g_test_add_func("/ptx/others", test_others);
    return test_run_end(g_test_run());
}
