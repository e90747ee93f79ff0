/* SPDX-License-Identifier: MIT */
#include "elf.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "code.h"
#include "mxgpu/limits.h"
#include "mxgpu/pte.h"

#ifndef EM_RISCV
#define EM_RISCV 243
#endif
#ifndef R_RISCV_64
#define R_RISCV_64       2
#define R_RISCV_RELATIVE 3
#endif

#define PAGE 4096ull

#define MAX(a, b) ((a) > (b) ? (a) : (b))

#define BAD(...)                                                               \
    do {                                                                       \
        mc_error("kernel image: " __VA_ARGS__);                                \
        return mcErrorInvalidKernelImage;                                      \
    } while (0)

/* Whether [offset, offset + size) lies in [0, limit). */
static bool inside(uint64_t offset, uint64_t size, uint64_t limit)
{
    return offset <= limit && size <= limit - offset;
}

/* ---- file ---- */

static void get_phdr(const void *file, const Elf64_Ehdr *ehdr, unsigned i,
                     Elf64_Phdr *phdr)
{
    memcpy(phdr, (const uint8_t *)file + ehdr->e_phoff + i * sizeof(*phdr),
           sizeof(*phdr));
}

uint64_t mc_elf_headers_end(const void *head)
{
    Elf64_Ehdr ehdr;

    memcpy(&ehdr, head, sizeof(ehdr));
    if (memcmp(ehdr.e_ident, ELFMAG, SELFMAG) != 0 ||
        ehdr.e_ident[EI_CLASS] != ELFCLASS64) {
        return 0;
    }
    if (ehdr.e_phentsize != sizeof(Elf64_Phdr) ||
        !inside(ehdr.e_phoff, ehdr.e_phnum * sizeof(Elf64_Phdr),
                MC_FILE_MAX)) {
        return sizeof(ehdr);
    }
    return MAX(sizeof(ehdr), ehdr.e_phoff + ehdr.e_phnum * sizeof(Elf64_Phdr));
}

uint64_t mc_elf_file_end(const void *headers, uint64_t headers_end)
{
    Elf64_Ehdr ehdr;
    uint64_t end = headers_end;

    memcpy(&ehdr, headers, sizeof(ehdr));
    for (unsigned i = 0; i < ehdr.e_phnum && end > sizeof(ehdr); i++) {
        Elf64_Phdr phdr;

        get_phdr(headers, &ehdr, i, &phdr);
        if (inside(phdr.p_offset, phdr.p_filesz, MC_FILE_MAX)) {
            end = MAX(end, phdr.p_offset + phdr.p_filesz);
        }
    }
    uint64_t sections = (uint64_t)ehdr.e_shnum * ehdr.e_shentsize;
    if (inside(ehdr.e_shoff, sections, MC_FILE_MAX)) {
        end = MAX(end, ehdr.e_shoff + sections);
    }
    return end;
}

static mcError_t check_header(const void *file, size_t size, Elf64_Ehdr *ehdr)
{
    if (size < sizeof(*ehdr)) {
        BAD("%zu bytes are too short for an ELF header", size);
    }
    memcpy(ehdr, file, sizeof(*ehdr));
    if (memcmp(ehdr->e_ident, ELFMAG, SELFMAG) != 0) {
        BAD("not an ELF file");
    }
    if (ehdr->e_ident[EI_CLASS] != ELFCLASS64 ||
        ehdr->e_ident[EI_DATA] != ELFDATA2LSB ||
        ehdr->e_machine != EM_RISCV) {
        mc_error("kernel image: for machine %u, class %u; the device needs "
                 "64-bit little-endian RISC-V (%u)", ehdr->e_machine,
                 ehdr->e_ident[EI_CLASS], EM_RISCV);
        return mcErrorNoKernelImageForDevice;
    }
    if (ehdr->e_type != ET_DYN) {
        BAD("type %u is not a shared object", ehdr->e_type);
    }
    if (ehdr->e_phentsize != sizeof(Elf64_Phdr) ||
        !inside(ehdr->e_phoff, ehdr->e_phnum * sizeof(Elf64_Phdr), size)) {
        BAD("program headers outside the file");
    }
    /* Nobody reads the sections, but a file without them is not all there. */
    if (ehdr->e_shnum &&
        !inside(ehdr->e_shoff, (uint64_t)ehdr->e_shnum * ehdr->e_shentsize,
                size)) {
        BAD("truncated: section headers outside the file");
    }
    return mcSuccess;
}

/* ---- segments ---- */

