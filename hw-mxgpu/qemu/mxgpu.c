/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The PCI function: identity, BARs, capabilities, properties, reset, stop and
 * continue. What happens behind the registers is the core's, which knows no
 * QEMU; see hw-mxgpu/docs/qemu.md.
 */
#include "qemu/osdep.h"
#include "qemu/main-loop.h"
#include "qemu/module.h"
#include "qemu/units.h"
#include "qapi/error.h"
#include "hw/pci/msix.h"
#include "exec/replay-core.h"
#include "migration/vmstate.h"
#include "monitor/monitor.h"
#include "mxgpu.h"
#include "mxgpu/properties.h"
#include "../core/capture.h"
#include "trace.h"

#define MXGPU_CAP_MSIX 0x50

/* ---- BARs --------------------------------------------------------------- */

/*
 * A look at the registers by gdb or by the monitor, whose physical reads have
 * no mark of their own. It must not disturb the guest.
 */
static bool mxgpu_is_debug(MemTxAttrs attrs)
{
    return attrs.debug || (attrs.unspecified && monitor_cur());
}

/*
 * Whether there is a device behind the BARs. A CPU of the guest that was on its way
 * into one when the card was pulled out arrives later: it has looked the region up
 * before, and waited for the BQL. Nobody answers, as on a bus.
 */
static bool mxgpu_answers(MxgpuState *s)
{
    return s->dev && !s->gone;
}

static MemTxResult mxgpu_bar0_read(void *opaque, hwaddr addr, uint64_t *data,
                                   unsigned size, MemTxAttrs attrs)
{
    MxgpuState *s = opaque;

    if (!mxgpu_answers(s)) {
        *data = UINT64_MAX;
        return MEMTX_DECODE_ERROR;
    }
    *data = mxgpu_is_debug(attrs) ? mxgpu_device_mmio_peek(s->dev, addr, size)
                                  : mxgpu_device_mmio_read(s->dev, addr, size);
    return MEMTX_OK;
}

static MemTxResult mxgpu_bar0_write(void *opaque, hwaddr addr, uint64_t value,
                                    unsigned size, MemTxAttrs attrs)
{
    MxgpuState *s = opaque;

    if (!mxgpu_answers(s)) {
        return MEMTX_DECODE_ERROR;
    }
    mxgpu_device_mmio_write(s->dev, addr, value, size);
    return MEMTX_OK;
}

static MemTxResult mxgpu_doorbell_read(void *opaque, hwaddr addr,
                                       uint64_t *data, unsigned size,
                                       MemTxAttrs attrs)
{
    MxgpuState *s = opaque;

    if (!mxgpu_answers(s)) {
        *data = UINT64_MAX;
        return MEMTX_DECODE_ERROR;
    }
    *data = mxgpu_is_debug(attrs)
        ? 0 : mxgpu_device_doorbell_read(s->dev, addr, size);
    return MEMTX_OK;
}

static MemTxResult mxgpu_doorbell_write(void *opaque, hwaddr addr,
                                        uint64_t value, unsigned size,
                                        MemTxAttrs attrs)
{
    MxgpuState *s = opaque;

    if (!mxgpu_answers(s)) {
        return MEMTX_DECODE_ERROR;
    }
    mxgpu_device_doorbell_write(s->dev, addr, value, size);
    return MEMTX_OK;
}

/* The core sees accesses as they are and counts the wrong ones. */
#define MXGPU_ANY_ACCESS \
    { .min_access_size = 1, .max_access_size = 8, .unaligned = true }

static const MemoryRegionOps mxgpu_bar0_ops = {
    .read_with_attrs = mxgpu_bar0_read,
    .write_with_attrs = mxgpu_bar0_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = MXGPU_ANY_ACCESS,
    .impl = MXGPU_ANY_ACCESS,
};

static const MemoryRegionOps mxgpu_doorbell_ops = {
    .read_with_attrs = mxgpu_doorbell_read,
    .write_with_attrs = mxgpu_doorbell_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = MXGPU_ANY_ACCESS,
    .impl = MXGPU_ANY_ACCESS,
};

static unsigned mxgpu_vectors(MxgpuState *s)
{
    return MIN(s->queues + 1, MXGPU_MAX_VECTORS);
}

