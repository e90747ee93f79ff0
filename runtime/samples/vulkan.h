/* SPDX-License-Identifier: MIT */
/*
 * As much of Vulkan as interop needs: a device without a screen, buffers in
 * memory that can be exported, and commands that are waited for. The loader is
 * told to use Mesa's software driver, unless the environment says otherwise.
 * Failures other than a missing device end the program.
 */
#ifndef SAMPLES_VULKAN_H
#define SAMPLES_VULKAN_H

#include <vulkan/vulkan.h>

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>

#define VK(call)                                                               \
    do {                                                                       \
        VkResult result_ = (call);                                             \
        if (result_ != VK_SUCCESS) {                                           \
            fprintf(stderr, "%s:%d: %s: %d\n", __FILE__, __LINE__, #call,      \
                    (int)result_);                                             \
            exit(2);                                                           \
        }                                                                      \
    } while (0)

typedef struct Vk {
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue queue;
    VkCommandPool pool;
    VkCommandBuffer commands;
} Vk;

/* A buffer at an offset of exportable memory. */
typedef struct VkShared {
    VkBuffer buffer;
    VkDeviceMemory memory;
    VkDeviceSize size, offset, allocated; /* bytes; of the buffer, the memory */
} VkShared;

static inline void vk_choose_driver(void)
{
    glob_t found;

    if (!glob("/usr/share/vulkan/icd.d/lvp_icd*.json", 0, NULL, &found)) {
        setenv("VK_ICD_FILENAMES", found.gl_pathv[0], 0);
    }
    globfree(&found);
}

/* 0: there is no device that can export memory by file descriptor. */
static inline int vk_open(Vk *vk)
{
    static const char *const extension[] = {"VK_KHR_external_memory_fd"};
    VkApplicationInfo app = {};
    VkInstanceCreateInfo instance = {};
    VkDeviceQueueCreateInfo queue = {};
    VkDeviceCreateInfo device = {};
    VkCommandPoolCreateInfo pool = {};
    VkCommandBufferAllocateInfo commands = {};
    float priority = 1;
    uint32_t count = 1;

    vk_choose_driver();
    app.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
    app.apiVersion = VK_API_VERSION_1_1;
    instance.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
    instance.pApplicationInfo = &app;
    if (vkCreateInstance(&instance, NULL, &vk->instance) != VK_SUCCESS) {
        return 0;
    }
    if (vkEnumeratePhysicalDevices(vk->instance, &count, &vk->physical) < 0 ||
        count == 0) {
        return 0;
    }
    queue.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
    queue.queueCount = 1;
    queue.pQueuePriorities = &priority;
    device.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
    device.queueCreateInfoCount = 1;
    device.pQueueCreateInfos = &queue;
    device.enabledExtensionCount = 1;
    device.ppEnabledExtensionNames = extension;
    if (vkCreateDevice(vk->physical, &device, NULL, &vk->device) !=
        VK_SUCCESS) {
        return 0;
    }
    vkGetDeviceQueue(vk->device, 0, 0, &vk->queue);
    pool.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
    pool.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
    VK(vkCreateCommandPool(vk->device, &pool, NULL, &vk->pool));
    commands.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
    commands.commandPool = vk->pool;
    commands.commandBufferCount = 1;
    VK(vkAllocateCommandBuffers(vk->device, &commands, &vk->commands));
    return 1;
}

static inline void vk_close(Vk *vk)
{
    vkDestroyCommandPool(vk->device, vk->pool, NULL);
    vkDestroyDevice(vk->device, NULL);
    vkDestroyInstance(vk->instance, NULL);
}

static inline uint32_t vk_memory_type(Vk *vk, uint32_t allowed)
{
    const VkMemoryPropertyFlags want = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                                       VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    VkPhysicalDeviceMemoryProperties p;
    uint32_t i;

    vkGetPhysicalDeviceMemoryProperties(vk->physical, &p);
    for (i = 0; i < p.memoryTypeCount; i++) {
        if (allowed >> i & 1 &&
            (p.memoryTypes[i].propertyFlags & want) == want) {
            return i;
        }
    }
    fprintf(stderr, "no memory that the host may use\n");
    exit(2);
}

static inline VkShared vk_buffer(Vk *vk, VkDeviceSize size, VkDeviceSize skip)
{
    VkExternalMemoryBufferCreateInfo external = {};
    VkExportMemoryAllocateInfo exported = {};
    VkMemoryAllocateInfo allocate = {};
    VkBufferCreateInfo buffer = {};
    VkMemoryRequirements need;
    VkShared s = {};

    external.sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO;
    external.handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
    buffer.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
    buffer.pNext = &external;
    buffer.size = size;
    buffer.usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                   VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    VK(vkCreateBuffer(vk->device, &buffer, NULL, &s.buffer));
    vkGetBufferMemoryRequirements(vk->device, s.buffer, &need);
    s.size = size;
    s.offset = (skip + need.alignment - 1) / need.alignment * need.alignment;
    s.allocated = s.offset + need.size;
    exported.sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO;
    exported.handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
    allocate.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
    allocate.pNext = &exported;
    allocate.allocationSize = s.allocated;
    allocate.memoryTypeIndex = vk_memory_type(vk, need.memoryTypeBits);
    VK(vkAllocateMemory(vk->device, &allocate, NULL, &s.memory));
    VK(vkBindBufferMemory(vk->device, s.buffer, s.memory, s.offset));
    return s;
}

/* A file descriptor of the memory, the caller's. */
static inline int vk_export(Vk *vk, const VkShared *s)
{
    PFN_vkGetMemoryFdKHR get = (PFN_vkGetMemoryFdKHR)vkGetDeviceProcAddr(
        vk->device, "vkGetMemoryFdKHR");
    VkMemoryGetFdInfoKHR info = {};
    int fd = -1;

    info.sType = VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR;
    info.memory = s->memory;
    info.handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
    VK(get(vk->device, &info, &fd));
    return fd;
}

static inline void vk_free(Vk *vk, VkShared *s)
{
    vkDestroyBuffer(vk->device, s->buffer, NULL);
    vkFreeMemory(vk->device, s->memory, NULL);
}

static inline VkCommandBuffer vk_begin(Vk *vk)
{
    VkCommandBufferBeginInfo begin = {};

    begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
    VK(vkBeginCommandBuffer(vk->commands, &begin));
    return vk->commands;
}

/* Complete when it returns. */
static inline void vk_run(Vk *vk)
{
    VkSubmitInfo submit = {};

    submit.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
    submit.commandBufferCount = 1;
    submit.pCommandBuffers = &vk->commands;
    VK(vkEndCommandBuffer(vk->commands));
    VK(vkQueueSubmit(vk->queue, 1, &submit, VK_NULL_HANDLE));
    VK(vkQueueWaitIdle(vk->queue));
}

#endif
