/* SPDX-License-Identifier: MIT */
/* Memory that Vulkan exports, used by both sides in turns. */
#include <unistd.h>

#include "env.h"
#include "../../samples/vulkan.h"

#define SIZE 300000

static Vk vk;

static mcExternalMemory_t import(const VkShared *s)
{
    mcExternalMemoryHandleDesc desc = {
        .type = mcExternalMemoryHandleTypeOpaqueFd,
        .handle = {.fd = vk_export(&vk, s)},
        .size = s->allocated,
    };
    mcExternalMemory_t memory = NULL;

    ok(mcImportExternalMemory(&memory, &desc));
    return memory;
}

static void check_words(const void *d, uint32_t want, size_t size)
{
    uint32_t *got = g_malloc(size);

    ok(mcMemcpy(got, d, size, mcMemcpyDeviceToHost));
    for (size_t i = 0; i < size / 4; i++) {
        g_assert_cmphex(got[i], ==, want);
    }
    g_free(got);
}

static void turns(VkDeviceSize skip)
{
    VkShared a = vk_buffer(&vk, SIZE, skip), b = vk_buffer(&vk, SIZE, 0);
    mcExternalMemoryBufferDesc range = {a.offset, SIZE, 0};
    mcExternalMemory_t memory = import(&a);
    VkBufferCopy all = {.size = SIZE};
    uint32_t *seen;
    void *d;

    ok(mcExternalMemoryGetMappedBuffer(&d, memory, &range));
    vkCmdFillBuffer(vk_begin(&vk), a.buffer, 0, SIZE, 0x01020304);
    vk_run(&vk);
    check_words(d, 0x01020304, SIZE);
    ok(mcMemsetD32(d, 0x0a0b0c0d, SIZE / 4));
    ok(env_launch("k_store", 1, d, NULL));
    ok(mcDeviceSynchronize());
    vkCmdCopyBuffer(vk_begin(&vk), a.buffer, b.buffer, 1, &all);
    vk_run(&vk);
    VK(vkMapMemory(vk.device, b.memory, b.offset, SIZE, 0, (void **)&seen));
    g_assert_cmphex(seen[0], !=, 0x0a0b0c0d); /* the kernel's */
    for (size_t i = 2; i < SIZE / 4; i++) {
        g_assert_cmphex(seen[i], ==, 0x0a0b0c0d);
    }
    /* One side lets go, the other goes on. */
    vk_free(&vk, &a);
    ok(mcDestroyExternalMemory(memory));
    ok(mcMemsetD32(d, 7, SIZE / 4));
    check_words(d, 7, SIZE);
    ok(mcFree(d));
    vk_free(&vk, &b);
}

static void test_turns(void)
{
    turns(0);
}

/* A buffer that is not at the start of its memory. */
static void test_offset(void)
{
    turns(70000);
}

static void test_errors(void)
{
    VkShared a = vk_buffer(&vk, SIZE, 0);
    mcExternalMemoryHandleDesc desc = {
        .type = mcExternalMemoryHandleTypeOpaqueFd,
        .handle = {.fd = vk_export(&vk, &a)},
        .size = a.allocated + 4096, /* what the driver adds is less */
    };
    mcExternalMemory_t memory;

    fails(mcErrorInvalidValue, mcImportExternalMemory(&memory, &desc));
    close(desc.handle.fd); /* it stayed ours */
    vk_free(&vk, &a);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    if (!vk_open(&vk)) {
        /* Mesa's comes with the packages that the loader comes with. */
        printf("not ok 1 - a Vulkan device that exports memory\n1..1\n");
        return 1;
    }
    g_test_add_func("/vulkan/turns", test_turns);
    g_test_add_func("/vulkan/offset", test_offset);
    g_test_add_func("/vulkan/errors", test_errors);
    int ret = g_test_run();
    vk_close(&vk);
    return ret;
}