static uint8_t page_perms(uint32_t flags)
{
    uint8_t perms = 0;

    if (flags & PF_R) {
        perms |= MXGPU_PTE_READ;
    }
    if (flags & PF_W) {
        perms |= MXGPU_PTE_READ | MXGPU_PTE_WRITE | MXGPU_PTE_ATOMIC;
    }
    if (flags & PF_X) {
        perms |= MXGPU_PTE_EXECUTE;
    }
    return perms;
}

static mcError_t measure(const void *file, size_t size, const Elf64_Ehdr *ehdr,
                         McImage *image)
{
    uint64_t low = UINT64_MAX, high = 0;

    for (unsigned i = 0; i < ehdr->e_phnum; i++) {
        Elf64_Phdr p;

        get_phdr(file, ehdr, i, &p);
        if (p.p_type != PT_LOAD || p.p_memsz == 0) {
            continue;
        }
        if (!inside(p.p_offset, p.p_filesz, size) ||
            p.p_filesz > p.p_memsz) {
            BAD("segment %u outside the file", i);
        }
        if (p.p_memsz > MC_IMAGE_MAX || p.p_vaddr > MXGPU_VA_LIMIT) {
            BAD("segment %u too large", i);
        }
        if (p.p_vaddr < low) {
            low = p.p_vaddr;
        }
        if (p.p_vaddr + p.p_memsz > high) {
            high = p.p_vaddr + p.p_memsz;
        }
    }
    if (low >= high) {
        BAD("no segment to load");
    }
    low &= ~(PAGE - 1);
    high = (high + PAGE - 1) & ~(PAGE - 1);
    if (high - low > MC_IMAGE_MAX) {
        BAD("more than %llu MiB", MC_IMAGE_MAX >> 20);
    }
    image->link = low;
    image->size = high - low;
    return mcSuccess;
}

static void load_segments(const void *file, const Elf64_Ehdr *ehdr,
                          McImage *image)
{
    for (unsigned i = 0; i < ehdr->e_phnum; i++) {
        Elf64_Phdr p;

        get_phdr(file, ehdr, i, &p);
        if (p.p_type != PT_LOAD || p.p_memsz == 0) {
            continue;
        }
        uint64_t start = p.p_vaddr - image->link;
        memcpy(image->memory + start, (const uint8_t *)file + p.p_offset,
               p.p_filesz);
        for (uint64_t page = start / PAGE;
             page <= (start + p.p_memsz - 1) / PAGE; page++) {
            image->perms[page] |= page_perms(p.p_flags);
        }
    }
}

/* What kernels only read once it is relocated, in whole pages. */
static mcError_t protect(const void *file, const Elf64_Ehdr *ehdr,
                         McImage *image)
{
    for (unsigned i = 0; i < ehdr->e_phnum; i++) {
        Elf64_Phdr p;

        get_phdr(file, ehdr, i, &p);
        if (p.p_type != PT_GNU_RELRO) {
            continue;
        }
        if (p.p_vaddr < image->link ||
            !inside(p.p_vaddr - image->link, p.p_memsz, image->size)) {
            BAD("relocated read-only data outside the segments");
        }
        uint64_t start = p.p_vaddr - image->link;
        image->fixed = (start + PAGE - 1) / PAGE;
        image->fixed_end = (start + p.p_memsz) / PAGE;
        for (uint64_t n = image->fixed; n < image->fixed_end; n++) {
            image->perms[n] &= ~(MXGPU_PTE_WRITE | MXGPU_PTE_ATOMIC);
        }
    }
    return mcSuccess;
}

/* Link-time address range to offset in image memory. */
static bool to_offset(const McImage *image, uint64_t address, uint64_t size,
                      uint64_t *offset)
{
    if (address < image->link ||
        !inside(address - image->link, size, image->size)) {
        return false;
    }
    *offset = address - image->link;
    return true;
}

/* ---- dynamic section ---- */

typedef struct Dynamic {
    uint64_t rela, rela_size, rela_entry;
    uint64_t plt, plt_size;
    uint64_t symbols, strings, strings_size, hash;
    bool other_relocations;
} Dynamic;

