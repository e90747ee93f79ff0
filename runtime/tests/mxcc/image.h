/* SPDX-License-Identifier: MIT */
/* A reader of code objects for the tests: g_asserts what must hold of all. */
#ifndef TEST_MXCC_IMAGE_H
#define TEST_MXCC_IMAGE_H

#include <elf.h>
#include <glib.h>

#include "mxgpu/fatbin.h"
#include "mxgpu/kernel.h"

typedef struct TestImage {
    guint8 *data; /* the container */
    gsize size;
    const guint8 *elf;
    gsize elf_size;
    const struct mxgpu_kernel_desc *descs;
    unsigned count;
} TestImage;

TestImage *test_image_open(const char *path);
void test_image_free(TestImage *image);

/* size bytes at an address of a loadable segment with these PF_ flags. */
const void *test_image_at(const TestImage *image, guint64 addr, gsize size,
                          unsigned flags);
/* Fails the test when there is none. */
const struct mxgpu_kernel_desc *test_image_kernel(const TestImage *image,
                                                  const char *name);
const struct mxgpu_kernel_arg *
test_image_arg(const TestImage *image, const struct mxgpu_kernel_desc *desc,
               unsigned i);
/* Of the dynamic symbol table; NULL when there is none. */
const Elf64_Sym *test_image_symbol(const TestImage *image, const char *name);
gboolean test_image_has_section(const TestImage *image, const char *name);

#endif
