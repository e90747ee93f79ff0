/* SPDX-License-Identifier: MIT */
#include "kernel_gdb_show.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "debug.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Numbers of registers: x0 to x31, pc, f0 to f31 as simt/debug.h has them; CSRs
 * of floating point as gdb's own; and from SPECIAL on those below. */
#define FFLAGS  66
#define FRM     67
#define FCSR    68
#define SPECIAL 128

enum {
    SPECIAL_MASK,
    SPECIAL_TID, /* three each */
    SPECIAL_NTID = SPECIAL_TID + 3,
    SPECIAL_CTAID = SPECIAL_NTID + 3,
    SPECIAL_NCTAID = SPECIAL_CTAID + 3,
    SPECIAL_LANE = SPECIAL_NCTAID + 3,
    SPECIAL_WARP,
    SPECIAL_CU,
    SPECIAL_SLOT,
    SPECIAL_VMID,
    SPECIALS
};

static const char *const special_names[SPECIALS] = {
    "mask",     "tid_x",    "tid_y",    "tid_z",  "ntid_x",
    "ntid_y",   "ntid_z",   "ctaid_x",  "ctaid_y", "ctaid_z",
    "nctaid_x", "nctaid_y", "nctaid_z", "lane",   "warp",
    "cu",       "slot",     "vmid",
};

static const char *const x_names[32] = {
    "zero", "ra", "sp", "gp", "tp",  "t0",  "t1", "t2", "fp", "s1", "a0",
    "a1",   "a2", "a3", "a4", "a5",  "a6",  "a7", "s2", "s3", "s4", "s5",
    "s6",   "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6",
};

static const char *const f_names[32] = {
    "ft0", "ft1", "ft2",  "ft3",  "ft4", "ft5", "ft6",  "ft7",
    "fs0", "fs1", "fa0",  "fa1",  "fa2", "fa3", "fa4",  "fa5",
    "fa6", "fa7", "fs2",  "fs3",  "fs4", "fs5", "fs6",  "fs7",
    "fs8", "fs9", "fs10", "fs11", "ft8", "ft9", "ft10", "ft11",
};

/* ---- registers */

uint64_t mxgpu_kernel_gdb_thread(MxgpuSimtLane at)
{
    return (at.cu + 1) * 10000ull + at.warp * 100 + at.lane;
}

static bool read_special(MxgpuDevice *dev, MxgpuSimtLane at, unsigned number,
                         uint64_t *value)
{
    MxgpuSimtWarpInfo warp;
    MxgpuSimtLaneInfo lane;

    if (!mxgpu_simt_debug_warp(dev->simt, at.cu, at.warp, &warp) ||
        !mxgpu_simt_debug_lane(dev->simt, at, &lane)) {
        return false;
    }
    if (number >= SPECIAL_TID && number < SPECIAL_LANE) {
        const uint32_t *const of[] = {lane.thread, warp.dispatch->block,
                                      warp.block, warp.dispatch->grid};

        *value = of[(number - SPECIAL_TID) / 3][(number - SPECIAL_TID) % 3];
        return true;
    }
    switch (number) {
    case SPECIAL_MASK:
        *value = lane.group;
        break;
    case SPECIAL_LANE:
        *value = at.lane;
        break;
    case SPECIAL_WARP:
        *value = warp.index;
        break;
    case SPECIAL_CU:
        *value = at.cu;
        break;
    case SPECIAL_SLOT:
        *value = warp.slot;
        break;
    case SPECIAL_VMID:
        *value = warp.vmid;
        break;
    default:
        return false;
    }
    return true;
}

bool mxgpu_kernel_gdb_read(MxgpuDevice *dev, MxgpuSimtLane at, unsigned number,
                           uint64_t *value)
{
    if (number < MXGPU_SIMT_FCSR) {
        return mxgpu_simt_debug_read_register(dev->simt, at, number, value);
    }
    if (number >= SPECIAL) {
        return read_special(dev, at, number - SPECIAL, value);
    }
    if (number < FFLAGS || number > FCSR ||
        !mxgpu_simt_debug_read_register(dev->simt, at, MXGPU_SIMT_FCSR,
                                        value)) {
        return false;
    }
    *value = number == FFLAGS ? *value & 31
             : number == FRM  ? *value >> 5
                              : *value;
    return true;
}

bool mxgpu_kernel_gdb_write(MxgpuDevice *dev, MxgpuSimtLane at,
                            unsigned number, uint64_t value)
{
    uint64_t old;

    if (number < MXGPU_SIMT_FCSR) {
        return mxgpu_simt_debug_write_register(dev->simt, at, number, value);
    }
    if (number < FFLAGS || number > FCSR ||
        !mxgpu_kernel_gdb_read(dev, at, FCSR, &old)) {
        return false;
    }
    value = number == FFLAGS ? (old & ~31ull) | (value & 31)
            : number == FRM  ? (old & 31) | (value & 7) << 5
                             : value;
    return mxgpu_simt_debug_write_register(dev->simt, at, MXGPU_SIMT_FCSR,
                                           value);
}