static mcError_t read_dynamic(const void *file, size_t size,
                              const Elf64_Ehdr *ehdr, Dynamic *dynamic)
{
    memset(dynamic, 0, sizeof(*dynamic));
    for (unsigned i = 0; i < ehdr->e_phnum; i++) {
        Elf64_Phdr p;

        get_phdr(file, ehdr, i, &p);
        if (p.p_type != PT_DYNAMIC) {
            continue;
        }
        if (!inside(p.p_offset, p.p_filesz, size)) {
            BAD("dynamic section outside the file");
        }
        for (uint64_t at = 0; at + sizeof(Elf64_Dyn) <= p.p_filesz;
             at += sizeof(Elf64_Dyn)) {
            Elf64_Dyn d;

            memcpy(&d, (const uint8_t *)file + p.p_offset + at, sizeof(d));
            switch (d.d_tag) {
            case DT_NULL:
                return mcSuccess;
            case DT_RELA:
                dynamic->rela = d.d_un.d_ptr;
                break;
            case DT_RELASZ:
                dynamic->rela_size = d.d_un.d_val;
                break;
            case DT_RELAENT:
                dynamic->rela_entry = d.d_un.d_val;
                break;
            case DT_JMPREL:
                dynamic->plt = d.d_un.d_ptr;
                break;
            case DT_PLTRELSZ:
                dynamic->plt_size = d.d_un.d_val;
                break;
            case DT_SYMTAB:
                dynamic->symbols = d.d_un.d_ptr;
                break;
            case DT_STRTAB:
                dynamic->strings = d.d_un.d_ptr;
                break;
            case DT_STRSZ:
                dynamic->strings_size = d.d_un.d_val;
                break;
            case DT_HASH:
                dynamic->hash = d.d_un.d_ptr;
                break;
            case DT_REL:
            case DT_RELR:
                dynamic->other_relocations = true;
                break;
            }
        }
    }
    return mcSuccess;
}

static mcError_t check_strings(const McImage *image)
{
    if (image->strings_size &&
        image->memory[image->strings + image->strings_size - 1] != 0) {
        BAD("strings not terminated");
    }
    return mcSuccess;
}

/* DT_HASH tells how many symbols there are. */
static mcError_t find_symbols(McImage *image, const Dynamic *dynamic)
{
    uint32_t hash[2];
    uint64_t offset;

    if (!dynamic->symbols || !dynamic->strings || !dynamic->hash) {
        return mcSuccess; /* an image without symbols */
    }
    if (!to_offset(image, dynamic->hash, sizeof(hash), &offset)) {
        BAD("symbol hash outside the image");
    }
    memcpy(hash, image->memory + offset, sizeof(hash));
    if (!to_offset(image, dynamic->symbols,
                   (uint64_t)hash[1] * sizeof(Elf64_Sym), &image->symbols)) {
        BAD("symbols outside the image");
    }
    if (!to_offset(image, dynamic->strings, dynamic->strings_size,
                   &image->strings)) {
        BAD("strings outside the image");
    }
    image->symbol_count = hash[1];
    image->strings_size = dynamic->strings_size;
    return check_strings(image);
}

static bool get_symbol(const McImage *image, uint64_t index, Elf64_Sym *symbol,
                       const char **name)
{
    if (index >= image->symbol_count) {
        return false;
    }
    memcpy(symbol, image->memory + image->symbols + index * sizeof(*symbol),
           sizeof(*symbol));
    if (symbol->st_name >= image->strings_size) {
        return false;
    }
    *name = (const char *)image->memory + image->strings + symbol->st_name;
    return true;
}

/* ---- kernel note ---- */

static mcError_t read_note(const uint8_t *notes, size_t size, McImage *image,
                           bool *found)
{
    size_t at = 0;

    while (at + sizeof(Elf64_Nhdr) <= size) {
        Elf64_Nhdr n;
        struct mxgpu_kernel_note note;

        memcpy(&n, notes + at, sizeof(n));
        at += sizeof(n);
        uint64_t name_size = ((uint64_t)n.n_namesz + 3) & ~3ull;
        uint64_t desc_size = ((uint64_t)n.n_descsz + 3) & ~3ull;
        if (!inside(at, name_size, size) ||
            !inside(at + name_size, n.n_descsz, size)) {
            BAD("note outside its segment");
        }
        bool ours = n.n_namesz == sizeof(MXGPU_NOTE_OWNER) &&
                    memcmp(notes + at, MXGPU_NOTE_OWNER,
                           sizeof(MXGPU_NOTE_OWNER)) == 0 &&
                    n.n_type == MXGPU_NOTE_KERNELS;
        if (ours) {
            if (n.n_descsz != sizeof(note)) {
                BAD("kernel note of %u bytes", n.n_descsz);
            }
            memcpy(&note, notes + at + name_size, sizeof(note));
            if (note.abi != MXGPU_KERNEL_ABI ||
                note.desc_size != sizeof(struct mxgpu_kernel_desc)) {
                mc_error("kernel image: version %u, this runtime loads %u",
                         note.abi, MXGPU_KERNEL_ABI);
                return mcErrorUnsupportedKernelVersion;
            }
            if (note.count > MC_KERNELS_MAX ||
                !to_offset(image, note.descs,
                           (uint64_t)note.count * note.desc_size,
                           &image->descs)) {
                BAD("kernel descriptors outside the image");
            }
            image->desc_count = note.count;
            *found = true;
            return mcSuccess;
        }
        if (desc_size > size - at - name_size) {
            break;
        }
        at += name_size + desc_size;
    }
    return mcSuccess;
}