static bool mxgpu_realize_bars(MxgpuState *s, Error **errp)
{
    PCIDevice *pci = PCI_DEVICE(s);
    Object *obj = OBJECT(s);
    const uint8_t type = PCI_BASE_ADDRESS_SPACE_MEMORY |
                         PCI_BASE_ADDRESS_MEM_TYPE_64;

    /* Memory of the host is taken when it is touched, not now. */
    if (!memory_region_init_ram_flags_nomigrate(&s->vram, obj, "mxgpu-vram",
                                                s->vram_size, RAM_NORESERVE,
                                                errp)) {
        return false;
    }
    vmstate_register_ram(&s->vram, DEVICE(s));
    memory_region_init(&s->aperture, obj, "mxgpu-bar2", s->vram_size);
    memory_region_add_subregion(&s->aperture, 0, &s->vram);
    memory_region_init_io(&s->regs, obj, &mxgpu_bar0_ops, s, "mxgpu-regs",
                          MXGPU_REGS_SIZE);
    memory_region_init(&s->bar4, obj, "mxgpu-bar4", MXGPU_DOORBELL_SIZE);
    memory_region_init_io(&s->doorbell, obj, &mxgpu_doorbell_ops, s,
                          "mxgpu-doorbells",
                          MXGPU_MAX_QUEUES * MXGPU_DOORBELL_STRIDE);
    memory_region_add_subregion(&s->bar4, 0, &s->doorbell);
    pci_register_bar(pci, MXGPU_BAR_REGS, type, &s->regs);
    pci_register_bar(pci, MXGPU_BAR_VRAM,
                     type | PCI_BASE_ADDRESS_MEM_PREFETCH, &s->aperture);
    pci_register_bar(pci, MXGPU_BAR_DOORBELL, type, &s->bar4);
    if (msix_init(pci, mxgpu_vectors(s), &s->bar4, MXGPU_BAR_DOORBELL,
                  MXGPU_MSIX_TABLE, &s->bar4, MXGPU_BAR_DOORBELL,
                  MXGPU_MSIX_PBA, MXGPU_CAP_MSIX, errp) < 0) {
        return false;
    }
    for (unsigned i = 0; i < mxgpu_vectors(s); i++) {
        msix_vector_use(pci, i);
    }
    return true;
}

/* ---- configuration space ------------------------------------------------ */

static void mxgpu_write_config(PCIDevice *pci, uint32_t addr, uint32_t value,
                               int len)
{
    MxgpuState *s = MXGPU(pci);
    unsigned power = mxgpu_config_power_state(pci);

    mxgpu_config_write(pci, addr, value, len);
    if (power && !mxgpu_config_power_state(pci) && s->asleep) {
        pci_device_reset(pci);
    } else {
        s->asleep = mxgpu_config_power_state(pci);
        mxgpu_settle(s);
    }
}

/* Of the machine, the bus or the function; the PCI core does the BARs,
 * COMMAND, the power state and MSI-X. */
static void mxgpu_reset(DeviceState *dev)
{
    MxgpuState *s = MXGPU(dev);

    if (!s->dev) {
        return;
    }
    mxgpu_config_reset(s);
    s->asleep = false;
    s->reset = true;
    mxgpu_settle(s);
}

/* ---- what the device is made to do -------------------------------------- */

static void mxgpu_do_reset(MxgpuState *s)
{
    mxgpu_device_reset(s->dev, MXGPU_RESET_BUS);
}

static void mxgpu_do_pause(MxgpuState *s)
{
    mxgpu_device_pause(s->dev);
}

static void mxgpu_do_resume(MxgpuState *s)
{
    mxgpu_device_resume(s->dev);
}

static void mxgpu_settle_reset(MxgpuState *s)
{
    s->reset = false;
    if (mxgpu_host_wait(s, mxgpu_do_reset, MXGPU_REFUSE)) {
        /* What was raised before is no message of the device as it is now. */
        mxgpu_host_drop_irqs(s);
    } else {
        s->reset = true;
    }
}

static void mxgpu_settle_pause(MxgpuState *s, bool pause)
{
    bool done;

    s->run_kept = s->deterministic;
    done = mxgpu_host_wait(s, pause ? mxgpu_do_pause : mxgpu_do_resume,
                           MXGPU_SERVE);
    s->run_kept = false;
    if (!done) {
        return;
    }
    s->paused = pause;
    if (pause) {
        trace_mxgpu_pause(s->name);
    } else {
        trace_mxgpu_resume(s->name);
        mxgpu_run_resume(s);
    }
}

