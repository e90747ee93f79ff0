/* SPDX-License-Identifier: MIT */
/* Functions of an ELF file by its symbol table. No byte of it is trusted. */
#ifndef MC_IMAGE_SYMTAB_H
#define MC_IMAGE_SYMTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The function at a link-time address, a string of the file, and how far behind
 * its start that is. False: not known. */
bool mc_symtab_find(const void *file, size_t size, uint64_t address,
                    const char **name, uint64_t *offset);

#endif
