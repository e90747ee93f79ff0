/* SPDX-License-Identifier: MIT */
/*
 * Requests of the host driver. Each operation is one handler in the table; it
 * gets the request words and fills the answer's. DEFERRED means that the
 * answer comes later, through mailbox_finish(); until then the mailbox does
 * not interrupt, as its request stays pending.
 */
#include "fw.h"
#include "mxgpu/pte.h"

#define WORDS    MXGPU_MBOX_CMD_COUNT
#define DEFERRED 0xffffffffu

typedef struct Handler {
    uint32_t (*handle)(const uint32_t *request, uint32_t *answer);
    uint8_t words;     /* of the request; those behind must be 0 */
    bool before_hello; /* allowed without HELLO */
} Handler;

static uint64_t pair(const uint32_t *words)
{
    return words[0] | (uint64_t)words[1] << 32;
}

static uint32_t handle_ping(const uint32_t *request, uint32_t *answer)
{
    for (unsigned i = 1; i < WORDS; i++) {
        answer[i] = request[i];
    }
    return MXGPU_MSG_OK;
}

static uint32_t handle_hello(const uint32_t *request, uint32_t *answer)
{
    answer[1] = MXGPU_MSG_ABI;
    answer[2] = FW_VERSION;
    answer[3] = fw.num_queues;
    answer[4] = FW_PRIORITIES;
    answer[5] = (1u << MXGPU_PKT_TYPES) - 1;
    for (unsigned i = 0; i < sizeof(fw_header.build); i++) {
        answer[6 + i / 4] |= (uint32_t)(uint8_t)fw_header.build[i]
                             << (i % 4 * 8);
    }
    log_where(&answer[14], &answer[15]);
    if (request[1] != MXGPU_MSG_ABI) {
        return MXGPU_MSG_BAD_ABI;
    }
    fw.hello = true;
    return MXGPU_MSG_OK;
}

static bool valid_root(uint64_t root)
{
    uint64_t must = MXGPU_PTE_VALID | MXGPU_PTE_TABLE;

    return (root & must) == must && !(root & MXGPU_PTE_TABLE_RESERVED);
}

/* Frees the old tables for reuse, so the answer waits for their last user. */
static uint32_t handle_vm_set(const uint32_t *request, uint32_t *answer)
{
    uint32_t vmid = request[1];
    uint64_t root = pair(&request[2]);

    if (vmid >= MXGPU_NUM_VMIDS || (root && !valid_root(root))) {
        return MXGPU_MSG_BAD_ARGUMENT;
    }
    if (fw.vmid_queues[vmid]) {
        return MXGPU_MSG_BUSY;
    }
    context_no_area(vmid);
    reg_write64(MXGPU_MMU_ROOT_LO + vmid * MXGPU_MMU_ROOT_LO_STRIDE, root);
    return tlb_begin_mailbox(vmid, 0, 0) ? MXGPU_MSG_OK : DEFERRED;
}

static uint32_t handle_tlb(const uint32_t *request, uint32_t *answer)
{
    uint64_t addr = pair(&request[2]), size = pair(&request[4]);

    if (request[1] >= MXGPU_NUM_VMIDS || addr + size < addr) {
        return MXGPU_MSG_BAD_ARGUMENT;
    }
    return tlb_begin_mailbox(request[1], addr, size) ? MXGPU_MSG_OK : DEFERRED;
}

static uint32_t handle_queue_create(const uint32_t *request, uint32_t *answer)
{
    struct mxgpu_msg_queue_create msg;

    __builtin_memcpy(&msg, request, sizeof(msg));
    return queue_create(&msg);
}

static uint32_t handle_queue_destroy(const uint32_t *request, uint32_t *answer)
{
    uint32_t status = queue_destroy(request[1]);

    return status == MXGPU_MSG_BUSY ? DEFERRED : status;
}

static uint32_t handle_queue_reset(const uint32_t *request, uint32_t *answer)
{
    uint32_t status = queue_reset(request[1]);

    return status == MXGPU_MSG_BUSY ? DEFERRED : status;
}

static uint32_t handle_queue_profile(const uint32_t *request, uint32_t *answer)
{
    struct mxgpu_msg_queue_profile msg;

    __builtin_memcpy(&msg, request, sizeof(msg));
    return profile_setup(&msg);
}

static uint32_t handle_queue_launch(const uint32_t *request, uint32_t *answer)
{
    struct mxgpu_msg_queue_launch msg;

    __builtin_memcpy(&msg, request, sizeof(msg));
    return launch_setup(&msg);
}

static uint32_t handle_contexts(const uint32_t *request, uint32_t *answer)
{
    struct mxgpu_msg_contexts msg;

    __builtin_memcpy(&msg, request, sizeof(msg));
    return context_area(&msg);
}

