/* SPDX-License-Identifier: MIT */
#include "foreign.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/va.h"
#include "core/context/error.h"
#include "core/memory/file_memory.h"
#include "core/stream/stream.h"
#include "mxgpu/pte.h"

#define PERMS (MXGPU_PTE_READ | MXGPU_PTE_WRITE | MXGPU_PTE_ATOMIC)

typedef struct Part {
    void *cpu;
    KmdBo *bo;
    uint64_t va, size;
} Part;

typedef struct Foreign {
    struct Foreign *next;
    McContext *ctx;
    McRangeKind kind;
    unsigned users;
    bool has_token;
    McToken token;
    uint64_t va;              /* that the user has */
    uint64_t start, reserved; /* addresses */
    Part part[MC_PIECES];
    unsigned parts;
} Foreign;

static pthread_mutex_t foreign_lock = PTHREAD_MUTEX_INITIALIZER;
static Foreign *all;

static int part_map(McContext *ctx, const McFilePiece *piece, uint64_t va,
                    Part *part)
{
    uint64_t bytes;
    int err;

    *part = (Part){.va = va, .size = piece->size};
    part->cpu = mc_file_map(piece->fd, piece->offset, piece->size);
    if (!part->cpu) {
        return -ENOMEM;
    }
    /* Pages of a device are not the kernel's to pin. */
    err = ctx->ops->import && mc_file_is_buffer(piece->fd, &bytes)
              ? ctx->ops->import(ctx->kmd, piece->fd, piece->offset,
                                 piece->size, &part->bo)
              : ctx->ops->pin(ctx->kmd, part->cpu, part->size, &part->bo);
    if (!err) {
        err = ctx->ops->map(part->bo, va, 0, part->size, PERMS);
        if (err) {
            ctx->ops->free(part->bo);
        }
    }
    if (err) {
        mc_file_unmap(part->cpu, part->size);
    }
    return err;
}

/* All that was mapped of it; nobody finds it any more. */
static void foreign_free(Foreign *f)
{
    McContext *ctx = f->ctx;

    while (f->parts) {
        Part *part = &f->part[--f->parts];

        ctx->ops->unmap(ctx->kmd, part->va, part->size);
        ctx->ops->free(part->bo);
        mc_file_unmap(part->cpu, part->size);
    }
    mc_va_release((void *)(uintptr_t)f->start, f->reserved);
    free(f);
}

static mcError_t foreign_fill(Foreign *f, const McShare *share)
{
    uint64_t bytes = 0;

    for (unsigned i = 0; i < share->pieces; i++) {
        bytes += share->piece[i].size;
    }
    f->reserved = bytes + KMD_PAGE_SIZE; /* a page that faults */
    f->start = (uintptr_t)mc_va_reserve(f->reserved,
                                        bytes >= KMD_LARGE_PAGE_SIZE
                                            ? KMD_LARGE_PAGE_SIZE
                                            : KMD_PAGE_SIZE);
    if (!f->start) {
        return mcErrorMemoryAllocation;
    }
    f->va = f->start + share->skip;
    uint64_t va = f->start;
    for (unsigned i = 0; i < share->pieces; i++) {
        int err = part_map(f->ctx, &share->piece[i], va, &f->part[i]);

        if (err) {
            return mc_error_from_kmd(err);
        }
        f->parts++;
        va += share->piece[i].size;
    }
    McRange range = {
        .base = f->va,
        .size = share->size,
        .kind = f->kind,
        .device = f->ctx->device,
        .owner = f,
    };
    return mc_range_add(&range) ? mcSuccess : mcErrorMemoryAllocation;
}

/* Under the lock. */
static Foreign *find_token(const McContext *ctx, const McToken *token)
{
    Foreign *f = all;

    while (f && !(f->ctx == ctx && f->has_token &&
                  !memcmp(&f->token, token, sizeof(*token)))) {
        f = f->next;
    }
    return f;
}

bool mc_foreign_again(McContext *ctx, const McToken *token, uint64_t *va)
{
    pthread_mutex_lock(&foreign_lock);
    Foreign *f = find_token(ctx, token);
    if (f) {
        f->users++;
        *va = f->va;
    }
    pthread_mutex_unlock(&foreign_lock);
    return f;
}

mcError_t mc_foreign_map(McContext *ctx, const McShare *share,
                         McRangeKind kind, const McToken *token, uint64_t *va)
{
    Foreign *f = calloc(1, sizeof(*f));
    mcError_t error = mcSuccess;

    if (!f) {
        return mcErrorMemoryAllocation;
    }
    f->ctx = ctx;
    f->kind = kind;
    if (token) {
        f->token = *token;
        f->has_token = true;
    }
    pthread_mutex_lock(&foreign_lock);
    Foreign *other = token ? find_token(ctx, token) : NULL;
    if (other) {
        free(f);
        f = other;
    } else {
        error = foreign_fill(f, share);
    }
    if (error != mcSuccess) {
        foreign_free(f);
    } else {
        if (!f->users++) {
            f->next = all;
            all = f;
        }
        *va = f->va;
    }
    pthread_mutex_unlock(&foreign_lock);
    return error;
}

/* Under the lock: the link to it, or NULL. */
static Foreign **find_va(uint64_t va, McRangeKind kind)
{
    Foreign **link = &all;

    while (*link && !((*link)->va == va && (*link)->kind == kind)) {
        link = &(*link)->next;
    }
    return *link ? link : NULL;
}

mcError_t mc_foreign_unmap(uint64_t va, McRangeKind kind)
{
    McRange range;

    if (!mc_range_find(va, &range) || range.base != va || range.kind != kind) {
        return mcErrorInvalidValue;
    }
    McContext *ctx = mc_context_peek(range.device);
    if (!ctx) {
        return mcErrorInvalidValue;
    }
    mc_context_sync(ctx); /* its error is told to who waits for it */
    pthread_mutex_lock(&foreign_lock);
    Foreign **link = find_va(va, kind), *f = link ? *link : NULL;
    if (f && --f->users == 0) {
        *link = f->next;
        mc_range_remove(va, NULL);
        foreign_free(f);
    }
    pthread_mutex_unlock(&foreign_lock);
    mc_context_put(ctx);
    return f ? mcSuccess : mcErrorInvalidValue;
}

void mc_foreign_detach(McContext *ctx)
{
    pthread_mutex_lock(&foreign_lock);
    for (Foreign **link = &all; *link;) {
        Foreign *f = *link;

        if (f->ctx == ctx) {
            *link = f->next;
            mc_range_remove(f->va, NULL);
            foreign_free(f);
        } else {
            link = &f->next;
        }
    }
    pthread_mutex_unlock(&foreign_lock);
}
