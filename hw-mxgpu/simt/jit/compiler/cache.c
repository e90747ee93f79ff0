/* SPDX-License-Identifier: MIT */
/*
 * A file's name is the digest of what its code was made of: the region, which
 * files this program and the compiler's module are, the host's instructions. The
 * file begins with the digest of the rest: which file LLVM was, so that it need
 * not be loaded to know that it is the same, JitReply, and the code. What is not
 * as it was written is no part of the cache, and what nobody but the user could
 * have written is run.
 */
#include "cache.h"

#include <cpuid.h>
#include <fcntl.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define DIGEST_BYTES 32
#define NAME_CHARS   (2 * DIGEST_BYTES)
#define CACHE_MAX    (256u << 20) /* bytes; then the oldest go */
#define CACHE_KEPT   (CACHE_MAX / 4 * 3)
#define PARTIAL      "partial-"
#define PARTIAL_AGE  3600 /* seconds */

struct JitCache {
    int folder;
    GChecksum *maker; /* of what is the same for all regions */
    bool trimmed;
    bool known;     /* that LLVM is this one */
    JitOrigin llvm;
};

typedef struct JitCacheHead {
    uint8_t digest[DIGEST_BYTES]; /* of what follows */
    JitOrigin llvm;
    JitReply reply;
} JitCacheHead;

static bool only_ours(int fd, mode_t kind)
{
    struct stat st;

    return !fstat(fd, &st) && (st.st_mode & S_IFMT) == kind &&
           st.st_uid == geteuid() && !(st.st_mode & (S_IWGRP | S_IWOTH));
}

static int open_folder(void)
{
    const char *named = g_getenv("MXGPU_JIT_CACHE");
    g_autofree char *path =
        named ? g_strdup(named)
              : g_build_filename(g_get_user_cache_dir(), "mxgpu", "jit", NULL);
    int fd;

    if (!*path || g_mkdir_with_parents(path, 0700)) {
        return -1;
    }
    fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0 && !only_ours(fd, S_IFDIR)) {
        close(fd);
        return -1;
    }
    return fd;
}

static bool add_file(GChecksum *sum, const char *path)
{
    JitOrigin file;

    if (!jit_origin(path, &file)) {
        return false;
    }
    g_checksum_update(sum, (const guchar *)&file, sizeof(file));
    return true;
}

/* What LLVM asks a host which instructions it has, without what differs from core
 * to core. */
static void add_host(GChecksum *sum)
{
    static const unsigned leaves[][2] = {{0, 0},    {1, 0},          {7, 0},
                                         {7, 1},    {0xd, 1},        {0x14, 0},
                                         {0x19, 0}, {0x80000001, 0}, {0x80000008, 0}};
    unsigned enabled[2];

    for (unsigned i = 0; i < G_N_ELEMENTS(leaves); i++) {
        unsigned r[4] = {0};

        __get_cpuid_count(leaves[i][0], leaves[i][1], &r[0], &r[1], &r[2],
                          &r[3]);
        if (leaves[i][0] == 1) {
            r[1] = 0; /* the core's number */
        } else if (leaves[i][0] == 0xd) {
            r[1] = 0; /* bytes of what is enabled now */
        }
        g_checksum_update(sum, (const guchar *)r, sizeof(r));
    }
    __asm__ volatile("xgetbv" : "=a"(enabled[0]), "=d"(enabled[1]) : "c"(0));
    g_checksum_update(sum, (const guchar *)enabled, sizeof(enabled));
}

/* Of everything but the region; NULL: what makes code is not there. */
static GChecksum *digest_maker(const char *program, const char *module)
{
    GChecksum *sum = g_checksum_new(G_CHECKSUM_SHA256);

    if (!add_file(sum, program) || !add_file(sum, module)) {
        g_checksum_free(sum);
        return NULL;
    }
    add_host(sum);
    return sum;
}

JitCache *jit_cache_open(const char *program, const char *module)
{
    int folder = open_folder();
    GChecksum *maker = folder < 0 ? NULL : digest_maker(program, module);
    JitCache *c;

    if (!maker) {
        if (folder >= 0) {
            close(folder);
        }
        return NULL;
    }
    c = g_new0(JitCache, 1);
    c->folder = folder;
    c->maker = maker;
    return c;
}

