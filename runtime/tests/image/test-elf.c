/* SPDX-License-Identifier: MIT */
/* The loader and foreign bytes: nothing outside the file or the image. */
#include <elf.h>
#include <stdlib.h>

#ifndef R_RISCV_RELATIVE
#define R_RISCV_RELATIVE 3
#endif

#include "env.h"
#include "fuzz/fuzz-image.h"
#include "image/elf.h"

static void test_good(void)
{
    McImage image;
    McKernelInfo info;
    uint64_t address, size;
    unsigned found = 0;

    g_assert_cmpint(mc_image_parse(env_image, env_image_size, &image), ==, 0);
    g_assert_cmpint(mc_image_relocate(&image, 0x700000000000, env_image,
                                      env_image_size), ==, 0);
    for (uint32_t i = 0; i < image.desc_count; i++) {
        g_assert_true(mc_image_kernel(&image, i, &info));
        found += strcmp(info.name, "k_mixed") == 0 && info.d.arg_count == 6;
        g_assert_cmpuint(info.desc, >=, 0x700000000000);
    }
    g_assert_cmpuint(found, ==, 1);
    g_assert_false(mc_image_kernel(&image, image.desc_count, &info));
    g_assert_true(mc_image_symbol(&image, "table", &address, &size));
    g_assert_cmpuint(size, ==, 64);
    g_assert_false(mc_image_symbol(&image, "tabl", &address, &size));
    mc_image_free(&image);
    uint64_t headers = mc_elf_headers_end(env_image);
    g_assert_cmpuint(headers, >=, sizeof(Elf64_Ehdr));
    g_assert_cmpuint(headers, <=, env_image_size);
    g_assert_cmpuint(mc_elf_file_end(env_image, headers), <=, env_image_size);
}

/* Exactly as many readable bytes as claimed: sanitizers see one too many. */
static void load(const uint8_t *bytes, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1);

    memcpy(copy, bytes, size);
    fuzz_image(copy, size);
    free(copy);
}

static void test_truncated(void)
{
    for (size_t size = 0; size < env_image_size; size += 1 + size / 64) {
        load(env_image, size);
    }
}

static void test_one_byte(void)
{
    g_autofree uint8_t *copy = g_memdup2(env_image, env_image_size);

    for (size_t at = 0; at < 1024; at++) {
        for (unsigned v = 0; v < 3; v++) {
            copy[at] ^= v == 0 ? 0xff : v == 1 ? 0x80 : 1;
            load(copy, env_image_size);
            copy[at] = env_image[at];
        }
    }
}

/* Random damage, the same in every run. */
static void test_random(void)
{
    g_autofree uint8_t *copy = g_memdup2(env_image, env_image_size);
    g_autoptr(GRand) rand = g_rand_new_with_seed(42);
    static const uint64_t values[] = {0, 1, 0xfff, 0x1000, UINT32_MAX,
                                      1ull << 47, INT64_MAX, UINT64_MAX};

    for (unsigned round = 0; round < 4000; round++) {
        memcpy(copy, env_image, env_image_size);
        for (int n = g_rand_int_range(rand, 1, 6); n > 0; n--) {
            size_t at = g_rand_int_range(rand, 0, env_image_size - 8);

            if (n % 2) {
                uint64_t v = values[g_rand_int_range(rand, 0, 8)];
                memcpy(copy + (at & ~7ul), &v, 8);
            } else {
                copy[at] = g_rand_int(rand);
            }
        }
        load(copy, env_image_size);
    }
}

static mcError_t parse_with(void (*damage)(uint8_t *))
{
    g_autofree uint8_t *copy = g_memdup2(env_image, env_image_size);
    McImage image;

    damage(copy);
    mcError_t error = mc_image_parse(copy, env_image_size, &image);
    if (error == mcSuccess) {
        error = mc_image_relocate(&image, 0x10000, copy, env_image_size);
        mc_image_free(&image);
    }
    return error;
}

static void other_machine(uint8_t *b)
{
    ((Elf64_Ehdr *)b)->e_machine = EM_AARCH64;
}

static void other_class(uint8_t *b)
{
    b[EI_CLASS] = ELFCLASS32;
}

static void executable(uint8_t *b)
{
    ((Elf64_Ehdr *)b)->e_type = ET_EXEC;
}

static void huge(uint8_t *b)
{
    Elf64_Phdr *p = (Elf64_Phdr *)(b + ((Elf64_Ehdr *)b)->e_phoff);

    for (unsigned i = 0; i < ((Elf64_Ehdr *)b)->e_phnum; i++) {
        if (p[i].p_type == PT_LOAD) {
            p[i].p_memsz = 1ull << 40;
        }
    }
}

static void no_note(uint8_t *b)
{
    Elf64_Phdr *p = (Elf64_Phdr *)(b + ((Elf64_Ehdr *)b)->e_phoff);

    for (unsigned i = 0; i < ((Elf64_Ehdr *)b)->e_phnum; i++) {
        if (p[i].p_type == PT_NOTE) {
            p[i].p_type = PT_NULL;
        }
    }
}