static bool mxgpu_wants_pause(MxgpuState *s)
{
    return s->stopped || s->asleep;
}

void mxgpu_settle(MxgpuState *s)
{
    if (!s->dev || s->gone) {
        return;
    }
    if (s->sync) {
        mxgpu_dma_sync(s);
    }
    if (s->reset) {
        mxgpu_settle_reset(s);
    }
    if (s->paused != mxgpu_wants_pause(s)) {
        mxgpu_settle_pause(s, mxgpu_wants_pause(s));
    }
    /* What calls that were served meanwhile brought waits for its turn. */
    if (s->sync || s->reset || s->paused != mxgpu_wants_pause(s)) {
        qemu_bh_schedule(s->settle_bh);
    }
}

static void mxgpu_settle_bh(void *opaque)
{
    mxgpu_settle(opaque);
}

static void mxgpu_vm_state(void *opaque, bool running, RunState state)
{
    MxgpuState *s = opaque;

    s->stopped = !running;
    mxgpu_settle(s);
    if (running) {
        mxgpu_host_cont(s);
    }
}

/* ---- properties --------------------------------------------------------- */

static const Property mxgpu_properties[] = {
#define MXGPU_NUMBER(field, name, min, max, card, sim, text) \
    DEFINE_PROP_UINT32(name, MxgpuState, field, card),
#define MXGPU_SIZE(field, name, min, max, card, sim, text) \
    DEFINE_PROP_SIZE(name, MxgpuState, field, (card) * KiB),
#define MXGPU_SWITCH(field, name, text) \
    DEFINE_PROP_BOOL(name, MxgpuState, field, false),
#include "mxgpu/properties.def"
#undef MXGPU_NUMBER
#undef MXGPU_SIZE
#undef MXGPU_SWITCH
    DEFINE_PROP_UUID_NODEFAULT("uuid", MxgpuState, uuid),
    DEFINE_PROP_CHR("console", MxgpuState, console),
    DEFINE_PROP_STRING("capture", MxgpuState, capture_path),
    DEFINE_PROP_STRING("observer", MxgpuState, observer_path),
    DEFINE_PROP_CHR("fw-gdb", MxgpuState, gdb[MXGPU_DEBUG_FIRMWARE].chr),
    DEFINE_PROP_BOOL("fw-gdb-halt", MxgpuState,
                     gdb[MXGPU_DEBUG_FIRMWARE].halt, false),
    DEFINE_PROP_CHR("kernel-gdb", MxgpuState, gdb[MXGPU_DEBUG_KERNELS].chr),
    DEFINE_PROP_BOOL("kernel-gdb-halt", MxgpuState,
                     gdb[MXGPU_DEBUG_KERNELS].halt, false),
    DEFINE_PROP_PCIE_LINK_SPEED("link-speed", MxgpuState, link_speed,
                                PCIE_LINK_SPEED_16),
    DEFINE_PROP_PCIE_LINK_WIDTH("link-width", MxgpuState, link_width,
                                PCIE_LINK_WIDTH_16),
    DEFINE_PROP_UINT32("vfs", MxgpuState, vfs, 0),
    DEFINE_PROP_SIZE("vf-vram", MxgpuState, vf_vram, 64 * MiB),
    DEFINE_PROP_UINT32("vf-compute-units", MxgpuState, vf_compute_units, 4),
};

/* Those that only a PCI card has. */
static const struct {
    const char *name, *text;
} mxgpu_descriptions[] = {
    { "uuid", "identity of the device; default: made from its place in the "
              "machine" },
    { "link-speed", "fastest link of the function, GT/s: 2_5, 5, 8, 16, 32 or "
                    "64; without effect where it is part of the root complex" },
    { "link-width", "lanes: 1, 2, 4, 8, 12, 16 or 32" },
    { "vfs", "virtual functions (SR-IOV) of the card, 0 to 7" },
    { "vf-vram", "device memory of each virtual function" },
    { "vf-compute-units", "compute units of each virtual function" },
    { "console", "character device that gets the lines of the firmware's "
                 "console" },
    { "capture", "file that gets what goes in and out of the device" },
    { "observer", "library that watches kernels, as libmxgpu-check.so" },
    { "fw-gdb", "character device for gdb on the firmware" },
    { "fw-gdb-halt", "the firmware waits for gdb before its first "
                     "instruction" },
    { "kernel-gdb", "character device for gdb on kernels, which have no limit "
                    "of time then" },
    { "kernel-gdb-halt", "kernels wait for gdb before their first "
                         "instruction" },
};

