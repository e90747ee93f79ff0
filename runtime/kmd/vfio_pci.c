/* SPDX-License-Identifier: MIT */
/* The PCI functions of this machine, as sysfs shows them. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "vfio_priv.h"

#define DEVICES "/sys/bus/pci/devices"

static const char *vfio_root = "";

void kmd_vfio_set_root(const char *root)
{
    vfio_root = root;
}

const char *kmd_vfio_root(void)
{
    return vfio_root;
}

bool kmd_vfio_parse_bdf(const char *text, unsigned *domain, unsigned *bus,
                        unsigned *device, unsigned *function)
{
    unsigned d = 0, b, dev, fn;
    int end = -1;

    if (sscanf(text, "%4x:%2x:%2x.%1x%n", &d, &b, &dev, &fn, &end) != 4 ||
        text[end]) {
        d = 0;
        end = -1;
        if (sscanf(text, "%2x:%2x.%1x%n", &b, &dev, &fn, &end) != 3 ||
            text[end]) {
            return false;
        }
    }
    if (dev > 31 || fn > 7) {
        return false;
    }
    *domain = d;
    *bus = b;
    *device = dev;
    *function = fn;
    return true;
}

/* A hexadecimal attribute; -1 when it cannot be read. */
static long read_hex(const char *bdf, const char *attribute)
{
    char path[PATH_MAX];
    unsigned long value = 0;
    bool ok;
    FILE *f;

    snprintf(path, sizeof(path), "%s" DEVICES "/%s/%s", vfio_root, bdf,
             attribute);
    f = fopen(path, "re");
    if (!f) {
        return -1;
    }
    ok = fscanf(f, "%lx", &value) == 1;
    fclose(f);
    return ok && value <= INT_MAX ? (long)value : -1;
}

/* The last component of what a link names. */
static bool read_link(const char *path, char *name, size_t size)
{
    char target[PATH_MAX];
    ssize_t n = readlink(path, target, sizeof(target) - 1);
    const char *slash;

    if (n <= 0) {
        return false;
    }
    target[n] = '\0';
    slash = strrchr(target, '/');
    snprintf(name, size, "%.*s", (int)size - 1, slash ? slash + 1 : target);
    return true;
}

/* The kernel names groups of devices without an IOMMU. */
static bool group_is_noiommu(int group)
{
    char path[PATH_MAX], name[64] = "";
    FILE *f;

    snprintf(path, sizeof(path), "%s/sys/kernel/iommu_groups/%d/name",
             vfio_root, group);
    f = fopen(path, "re");
    if (!f) {
        return false;
    }
    if (!fgets(name, sizeof(name), f)) {
        name[0] = '\0';
    }
    fclose(f);
    return strncmp(name, "vfio-noiommu", 12) == 0;
}

static void read_function(VfioFunction *f)
{
    char path[PATH_MAX], name[32];

    snprintf(path, sizeof(path), "%s" DEVICES "/%s/driver", vfio_root, f->bdf);
    if (!read_link(path, f->driver, sizeof(f->driver))) {
        f->driver[0] = '\0';
    }
    snprintf(path, sizeof(path), "%s" DEVICES "/%s/iommu_group", vfio_root,
             f->bdf);
    f->group = -1;
    if (read_link(path, name, sizeof(name))) {
        f->group = atoi(name);
        f->noiommu = group_is_noiommu(f->group);
    }
}

static int compare(const void *a, const void *b)
{
    const VfioFunction *x = a, *y = b;

    if (x->domain != y->domain) {
        return x->domain < y->domain ? -1 : 1;
    }
    if (x->bus != y->bus) {
        return x->bus < y->bus ? -1 : 1;
    }
    if (x->device != y->device) {
        return x->device < y->device ? -1 : 1;
    }
    return (int)x->function - (int)y->function;
}

unsigned kmd_vfio_scan(VfioFunction *list, unsigned max)
{
    char path[PATH_MAX];
    struct dirent *entry;
    unsigned count = 0;
    DIR *dir;

    snprintf(path, sizeof(path), "%s" DEVICES, vfio_root);
    dir = opendir(path);
    if (!dir) {
        return 0;
    }
    while (count < max && (entry = readdir(dir))) {
        VfioFunction f = { .group = -1 };

        if (strlen(entry->d_name) >= sizeof(f.bdf) ||
            !kmd_vfio_parse_bdf(entry->d_name, &f.domain, &f.bus, &f.device,
                                &f.function) ||
            read_hex(entry->d_name, "vendor") != MXGPU_PCI_VENDOR ||
            read_hex(entry->d_name, "device") != MXGPU_PCI_DEVICE) {
            continue;
        }
        snprintf(f.bdf, sizeof(f.bdf), "%.15s", entry->d_name);
        read_function(&f);
        list[count++] = f;
    }
    closedir(dir);
    qsort(list, count, sizeof(*list), compare);
    return count;
}

int kmd_vfio_check(const VfioFunction *f, char *reason, size_t size)
{
    char path[PATH_MAX];
    int err;

    if (f->group < 0 || f->noiommu) {
        snprintf(reason, size, "%s: no IOMMU protects it: give the machine "
                 "one and enable it (intel_iommu=on)", f->bdf);
        return -ENOTSUP;
    }
    if (strcmp(f->driver, "vfio-pci")) {
        snprintf(reason, size, "%s: bound to %s instead of vfio-pci", f->bdf,
                 f->driver[0] ? f->driver : "no driver");
        return -EACCES;
    }
    snprintf(path, sizeof(path), "%s/dev/vfio/%d", vfio_root, f->group);
    if (access(path, R_OK | W_OK) < 0) {
        err = errno;
        snprintf(reason, size, "%s: %s: %s", f->bdf, path, strerror(err));
        return -EACCES;
    }
    return 0;
}
