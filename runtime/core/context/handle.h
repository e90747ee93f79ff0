/* SPDX-License-Identifier: MIT */
/*
 * Handles given to users. They are pointers to objects, but are looked up
 * before they are followed, so that a stale or made-up one is an error and not
 * a crash. An object obtained by mc_handle_get stays, and so does its context,
 * until mc_handle_put. Those of no context (ctx NULL) belong to the process.
 */
#ifndef MC_CORE_HANDLE_H
#define MC_CORE_HANDLE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/tree.h"

typedef struct McContext McContext;

typedef enum McHandleType {
    MC_HANDLE_STREAM = 1,
    MC_HANDLE_EVENT,
    MC_HANDLE_MODULE,
    MC_HANDLE_FUNCTION,
    MC_HANDLE_POOL,
    MC_HANDLE_EXTERNAL_MEMORY,
    MC_HANDLE_EXTERNAL_SEMAPHORE,
    MC_HANDLE_GRAPH,
    MC_HANDLE_GRAPH_NODE,
    MC_HANDLE_GRAPH_EXEC,
    MC_HANDLE_USER_OBJECT,
    MC_HANDLE_ARRAY,
    MC_HANDLE_MIPMAP,
} McHandleType;

/* First member of every object with a handle. */
typedef struct McHandle {
    McNode node;            /* by address */
    struct McHandle *next;  /* being purged */
    McHandleType type;
    atomic_int refs;
    McContext *ctx;
    void (*destroy)(struct McHandle *handle);
} McHandle;

void mc_handle_add(McHandle *handle, McHandleType type, McContext *ctx,
                   void (*destroy)(McHandle *handle));
/* NULL when there is no such object or its context is going away. */
void *mc_handle_get(const void *handle, McHandleType type);
void mc_handle_put(void *handle);
/* For an object that keeps another one of its context, which it has. */
void mc_handle_ref(void *handle);
void mc_handle_unref(void *handle);
/* Makes the handle invalid; the object goes when the last user is done. The
 * caller holds a reference of its own. False when it was gone already. */
bool mc_handle_remove(void *handle);
/* Removes all of a context of one type; nobody uses the context any more. */
void mc_handle_purge(McContext *ctx, McHandleType type);
/* No handle of the context can be obtained any more. */
void mc_handle_block(McContext *ctx);

#endif
