/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What savevm and migration carry of the device, but for VRAM, which is a RAM
 * block of its own: properties, which have to be the same; what the PCI core
 * knows; interrupts on their way; and the model's state, walked by core/state.h
 * and kept in parts, one for each of its sections. Nothing that is loaded is
 * trusted.
 */
#include "qemu/osdep.h"
#include "qemu/cutils.h"
#include "qemu/error-report.h"
#include "qemu/units.h"
#include "hw/pci/msix.h"
#include "hw/pci/pcie_aer.h"
#include "migration/qemu-file-types.h"
#include "migration/vmstate.h"
#include "mxgpu.h"
#include "../core/state.h"

/* ---- properties ---------------------------------------------------------- */

static uint64_t mxgpu_number(const void *value, size_t size)
{
    switch (size) {
    case 1:
        return *(const uint8_t *)value;
    case 4:
        return *(const uint32_t *)value;
    default:
        return *(const uint64_t *)value;
    }
}

static int mxgpu_property_put(QEMUFile *f, void *value, size_t size,
                              const VMStateField *field, JSONWriter *vmdesc)
{
    qemu_put_be64(f, mxgpu_number(value, size));
    return 0;
}

static int mxgpu_property_get(QEMUFile *f, void *value, size_t size,
                              const VMStateField *field)
{
    uint64_t own = mxgpu_number(value, size), saved = qemu_get_be64(f);

    /* How many threads run the units is the host's affair. */
    if (saved == own || !strcmp(field->name, "threads")) {
        return 0;
    }
    error_report("mxgpu: property %s is %" PRIu64 " here and was %" PRIu64
                 " where the state was saved", field->name, own, saved);
    return -EINVAL;
}

static const VMStateInfo mxgpu_property_info = {
    .name = "mxgpu property",
    .get = mxgpu_property_get,
    .put = mxgpu_property_put,
};

static int mxgpu_uuid_put(QEMUFile *f, void *value, size_t size,
                          const VMStateField *field, JSONWriter *vmdesc)
{
    qemu_put_buffer(f, value, size);
    return 0;
}

static int mxgpu_uuid_get(QEMUFile *f, void *value, size_t size,
                          const VMStateField *field)
{
    g_autofree char *own = qemu_uuid_unparse_strdup(value);
    g_autofree char *other = NULL;
    QemuUUID saved;

    if (qemu_get_buffer(f, saved.data, sizeof(saved.data)) !=
        sizeof(saved.data)) {
        return -EIO;
    }
    if (qemu_uuid_is_equal(&saved, value)) {
        return 0;
    }
    other = qemu_uuid_unparse_strdup(&saved);
    error_report("mxgpu: property %s is %s here and was %s where the state was "
                 "saved; the default depends on the device's id and place",
                 field->name, own, other);
    return -EINVAL;
}

static const VMStateInfo mxgpu_uuid_info = {
    .name = "mxgpu uuid",
    .get = mxgpu_uuid_get,
    .put = mxgpu_uuid_put,
};

/* ---- the model's state, in parts ----------------------------------------- */

typedef struct MxgpuPart {
    uint8_t name[16];
    uint32_t version;
    uint32_t size;
    GByteArray *data;
} MxgpuPart;

/* Sections of the walk: one for each compute unit, and some more. */
#define MXGPU_PARTS_MAX 256

struct MxgpuImage {
    uint32_t parts;
    MxgpuPart part[MXGPU_PARTS_MAX];
};

static void mxgpu_image_clear(MxgpuImage *image)
{
    for (unsigned i = 0; i < MXGPU_PARTS_MAX; i++) {
        g_clear_pointer(&image->part[i].data, g_byte_array_unref);
    }
    memset(image, 0, sizeof(*image));
}

void mxgpu_state_init(MxgpuState *s)
{
    s->image = g_new0(MxgpuImage, 1);
}

void mxgpu_state_free(MxgpuState *s)
{
    mxgpu_image_clear(s->image);
    g_clear_pointer(&s->image, g_free);
}

static int mxgpu_part_put(QEMUFile *f, void *value, size_t size,
                          const VMStateField *field, JSONWriter *vmdesc)
{
    GByteArray *data = *(GByteArray **)value;

    qemu_put_buffer(f, data->data, data->len);
    return 0;
}