static mcError_t find_note(const void *file, size_t size,
                           const Elf64_Ehdr *ehdr, McImage *image)
{
    bool found = false;

    for (unsigned i = 0; i < ehdr->e_phnum && !found; i++) {
        Elf64_Phdr p;

        get_phdr(file, ehdr, i, &p);
        if (p.p_type != PT_NOTE) {
            continue;
        }
        if (!inside(p.p_offset, p.p_filesz, size)) {
            BAD("notes outside the file");
        }
        mcError_t error = read_note((const uint8_t *)file + p.p_offset,
                                    p.p_filesz, image, &found);
        if (error != mcSuccess) {
            return error;
        }
    }
    if (!found) {
        BAD("no kernel note: was it made by mxcc?");
    }
    return mcSuccess;
}

/* ---- relocations ---- */

static mcError_t relocate_one(McImage *image, const Elf64_Rela *r)
{
    uint64_t offset, value = 0;
    Elf64_Sym symbol;
    const char *name;

    if (!to_offset(image, r->r_offset, 8, &offset)) {
        BAD("relocation outside the image");
    }
    switch (ELF64_R_TYPE(r->r_info)) {
    case R_RISCV_RELATIVE:
        value = image->base - image->link + r->r_addend;
        break;
    case R_RISCV_64:
        if (!get_symbol(image, ELF64_R_SYM(r->r_info), &symbol, &name)) {
            BAD("relocation with a bad symbol");
        }
        if (symbol.st_shndx != SHN_UNDEF) {
            value = symbol.st_value + image->base - image->link + r->r_addend;
        } else if (ELF64_ST_BIND(symbol.st_info) != STB_WEAK) {
            mc_error("kernel image: symbol %.100s is not defined", name);
            return mcErrorSharedObjectSymbolNotFound;
        }
        break;
    case 0: /* R_RISCV_NONE */
        return mcSuccess;
    default:
        BAD("relocation of type %u",
            (unsigned)ELF64_R_TYPE(r->r_info));
    }
    memcpy(image->memory + offset, &value, sizeof(value));
    return mcSuccess;
}

static mcError_t relocate_table(McImage *image, uint64_t table, uint64_t size)
{
    uint64_t offset;

    if (size == 0) {
        return mcSuccess;
    }
    if (!to_offset(image, table, size, &offset)) {
        BAD("relocations outside the image");
    }
    /* The table may lie in memory that relocations write to. */
    uint8_t *copy = malloc(size);
    if (!copy) {
        return mcErrorMemoryAllocation;
    }
    memcpy(copy, image->memory + offset, size);
    mcError_t error = mcSuccess;
    for (uint64_t at = 0; at + sizeof(Elf64_Rela) <= size &&
                          error == mcSuccess; at += sizeof(Elf64_Rela)) {
        Elf64_Rela r;

        memcpy(&r, copy + at, sizeof(r));
        error = relocate_one(image, &r);
    }
    free(copy);
    return error;
}

mcError_t mc_image_relocate(McImage *image, uint64_t base, const void *file,
                            size_t size)
{
    Elf64_Ehdr ehdr;
    Dynamic dynamic;
    mcError_t error = check_header(file, size, &ehdr);

    if (error == mcSuccess) {
        error = read_dynamic(file, size, &ehdr, &dynamic);
    }
    if (error != mcSuccess) {
        return error;
    }
    if (dynamic.other_relocations ||
        (dynamic.rela_entry && dynamic.rela_entry != sizeof(Elf64_Rela))) {
        BAD("relocations of an unknown form");
    }
    image->base = base;
    error = relocate_table(image, dynamic.rela, dynamic.rela_size);
    if (error == mcSuccess) {
        error = relocate_table(image, dynamic.plt, dynamic.plt_size);
    }
    /* Relocations go anywhere in the image. */
    return error == mcSuccess ? check_strings(image) : error;
}