static bool mxgpu_check_range(const struct mxgpu_property *p, uint64_t value,
                              Error **errp)
{
    if (value < p->min || value > p->max) {
        error_setg(errp, "mxgpu: %s=%" PRIu64 " is not in the range %" PRIu64
                   " to %" PRIu64, p->name, value, p->min, p->max);
        return false;
    }
    return true;
}

/* A debugger's bytes and the steps it makes of the firmware are in no log. */
static bool mxgpu_check_replay(MxgpuState *s, Error **errp)
{
    if (replay_mode != REPLAY_MODE_NONE && !s->deterministic) {
        error_setg(errp, "mxgpu: record/replay needs deterministic=on");
        return false;
    }
    if (replay_mode != REPLAY_MODE_NONE &&
        (mxgpu_gdb_connected(s, MXGPU_DEBUG_FIRMWARE) ||
         mxgpu_gdb_connected(s, MXGPU_DEBUG_KERNELS))) {
        error_setg(errp, "mxgpu: record/replay and %s exclude each other",
                   mxgpu_gdb_connected(s, MXGPU_DEBUG_FIRMWARE)
                       ? "fw-gdb" : "kernel-gdb");
        return false;
    }
    if (replay_mode != REPLAY_MODE_NONE && s->observer_path) {
        error_setg(errp, "mxgpu: record/replay and observer exclude each "
                   "other");
        return false;
    }
    return true;
}

static bool mxgpu_check_properties(MxgpuState *s, Error **errp)
{
    const struct mxgpu_property *p = mxgpu_property;

#define MXGPU_NUMBER(field, ...) \
    if (!mxgpu_check_range(p++, s->field, errp)) { \
        return false; \
    }
#define MXGPU_SIZE MXGPU_NUMBER
#define MXGPU_SWITCH(field, ...) p++;
#include "mxgpu/properties.def"
#undef MXGPU_NUMBER
#undef MXGPU_SIZE
#undef MXGPU_SWITCH
    if (!is_power_of_2(s->vram_size)) {
        error_setg(errp, "mxgpu: vram=%" PRIu64 " is not a power of two",
                   s->vram_size);
        return false;
    }
    if (s->private_memory < s->compute_units * (64 * KiB)) {
        error_setg(errp, "mxgpu: private-memory=%" PRIu64 " is not 64K for "
                   "each of %u compute units", s->private_memory,
                   s->compute_units);
        return false;
    }
    return mxgpu_check_replay(s, errp);
}

/* Equal in every run of the same machine, different for each device. */
static void mxgpu_default_uuid(MxgpuState *s)
{
    g_autofree char *path = qdev_get_dev_path(DEVICE(s));
    g_autofree char *text = g_strdup_printf("mxgpu %s %s", path ?: "",
                                            DEVICE(s)->id ?: "");
    g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA1);
    uint8_t digest[20];
    gsize len = sizeof(digest);

    g_checksum_update(sum, (const guchar *)text, -1);
    g_checksum_get_digest(sum, digest, &len);
    memcpy(s->uuid.data, digest, sizeof(s->uuid.data));
    /* RFC 9562: version 5 (name), variant 1 */
    s->uuid.data[6] = (s->uuid.data[6] & 0x0f) | 0x50;
    s->uuid.data[8] = (s->uuid.data[8] & 0x3f) | 0x80;
}

/* ---- life --------------------------------------------------------------- */

