/* SPDX-License-Identifier: MIT */
/* kernels/kernels.c, as the fake back end runs them. */
#include <string.h>
#include <unistd.h>

#include "fake.h"
#include "mxgpu/pte.h"

#define READ   MXGPU_PTE_READ
#define WRITE  (MXGPU_PTE_READ | MXGPU_PTE_WRITE)
#define ATOMIC (WRITE | MXGPU_PTE_ATOMIC)

static bool fail(struct mxgpu_queue_error *error, enum mxgpu_fault fault,
                 enum mxgpu_access access)
{
    error->code = MXGPU_QERR_FAULT;
    error->fault = fault;
    error->access = access;
    return false;
}

bool fake_kernel(FakeDevice *dev, const struct mxgpu_packet_dispatch *packet,
                 const char *name, volatile bool *stop,
                 struct mxgpu_queue_error *error)
{
    uint64_t threads = (uint64_t)packet->grid[0] * packet->block[0];
    uint8_t *args = fake_translate(dev, packet->args, 16, READ, error);
    uint64_t pointer;

    if (!args) {
        return false;
    }
    memcpy(&pointer, args, 8);
    if (strcmp(name, "k_empty") == 0) {
        return true;
    }
    if (strcmp(name, "k_illegal") == 0) {
        return fail(error, MXGPU_FAULT_ILLEGAL, MXGPU_ACCESS_EXECUTE);
    }
    if (strcmp(name, "k_trap") == 0) {
        return fail(error, MXGPU_FAULT_BREAKPOINT, MXGPU_ACCESS_EXECUTE);
    }
    if (strcmp(name, "k_add") == 0) {
        uint32_t count, value;

        memcpy(&count, args + 8, 4);
        memcpy(&value, args + 12, 4);
        for (uint64_t i = 0; i < threads && i < count; i++) {
            uint32_t *word = fake_translate(dev, pointer + 4 * i, 4, WRITE,
                                            error);
            if (!word) {
                return false;
            }
            *word += value;
        }
        return true;
    }
    if (strcmp(name, "k_mixed") == 0) {
        uint64_t *out = fake_translate(dev, pointer, 48, WRITE, error);
        int32_t e[3];

        if (!out) {
            return false;
        }
        memset(out, 0, 48);
        memcpy(&out[0], args + 8, 1);
        memcpy(&out[1], args + 10, 2);
        memcpy(&out[2], args + 12, 4);
        memcpy(&out[3], args + 16, 8);
        memcpy(e, args + 24, 12);
        out[4] = (int64_t)e[0];
        out[5] = (int64_t)e[2];
        return true;
    }
    if (strcmp(name, "k_globals") == 0) {
        /* Its data is private to the image: constants will do. */
        static const uint32_t table[16] = {1, 2, 3, 4};
        static const uint32_t limits[2] = {10, 20};
        uint64_t *out = fake_translate(dev, pointer, 128, WRITE, error);

        for (unsigned i = 0; out && i < 16; i++) {
            out[i] = table[i] + limits[i % 2];
        }
        return out;
    }
    if (strcmp(name, "k_store") == 0) {
        uint64_t *word = fake_translate(dev, pointer, 8, WRITE, error);

        if (word) {
            __atomic_store_n(word, 0x1234, __ATOMIC_RELEASE);
        }
        return word;
    }
    if (strcmp(name, "k_atomic") == 0) {
        if (pointer % 8) {
            error->fault_addr = pointer;
            return fail(error, MXGPU_FAULT_MISALIGNED, MXGPU_ACCESS_ATOMIC);
        }
        uint64_t *word = fake_translate(dev, pointer, 8, ATOMIC, error);
        if (word) {
            __atomic_fetch_add(word, threads, __ATOMIC_RELAXED);
        }
        return word;
    }
    if (strcmp(name, "k_spin") == 0) {
        uint64_t *word = fake_translate(dev, pointer, 8, READ, error);

        while (word && !__atomic_load_n(word, __ATOMIC_ACQUIRE)) {
            if (__atomic_load_n(stop, __ATOMIC_RELAXED)) {
                return fail(error, MXGPU_FAULT_ABORTED, MXGPU_ACCESS_READ);
            }
            usleep(20);
        }
        return word;
    }
    if (strcmp(name, "k_call") == 0) {
        error->fault_addr = pointer;
        return fake_translate(dev, pointer, 4, MXGPU_PTE_EXECUTE, error) &&
               fail(error, MXGPU_FAULT_ILLEGAL, MXGPU_ACCESS_EXECUTE);
    }
    error->code = MXGPU_QERR_KERNEL;
    return false;
}