/* ---- images ---- */

mcError_t mc_image_parse(const void *file, size_t size, McImage *image)
{
    Elf64_Ehdr ehdr;
    Dynamic dynamic;

    memset(image, 0, sizeof(*image));
    mcError_t error = check_header(file, size, &ehdr);
    if (error == mcSuccess) {
        error = measure(file, size, &ehdr, image);
    }
    if (error != mcSuccess) {
        return error;
    }
    image->memory = calloc(1, image->size);
    image->perms = calloc(1, image->size / PAGE);
    if (!image->memory || !image->perms) {
        mc_image_free(image);
        return mcErrorMemoryAllocation;
    }
    load_segments(file, &ehdr, image);
    error = protect(file, &ehdr, image);
    if (error == mcSuccess) {
        error = read_dynamic(file, size, &ehdr, &dynamic);
    }
    if (error == mcSuccess) {
        error = find_symbols(image, &dynamic);
    }
    if (error == mcSuccess) {
        error = find_note(file, size, &ehdr, image);
    }
    if (error != mcSuccess) {
        mc_image_free(image);
    }
    return error;
}

void mc_image_free(McImage *image)
{
    free(image->memory);
    free(image->perms);
    image->memory = NULL;
    image->perms = NULL;
}

/* Device address range to offset in image memory. */
static bool from_device(const McImage *image, uint64_t address, uint64_t size,
                        uint64_t *offset)
{
    if (address < image->base ||
        !inside(address - image->base, size, image->size)) {
        return false;
    }
    *offset = address - image->base;
    return true;
}

static bool check_args(const McKernelInfo *info)
{
    for (uint32_t i = 0; i < info->d.arg_count; i++) {
        struct mxgpu_kernel_arg arg;

        memcpy(&arg, (const uint8_t *)info->args + i * sizeof(arg),
               sizeof(arg));
        if (!inside(arg.offset, arg.size, info->d.arg_size)) {
            return false;
        }
    }
    return true;
}

static void read_facts(const McImage *image, uint32_t index,
                       struct mxgpu_kernel_facts *facts)
{
    uint64_t address, size, offset;

    memset(facts, 0, sizeof(*facts));
    if (mc_image_symbol(image, MXGPU_KERNEL_FACTS, &address, &size) &&
        size == image->desc_count * sizeof(*facts) &&
        from_device(image, address, size, &offset)) {
        memcpy(facts, image->memory + offset + index * sizeof(*facts),
               sizeof(*facts));
    }
}

/* The function at offset, where the image names it; 0: it does not. */
static uint64_t function_size(const McImage *image, uint64_t offset)
{
    for (uint64_t i = 1; i < image->symbol_count; i++) {
        Elf64_Sym symbol;
        const char *name;

        if (get_symbol(image, i, &symbol, &name) &&
            ELF64_ST_TYPE(symbol.st_info) == STT_FUNC &&
            symbol.st_shndx != SHN_UNDEF &&
            symbol.st_value - image->link == offset &&
            inside(offset, symbol.st_size, image->size)) {
            return symbol.st_size;
        }
    }
    return 0;
}

/* A kernel cannot need fewer registers than its own code names. */
static bool registers_suffice(const McImage *image, uint64_t offset,
                              uint32_t registers, const char *name)
{
    unsigned need = mc_code_registers(image->memory + offset,
                                      function_size(image, offset));

    if (registers < need) {
        mc_error("kernel %s: the descriptor declares %u registers, its code "
                 "uses %u", name, registers, need);
        return false;
    }
    return true;
}

