/* SPDX-License-Identifier: MIT */
/*
 * CX_CTRL: what a held slot has goes to memory that the firmware names, and comes
 * back to any slot. It is done at once, on the MCU's thread, while the workers
 * are held: nobody else changes what units have.
 *
 * A context begins with struct Head; the registers of the slot and what
 * simt/context.h walks follow. Where memory is named in pieces of one byte and
 * what it announces ("sparse"), the byte is 0 and nothing follows if all of the
 * piece is zero.
 */
#include "internal.h"
#include "simt/context.h"

#include <stdlib.h>

#define MAGIC     0x3158434d4758ull /* "XGMCX1" */
#define CONTEXT_MAX (256u << 20)

/* In instructions of the MCU. */
#define COST_CONTEXT 1024
#define COST_KIB     64

typedef struct Head {
    uint64_t magic;
    uint64_t size; /* of all of it */
} Head;

typedef struct Bytes {
    uint8_t *at;
    size_t size, room; /* that there are */
    size_t next;       /* that is read */
} Bytes;

/* ---- a visitor of bytes */

static int put(void *opaque, void *ptr, size_t len)
{
    Bytes *b = opaque;

    if (len > CONTEXT_MAX - b->size) {
        return -EFBIG;
    }
    if (b->size + len > b->room) {
        size_t room = (b->size + len) * 2;
        uint8_t *at = realloc(b->at, room);

        if (!at) {
            return -ENOMEM;
        }
        b->at = at;
        b->room = room;
    }
    memcpy(b->at + b->size, ptr, len);
    b->size += len;
    return 0;
}

static bool all_zero(const uint8_t *p, size_t len)
{
    return !p[0] && memcmp(p, p + 1, len - 1) == 0;
}

static int put_sparse(void *opaque, void *ptr, size_t len, size_t granule)
{
    int error = 0;

    for (size_t i = 0; i < len && !error; i += granule) {
        uint8_t *p = (uint8_t *)ptr + i, some = !all_zero(p, granule);

        error = put(opaque, &some, 1);
        if (some && !error) {
            error = put(opaque, p, granule);
        }
    }
    return error;
}

static int put_section(void *opaque, const char *name, unsigned version)
{
    return put(opaque, &version, sizeof(version));
}

static int get(void *opaque, void *ptr, size_t len)
{
    Bytes *b = opaque;

    if (len > b->size - b->next) {
        return -EINVAL;
    }
    memcpy(ptr, b->at + b->next, len);
    b->next += len;
    return 0;
}

static int get_sparse(void *opaque, void *ptr, size_t len, size_t granule)
{
    int error = 0;

    for (size_t i = 0; i < len && !error; i += granule) {
        uint8_t some = 0;

        error = get(opaque, &some, 1);
        if (some > 1) {
            return -EINVAL;
        }
        if (some && !error) {
            error = get(opaque, (uint8_t *)ptr + i, granule);
        }
    }
    return error;
}

static int get_section(void *opaque, const char *name, unsigned version)
{
    unsigned is = 0;
    int error = get(opaque, &is, sizeof(is));

    return error ? error : is == version ? 0 : -EINVAL;
}

static const MxgpuStateOps puts_ops = {false, put_section, put, put_sparse};
static const MxgpuStateOps gets_ops = {true, get_section, get, get_sparse};

/* ---- the slot's registers */

/* Those that say what runs there; but who does, and its state, is not loaded. */
#define FIRST MXGPU_CD_ENTRY_LO
#define WORDS ((MXGPU_CD_END_HI - FIRST) / 4 + 1)

static bool is_kept(uint32_t reg)
{
    return reg == MXGPU_CD_CTRL || reg == MXGPU_CD_STATUS;
}

static void visit_registers(MxgpuDevice *dev, unsigned slot, MxgpuVisit *v)
{
    uint32_t own = MXGPU_SET(MXGPU_CD_CFG_VMID, ~0u) |
                   MXGPU_SET(MXGPU_CD_CFG_PRIORITY, ~0u);

    for (uint32_t i = 0; i < WORDS; i++) {
        uint32_t reg = FIRST + i * 4, value;
        uint32_t *at = mxgpu_reg(dev, reg + slot * MXGPU_CD_CTRL_STRIDE);

        value = *at;
        VISIT(v, value);
        if (!visit_loads(v) || v->error || is_kept(reg)) {
            continue;
        }
        *at = reg != MXGPU_CD_CFG ? value : (*at & own) | (value & ~own);
    }
}

/* ---- to and from memory */

static enum mxgpu_fault move(MxgpuDevice *dev, unsigned vmid, uint64_t va,
                             uint8_t *bytes, size_t size, bool write)
{
    enum mxgpu_fault fault = MXGPU_FAULT_NONE;
    uint64_t fault_addr;

    mxgpu_mmu_client_begin(&dev->memport.client);
    for (size_t done = 0; done < size && fault == MXGPU_FAULT_NONE;) {
        size_t n = 4096 - ((va + done) & 4095);

        n = n < size - done ? n : size - done;
        fault = mxgpu_memport_move(dev, vmid, va + done, bytes + done,
                                   (unsigned)n, write, &fault_addr);
        done += n;
    }
    mxgpu_mmu_client_end(&dev->memport.client);
    mxgpu_mcu_charge(dev->mcu.mcu, (unsigned)(size / 1024 * COST_KIB));
    return fault;
}

typedef struct Command {
    unsigned slot, vmid;
    uint64_t va;
    uint32_t size;
    enum mxgpu_fault fault;
} Command;

