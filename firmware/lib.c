/* SPDX-License-Identifier: MIT */
/* What the compiler may call although nothing is linked to the firmware. */
#include <stddef.h>
#include <stdint.h>

void *memset(void *to, int value, size_t len);
void *memcpy(void *restrict to, const void *restrict from, size_t len);

void *memset(void *to, int value, size_t len)
{
    volatile uint8_t *p = to;

    while (len--) {
        *p++ = (uint8_t)value;
    }
    return to;
}

void *memcpy(void *restrict to, const void *restrict from, size_t len)
{
    volatile uint8_t *p = to;
    const uint8_t *q = from;

    while (len--) {
        *p++ = *q++;
    }
    return to;
}