bool mc_image_kernel(const McImage *image, uint32_t index, McKernelInfo *info)
{
    uint64_t at = image->descs + (uint64_t)index * sizeof(info->d);
    uint64_t offset, entry;

    if (index >= image->desc_count) {
        return false;
    }
    memcpy(&info->d, image->memory + at, sizeof(info->d));
    info->desc = image->base + at;
    if (info->d.magic != MXGPU_KERNEL_MAGIC ||
        info->d.abi != MXGPU_KERNEL_ABI || info->d.arg_size > MC_ARGS_MAX ||
        info->d.arg_count > MC_ARGS_MAX ||
        info->d.static_shared > MXGPU_SHARED_MAX ||
        info->d.private_bytes > MXGPU_PRIVATE_MAX || info->d.registers == 0 ||
        info->d.registers > 255 ||
        info->d.max_threads > MXGPU_BLOCK_THREADS ||
        (info->d.flags & ~MXGPU_KERNEL_FP_FLAGS) || info->d.reserved ||
        !from_device(image, info->d.entry, 2, &entry)) {
        return false;
    }
    if (!from_device(image, info->d.name, 1, &offset) ||
        !memchr(image->memory + offset, 0, image->size - offset)) {
        return false;
    }
    info->name = (const char *)image->memory + offset;
    if (!registers_suffice(image, entry, info->d.registers, info->name)) {
        return false;
    }
    info->args = NULL;
    if (info->d.arg_count) {
        if (!from_device(image, info->d.args,
                         (uint64_t)info->d.arg_count *
                             sizeof(struct mxgpu_kernel_arg),
                         &offset)) {
            return false;
        }
        info->args = image->memory + offset;
    }
    read_facts(image, index, &info->facts);
    return check_args(info);
}

bool mc_image_symbol(const McImage *image, const char *wanted,
                     uint64_t *address, uint64_t *size)
{
    for (uint64_t i = 1; i < image->symbol_count; i++) {
        Elf64_Sym symbol;
        const char *name;

        if (get_symbol(image, i, &symbol, &name) &&
            symbol.st_shndx != SHN_UNDEF && symbol.st_shndx != SHN_ABS &&
            symbol.st_value >= image->link &&
            inside(symbol.st_value - image->link, symbol.st_size,
                   image->size) &&
            strcmp(name, wanted) == 0) {
            *address = image->base + (symbol.st_value - image->link);
            *size = symbol.st_size;
            return true;
        }
    }
    return false;
}

const char *mc_image_managed(const McImage *image)
{
    static const char end[] = ".managed";

    for (uint64_t i = 1; i < image->symbol_count; i++) {
        Elf64_Sym symbol;
        const char *name;

        if (get_symbol(image, i, &symbol, &name) &&
            symbol.st_shndx != SHN_UNDEF && strlen(name) >= sizeof(end) &&
            strcmp(name + strlen(name) - strlen(end), end) == 0) {
            return name;
        }
    }
    return NULL;
}

/* In pages from first to end. The tables of kernels are read-only too, but
 * nobody's to write. */
static bool is_constant(const McImage *image, const Elf64_Sym *symbol,
                        const char *name, uint64_t first_page,
                        uint64_t end_page)
{
    uint64_t first, last;

    if (ELF64_ST_TYPE(symbol->st_info) != STT_OBJECT || !symbol->st_size ||
        symbol->st_shndx == SHN_UNDEF || symbol->st_shndx == SHN_ABS ||
        symbol->st_value < image->link ||
        !inside(symbol->st_value - image->link, symbol->st_size,
                image->size) ||
        strncmp(name, "__mx_", 5) == 0) {
        return false;
    }
    first = (symbol->st_value - image->link) / PAGE;
    last = (symbol->st_value - image->link + symbol->st_size - 1) / PAGE;
    if (first < first_page || last >= end_page) {
        return false;
    }
    for (; first <= last; first++) {
        if (image->perms[first] != MXGPU_PTE_READ) {
            return false;
        }
    }
    return true;
}

/* Link-time addresses around all of them; false when there is none. */
static bool find_constants(const McImage *image, uint64_t first, uint64_t end,
                           uint64_t *low, uint64_t *high)
{
    *low = UINT64_MAX;
    *high = 0;
    for (uint64_t i = 1; i < image->symbol_count; i++) {
        Elf64_Sym symbol;
        const char *name;

        if (!get_symbol(image, i, &symbol, &name) ||
            !is_constant(image, &symbol, name, first, end)) {
            continue;
        }
        *low = symbol.st_value < *low ? symbol.st_value : *low;
        if (symbol.st_value + symbol.st_size > *high) {
            *high = symbol.st_value + symbol.st_size;
        }
    }
    return *low < *high;
}

bool mc_image_constants(const McImage *image, uint64_t *address,
                        uint64_t *size)
{
    uint64_t low, high;

    if (!find_constants(image, image->fixed, image->fixed_end, &low, &high) &&
        !find_constants(image, 0, image->size / PAGE, &low, &high)) {
        return false;
    }
    /* A gap between them could be code. */
    for (uint64_t page = (low - image->link) / PAGE;
         page <= (high - 1 - image->link) / PAGE; page++) {
        if (image->perms[page] != MXGPU_PTE_READ) {
            return false;
        }
    }
    *address = image->base + (low - image->link);
    *size = high - low;
    return true;
}