/* Takes memory as bytes come, not as the stream promises them. */
static int mxgpu_part_get(QEMUFile *f, void *value, size_t size,
                          const VMStateField *field)
{
    MxgpuPart *part = container_of(value, MxgpuPart, data);
    g_autofree uint8_t *buf = g_malloc(64 * KiB);
    uint32_t left = part->size;

    g_clear_pointer(&part->data, g_byte_array_unref);
    if (left > INT32_MAX) { /* none that was saved is */
        error_report("mxgpu: part '%.15s' of the state is too long",
                     part->name);
        return -EINVAL;
    }
    part->data = g_byte_array_new();
    while (left) {
        size_t n = MIN(left, 64 * KiB);

        if (qemu_get_buffer(f, buf, n) != n) {
            error_report("mxgpu: the state ends within its part '%.15s'",
                         part->name);
            return -EIO;
        }
        g_byte_array_append(part->data, buf, n);
        left -= n;
    }
    return 0;
}

static const VMStateInfo mxgpu_part_info = {
    .name = "mxgpu part",
    .get = mxgpu_part_get,
    .put = mxgpu_part_put,
};

/* Not the same size in each part: an array of them is described part by part. */
static bool mxgpu_part_exists(void *opaque, int version)
{
    return true;
}

static const VMStateDescription mxgpu_vmstate_part = {
    .name = "mxgpu/part",
    .version_id = 1,
    .minimum_version_id = 1,
    .fields = (const VMStateField[]) {
        VMSTATE_BUFFER(name, MxgpuPart),
        VMSTATE_UINT32(version, MxgpuPart),
        VMSTATE_UINT32(size, MxgpuPart),
        {
            .name = "data",
            .info = &mxgpu_part_info,
            .size = sizeof(GByteArray *),
            .flags = VMS_SINGLE,
            .offset = offsetof(MxgpuPart, data),
            .field_exists = mxgpu_part_exists,
        },
        VMSTATE_END_OF_LIST()
    }
};

static bool mxgpu_image_valid(void *opaque, int version)
{
    MxgpuImage *image = opaque;

    return image->parts <= MXGPU_PARTS_MAX;
}

static const VMStateDescription mxgpu_vmstate_image = {
    .name = "mxgpu/model",
    .version_id = 1,
    .minimum_version_id = 1,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT32(parts, MxgpuImage),
        VMSTATE_VALIDATE("no more parts than a device has",
                         mxgpu_image_valid),
        VMSTATE_STRUCT_VARRAY_UINT32(part, MxgpuImage, parts, 1,
                                     mxgpu_vmstate_part, MxgpuPart),
        VMSTATE_END_OF_LIST()
    }
};

/* ---- visitors ------------------------------------------------------------ */

/* Sparse memory is, for each granule that is not zero, its number, in order,
 * and the granule, and then the end: as in core/image.c. */
#define MXGPU_SPARSE_END UINT32_MAX

static int mxgpu_save_section(void *opaque, const char *name, unsigned version)
{
    MxgpuImage *image = opaque;
    MxgpuPart *part = &image->part[image->parts];

    if (image->parts == MXGPU_PARTS_MAX) {
        return -E2BIG;
    }
    pstrcpy((char *)part->name, sizeof(part->name), name);
    part->version = version;
    part->data = g_byte_array_new();
    image->parts++;
    return 0;
}

static int mxgpu_save_bytes(void *opaque, void *ptr, size_t len)
{
    MxgpuImage *image = opaque;
    MxgpuPart *part = &image->part[image->parts - 1];

    if (len > INT32_MAX - part->data->len) {
        return -E2BIG;
    }
    g_byte_array_append(part->data, ptr, len);
    part->size = part->data->len;
    return 0;
}

static int mxgpu_save_sparse(void *opaque, void *ptr, size_t len,
                             size_t granule)
{
    uint32_t n = 0, end = MXGPU_SPARSE_END;
    uint8_t *p = ptr;
    int error = 0;

    for (size_t at = 0; at < len && !error; at += granule, n++) {
        if (!buffer_is_zero(p + at, granule)) {
            error = mxgpu_save_bytes(opaque, &n, sizeof(n));
            error = error ?: mxgpu_save_bytes(opaque, p + at, granule);
        }
    }
    return error ?: mxgpu_save_bytes(opaque, &end, sizeof(end));
}

static const MxgpuStateOps mxgpu_save_ops = {
    .section = mxgpu_save_section,
    .bytes = mxgpu_save_bytes,
    .sparse = mxgpu_save_sparse,
};