static bool mxgpu_realize_core(MxgpuState *s, Error **errp)
{
    const char *reason = "unknown reason";
    const MxgpuHostOps *ops = &mxgpu_host_ops;
    void *host = s;
    MxgpuConfig config = {
        .vram = memory_region_get_ram_ptr(&s->vram),
        .vram_size = s->vram_size,
        .queues = s->queues,
        .vectors = mxgpu_vectors(s),
        .compute_units = s->compute_units,
        .copy_engines = s->copy_engines,
        .threads = s->threads,
        .private_memory = s->private_memory,
        /* A kernel that a debugger has stopped would be too slow. */
        .watchdog_ms = mxgpu_gdb_connected(s, MXGPU_DEBUG_KERNELS)
                           ? 0 : s->watchdog_ms,
        .firmware_watchdog_ms = s->firmware_watchdog_ms,
        .jit = s->jit,
        .deterministic = s->deterministic,
        .strict_alignment = s->strict_alignment,
        .log_host = s,
    };

    memcpy(config.uuid, s->uuid.data, sizeof(config.uuid));
    if (s->observer_path && !mxgpu_observer_load(s, &config, errp)) {
        return false;
    }
    if (s->capture_path) {
        int err = mxgpu_capture_open(s->capture_path, s->name,
                                     MXGPU_CAPTURE_MOST, &ops, &host,
                                     &s->capture);

        if (err) {
            error_setg_errno(errp, -err, "mxgpu: no capture to %s",
                             s->capture_path);
            return false;
        }
    }
    s->dev = mxgpu_device_new(&config, ops, host, &reason);
    if (!s->dev) {
        error_setg(errp, "mxgpu: %s", reason);
        return false;
    }
    if (s->capture) {
        mxgpu_capture_device(s->capture, s->dev);
    }
    return true;
}

static void mxgpu_do_free(MxgpuState *s)
{
    mxgpu_device_free(s->dev);
}

/* The end of the device's threads and of all that they use. */
static void mxgpu_teardown(MxgpuState *s)
{
    if (s->dev) {
        mxgpu_host_wait(s, mxgpu_do_free, MXGPU_REFUSE);
        s->dev = NULL;
        mxgpu_host_stop(s);
    }
    g_clear_pointer(&s->capture, mxgpu_capture_close);
    mxgpu_dma_stop(s);
    mxgpu_dma_free(s);
    if (s->name) {
        qemu_bh_delete(s->settle_bh);
        mxgpu_gdb_cleanup(s);
        mxgpu_host_cleanup(s);
        mxgpu_log_free(s);
        mxgpu_state_free(s);
        g_clear_pointer(&s->name, g_free);
    }
}

static void mxgpu_teardown_bh(void *opaque)
{
    MxgpuState *s = opaque;

    if (mxgpu_host_serving(s)) {
        aio_bh_schedule_oneshot(qemu_get_aio_context(), mxgpu_teardown_bh, s);
        return;
    }
    mxgpu_teardown(s);
    object_unref(OBJECT(s));
}

/* Undoes what of realize was done. */
static void mxgpu_exit(PCIDevice *pci)
{
    MxgpuState *s = MXGPU(pci);

    if (s->vm_state) {
        qemu_del_vm_change_state_handler(s->vm_state);
        s->vm_state = NULL;
    }
    s->gone = true;
    mxgpu_sriov_exit(s);
    if (s->dev) {
        mxgpu_gdb_quit(s);
    }
    g_clear_pointer(&s->inspect, g_free);
    if (s->dev && mxgpu_host_serving(s)) {
        /* Pulled out by what a vIOMMU wrote while it translated for us: no
         * bus and no messages from now on, the rest when it has returned. */
        mxgpu_host_refuse(s);
        mxgpu_dma_stop(s);
        object_ref(OBJECT(s));
        aio_bh_schedule_oneshot(qemu_get_aio_context(), mxgpu_teardown_bh, s);
    } else {
        mxgpu_teardown(s);
    }
    if (s->vram.ram_block) {
        vmstate_unregister_ram(&s->vram, DEVICE(s));
    }
    if (msix_present(pci)) {
        msix_unuse_all_vectors(pci);
        msix_uninit(pci, &s->bar4, &s->bar4);
    }
    /* A region in a container holds its owner. */
    if (memory_region_is_mapped(&s->doorbell)) {
        memory_region_del_subregion(&s->bar4, &s->doorbell);
    }
    if (memory_region_is_mapped(&s->vram)) {
        memory_region_del_subregion(&s->aperture, &s->vram);
    }
    mxgpu_config_exit(pci);
}

