/* SPDX-License-Identifier: MIT */
/* Objects of the user that graphs keep. */
#include "core/graph/user_object.h"

#include "graph_object.h"

#define API_USER_OBJECT(object, handle)                                        \
    API_OBJECT(McUserObject, object, handle, MC_HANDLE_USER_OBJECT,            \
               mcErrorInvalidValue)

MC_EXPORT mcError_t mcUserObjectCreate(mcUserObject_t *object_out, void *ptr,
                                       mcHostFn_t destroy,
                                       unsigned int initialRefcount,
                                       unsigned int flags)
{
    McUserObject *object;

    API_ENTER("%p, %p, %p, %u, 0x%x", (void *)object_out, ptr,
              __extension__(void *)destroy, initialRefcount, flags);
    API_CHECK(object_out && destroy && initialRefcount &&
                  initialRefcount <= INT_MAX &&
                  flags == mcUserObjectNoDestructorSync,
              mcErrorInvalidValue);
    API_TRY(mc_user_object_new(ptr, destroy, initialRefcount, &object));
    *object_out = (mcUserObject_t)object;
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcUserObjectRetain(mcUserObject_t handle,
                                       unsigned int count)
{
    API_ENTER("%p, %u", (void *)handle, count);
    API_CHECK(count && count <= INT_MAX, mcErrorInvalidValue);
    API_USER_OBJECT(object, handle);
    API_RETURN(mc_user_object_retain(object, count));
}

MC_EXPORT mcError_t mcUserObjectRelease(mcUserObject_t handle,
                                        unsigned int count)
{
    API_ENTER("%p, %u", (void *)handle, count);
    API_CHECK(count && count <= INT_MAX, mcErrorInvalidValue);
    API_USER_OBJECT(object, handle);
    API_RETURN(mc_user_object_release(object, count));
}

MC_EXPORT mcError_t mcGraphRetainUserObject(mcGraph_t handle,
                                            mcUserObject_t object_handle,
                                            unsigned int count,
                                            unsigned int flags)
{
    API_ENTER("%p, %p, %u, 0x%x", (void *)handle, (void *)object_handle, count,
              flags);
    API_CHECK(count && count <= INT_MAX &&
                  !(flags & ~(unsigned)mcGraphUserObjectMove),
              mcErrorInvalidValue);
    API_GRAPH(graph, handle);
    API_USER_OBJECT(object, object_handle);
    mc_graphs_lock();
    mcError_t error = graph->dropped
                          ? mcErrorInvalidValue
                          : mc_user_refs_add(&graph->objects, object, count,
                                             flags & mcGraphUserObjectMove);
    mc_graphs_unlock();
    API_RETURN(error);
}

MC_EXPORT mcError_t mcGraphReleaseUserObject(mcGraph_t handle,
                                             mcUserObject_t object_handle,
                                             unsigned int count)
{
    API_ENTER("%p, %p, %u", (void *)handle, (void *)object_handle, count);
    API_CHECK(count && count <= INT_MAX, mcErrorInvalidValue);
    API_GRAPH(graph, handle);
    API_USER_OBJECT(object, object_handle);
    mc_graphs_lock();
    bool had = mc_user_refs_remove(&graph->objects, object, count);
    mc_graphs_unlock();
    API_CHECK(had, mcErrorInvalidValue);
    API_RETURN(mc_user_object_release(object, count));
}