/* All that the slot has; false: the host has no memory, or that is too much. */
static bool collect(MxgpuDevice *dev, unsigned slot, Bytes *b)
{
    Head head = {.magic = MAGIC};
    MxgpuVisit v = {.ops = &puts_ops, .opaque = b};

    visit_bytes(&v, &head, sizeof(head));
    visit_registers(dev, slot, &v);
    mxgpu_simt_context_save(dev->simt, slot, &v);
    if (v.error) {
        return false;
    }
    head.size = b->size;
    memcpy(b->at, &head, sizeof(head));
    return true;
}

static MxgpuContextState save(MxgpuDevice *dev, Command *c)
{
    MxgpuContextState state = mxgpu_simt_context_ready(dev->simt, c->slot);
    Bytes b = {0};

    if (state != MXGPU_CONTEXT_DONE) {
        return state;
    }
    if (!collect(dev, c->slot, &b)) {
        free(b.at);
        return MXGPU_CONTEXT_REFUSED;
    }
    *mxgpu_reg(dev, MXGPU_CX_USED) = (uint32_t)b.size;
    if (b.size > c->size) {
        state = MXGPU_CONTEXT_ROOM;
    } else {
        c->fault = move(dev, c->vmid, c->va, b.at, b.size, true);
        state = c->fault == MXGPU_FAULT_NONE ? MXGPU_CONTEXT_DONE
                                             : MXGPU_CONTEXT_FAULT;
    }
    free(b.at);
    if (state == MXGPU_CONTEXT_DONE) {
        mxgpu_simt_context_drop(dev->simt, c->slot);
        mxgpu_lock(dev);
        mxgpu_cd_ack(dev, c->slot);
        mxgpu_fe_forget(dev, c->slot);
        mxgpu_unlock(dev);
    }
    return state;
}

/* The bytes at c->va, as many as their head says there are. */
static MxgpuContextState fetch(MxgpuDevice *dev, Command *c, Bytes *b)
{
    Head head;

    if (c->size < sizeof(head)) {
        return MXGPU_CONTEXT_REFUSED;
    }
    c->fault = move(dev, c->vmid, c->va, (uint8_t *)&head, sizeof(head), false);
    if (c->fault != MXGPU_FAULT_NONE) {
        return MXGPU_CONTEXT_FAULT;
    }
    if (head.magic != MAGIC || head.size < sizeof(head) ||
        head.size > c->size || head.size > CONTEXT_MAX) {
        return MXGPU_CONTEXT_REFUSED;
    }
    *b = (Bytes){malloc(head.size), head.size, head.size, sizeof(head)};
    if (!b->at) {
        return MXGPU_CONTEXT_REFUSED;
    }
    c->fault = move(dev, c->vmid, c->va, b->at, b->size, false);
    return c->fault == MXGPU_FAULT_NONE ? MXGPU_CONTEXT_DONE
                                        : MXGPU_CONTEXT_FAULT;
}

static MxgpuContextState load(MxgpuDevice *dev, Command *c)
{
    uint32_t base = c->slot * MXGPU_CD_CTRL_STRIDE;
    MxgpuDispatch whose = {
        .vmid = c->vmid,
        .priority = MXGPU_GET(MXGPU_CD_CFG_PRIORITY,
                              *mxgpu_reg(dev, MXGPU_CD_CFG + base)),
        .queue = *mxgpu_reg(dev, MXGPU_CD_QUEUE + base),
    };
    MxgpuVisit v = {.ops = &gets_ops};
    MxgpuContextState state;
    Bytes b = {0};

    if (mxgpu_cd_state(dev, c->slot) != MXGPU_UNIT_IDLE) {
        return MXGPU_CONTEXT_REFUSED;
    }
    state = fetch(dev, c, &b);
    if (state == MXGPU_CONTEXT_DONE) {
        v.opaque = &b;
        visit_registers(dev, c->slot, &v);
        state = mxgpu_simt_context_load(dev->simt, c->slot, &whose, &v);
    }
    free(b.at);
    if (state == MXGPU_CONTEXT_DONE) {
        mxgpu_lock(dev);
        *mxgpu_reg(dev, MXGPU_CD_STATUS + base) = MXGPU_UNIT_BUSY;
        mxgpu_unlock(dev);
    }
    return state;
}

/* ---- the command */

void mxgpu_cx_ctrl_write(MxgpuDevice *dev, const MxgpuAccess *a, uint32_t value)
{
    Command c = {
        .slot = MXGPU_GET(MXGPU_CX_CTRL_SLOT, value),
        .va = mxgpu_reg64(dev, MXGPU_CX_ADDR_LO),
        .size = *mxgpu_reg(dev, MXGPU_CX_SIZE),
    };
    bool saves = MXGPU_GET(MXGPU_CX_CTRL_SAVE, value);
    MxgpuContextState state = MXGPU_CONTEXT_REFUSED;

    mxgpu_mcu_charge(dev->mcu.mcu, COST_CONTEXT);
    if (c.slot < MXGPU_DISPATCH_SLOTS &&
        saves != MXGPU_GET(MXGPU_CX_CTRL_LOAD, value)) {
        c.vmid = MXGPU_GET(MXGPU_CD_CFG_VMID,
                           *mxgpu_reg(dev, MXGPU_CD_CFG +
                                               c.slot * MXGPU_CD_CTRL_STRIDE));
        mxgpu_hold_workers(dev);
        state = saves ? save(dev, &c) : load(dev, &c);
        mxgpu_release_workers(dev);
    }
    *mxgpu_reg(dev, MXGPU_CX_RESULT) =
        MXGPU_SET(MXGPU_CX_RESULT_STATE, state) |
        MXGPU_SET(MXGPU_CX_RESULT_FAULT, c.fault);
}
