/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "headers.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "compiler/compiler.h"
#include "text.h"

#define NAME_LONGEST 700 /* so that folder and name are a path */
#define PART_LONGEST 255 /* of a path */
#define PARENTS_MOST 64  /* ".." in a name */
#define PARENTS_SPARE 16 /* that sources may write without leaving our folder */

static size_t parents(const char *name)
{
    size_t count = 0;

    for (const char *at = name; *at; at += strcspn(at, "/"), at += *at == '/') {
        count += strcspn(at, "/") == 2 && at[0] == '.' && at[1] == '.';
    }
    return count;
}

bool mc_rtc_header_name(const char *name)
{
    size_t size = strlen(name);
    const char *slash = strrchr(name, '/'), *last = slash ? slash + 1 : name;

    if (size > NAME_LONGEST || !*last || strcmp(last, ".") == 0 ||
        strcmp(last, "..") == 0 || parents(name) > PARENTS_MOST) {
        return false;
    }
    for (const char *at = name; *at; at += *at == '/') {
        size_t part = strcspn(at, "/");

        if (part > PART_LONGEST) {
            return false;
        }
        at += part;
    }
    return true;
}

/*
 * Names of the standard library: C++ ones have no suffix. What the runtime's
 * own headers include must be the real thing, so replacements that programs
 * bring for compilers without a library come last.
 */
static bool is_standard(const char *name)
{
    static const char *const c[] = {
        "assert.h", "complex.h", "ctype.h", "errno.h", "fenv.h", "float.h",
        "inttypes.h", "limits.h", "locale.h", "math.h", "memory.h", "setjmp.h",
        "signal.h", "stdalign.h", "stdarg.h", "stdatomic.h", "stdbool.h",
        "stddef.h", "stdint.h", "stdio.h", "stdlib.h", "string.h", "strings.h",
        "tgmath.h", "time.h", "uchar.h", "wchar.h", "wctype.h",
    };

    for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
        if (strcmp(c[i], name) == 0) {
            return true;
        }
    }
    return !strpbrk(name, "./");
}

/* Makes the folders of a path below one that is there. */
static bool make_folders(char *path, size_t root)
{
    for (char *slash = strchr(path + root, '/'); slash;
         slash = strchr(slash + 1, '/')) {
        *slash = 0;
        bool made = mkdir(path, 0700) == 0 || errno == EEXIST;
        *slash = '/';
        if (!made) {
            return false;
        }
    }
    return true;
}

/* The first of several with one name counts. */
static bool is_there(const char *path)
{
    struct stat st;

    return errno == EEXIST && lstat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static bool write_header(const McRtcHeader *header, char *path, size_t root)
{
    McText text = {0};
    bool written = false;

    mc_text_printf(&text, "#line 1 ");
    mc_text_quote(&text, header->name);
    mc_text_printf(&text, "\n");
    mc_text_add(&text, header->text, strlen(header->text));
    if (text.failed) {
        errno = ENOMEM;
    } else {
        written = make_folders(path, root) &&
                  (mc_compiler_write(path, text.data, text.size) ||
                   is_there(path));
    }
    mc_text_free(&text);
    return written;
}

/* A folder at the end of so many others that all ".." stay among them. */
static char *make_root(const char *folder, const char *name, size_t depth)
{
    McText path = {0};

    mc_text_printf(&path, "%s/%s", folder, name);
    for (size_t i = 0; i < depth; i++) {
        mc_text_printf(&path, "/-");
    }
    mc_text_printf(&path, "/");
    if (path.failed || path.size >= PATH_MAX - NAME_LONGEST - 16) {
        errno = path.failed ? ENOMEM : ENAMETOOLONG;
        mc_text_free(&path);
        return NULL;
    }
    if (!make_folders(path.data, strlen(folder) + 1)) {
        mc_text_free(&path);
        return NULL;
    }
    return path.data;
}

/* Of a name that begins at the root of the file system. */
static bool overlay_one(McText *overlay, const McRtcHeader *header,
                        size_t number, const char *first)
{
    char path[PATH_MAX];

    snprintf(path, sizeof(path), "%s/-absolute-%zu", first, number);
    mc_text_printf(overlay, "%s{\"type\": \"file\", \"name\": ",
                   overlay->size ? ", " : "{\"version\": 0, \"roots\": [");
    mc_text_quote(overlay, header->name);
    mc_text_printf(overlay, ", \"external-contents\": ");
    mc_text_quote(overlay, path);
    mc_text_printf(overlay, "}");
    return write_header(header, path, strlen(first) + 1);
}

static bool write_overlay(McText *overlay, const char *folder,
                          McRtcFolders *out)
{
    if (!overlay->size) {
        return true;
    }
    mc_text_printf(overlay, "]}\n");
    if (overlay->failed || asprintf(&out->overlay, "%s/overlay", folder) < 0) {
        out->overlay = NULL;
        errno = ENOMEM;
        return false;
    }
    return mc_compiler_write(out->overlay, overlay->data, overlay->size);
}

bool mc_rtc_headers_write(const McRtcHeader *headers, size_t count,
                          const char *folder, McRtcFolders *out,
                          const McRtcHeader **culprit)
{
    size_t depth = 0;
    McText overlay = {0};
    bool written = true;

    *out = (McRtcFolders){0};
    *culprit = NULL;
    for (size_t i = 0; i < count; i++) {
        size_t up = parents(headers[i].name);

        depth = up > depth ? up : depth;
    }
    out->first = make_root(folder, "first", depth + PARENTS_SPARE);
    out->last = make_root(folder, "last", depth + PARENTS_SPARE);
    for (size_t i = 0; i < count && written && out->first && out->last; i++) {
        const McRtcHeader *header = &headers[i];
        const char *root = is_standard(header->name) ? out->last : out->first;
        char path[PATH_MAX];

        if (*header->name == '/') {
            written = overlay_one(&overlay, header, i, out->first);
        } else {
            snprintf(path, sizeof(path), "%s%s", root, header->name);
            written = write_header(header, path, strlen(root));
        }
        *culprit = written ? NULL : header;
    }
    written = written && out->first && out->last &&
              write_overlay(&overlay, folder, out);
    mc_text_free(&overlay);
    return written;
}

void mc_rtc_folders_free(McRtcFolders *folders)
{
    free(folders->first);
    free(folders->last);
    free(folders->overlay);
}
