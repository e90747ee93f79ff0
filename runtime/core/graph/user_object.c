/* SPDX-License-Identifier: MIT */
#include "user_object.h"

#include <limits.h>
#include <stdlib.h>

struct McUserObject {
    McHandle handle;
    atomic_uint count; /* references */
    void *ptr;
    mcHostFn_t destroy;
};

static void object_free(McHandle *handle)
{
    free(handle);
}

mcError_t mc_user_object_new(void *ptr, mcHostFn_t destroy, unsigned refs,
                             McUserObject **out)
{
    McUserObject *object = calloc(1, sizeof(*object));

    if (!object) {
        return mcErrorMemoryAllocation;
    }
    atomic_init(&object->count, refs);
    object->ptr = ptr;
    object->destroy = destroy;
    mc_handle_add(&object->handle, MC_HANDLE_USER_OBJECT, NULL, object_free);
    *out = object;
    return mcSuccess;
}

mcError_t mc_user_object_retain(McUserObject *object, unsigned count)
{
    unsigned now = atomic_load(&object->count);

    do {
        if (now == 0 || count > INT_MAX - now) {
            return mcErrorInvalidValue;
        }
    } while (!atomic_compare_exchange_weak(&object->count, &now, now + count));
    return mcSuccess;
}

mcError_t mc_user_object_release(McUserObject *object, unsigned count)
{
    unsigned now = atomic_load(&object->count);

    do {
        if (now < count) {
            return mcErrorInvalidValue;
        }
    } while (!atomic_compare_exchange_weak(&object->count, &now, now - count));
    if (now == count) {
        McUserObject *held = mc_handle_get(object, MC_HANDLE_USER_OBJECT);

        object->destroy(object->ptr);
        mc_handle_remove(held);
        mc_handle_put(held);
    }
    return mcSuccess;
}

/* ---- lists ---- */

static McUserRef **find(McUserRef **at, const McUserObject *object)
{
    while (*at && (*at)->object != object) {
        at = &(*at)->next;
    }
    return at;
}

mcError_t mc_user_refs_add(McUserRef **list, McUserObject *object,
                           unsigned count, bool move)
{
    McUserRef **at = find(list, object);
    McUserRef *ref = *at;

    if (!ref) {
        ref = calloc(1, sizeof(*ref));
        if (!ref) {
            return mcErrorMemoryAllocation;
        }
        ref->object = object;
    }
    mcError_t error = move ? mcSuccess : mc_user_object_retain(object, count);
    if (error != mcSuccess) {
        if (!*at) {
            free(ref);
        }
        return error;
    }
    ref->count += count;
    *at = ref;
    return mcSuccess;
}

bool mc_user_refs_remove(McUserRef **list, McUserObject *object,
                         unsigned count)
{
    McUserRef **at = find(list, object), *ref = *at;

    if (!ref || ref->count < count) {
        return false;
    }
    ref->count -= count;
    if (!ref->count) {
        *at = ref->next;
        free(ref);
    }
    return true;
}

mcError_t mc_user_refs_copy(McUserRef **to, const McUserRef *from)
{
    mcError_t error = mcSuccess;

    for (; from && error == mcSuccess; from = from->next) {
        error = mc_user_refs_add(to, from->object, from->count, false);
    }
    return error;
}

void mc_user_refs_free(McUserRef *list)
{
    while (list) {
        McUserRef *next = list->next;

        mc_user_object_release(list->object, list->count);
        free(list);
        list = next;
    }
}
