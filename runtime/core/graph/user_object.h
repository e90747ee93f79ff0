/* SPDX-License-Identifier: MIT */
/* Objects of the user that live as long as somebody has a reference: the user,
 * or a graph. They belong to no device. Thread-safe. */
#ifndef MC_CORE_USER_OBJECT_H
#define MC_CORE_USER_OBJECT_H

#include "core/context/handle.h"
#include "mcr/mc_runtime_api.h"

typedef struct McUserObject McUserObject;

/* References of a graph. */
typedef struct McUserRef {
    struct McUserRef *next;
    McUserObject *object;
    unsigned count;
} McUserRef;

mcError_t mc_user_object_new(void *ptr, mcHostFn_t destroy, unsigned refs,
                             McUserObject **out);
/* mcErrorInvalidValue: there would be too many. */
mcError_t mc_user_object_retain(McUserObject *object, unsigned count);
/* With the last one it is destroyed. mcErrorInvalidValue: there are fewer. */
mcError_t mc_user_object_release(McUserObject *object, unsigned count);

/* References that a list has: new ones, or with "move" those of the caller. The
 * list is guarded by the caller. */
mcError_t mc_user_refs_add(McUserRef **list, McUserObject *object,
                           unsigned count, bool move);
/* False: the list has fewer. The caller releases them. */
bool mc_user_refs_remove(McUserRef **list, McUserObject *object,
                         unsigned count);
mcError_t mc_user_refs_copy(McUserRef **to, const McUserRef *from);
void mc_user_refs_free(McUserRef *list);

#endif