void jit_cache_close(JitCache *c)
{
    if (c) {
        close(c->folder);
        g_checksum_free(c->maker);
        g_free(c);
    }
}

#define OP_BYTES                                                               \
    (sizeof(SimtOp) + sizeof(uint16_t) + sizeof(int32_t) +                     \
     2 * sizeof(uint32_t) + 3 * sizeof(uint8_t))
#define REST_BYTES (2 + 3 * 32 * sizeof(uint8_t) + 32 * sizeof(int64_t))

/* Code that differs in what is not here would be taken for the same. */
_Static_assert(sizeof(JitCode) - offsetof(JitCode, ops) - JIT_OPS * OP_BYTES -
                       JIT_BLOCKS * sizeof(JitBlock) - REST_BYTES <
                   8,
               "add_code() leaves out a member of JitCode");

/* What of it there is, which is a small part of the structure. */
static void add_code(GChecksum *sum, const JitCode *code)
{
    const size_t ops = MIN(code->num_ops, JIT_OPS);
    const size_t blocks = MIN(code->num_blocks, JIT_BLOCKS);
    const struct {
        const void *at;
        size_t bytes;
    } parts[] = {
        {code, offsetof(JitCode, ops)},
        {code->ops, ops * sizeof(code->ops[0])},
        {code->kind, ops * sizeof(code->kind[0])},
        {code->site, ops * sizeof(code->site[0])},
        {code->at, ops * sizeof(code->at[0])},
        {code->live, ops * sizeof(code->live[0])},
        {code->fread, ops * sizeof(code->fread[0])},
        {code->blocks, blocks * sizeof(code->blocks[0])},
        {code->varies, ops * sizeof(code->varies[0])},
        {code->together, ops * sizeof(code->together[0])},
        {&code->whole, sizeof(code->whole)},
        {&code->row_shift, sizeof(code->row_shift)},
        {code->entry, sizeof(code->entry)},
        {code->step, sizeof(code->step)},
        {code->x, sizeof(code->x)},
        {code->f, sizeof(code->f)},
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(parts); i++) {
        g_checksum_update(sum, parts[i].at, (gssize)parts[i].bytes);
    }
}

static void name_of(const JitCache *c, const JitCode *code, unsigned lanes,
                    char name[NAME_CHARS + 1])
{
    GChecksum *sum = g_checksum_copy(c->maker);

    add_code(sum, code);
    g_checksum_update(sum, (const guchar *)&lanes, sizeof(lanes));
    g_strlcpy(name, g_checksum_get_string(sum), NAME_CHARS + 1);
    g_checksum_free(sum);
}

static void digest(const JitCacheHead *head, const uint8_t *bytes,
                   uint8_t out[DIGEST_BYTES])
{
    GChecksum *sum = g_checksum_new(G_CHECKSUM_SHA256);
    gsize size = DIGEST_BYTES;

    g_checksum_update(sum, (const guchar *)head + DIGEST_BYTES,
                      sizeof(*head) - DIGEST_BYTES);
    g_checksum_update(sum, bytes, head->reply.bytes);
    g_checksum_get_digest(sum, out, &size);
    g_checksum_free(sum);
}

/* ---- reading */

/* Whether LLVM is as it was. */
static bool is_same_llvm(JitCache *c, const JitOrigin *llvm)
{
    JitOrigin now;

    if (!c->known || memcmp(&c->llvm, llvm, sizeof(*llvm))) {
        if (llvm->path[sizeof(llvm->path) - 1] ||
            !jit_origin(llvm->path, &now) ||
            memcmp(&now, llvm, sizeof(now))) {
            return false;
        }
        c->llvm = *llvm;
        c->known = true;
    }
    return true;
}

static bool is_whole(const char *data, size_t size, JitCacheHead *head)
{
    uint8_t sum[DIGEST_BYTES];

    if (size < sizeof(*head)) {
        return false;
    }
    memcpy(head, data, sizeof(*head));
    if (head->reply.bytes != size - sizeof(*head)) {
        return false;
    }
    digest(head, (const uint8_t *)data + sizeof(*head), sum);
    return !memcmp(sum, head->digest, DIGEST_BYTES);
}

