/* SPDX-License-Identifier: MIT */
/*
 * What a program asks of its host by tohost. Bit 0 set: its end, the rest is
 * the exit code. Else device and command are in the upper 16 bits: 0, 0 is a
 * system call, its number and arguments in the 8 words that tohost points to,
 * and 1, 1 a character. fromhost gets 1 when a call is done.
 */
#include "isa_run.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { CALL_WORDS = 8, CALL_WRITE = 64, CALL_EXIT = 93 };

#define PUT_CHARACTER 0x0101

typedef struct Hart {
    const IsaImage *image;
    IsaMemoryFn *memory;
    void *opaque;
    unsigned number;
} Hart;

static void *at(const Hart *h, uint64_t addr, uint64_t len)
{
    return h->memory(h->opaque, h->number, addr, len);
}

/* 32-bit programs have a word that they write in one go. */
static uint64_t load_word(const Hart *h, uint64_t addr)
{
    unsigned len = h->image->elf64 ? 8 : 4;
    const void *from = at(h, addr, len);
    uint64_t value = 0;

    if (from) {
        memcpy(&value, from, len);
    }
    return value;
}

static void store_word(const Hart *h, uint64_t addr, uint64_t value)
{
    unsigned len = h->image->elf64 ? 8 : 4;
    void *to = at(h, addr, len);

    if (to) {
        memcpy(to, &value, len);
    }
}

static uint64_t write_text(const Hart *h, uint64_t fd, uint64_t addr,
                           uint64_t len)
{
    const char *text = at(h, addr, len);

    if (fd != 1 && fd != 2) {
        return -(uint64_t)EBADF;
    }
    if (!text) {
        return -(uint64_t)EFAULT;
    }
    if (h->number == 0) {
        fwrite(text, 1, len, fd == 1 ? stdout : stderr);
    }
    return len;
}

/* Whether tohost was a call. An exit becomes the end that it asks for. */
static bool call(const Hart *h, uint64_t addr)
{
    uint64_t arg[CALL_WORDS];
    void *words = at(h, addr, sizeof(arg));

    if (!words || !h->image->fromhost) {
        return false;
    }
    memcpy(arg, words, sizeof(arg));
    if (arg[0] == CALL_EXIT) {
        store_word(h, h->image->tohost, arg[1] << 1 | 1);
        return true;
    }
    arg[0] = arg[0] == CALL_WRITE ? write_text(h, arg[1], arg[2], arg[3])
                                  : -(uint64_t)ENOSYS;
    memcpy(words, arg, sizeof(arg[0]));
    store_word(h, h->image->tohost, 0);
    store_word(h, h->image->fromhost, 1);
    return true;
}

IsaAnswer isa_host_poll(const IsaImage *image, IsaMemoryFn *memory,
                        void *opaque, unsigned hart, uint64_t *value)
{
    Hart h = {image, memory, opaque, hart};

    *value = load_word(&h, image->tohost);
    if (*value >> 48 == PUT_CHARACTER) {
        if (hart == 0) {
            putchar((int)(*value & 0xff));
        }
        store_word(&h, image->tohost, 0);
        return ISA_NONE;
    }
    if (*value && *value >> 48 == 0 && !(*value & 1) && call(&h, *value)) {
        *value = load_word(&h, image->tohost);
    }
    if (*value == 0) {
        return ISA_NONE;
    }
    return *value == 1 ? ISA_PASSED : ISA_FAILED;
}

uint64_t isa_host_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec;
}
