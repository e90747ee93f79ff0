/* SPDX-License-Identifier: MIT */
/*
 * Images in memory of the caller, who changes them while they are loaded. The
 * loader reads through process_vm_readv(), which this program replaces: outside
 * of it the image is not accessible at all, and what has been read is
 * overwritten at once. No threads, no luck.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "env.h"
#include "mxgpu/fatbin.h"

#define GUARD 65536 /* never readable, behind the image */

static struct {
    uint8_t *base;
    size_t size;    /* mapped */
    uint8_t *count; /* how often each byte was read */
    unsigned calls;
    bool locked;
} area;

static void area_lock(bool lock)
{
    g_assert_cmpint(mprotect(area.base, area.size,
                             lock ? PROT_NONE : PROT_READ | PROT_WRITE), ==,
                    0);
    area.locked = lock;
}

/* The image ends where the mapping ends, or at an offset from its start. */
static uint8_t *area_new(const void *image, size_t size, size_t room)
{
    size_t page = sysconf(_SC_PAGESIZE);

    area.size = (room + page - 1) / page * page;
    area.base = mmap(NULL, area.size + GUARD, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    g_assert_true(area.base != MAP_FAILED);
    area.count = calloc(1, area.size);
    area.calls = 0;
    area_lock(false);
    uint8_t *start = area.base + (area.size - room);
    memcpy(start, image, size < room ? size : room);
    area_lock(true);
    return start;
}

static void area_free(void)
{
    for (size_t i = 0; i < area.size; i++) {
        g_assert_cmpuint(area.count[i], <=, 1);
    }
    munmap(area.base, area.size + GUARD);
    free(area.count);
    memset(&area, 0, sizeof(area));
}

/* In place of the C library's. */
ssize_t process_vm_readv(pid_t pid, const struct iovec *to,
                         unsigned long to_count, const struct iovec *from,
                         unsigned long from_count, unsigned long flags)
{
    uint8_t *p = from->iov_base;
    size_t n = to->iov_len < from->iov_len ? to->iov_len : from->iov_len;

    g_assert_cmpint(pid, ==, getpid());
    g_assert_true(to_count == 1 && from_count == 1 && flags == 0);
    if (!area.base || p < area.base || p >= area.base + area.size + GUARD) {
        memcpy(to->iov_base, p, n);
        return n;
    }
    size_t at = p - area.base;
    if (at >= area.size) {
        errno = EFAULT;
        return -1;
    }
    n = n < area.size - at ? n : area.size - at;
    area.calls++;
    area_lock(false);
    memcpy(to->iov_base, p, n);
    for (size_t i = 0; i < n; i++) {
        area.count[at + i]++;
        p[i] ^= 0xa5;
    }
    area_lock(true);
    return n;
}

static mcError_t load(const void *image)
{
    mcModule_t m;
    mcFunction_t f;
    mcError_t error = mcModuleLoadData(&m, image);

    if (error == mcSuccess) {
        ok(mcModuleGetFunction(&f, m, "k_add"));
        ok(mcModuleUnload(m));
    }
    return error;
}

static void test_elf(void)
{
    ok(load(area_new(env_image, env_image_size, env_image_size)));
    g_assert_cmpuint(area.calls, >, 0);
    area_free();
}

static void *fat_new(size_t *size)
{
    const size_t at = MXGPU_FATBIN_ALIGN;
    struct mxgpu_fatbin_header *fat = calloc(1, at + env_image_size);
    struct mxgpu_fatbin_entry *entry = (struct mxgpu_fatbin_entry *)(fat + 1);

    *size = at + env_image_size;
    memcpy(fat->magic, MXGPU_FATBIN_MAGIC, sizeof(fat->magic));
    fat->version = MXGPU_FATBIN_VERSION;
    fat->count = 2;
    fat->total_size = *size;
    for (int i = 0; i < 2; i++) {
        entry[i].offset = at;
        entry[i].size = env_image_size;
        strcpy(entry[i].target, i ? MXGPU_FATBIN_TARGET : "other-gpu");
    }
    memcpy((uint8_t *)fat + at, env_image, env_image_size);
    return fat;
}

static void test_fatbin(void)
{
    size_t size;
    g_autofree void *fat = fat_new(&size);
    mcModule_t m;

    ok(load(area_new(fat, size, size)));
    g_assert_cmpuint(area.calls, >, 0);
    area_free();

    struct mxgpu_fatbin_wrapper wrapper = {
        MXGPU_FATBIN_WRAPPER_MAGIC, MXGPU_FATBIN_WRAPPER_VERSION,
        area_new(fat, size, size), NULL,
    };
    ok(mcModuleLoadFatBinary(&m, &wrapper));
    ok(mcModuleUnload(m));
    area_free();
}

/* An image inside of the table would be read twice. */
static void test_overlap(void)
{
    size_t size;
    g_autofree uint8_t *fat = fat_new(&size);
    struct mxgpu_fatbin_entry *entry =
        (void *)(fat + sizeof(struct mxgpu_fatbin_header));

    entry[1].offset = sizeof(struct mxgpu_fatbin_header);
    fails(mcErrorInvalidKernelImage, load(area_new(fat, size, size)));
    area_free();
}

/* Of an image that says more than there is, nothing behind it is touched. */
static void test_truncated(void)
{
    size_t size;
    g_autofree void *fat = fat_new(&size);
    static const size_t rooms[] = {1, 3, 4, 8, 23, 24, 63, 64, 100, 119, 200,
                                   1000, 4096, 5000};

    for (unsigned i = 0; i < G_N_ELEMENTS(rooms); i++) {
        fails(mcErrorInvalidKernelImage,
              load(area_new(env_image, env_image_size, rooms[i])));
        area_free();
        fails(mcErrorInvalidKernelImage, load(area_new(fat, size, rooms[i])));
        area_free();
    }
    fails(mcErrorInvalidKernelImage,
          load(area_new(env_image, env_image_size, env_image_size - 1)));
    area_free();
    fails(mcErrorInvalidKernelImage, load(area_new(fat, size, size - 1)));
    area_free();
}

/* Sizes that no memory has, in each place that says one. */
static void test_sizes(void)
{
    static const uint64_t sizes[] = {1ull << 29, (1ull << 30) - 4096,
                                     1ull << 30, 1ull << 40, UINT64_MAX};
    size_t size;

    for (unsigned i = 0; i < G_N_ELEMENTS(sizes); i++) {
        g_autofree uint8_t *elf = g_memdup2(env_image, env_image_size);
        g_autofree uint8_t *fat = fat_new(&size);
        struct mxgpu_fatbin_entry *entry =
            (void *)(fat + sizeof(struct mxgpu_fatbin_header));
        Elf64_Ehdr *e = (Elf64_Ehdr *)elf;
        Elf64_Off phoff = e->e_phoff;

        e->e_shoff = sizes[i];
        fails(mcErrorInvalidKernelImage,
              load(area_new(elf, env_image_size, env_image_size)));
        area_free();
        e->e_shoff = ((const Elf64_Ehdr *)env_image)->e_shoff;
        e->e_phoff = sizes[i];
        fails(mcErrorInvalidKernelImage,
              load(area_new(elf, env_image_size, env_image_size)));
        area_free();
        e->e_phoff = phoff;
        ((Elf64_Phdr *)(elf + phoff))[1].p_filesz = sizes[i];
        fails(mcErrorInvalidKernelImage,
              load(area_new(elf, env_image_size, env_image_size)));
        area_free();

        ((struct mxgpu_fatbin_header *)fat)->total_size = UINT64_MAX;
        entry[1].size = sizes[i];
        fails(mcErrorInvalidKernelImage, load(area_new(fat, size, size)));
        area_free();
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/caller-memory/elf", test_elf);
    g_test_add_func("/caller-memory/fatbin", test_fatbin);
    g_test_add_func("/caller-memory/overlap", test_overlap);
    g_test_add_func("/caller-memory/truncated", test_truncated);
    g_test_add_func("/caller-memory/sizes", test_sizes);
    return g_test_run();
}
