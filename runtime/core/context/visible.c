/* SPDX-License-Identifier: MIT */
#include "visible.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/log.h"

#define DIGITS 32 /* of a UUID */

static const char prefix[] = "GPU-";

/* Its UUID in digits; an empty text when it cannot be asked: another process
 * may have it. */
static void read_uuid(const KmdOps *ops, unsigned device, char *digits)
{
    KmdDevice *dev;
    KmdInfo info;

    digits[0] = '\0';
    int err = ops->open(device, &dev);
    if (err) {
        mc_warn("device %u does not tell its UUID: %s", device, strerror(-err));
        return;
    }
    ops->info(dev, &info);
    ops->close(dev);
    for (unsigned i = 0; i < DIGITS / 2; i++) {
        snprintf(digits + 2 * i, 3, "%02x", info.uuid[i]);
    }
}

/* Hexadecimal digits of an entry, in small letters; dashes stand anywhere.
 * False: something else is in it. */
static bool read_digits(const char *text, size_t length, char *digits)
{
    size_t n = 0;

    for (size_t i = 0; i < length; i++) {
        if (text[i] == '-') {
            continue;
        }
        if (!isxdigit((unsigned char)text[i]) || n == DIGITS) {
            return false;
        }
        digits[n++] = tolower((unsigned char)text[i]);
    }
    digits[n] = '\0';
    return n > 0;
}

/* The device whose UUID begins so; -1: none, or several. */
static int find_uuid(const KmdOps *ops, const char *text, size_t length,
                     unsigned present)
{
    char wanted[DIGITS + 1], uuid[DIGITS + 1];
    int found = -1;

    if (!read_digits(text, length, wanted)) {
        return -1;
    }
    for (unsigned i = 0; i < present; i++) {
        read_uuid(ops, i, uuid);
        if (strncmp(uuid, wanted, strlen(wanted)) == 0) {
            if (found >= 0) {
                return -1;
            }
            found = i;
        }
    }
    return found;
}

static int find_number(const char *text, size_t length, unsigned present)
{
    unsigned number = 0;

    for (size_t i = 0; i < length; i++) {
        if (!isdigit((unsigned char)text[i]) || number >= present) {
            return -1;
        }
        number = number * 10 + (unsigned)(text[i] - '0');
    }
    return length && number < present ? (int)number : -1;
}

static int find_entry(const KmdOps *ops, const char *text, size_t length,
                      unsigned present)
{
    const size_t skip = sizeof(prefix) - 1;

    while (length && isspace((unsigned char)*text)) {
        text++, length--;
    }
    while (length && isspace((unsigned char)text[length - 1])) {
        length--;
    }
    return length > skip && strncasecmp(text, prefix, skip) == 0
               ? find_uuid(ops, text + skip, length - skip, present)
               : find_number(text, length, present);
}

unsigned mc_visible(const KmdOps *ops, const char *variable, const char *list,
                    unsigned present, int *devices, unsigned most)
{
    unsigned count = 0;

    while (*list && count < most) {
        size_t length = strcspn(list, ",");
        int device = find_entry(ops, list, length, present);

        if (device < 0) {
            mc_warn("%s: \"%s\" names no device, the list ends before it",
                    variable, list);
            break;
        }
        for (unsigned i = 0; i < count; i++) {
            if (devices[i] == device) {
                mc_warn("%s names device %d twice: no device is visible",
                        variable, device);
                return 0;
            }
        }
        devices[count++] = device;
        list += length + (list[length] == ',');
    }
    return count;
}
