/* SPDX-License-Identifier: MIT */
/* Requests to the firmware: mxgpu/msg.h. */
#include <errno.h>
#include <sched.h>
#include <string.h>

#include "priv.h"

/* How often an answer is looked for before its waiter sleeps, and after how
 * many looks others may run: the device may need this processor. */
#define LOOKS        512
#define LOOKS_A_TURN 8

static const char *op_name(uint32_t op)
{
    switch (op) {
    case MXGPU_MSG_PING:
        return "PING";
    case MXGPU_MSG_HELLO:
        return "HELLO";
    case MXGPU_MSG_VM_SET:
        return "VM_SET";
    case MXGPU_MSG_TLB_INVALIDATE:
        return "TLB_INVALIDATE";
    case MXGPU_MSG_QUEUE_CREATE:
        return "QUEUE_CREATE";
    case MXGPU_MSG_QUEUE_DESTROY:
        return "QUEUE_DESTROY";
    case MXGPU_MSG_LOG_LEVEL:
        return "LOG_LEVEL";
    case MXGPU_MSG_QUEUE_PROFILE:
        return "QUEUE_PROFILE";
    default:
        return "request";
    }
}

static int status_to_errno(uint32_t op, uint32_t status)
{
    static const struct {
        int error;
        const char *text;
    } table[] = {
        [MXGPU_MSG_OK] = { 0, "" },
        [MXGPU_MSG_UNKNOWN_OP] = { -EOPNOTSUPP, "unknown operation" },
        [MXGPU_MSG_BAD_ABI] = { -EPROTO, "another message version" },
        [MXGPU_MSG_NO_HELLO] = { -EPROTO, "no handshake yet" },
        [MXGPU_MSG_BAD_ARGUMENT] = { -EINVAL, "bad argument" },
        [MXGPU_MSG_BUSY] = { -EBUSY, "busy" },
        [MXGPU_MSG_NOT_FOUND] = { -ENOENT, "not found" },
        [MXGPU_MSG_FAULT] = { -EFAULT, "memory not accessible" },
    };

    if (status >= sizeof(table) / sizeof(table[0])) {
        mc_error("firmware answered %s with unknown status %u", op_name(op),
                 status);
        return -EPROTO;
    }
    if (table[status].error) {
        mc_error("firmware refused %s: %s", op_name(op), table[status].text);
    }
    return table[status].error;
}

static bool mbox_answered(KmdDevice *dev, uint32_t seq)
{
    return kmd_read(dev->t, MXGPU_MBOX_ACK) == seq;
}

static bool mbox_spin(KmdDevice *dev, uint32_t seq)
{
    unsigned i;

    for (i = 1; i <= LOOKS; i++) {
        if (mbox_answered(dev, seq)) {
            return true;
        }
        if (i % LOOKS_A_TURN == 0) {
            sched_yield();
        }
    }
    return false;
}

/* From here on an answer raises vector 0; that of an earlier one, which nobody
 * waited for, is forgotten first. */
static void mbox_irq_on(KmdDevice *dev)
{
    kmd_write(dev->t, MXGPU_IRQ_STATUS, KMD_IRQ_MBOX);
    kmd_write(dev->t, MXGPU_IRQ_ENABLE, KMD_IRQ_CAUSES | KMD_IRQ_MBOX);
}

static void mbox_irq_off(KmdDevice *dev)
{
    kmd_write(dev->t, MXGPU_IRQ_ENABLE, KMD_IRQ_CAUSES);
}

/* The sleeps are bounded, so that a lost interrupt costs time only. */
static int mbox_sleep(KmdDevice *dev, uint32_t op, uint32_t seq)
{
    uint64_t deadline = kmd_now_ns() + dev->mbox_timeout_ms * 1000000ull;
    uint64_t pause = 200000;

    for (;;) {
        uint32_t seen = atomic_load(&dev->irq.answered);
        uint32_t status;
        char text[160];

        if (kmd_lost(dev)) {
            return -ENODEV;
        }
        if (mbox_answered(dev, seq)) {
            return 0;
        }
        status = kmd_read(dev->t, MXGPU_MCU_STATUS);
        if (status == UINT32_MAX ||
            MXGPU_GET(MXGPU_MCU_STATUS_STATE, status) != MXGPU_MCU_RUNNING) {
            kmd_mcu_describe(dev, text, sizeof(text));
            kmd_device_lose(dev, "waiting for %s: %s", op_name(op), text);
            return -ENODEV;
        }
        if (kmd_now_ns() > deadline) {
            kmd_device_lose(dev, "the firmware did not answer %s within %u ms",
                            op_name(op), dev->mbox_timeout_ms);
            return -ENODEV;
        }
        kmd_futex_wait(&dev->irq.answered, seen, pause);
        pause = pause < 20000000 ? pause * 2 : pause;
    }
}

/*
 * Answers usually come within some tens of microseconds: look for as long as
 * that may take, without an interrupt, then sleep on vector 0.
 */
static int mbox_wait(KmdDevice *dev, uint32_t op, uint32_t seq)
{
    int ret;

    if (mbox_spin(dev, seq)) {
        return 0;
    }
    mbox_irq_on(dev);
    ret = mbox_sleep(dev, op, seq);
    if (!ret) {
        mbox_irq_off(dev); /* on failure the device is lost */
    }
    return ret;
}

static int mbox_call_locked(KmdDevice *dev, const uint32_t *req,
                            unsigned words, uint32_t *resp,
                            unsigned resp_words)
{
    KmdTransport *t = dev->t;
    uint32_t status;
    unsigned i;
    int ret;

    if (kmd_lost(dev)) {
        return -ENODEV;
    }
    for (i = 0; i < MXGPU_MBOX_CMD_COUNT; i++) {
        uint32_t word = i < words ? req[i] : 0;

        if (word != dev->mbox_shadow[i]) {
            kmd_write(t, MXGPU_MBOX_CMD + i * MXGPU_MBOX_CMD_STRIDE, word);
            dev->mbox_shadow[i] = word;
        }
    }
    /* All ones is what a missing device answers, 0 what a fresh one does. */
    dev->mbox_seq = dev->mbox_seq >= UINT32_MAX - 1 ? 1 : dev->mbox_seq + 1;
    kmd_write_barrier();
    kmd_write(t, MXGPU_MBOX_REQ, dev->mbox_seq);
    ret = mbox_wait(dev, req[0], dev->mbox_seq);
    if (ret) {
        return ret;
    }
    status = kmd_read(t, MXGPU_MBOX_RESP);
    for (i = 0; i < resp_words; i++) {
        resp[i] = i ? kmd_read(t, MXGPU_MBOX_RESP +
                               i * MXGPU_MBOX_RESP_STRIDE)
                    : status;
    }
    if (status == UINT32_MAX && !kmd_device_alive(dev)) {
        return -ENODEV;
    }
    return status_to_errno(req[0], status);
}

int kmd_mbox_call(KmdDevice *dev, const void *req, unsigned words, void *resp,
                  unsigned resp_words)
{
    int ret;

    pthread_mutex_lock(&dev->mbox_lock);
    ret = mbox_call_locked(dev, req, words, resp, resp ? resp_words : 0);
    pthread_mutex_unlock(&dev->mbox_lock);
    return ret;
}
