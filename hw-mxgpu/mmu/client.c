/* SPDX-License-Identifier: MIT */
/*
 * The invalidation protocol. An invalidation raises the epoch; a client has
 * acknowledged it when it is inactive or has seen that epoch.
 *
 * begin stores active, then loads the epoch; invalidate raises the epoch, and
 * busy then loads active. These four are sequentially consistent: either busy
 * sees the client active, or the client sees the new epoch. What a client did
 * with old translations is ordered before its acknowledgement by the release
 * of seen or active, and the acquire of both in busy.
 */
#include "internal.h"

void mxgpu_mmu_client_add(MxgpuMmu *mmu, MxgpuMmuClient *client)
{
    client->mmu = mmu;
    atomic_store(&client->active, false);
    atomic_store(&client->seen, 0);
    pthread_mutex_lock(&mmu->clients_lock);
    client->next = mmu->clients;
    mmu->clients = client;
    pthread_mutex_unlock(&mmu->clients_lock);
}

void mxgpu_mmu_client_remove(MxgpuMmuClient *client)
{
    MxgpuMmu *mmu = client->mmu;
    MxgpuMmuClient **link;

    pthread_mutex_lock(&mmu->clients_lock);
    for (link = &mmu->clients; *link; link = &(*link)->next) {
        if (*link == client) {
            *link = client->next;
            break;
        }
    }
    pthread_mutex_unlock(&mmu->clients_lock);
    client->next = NULL;
}

static bool client_catch_up(MxgpuMmuClient *client, uint64_t epoch)
{
    if (epoch == atomic_load_explicit(&client->seen, memory_order_relaxed)) {
        return false;
    }
    atomic_store_explicit(&client->seen, epoch, memory_order_release);
    return true;
}

bool mxgpu_mmu_client_begin(MxgpuMmuClient *client)
{
    atomic_store(&client->active, true);
    return client_catch_up(client, atomic_load(&client->mmu->epoch));
}

bool mxgpu_mmu_client_poll(MxgpuMmuClient *client)
{
    uint64_t epoch =
        atomic_load_explicit(&client->mmu->epoch, memory_order_relaxed);

    if (epoch == atomic_load_explicit(&client->seen, memory_order_relaxed)) {
        return false;
    }
    return client_catch_up(client, atomic_load(&client->mmu->epoch));
}

void mxgpu_mmu_client_end(MxgpuMmuClient *client)
{
    atomic_store_explicit(&client->active, false, memory_order_release);
}

bool mxgpu_mmu_client_behind(MxgpuMmuClient *client)
{
    return atomic_load(&client->seen) != atomic_load(&client->mmu->epoch);
}

void mxgpu_mmu_client_set_behind(MxgpuMmuClient *client, bool behind)
{
    atomic_store(&client->seen, atomic_load(&client->mmu->epoch) - behind);
}

void mxgpu_mmu_invalidate(MxgpuMmu *mmu)
{
    atomic_fetch_add(&mmu->epoch, 1);
}

bool mxgpu_mmu_invalidate_busy(MxgpuMmu *mmu)
{
    uint64_t epoch = atomic_load(&mmu->epoch);
    bool busy = false;

    pthread_mutex_lock(&mmu->clients_lock);
    for (MxgpuMmuClient *c = mmu->clients; c && !busy; c = c->next) {
        busy = atomic_load(&c->active) &&
               atomic_load_explicit(&c->seen, memory_order_acquire) < epoch;
    }
    pthread_mutex_unlock(&mmu->clients_lock);
    return busy;
}
