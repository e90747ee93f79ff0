/* SPDX-License-Identifier: MIT */
#ifndef MXGPU_SIMT_JIT_COMPILER_ORIGIN_H
#define MXGPU_SIMT_JIT_COMPILER_ORIGIN_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

/* A file that code comes from, as it was then. */
typedef struct JitOrigin {
    int64_t size, seconds, nanoseconds; /* when it was last changed */
    char path[232];
} JitOrigin;

/* false: it is not there, or its name is too long. */
static inline bool jit_origin(const char *path, JitOrigin *o)
{
    struct stat st;
    size_t length = strlen(path);

    memset(o, 0, sizeof(*o));
    if (length >= sizeof(o->path) || stat(path, &st)) {
        return false;
    }
    memcpy(o->path, path, length);
    o->size = st.st_size;
    o->seconds = st.st_mtim.tv_sec;
    o->nanoseconds = st.st_mtim.tv_nsec;
    return true;
}

#endif