static void mxgpu_realize(PCIDevice *pci, Error **errp)
{
    MxgpuState *s = MXGPU(pci);

    if (mxgpu_is_vf(s)) {
        mxgpu_vf_inherit(s);
    }
    if (!mxgpu_check_properties(s, errp)) {
        return;
    }
    if (qemu_uuid_is_null(&s->uuid)) {
        mxgpu_default_uuid(s);
    }
    pci->config[PCI_INTERRUPT_PIN] = 0;
    s->name = DEVICE(s)->id ? g_strdup(DEVICE(s)->id)
                            : qdev_get_dev_path(DEVICE(s));
    mxgpu_host_init(s);
    mxgpu_log_init(s);
    mxgpu_state_init(s);
    mxgpu_gdb_prepare(s);
    s->gone = s->asleep = s->reset = s->sync = s->paused = false;
    s->settle_bh = qemu_bh_new_guarded(mxgpu_settle_bh, s,
                                       &DEVICE(s)->mem_reentrancy_guard);
    if (!mxgpu_realize_bars(s, errp) || !mxgpu_config_init(s, errp) ||
        !mxgpu_realize_core(s, errp)) {
        mxgpu_exit(pci);
        return;
    }
    mxgpu_host_start(s);
    mxgpu_dma_start(s);
    mxgpu_gdb_listen(s);
    s->stopped = !runstate_is_running();
    mxgpu_settle(s);
    s->vm_state = mxgpu_add_vm_change_state_handler(DEVICE(s), mxgpu_vm_state,
                                                    s);
}

static void mxgpu_init(Object *obj)
{
    /* Extended configuration space, whatever bus the function is on. */
    PCI_DEVICE(obj)->cap_present |= QEMU_PCI_CAP_EXPRESS;
}

static void mxgpu_class_init(ObjectClass *class, MxgpuClassData *data)
{
    DeviceClass *dc = DEVICE_CLASS(class);
    PCIDeviceClass *pc = PCI_DEVICE_CLASS(class);

    pc->realize = mxgpu_realize;
    pc->exit = mxgpu_exit;
    pc->config_write = mxgpu_write_config;
    pc->vendor_id = MXGPU_PCI_VENDOR;
    pc->device_id = MXGPU_PCI_DEVICE;
    pc->subsystem_vendor_id = MXGPU_PCI_VENDOR;
    pc->subsystem_id = MXGPU_PCI_SUBSYSTEM;
    pc->class_id = MXGPU_PCI_CLASS;
    pc->revision = MXGPU_INTERFACE_VERSION >> 16;
    dc->desc = "mxgpu compute accelerator";
    dc->hotpluggable = true;
    dc->vmsd = mxgpu_vmstate_first();
    set_bit(DEVICE_CATEGORY_MISC, dc->categories);
    device_class_set_legacy_reset(dc, mxgpu_reset);
    device_class_set_props(dc, mxgpu_properties);
    mxgpu_inspect_class_init(class);
    for (unsigned i = 0; i < MXGPU_PROPERTIES; i++) {
        const struct mxgpu_property *p = &mxgpu_property[i];
        g_autofree char *text =
            p->max == 1 ? g_strdup(p->text)
                        : g_strdup_printf("%s; %" PRIu64 " to %" PRIu64,
                                          p->text, p->min, p->max);

        object_class_property_set_description(class, p->name, text);
    }
    for (unsigned i = 0; i < ARRAY_SIZE(mxgpu_descriptions); i++) {
        object_class_property_set_description(class,
                                              mxgpu_descriptions[i].name,
                                              mxgpu_descriptions[i].text);
    }
}

static const TypeInfo mxgpu_info = {
    .name = TYPE_MXGPU,
    .parent = TYPE_PCI_DEVICE,
    .instance_size = sizeof(MxgpuState),
    .instance_init = mxgpu_init,
    .class_init = mxgpu_class_init,
    .interfaces = (InterfaceInfo[]) {
        { INTERFACE_PCIE_DEVICE },
        { }
    },
};

static void mxgpu_vf_class_init(ObjectClass *class, MxgpuClassData *data)
{
    DeviceClass *dc = DEVICE_CLASS(class);

    dc->desc = "virtual function of mxgpu";
    dc->vmsd = &mxgpu_vmstate;
    dc->user_creatable = false;
}

static const TypeInfo mxgpu_vf_info = {
    .name = TYPE_MXGPU_VF,
    .parent = TYPE_MXGPU,
    .class_init = mxgpu_vf_class_init,
};

static void mxgpu_register_types(void)
{
    type_register_static(&mxgpu_info);
    type_register_static(&mxgpu_vf_info);
}

type_init(mxgpu_register_types)