/* The first relocation is to a symbol that nobody defines. */
static void undefined_symbol(uint8_t *b)
{
    Elf64_Ehdr *e = (Elf64_Ehdr *)b;
    Elf64_Shdr *s = (Elf64_Shdr *)(b + e->e_shoff);
    unsigned changed = 0;

    for (unsigned i = 0; i < e->e_shnum; i++) {
        if (s[i].sh_type == SHT_DYNSYM) {
            Elf64_Sym *symbol = (Elf64_Sym *)(b + s[i].sh_offset) + 1;

            symbol->st_shndx = SHN_UNDEF;
            symbol->st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT);
            changed++;
        } else if (s[i].sh_type == SHT_RELA && s[i].sh_size) {
            ((Elf64_Rela *)(b + s[i].sh_offset))->r_info =
                ELF64_R_INFO(1, R_RISCV_64);
            changed++;
        }
    }
    g_assert_cmpuint(changed, ==, 2);
}

/* The first relocation writes over the end of the strings, which were found to
 * be terminated before it. */
static void endless_strings(uint8_t *b)
{
    Elf64_Ehdr *e = (Elf64_Ehdr *)b;
    Elf64_Shdr *s = (Elf64_Shdr *)(b + e->e_shoff);
    uint64_t end = 0;
    unsigned changed = 0;

    for (unsigned i = 0; i < e->e_shnum; i++) {
        if (s[i].sh_type == SHT_DYNSYM) {
            end = s[s[i].sh_link].sh_addr + s[s[i].sh_link].sh_size;
        }
    }
    g_assert_cmpuint(end, !=, 0);
    for (unsigned i = 0; i < e->e_shnum; i++) {
        if (s[i].sh_type == SHT_RELA && s[i].sh_size && !changed) {
            *(Elf64_Rela *)(b + s[i].sh_offset) = (Elf64_Rela){
                .r_offset = end - 8,
                .r_info = ELF64_R_INFO(0, R_RISCV_RELATIVE),
                .r_addend = 0x4141414141414141,
            };
            changed++;
        }
    }
    g_assert_cmpuint(changed, ==, 1);
}

static void test_reasons(void)
{
    g_assert_cmpint(parse_with(endless_strings), ==,
                    mcErrorInvalidKernelImage);
    g_assert_cmpint(parse_with(other_machine), ==,
                    mcErrorNoKernelImageForDevice);
    g_assert_cmpint(parse_with(other_class), ==,
                    mcErrorNoKernelImageForDevice);
    g_assert_cmpint(parse_with(executable), ==, mcErrorInvalidKernelImage);
    g_assert_cmpint(parse_with(huge), ==, mcErrorInvalidKernelImage);
    g_assert_cmpint(parse_with(no_note), ==, mcErrorInvalidKernelImage);
    g_assert_cmpint(parse_with(undefined_symbol), ==,
                    mcErrorSharedObjectSymbolNotFound);
}

/* Sets what every kernel declares to need; returns how many there are. */
static unsigned declare_registers(uint8_t *b, uint32_t registers)
{
    unsigned kernels = 0;

    for (size_t at = 0; at + sizeof(struct mxgpu_kernel_desc) <=
                        env_image_size; at += 8) {
        struct mxgpu_kernel_desc *desc = (void *)(b + at);

        if (desc->magic == MXGPU_KERNEL_MAGIC) {
            desc->registers = registers;
            kernels++;
        }
    }
    return kernels;
}

/* A kernel that declares fewer registers than its own code names is refused. */
static void test_registers(void)
{
    g_autofree uint8_t *copy = g_memdup2(env_image, env_image_size);
    const uint32_t declared[] = {1, 3, 255};
    McImage image;
    McKernelInfo info;

    for (unsigned n = 0; n < G_N_ELEMENTS(declared); n++) {
        unsigned kernels = declare_registers(copy, declared[n]), refused = 0;

        g_assert_cmpint(mc_image_parse(copy, env_image_size, &image), ==, 0);
        g_assert_cmpint(mc_image_relocate(&image, 0x10000, copy,
                                          env_image_size), ==, 0);
        g_assert_cmpuint(kernels, ==, image.desc_count);
        for (uint32_t i = 0; i < image.desc_count; i++) {
            refused += !mc_image_kernel(&image, i, &info);
        }
        g_assert_cmpuint(refused, ==, declared[n] == 255 ? 0 : kernels);
        mc_image_free(&image);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/elf/good", test_good);
    g_test_add_func("/elf/reasons", test_reasons);
    g_test_add_func("/elf/registers", test_registers);
    g_test_add_func("/elf/truncated", test_truncated);
    g_test_add_func("/elf/one-byte", test_one_byte);
    g_test_add_func("/elf/random", test_random);
    return g_test_run();
}