static uint32_t handle_queue_hold(const uint32_t *request, uint32_t *answer)
{
    struct mxgpu_msg_queue_hold_resp resp = {0};
    uint32_t status = queue_hold(request[1], &resp);

    __builtin_memcpy(answer, &resp, sizeof(resp));
    return status;
}

static uint32_t handle_queue_resume(const uint32_t *request, uint32_t *answer)
{
    struct mxgpu_msg_queue_resume msg;

    __builtin_memcpy(&msg, request, sizeof(msg));
    return queue_resume(&msg);
}

static uint32_t handle_unit_reset(const uint32_t *request, uint32_t *answer)
{
    uint32_t status = unit_reset(request[1], request[2]);

    return status == MXGPU_MSG_BUSY ? DEFERRED : status;
}

static uint32_t handle_log_level(const uint32_t *request, uint32_t *answer)
{
    if (request[1] >= FW_LOG_LEVELS) {
        return MXGPU_MSG_BAD_ARGUMENT;
    }
    fw.log_level = request[1];
    return MXGPU_MSG_OK;
}

static const Handler handlers[] = {
    [MXGPU_MSG_PING] = {handle_ping, 16, true},
    [MXGPU_MSG_HELLO] = {handle_hello, 2, true},
    [MXGPU_MSG_VM_SET] = {handle_vm_set, 4, false},
    [MXGPU_MSG_TLB_INVALIDATE] = {handle_tlb, 6, false},
    [MXGPU_MSG_QUEUE_CREATE] = {handle_queue_create, 10, false},
    [MXGPU_MSG_QUEUE_DESTROY] = {handle_queue_destroy, 2, false},
    [MXGPU_MSG_LOG_LEVEL] = {handle_log_level, 2, false},
    [MXGPU_MSG_QUEUE_PROFILE] = {handle_queue_profile, 9, false},
    [MXGPU_MSG_QUEUE_LAUNCH] = {handle_queue_launch, 5, false},
    [MXGPU_MSG_QUEUE_RESET] = {handle_queue_reset, 2, false},
    [MXGPU_MSG_CONTEXTS] = {handle_contexts, 6, false},
    [MXGPU_MSG_QUEUE_HOLD] = {handle_queue_hold, 2, false},
    [MXGPU_MSG_QUEUE_RESUME] = {handle_queue_resume, 8, false},
    [MXGPU_MSG_UNIT_RESET] = {handle_unit_reset, 3, false},
};

static uint32_t handle(const uint32_t *request, uint32_t *answer)
{
    uint32_t op = request[0];
    const Handler *handler;

    if (op >= sizeof(handlers) / sizeof(handlers[0]) || !handlers[op].handle) {
        return fw.hello ? MXGPU_MSG_UNKNOWN_OP : MXGPU_MSG_NO_HELLO;
    }
    handler = &handlers[op];
    if (!fw.hello && !handler->before_hello) {
        return MXGPU_MSG_NO_HELLO;
    }
    for (unsigned i = handler->words; i < WORDS; i++) {
        if (request[i]) {
            return MXGPU_MSG_BAD_ARGUMENT;
        }
    }
    return handler->handle(request, answer);
}

static void answer_words(const uint32_t *answer)
{
    for (unsigned i = 0; i < WORDS; i++) {
        reg_write(MXGPU_MBOX_RESP + i * 4, answer[i]);
    }
    reg_write(MXGPU_MBOX_ACK, fw.mailbox_seq);
}

static void set_interrupt(bool on)
{
    uint32_t bit = FW_BIT(MXGPU_INT_PENDING_MBOX);

    fw.int_enable = on ? fw.int_enable | bit : fw.int_enable & ~bit;
    reg_write(MXGPU_INT_ENABLE, fw.int_enable);
}

void mailbox_init(void)
{
    fw.hello = fw.deferred = false;
    fw.destroying = NULL;
    fw.resetting = 0;
}

void mailbox_receive(void)
{
    uint32_t request[WORDS], answer[WORDS] = {0};

    fw.mailbox_seq = reg_read(MXGPU_MBOX_REQ);
    for (unsigned i = 0; i < WORDS; i++) {
        request[i] = reg_read(MXGPU_MBOX_CMD + i * 4);
    }
    answer[0] = handle(request, answer);
    if (answer[0] == DEFERRED) {
        fw.deferred = true;
        set_interrupt(false);
        return;
    }
    answer_words(answer);
}

void mailbox_finish(enum mxgpu_msg_status status)
{
    const uint32_t answer[WORDS] = {status};

    fw.deferred = false;
    answer_words(answer);
    set_interrupt(true);
}