/* ---- documents */

typedef struct Text {
    char *bytes; /* NULL: there was no memory */
    size_t len, size;
} Text;

__attribute__((format(printf, 2, 3))) static void add(Text *t,
                                                      const char *format, ...)
{
    va_list args;
    int n;

    if (t->size - t->len < 1024) {
        char *more = realloc(t->bytes, 2 * t->size + 4096);

        if (!more) {
            free(t->bytes);
            *t = (Text){.size = SIZE_MAX};
            return;
        }
        t->bytes = more;
        t->size = 2 * t->size + 4096;
    }
    if (t->bytes) {
        va_start(args, format);
        n = vsnprintf(t->bytes + t->len, t->size - t->len, format, args);
        va_end(args);
        t->len += n > 0 && (size_t)n < t->size - t->len ? (size_t)n : 0;
    }
}

/* A new document in place of the last one. */
static Text begin(MxgpuDevice *dev)
{
    free(dev->kernels.port.text);
    dev->kernels.port.text = NULL;
    return (Text){0};
}

static const char *finish(MxgpuDevice *dev, const Text *t)
{
    dev->kernels.port.text = t->bytes;
    return t->bytes;
}

static void add_register(Text *t, const char *name, unsigned number,
                         const char *type)
{
    add(t, "<reg name=\"%s\" bitsize=\"64\" regnum=\"%u\" type=\"%s\"/>", name,
        number, type);
}

const char *mxgpu_kernel_gdb_description(void *opaque)
{
    MxgpuDevice *dev = opaque;
    Text t = begin(dev);

    add(&t, "<?xml version=\"1.0\"?><!DOCTYPE target SYSTEM "
            "\"gdb-target.dtd\"><target version=\"1.0\">"
            "<architecture>riscv:rv64</architecture><osabi>none</osabi>"
            "<feature name=\"org.gnu.gdb.riscv.cpu\">");
    for (unsigned i = 0; i < 32; i++) {
        add_register(&t, x_names[i], i,
                     i == 1                          ? "code_ptr"
                     : (i >= 2 && i <= 4) || i == 8 ? "data_ptr"
                                                     : "int");
    }
    add_register(&t, "pc", MXGPU_SIMT_PC, "code_ptr");
    add(&t, "</feature><feature name=\"org.gnu.gdb.riscv.fpu\">");
    for (unsigned i = 0; i < 32; i++) {
        add_register(&t, f_names[i], MXGPU_SIMT_F0 + i, "ieee_double");
    }
    add_register(&t, "fflags", FFLAGS, "int");
    add_register(&t, "frm", FRM, "int");
    add_register(&t, "fcsr", FCSR, "int");
    add(&t, "</feature><feature name=\"org.mxgpu.simt\">");
    for (unsigned i = 0; i < SPECIALS; i++) {
        add_register(&t, special_names[i], SPECIAL + i,
                     i == SPECIAL_MASK ? "uint64" : "int");
    }
    add(&t, "</feature></target>");
    return finish(dev, &t);
}

/* All memory is RAM. */
const char *mxgpu_kernel_gdb_memory_map(void *opaque)
{
    return NULL;
}

static const char *const does_names[] = {
    [MXGPU_SIMT_RUNS] = "runs",
    [MXGPU_SIMT_DIVERGED] = "diverged",
    [MXGPU_SIMT_BARRIER] = "at a barrier",
    [MXGPU_SIMT_SYNC] = "at a warp's barrier",
    [MXGPU_SIMT_GRID] = "at the grid's barrier",
    [MXGPU_SIMT_PARKED] = "parked by a fault",
};

static void add_warp(Text *t, MxgpuDevice *dev, unsigned cu, unsigned warp,
                     const MxgpuSimtWarpInfo *w)
{
    for (uint64_t m = w->live; m; m &= m - 1) {
        MxgpuSimtLane at = {cu, warp, (unsigned)__builtin_ctzll(m)};
        MxgpuSimtLaneInfo l;

        if (mxgpu_simt_debug_lane(dev->simt, at, &l)) {
            add(t, "<thread id=\"%" PRIx64 "\" core=\"%u\" "
                   "name=\"block (%u,%u,%u) thread (%u,%u,%u)\">%s</thread>",
                mxgpu_kernel_gdb_thread(at), cu, w->block[0], w->block[1],
                w->block[2], l.thread[0], l.thread[1], l.thread[2],
                does_names[l.does]);
        }
    }
}