typedef struct MxgpuLoader {
    MxgpuImage *image;
    unsigned parts; /* that have begun */
    size_t at;      /* in the last of them */
    bool told;      /* what is wrong */
} MxgpuLoader;

/* An error with a reason for the user. */
static int G_GNUC_PRINTF(2, 3) mxgpu_load_error(MxgpuLoader *l, const char *fmt,
                                                ...)
{
    va_list args;

    va_start(args, fmt);
    error_vreport(fmt, args);
    va_end(args);
    l->told = true;
    return -EINVAL;
}

static MxgpuPart *mxgpu_load_part(MxgpuLoader *l)
{
    return &l->image->part[l->parts - 1];
}

/* Whether all of the last part was used. */
static int mxgpu_load_ended(MxgpuLoader *l)
{
    MxgpuPart *part;

    if (!l->parts) {
        return 0;
    }
    part = mxgpu_load_part(l);
    if (l->at == part->size) {
        return 0;
    }
    return mxgpu_load_error(l, "mxgpu: part '%.15s' of the state is longer "
                            "than the device's", part->name);
}

static int mxgpu_load_section(void *opaque, const char *name, unsigned version)
{
    MxgpuLoader *l = opaque;
    MxgpuPart *part;
    int error = mxgpu_load_ended(l);

    if (error) {
        return error;
    }
    if (l->parts == l->image->parts) {
        return mxgpu_load_error(l, "mxgpu: the state has no part '%s'", name);
    }
    l->parts++;
    l->at = 0;
    part = mxgpu_load_part(l);
    if (strncmp((char *)part->name, name, sizeof(part->name))) {
        return mxgpu_load_error(l, "mxgpu: the state has another part where "
                                "'%s' should be", name);
    }
    if (part->version != version) {
        return mxgpu_load_error(l, "mxgpu: part '%s' of the state is of "
                                "version %u; this QEMU has version %u", name,
                                part->version, version);
    }
    return 0;
}

static int mxgpu_load_bytes(void *opaque, void *ptr, size_t len)
{
    MxgpuLoader *l = opaque;
    MxgpuPart *part = mxgpu_load_part(l);

    if (len > part->size - l->at) {
        return mxgpu_load_error(l, "mxgpu: part '%.15s' of the state is too "
                                "short", part->name);
    }
    if (len) {
        memcpy(ptr, part->data->data + l->at, len);
    }
    l->at += len;
    return 0;
}

static int mxgpu_load_sparse(void *opaque, void *ptr, size_t len,
                             size_t granule)
{
    uint64_t next = 0;
    uint8_t *p = ptr;
    uint32_t n;
    int error;

    for (;;) {
        error = mxgpu_load_bytes(opaque, &n, sizeof(n));
        if (error || n == MXGPU_SPARSE_END) {
            return error;
        }
        if (n < next || n >= len / granule) {
            return -EINVAL;
        }
        error = mxgpu_load_bytes(opaque, p + n * granule, granule);
        if (error) {
            return error;
        }
        next = (uint64_t)n + 1;
    }
}

static const MxgpuStateOps mxgpu_load_ops = {
    .loads = true,
    .section = mxgpu_load_section,
    .bytes = mxgpu_load_bytes,
    .sparse = mxgpu_load_sparse,
};

/* ---- before and after ---------------------------------------------------- */

static int mxgpu_pre_save(void *opaque)
{
    MxgpuState *s = opaque;
    int error;

    /* A reset that waited for its turn. */
    mxgpu_settle(s);
    if (s->reset || !s->paused) {
        error_report("mxgpu: the device is busy with its IOMMU; try again");
        return -EBUSY;
    }
    mxgpu_host_save_irqs(s);
    mxgpu_image_clear(s->image);
    error = mxgpu_device_visit(s->dev, &mxgpu_save_ops, s->image);
    if (error) {
        error_report("mxgpu: the state cannot be saved: %s", strerror(-error));
        mxgpu_image_clear(s->image);
    }
    return error;
}

static int mxgpu_post_save(void *opaque)
{
    mxgpu_image_clear(((MxgpuState *)opaque)->image);
    return 0;
}

static int mxgpu_pre_load(void *opaque)
{
    MxgpuState *s = opaque;

    s->run_kept = false;
    s->notes_saved = 0;
    mxgpu_image_clear(s->image);
    return 0;
}

