/* SPDX-License-Identifier: MIT */
#include "link.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "compiler/compiler.h"
#include "image/elf.h"
#include "image/fatbin.h"
#include "image/fetch.h"
#include "tool.h"

#define NAME_MAX_KEPT 100

struct McLink {
    struct McLink *next; /* of all */
    unsigned users;      /* and one while it is in the list */
    pthread_mutex_t lock; /* for all below; held while the linker runs */
    McLinkOptions options;
    double ms; /* spent so far */
    McLinkInput *inputs;
    size_t count;
    bool linked; /* the one input is an image already */
    void *image;
    size_t size;
};

static pthread_mutex_t links_lock = PTHREAD_MUTEX_INITIALIZER;
static McLink *links;

/* ---- states ---- */

mcError_t mc_link_create(const McLinkOptions *options, McLink **out)
{
    char path[PATH_MAX];

    if (!mc_compiler_find(path, sizeof(path))) {
        mc_error("there is no mxcc to link with; MACA_PATH names the folder "
                 "it is installed in");
        return mcErrorJitCompilerNotFound;
    }
    McLink *link = calloc(1, sizeof(*link));
    if (!link) {
        return mcErrorMemoryAllocation;
    }
    pthread_mutex_init(&link->lock, NULL);
    link->options = *options;
    link->users = 1;
    pthread_mutex_lock(&links_lock);
    link->next = links;
    links = link;
    pthread_mutex_unlock(&links_lock);
    *out = link;
    return mcSuccess;
}

McLink *mc_link_get(const void *handle)
{
    pthread_mutex_lock(&links_lock);
    McLink *link = links;
    while (link && link != handle) {
        link = link->next;
    }
    if (link) {
        link->users++;
    }
    pthread_mutex_unlock(&links_lock);
    return link;
}

static void drop_inputs(McLink *link)
{
    for (size_t i = 0; i < link->count; i++) {
        free(link->inputs[i].name);
        free(link->inputs[i].data);
    }
    free(link->inputs);
    link->inputs = NULL;
    link->count = 0;
}

void mc_link_put(McLink *link)
{
    pthread_mutex_lock(&links_lock);
    bool last = --link->users == 0;
    pthread_mutex_unlock(&links_lock);
    if (last) {
        drop_inputs(link);
        free(link->image);
        pthread_mutex_destroy(&link->lock);
        free(link);
    }
}

bool mc_link_remove(McLink *link)
{
    bool found = false;

    pthread_mutex_lock(&links_lock);
    for (McLink **p = &links; *p && !found;) {
        if (*p == link) {
            *p = link->next;
            link->users--; /* the caller has one more */
            found = true;
        } else {
            p = &(*p)->next;
        }
    }
    pthread_mutex_unlock(&links_lock);
    return found;
}

/* ---- time and messages ---- */

static double now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

static void leave(McLink *link, double start)
{
    link->ms += now_ms() - start;
    mc_link_set_wall_time(&link->options, link->ms);
    mc_link_log_add(&link->options.info, "");
    mc_link_log_add(&link->options.errors, "");
    pthread_mutex_unlock(&link->lock);
}

static void complain(McLink *link, const char *name, const char *why)
{
    char text[512];

    mc_error("%.200s: %s", name, why);
    snprintf(text, sizeof(text), "error: %.200s: %s\n", name, why);
    mc_link_log_add(&link->options.errors, text);
}

/* ---- inputs ---- */

/* A file name of the last part of what the caller calls it; its end tells the
 * linker that it is no source. */
static char *file_name(const char *name, McRelocatableKind kind)
{
    const char *slash = strrchr(name, '/'), *end;
    char *copy = malloc(NAME_MAX_KEPT + sizeof(".o"));
    size_t n = 0;

    name = slash ? slash + 1 : name;
    for (; copy && name[n] && n < NAME_MAX_KEPT; n++) {
        unsigned char c = name[n];

        copy[n] = isalnum(c) || strchr("_.+-", c) ? c : '_';
    }
    if (copy) {
        end = kind == MC_RELOCATABLE_LIBRARY ? ".a" : ".o";
        copy[n] = 0;
        if (n < 3 || strcmp(copy + n - 2, end) != 0) {
            strcpy(copy + n, end);
        }
    }
    return copy;
}

/* Takes over data. */
static mcError_t keep(McLink *link, void *data, size_t size, const char *name,
                      McRelocatableKind kind)
{
    McLinkInput *more = realloc(link->inputs,
                                (link->count + 1) * sizeof(*more));
    char *copy = file_name(name, kind);

    if (more) {
        link->inputs = more;
    }
    if (!more || !copy) {
        free(data);
        free(copy);
        return mcErrorMemoryAllocation;
    }
    more[link->count++] = (McLinkInput){copy, data, size};
    return mcSuccess;
}

/* Whether it is a code object, as mxcc -fatbin and mcrtc without -rdc make it. */
static bool is_linked(const void *data, size_t size)
{
    McImage parsed;
    const void *image;
    size_t image_size;
    bool whole = mc_fatbin_find(data, size, &image, &image_size) == mcSuccess &&
                 mc_image_parse(image, image_size, &parsed) == mcSuccess;

    if (whole) {
        mc_image_free(&parsed);
    }
    return whole;
}