const char *mxgpu_kernel_gdb_threads(void *opaque, bool fresh)
{
    MxgpuDevice *dev = opaque;
    MxgpuSimtWarpInfo info;
    bool any = false;
    Text t;

    if (!fresh) {
        return dev->kernels.port.text;
    }
    t = begin(dev);
    add(&t, "<?xml version=\"1.0\"?><threads>");
    for (unsigned cu = 0; cu < dev->config.compute_units; cu++) {
        for (unsigned w = 0; w < MXGPU_CU_THREADS / MXGPU_WARP_SIZE; w++) {
            if (mxgpu_simt_debug_warp(dev->simt, cu, w, &info)) {
                any |= info.live != 0;
                add_warp(&t, dev, cu, w, &info);
            }
        }
    }
    if (!any) {
        add(&t, "<thread id=\"1\" name=\"no kernel runs\"/>");
    }
    add(&t, "</threads>");
    return finish(dev, &t);
}

/* ---- warps in words */

static void add_groups(Text *t, MxgpuDevice *dev, unsigned cu, unsigned warp,
                       uint64_t lanes)
{
    while (lanes) {
        MxgpuSimtLane at = {cu, warp, (unsigned)__builtin_ctzll(lanes)};
        MxgpuSimtLaneInfo l;

        if (!mxgpu_simt_debug_lane(dev->simt, at, &l)) {
            return;
        }
        add(t, "    lanes %016" PRIx64 " %-22s pc 0x%" PRIx64 "\n",
            (uint64_t)l.group, does_names[l.does], l.pc);
        lanes &= ~l.group;
    }
}

const char *mxgpu_kernel_gdb_warps(MxgpuDevice *dev)
{
    MxgpuSimtWarpInfo w;
    Text t = begin(dev);

    for (unsigned cu = 0; cu < dev->config.compute_units; cu++) {
        for (unsigned i = 0; i < MXGPU_CU_THREADS / MXGPU_WARP_SIZE; i++) {
            if (mxgpu_simt_debug_warp(dev->simt, cu, i, &w)) {
                add(&t, "unit %u slot %u vmid %u block (%u,%u,%u) warp %u\n",
                    cu, w.slot, w.vmid, w.block[0], w.block[1], w.block[2],
                    w.index);
                add_groups(&t, dev, cu, i, w.live);
            }
        }
    }
    if (!t.len) {
        add(&t, "no kernel runs\n");
    }
    return finish(dev, &t);
}

/* ---- modules */

static void escape(Text *t, const char *path)
{
    for (; *path; path++) {
        if (strchr("&<>\"'", *path)) {
            add(t, "&#%u;", (unsigned char)*path);
        } else {
            add(t, "%c", *path);
        }
    }
}

const char *mxgpu_kernel_gdb_libraries(void *opaque, bool fresh)
{
    MxgpuDevice *dev = opaque;
    Text t;

    if (!fresh) {
        return dev->kernels.port.text;
    }
    t = begin(dev);
    atomic_store(&dev->kernels.news, false);
    add(&t, "<library-list>");
    pthread_mutex_lock(&dev->kernels.lock);
    for (const MxgpuModule *m = dev->kernels.modules; m; m = m->next) {
        add(&t, "<library name=\"");
        escape(&t, m->path);
        add(&t, "\"><segment address=\"0x%" PRIx64 "\"/></library>",
            m->address);
    }
    pthread_mutex_unlock(&dev->kernels.lock);
    add(&t, "</library-list>");
    return finish(dev, &t);
}

static void drop_module(MxgpuDevice *dev, uint64_t address)
{
    for (MxgpuModule **p = &dev->kernels.modules, *m; (m = *p);) {
        if (m->address == address) {
            *p = m->next;
            free(m);
        } else {
            p = &m->next;
        }
    }
}

bool mxgpu_device_gdb_module(MxgpuDevice *dev, uint64_t address,
                             const char *path)
{
    size_t len = path ? strlen(path) + 1 : 0;
    MxgpuModule *m = NULL;

    if (!dev->kernels.port.gdb) {
        return true;
    }
    if (path) {
        m = malloc(sizeof(*m) + len);
        if (!m) {
            return false;
        }
        m->address = address;
        memcpy(m->path, path, len);
    }
    pthread_mutex_lock(&dev->kernels.lock);
    drop_module(dev, address);
    if (m) {
        m->next = dev->kernels.modules;
        dev->kernels.modules = m;
    }
    atomic_store(&dev->kernels.news, true);
    mxgpu_simt_debug_at_launch(dev->simt, true);
    pthread_mutex_unlock(&dev->kernels.lock);
    return true;
}