uint8_t *jit_cache_load(JitCache *c, const JitCode *code, unsigned lanes,
                        JitReply *reply)
{
    char name[NAME_CHARS + 1];
    uint8_t *bytes = NULL;
    JitCacheHead head;
    GMappedFile *file;
    int fd;

    name_of(c, code, lanes, name);
    fd = openat(c->folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        return NULL;
    }
    file = only_ours(fd, S_IFREG) ? g_mapped_file_new_from_fd(fd, FALSE, NULL)
                                  : NULL;
    if (file && is_whole(g_mapped_file_get_contents(file),
                         g_mapped_file_get_length(file), &head) &&
        is_same_llvm(c, &head.llvm)) {
        *reply = head.reply;
        bytes = g_memdup2(g_mapped_file_get_contents(file) + sizeof(head),
                          head.reply.bytes);
        (void)futimens(fd, NULL); /* it is young again */
    }
    if (file) {
        g_mapped_file_unref(file);
    }
    close(fd);
    return bytes;
}

/* ---- writing */

typedef struct Entry {
    char name[NAME_CHARS + 1];
    struct timespec used;
    off_t size;
} Entry;

static int by_age(const void *a, const void *b)
{
    const struct timespec *x = &((const Entry *)a)->used;
    const struct timespec *y = &((const Entry *)b)->used;

    if (x->tv_sec != y->tv_sec) {
        return x->tv_sec < y->tv_sec ? -1 : 1;
    }
    return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

/* What a process that was ended while it wrote has left. */
static void remove_partial(const JitCache *c, const char *name, time_t written)
{
    if (g_str_has_prefix(name, PARTIAL) && time(NULL) - written > PARTIAL_AGE) {
        unlinkat(c->folder, name, 0);
    }
}

/* Those that have not been used for longest go. */
static void trim(const JitCache *c)
{
    g_autofree char *path = g_strdup_printf("/proc/self/fd/%d", c->folder);
    g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(Entry));
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    const char *name;
    uint64_t bytes = 0;

    while (dir && (name = g_dir_read_name(dir))) {
        struct stat st;
        Entry e;

        if (fstatat(c->folder, name, &st, AT_SYMLINK_NOFOLLOW)) {
            continue;
        }
        remove_partial(c, name, st.st_mtime);
        if (strlen(name) == NAME_CHARS) {
            g_strlcpy(e.name, name, sizeof(e.name));
            e.used = st.st_mtim;
            e.size = st.st_size;
            bytes += st.st_size;
            g_array_append_val(all, e);
        }
    }
    if (bytes <= CACHE_MAX) {
        return;
    }
    g_array_sort(all, by_age);
    for (unsigned i = 0; i < all->len && bytes > CACHE_KEPT; i++) {
        const Entry *e = &g_array_index(all, Entry, i);

        bytes -= unlinkat(c->folder, e->name, 0) ? 0 : e->size;
    }
}

static bool write_all(int fd, const void *data, size_t size)
{
    const char *at = data;

    while (size) {
        ssize_t n = write(fd, at, size);

        if (n <= 0) {
            return false;
        }
        at += n;
        size -= n;
    }
    return true;
}

void jit_cache_store(JitCache *c, const JitCode *code, unsigned lanes,
                     const JitOrigin *llvm, const JitReply *reply,
                     const uint8_t *bytes)
{
    char name[NAME_CHARS + 1], partial[32];
    JitCacheHead head = {.llvm = *llvm, .reply = *reply};
    int fd;

    if (!c->trimmed) {
        trim(c);
        c->trimmed = true;
    }
    name_of(c, code, lanes, name);
    digest(&head, bytes, head.digest);
    g_snprintf(partial, sizeof(partial), PARTIAL "%08x", g_random_int());
    fd = openat(c->folder, partial,
                O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) {
        return;
    }
    /* Others see all of it or nothing. */
    if (!write_all(fd, &head, sizeof(head)) ||
        !write_all(fd, bytes, reply->bytes) ||
        renameat(c->folder, partial, c->folder, name)) {
        unlinkat(c->folder, partial, 0);
    }
    close(fd);
}