/* Likewise. Under the lock. A code object is linked alone: it is the result. */
static mcError_t add(McLink *link, const McRelocatableKind *wanted, void *data,
                     size_t size, const char *name)
{
    McRelocatableKind kind;
    const char *why;
    mcError_t error = mc_relocatable_check(data, size, &kind, &why);

    bool linked = error == mcErrorNoKernelImageForDevice &&
                  is_linked(data, size);
    if (linked && !link->count) {
        error = mcSuccess;
    } else if (linked || (error == mcSuccess && link->linked)) {
        why = "code that is linked already is linked with nothing else "
              "(mxcc -dc, -rdc=true make code that is not)";
        error = mcErrorNoKernelImageForDevice;
    }
    if (error == mcSuccess && wanted && *wanted != kind) {
        why = "it is not of the type that it is said to be";
        error = mcErrorInvalidKernelImage;
    }
    if (error != mcSuccess) {
        complain(link, name, why);
        free(data);
        return error;
    }
    error = keep(link, data, size, name, kind);
    link->linked |= error == mcSuccess && linked;
    return error;
}

/* The size is the caller's word: no more than there is is allocated at once. */
static mcError_t copy_memory(const void *from, size_t size, void **out)
{
    uint8_t *copy = NULL;
    size_t done = 0, room = 1u << 20;

    for (; done < size; room *= 2) {
        size_t end = room < size ? room : size;
        uint8_t *more = realloc(copy, end);

        if (!more || !mc_fetch(more + done, (const uint8_t *)from + done,
                               end - done)) {
            free(more ? more : copy);
            return more ? mcErrorInvalidKernelImage : mcErrorMemoryAllocation;
        }
        copy = more;
        done = end;
    }
    *out = copy;
    return mcSuccess;
}

mcError_t mc_link_add(McLink *link, const McRelocatableKind *kind,
                      const void *data, size_t size, const char *name)
{
    mcError_t error = mcErrorInvalidHandle;
    void *copy;

    pthread_mutex_lock(&link->lock);
    double start = now_ms();
    if (!link->image) {
        error = size <= MC_FILE_MAX ? copy_memory(data, size, &copy)
                                    : mcErrorInvalidKernelImage;
        if (error == mcErrorInvalidKernelImage) {
            complain(link, name, size <= MC_FILE_MAX
                                     ? "memory ends before its end"
                                     : "it is larger than 1 GiB");
        }
        if (error == mcSuccess) {
            error = add(link, kind, copy, size, name);
        }
    }
    leave(link, start);
    return error;
}

/* All of a regular file; *why is said when it is not there. */
static mcError_t read_file(const char *path, void **out, size_t *size,
                           const char **why)
{
    struct stat st;
    /* A FIFO would wait for somebody to write to it. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    mcError_t error = mcErrorFileNotFound;

    *out = NULL;
    *size = 0;
    if (fd < 0 || fstat(fd, &st) != 0) {
        *why = strerror(errno);
    } else if (!S_ISREG(st.st_mode) || st.st_size <= 0 ||
               (uint64_t)st.st_size > MC_FILE_MAX) {
        *why = "not a file with contents, of at most 1 GiB";
        error = mcErrorInvalidKernelImage;
    } else {
        ssize_t n = 1;

        *out = malloc(st.st_size);
        error = *out ? mcSuccess : mcErrorMemoryAllocation;
        while (*out && *size < (size_t)st.st_size &&
               ((n = read(fd, (char *)*out + *size, st.st_size - *size)) > 0 ||
                (n < 0 && errno == EINTR))) {
            *size += n > 0 ? n : 0;
        }
    }
    if (fd >= 0) {
        close(fd);
    }
    return error;
}

mcError_t mc_link_add_file(McLink *link, const McRelocatableKind *kind,
                           const char *path)
{
    mcError_t error = mcErrorInvalidHandle;
    const char *why = NULL;
    void *data;
    size_t size;

    pthread_mutex_lock(&link->lock);
    double start = now_ms();
    if (!link->image) {
        error = read_file(path, &data, &size, &why);
        if (why) {
            complain(link, path, why);
        }
        if (error == mcSuccess) {
            error = add(link, kind, data, size, path);
        }
    }
    leave(link, start);
    return error;
}

/* ---- linking ---- */

/* Words of mxcc. */
static void words(const McLinkOptions *options, const char **argv)
{
    static const char *const levels[] = {"-O0", "-O1", "-O2", "-O3"};

    if (options->level >= 0) {
        *argv++ = levels[options->level];
    }
    if (options->debug) {
        *argv++ = "-g";
    } else if (options->lines) {
        *argv++ = "-lineinfo";
    }
    if (options->verbose) {
        *argv++ = "-resource-usage";
    }
    *argv = NULL;
}

/* Under the lock. */
static mcError_t complete(McLink *link)
{
    const char *argv[8];
    McLinkOutput output;

    if (link->count == 0) {
        complain(link, "mcLinkComplete", "nothing was added");
        return mcErrorInvalidValue;
    }
    if (link->linked) {
        link->image = link->inputs[0].data;
        link->size = link->inputs[0].size;
        link->inputs[0].data = NULL;
        drop_inputs(link);
        return mcSuccess;
    }
    words(&link->options, argv);
    mcError_t error = mc_link_run(link->inputs, link->count, argv, &output);
    const char *text = output.text ? output.text : "";
    if (error == mcSuccess) {
        mc_link_log_add(&link->options.info, text);
        link->image = output.image;
        link->size = output.size;
        drop_inputs(link);
    } else {
        mc_error("the linker failed: %.1000s", text);
        mc_link_log_add(&link->options.errors, text);
        free(output.image);
    }
    free(output.text);
    return error;
}

mcError_t mc_link_complete(McLink *link, void **image, size_t *size)
{
    mcError_t error = mcSuccess;

    pthread_mutex_lock(&link->lock);
    double start = now_ms();
    if (!link->image) {
        error = complete(link);
    }
    if (error == mcSuccess) {
        *image = link->image;
        *size = link->size;
    }
    leave(link, start);
    return error;
}