static int mxgpu_load_model(MxgpuState *s)
{
    MxgpuLoader l = { .image = s->image };
    int error = mxgpu_device_visit(s->dev, &mxgpu_load_ops, &l);

    if (!error) {
        error = mxgpu_load_ended(&l);
    }
    if (!error && l.parts != s->image->parts) {
        error = mxgpu_load_error(&l, "mxgpu: the state has more parts than the "
                                 "device");
    }
    if (error && !l.told) {
        mxgpu_load_error(&l, "mxgpu: part '%.15s' of the state is not one that "
                         "this device can have: %s",
                         l.parts ? (char *)mxgpu_load_part(&l)->name : "",
                         strerror(-error));
    }
    if (error) {
        mxgpu_device_reset(s->dev, MXGPU_RESET_BUS);
    }
    return error;
}

static int mxgpu_post_load(void *opaque, int version)
{
    MxgpuState *s = opaque;
    int error;

    if (!mxgpu_config_loaded(s)) {
        error_report("mxgpu: the state has a size of BAR %u that is not offered",
                     MXGPU_BAR_VRAM);
        return -EINVAL;
    }
    s->asleep = mxgpu_config_power_state(PCI_DEVICE(s));
    s->reset = false;
    mxgpu_settle(s);
    if (!s->paused) {
        error_report("mxgpu: a state is loaded while the device runs");
        return -EBUSY;
    }
    mxgpu_host_load_irqs(s);
    error = mxgpu_load_model(s);
    s->run_kept = false;
    mxgpu_image_clear(s->image);
    return error;
}

/* ---- the description ----------------------------------------------------- */

#define MXGPU_VMSTATE_SAME(property, member, info_)                            \
    {                                                                          \
        .name = (property),                                                    \
        .info = &(info_),                                                      \
        .size = sizeof_field(MxgpuState, member),                              \
        .flags = VMS_SINGLE,                                                   \
        .offset = offsetof(MxgpuState, member),                                \
    },
#define MXGPU_NUMBER(field, name, ...) \
    MXGPU_VMSTATE_SAME(name, field, mxgpu_property_info)
#define MXGPU_SIZE MXGPU_NUMBER
#define MXGPU_SWITCH MXGPU_NUMBER

static bool mxgpu_notes_needed(void *opaque)
{
    return ((MxgpuState *)opaque)->notes_saved;
}

static const VMStateDescription mxgpu_vmstate_notes = {
    .name = TYPE_MXGPU "/notes",
    .version_id = 1,
    .minimum_version_id = 1,
    .needed = mxgpu_notes_needed,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT32(notes_saved, MxgpuState),
        VMSTATE_END_OF_LIST()
    },
};

const VMStateDescription mxgpu_vmstate = {
    .name = TYPE_MXGPU,
    .version_id = 1,
    .minimum_version_id = 1,
    .pre_save = mxgpu_pre_save,
    .post_save = mxgpu_post_save,
    .pre_load = mxgpu_pre_load,
    .post_load = mxgpu_post_load,
    .fields = (const VMStateField[]) {
#include "mxgpu/properties.def"
        MXGPU_VMSTATE_SAME("link-speed", link_speed, mxgpu_property_info)
        MXGPU_VMSTATE_SAME("link-width", link_width, mxgpu_property_info)
        MXGPU_VMSTATE_SAME("uuid", uuid, mxgpu_uuid_info)
        VMSTATE_PCI_DEVICE(parent_obj, MxgpuState),
        VMSTATE_STRUCT(parent_obj.exp.aer_log, MxgpuState, 0,
                       vmstate_pcie_aer_log, PCIEAERLog),
        VMSTATE_MSIX(parent_obj, MxgpuState),
        VMSTATE_UINT64_ARRAY(irq_saved, MxgpuState, MXGPU_IRQ_WORDS),
        VMSTATE_STRUCT_POINTER(image, MxgpuState, mxgpu_vmstate_image,
                               MxgpuImage),
        VMSTATE_END_OF_LIST()
    },
    .subsections = (const VMStateDescription *const []) {
        &mxgpu_vmstate_run, &mxgpu_vmstate_notes, NULL
    }
};

/*
 * Of a physical function. QEMU makes the virtual ones first, and would load them
 * first; but loading the physical one enables, and so resets, them. The IOMMU,
 * which has the same priority, is made before any device behind it.
 */
const VMStateDescription *mxgpu_vmstate_first(void)
{
    static VMStateDescription first;

    first = mxgpu_vmstate;
    first.priority = MIG_PRI_IOMMU;
    return &first;
}
