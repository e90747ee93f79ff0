/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The host operations of the core (base/host.h) but for DMA, and the rules of
 * the big lock (BQL) behind them: see MxgpuCall in mxgpu.h.
 */
#include "qemu/osdep.h"
#include "qemu/main-loop.h"
#include "qemu/units.h"
#include "hw/pci/msix.h"
#include "hw/pci/pci_bridge.h"
#include "hw/pci/pci_bus.h"
#include "hw/pci/pcie_host.h"
#include "mxgpu.h"
#include "trace.h"

/* ---- calls under the BQL ------------------------------------------------ */

static void mxgpu_calls_serve(MxgpuState *s)
{
    MxgpuCall *call;

    qemu_mutex_lock(&s->call_lock);
    while ((call = QSIMPLEQ_FIRST(&s->calls))) {
        QSIMPLEQ_REMOVE_HEAD(&s->calls, next);
        call->served = !s->refusing;
        if (call->served) {
            qemu_mutex_unlock(&s->call_lock);
            s->serving++;
            call->func(s, call->opaque);
            s->serving--;
            qemu_mutex_lock(&s->call_lock);
        }
        call->done = true;
        qemu_cond_broadcast(&s->call_cond);
    }
    qemu_mutex_unlock(&s->call_lock);
}

static void mxgpu_call_bh(void *opaque)
{
    mxgpu_calls_serve(opaque);
}

bool mxgpu_host_call(MxgpuState *s, void (*func)(MxgpuState *, void *),
                     void *opaque)
{
    MxgpuCall call = { .func = func, .opaque = opaque };

    if (bql_locked()) { /* deterministic mode */
        if (s->refusing) {
            return false;
        }
        s->serving++;
        func(s, opaque);
        s->serving--;
        return true;
    }
    qemu_mutex_lock(&s->call_lock);
    QSIMPLEQ_INSERT_TAIL(&s->calls, &call, next);
    qemu_cond_broadcast(&s->call_cond);
    qemu_bh_schedule(s->call_bh);
    while (!call.done) {
        qemu_cond_wait(&s->call_cond, &s->call_lock);
    }
    qemu_mutex_unlock(&s->call_lock);
    return call.served;
}

/*
 * Who waits for device threads may be in the midst of an access to
 * configuration space, of an invalidation, or of a change of the memory map.
 * A write by which the vIOMMU reports what it translated must not change
 * configuration or unplug devices there: it does not reach the memory-mapped
 * configuration space (which on hardware only processors do) or the registers
 * of the bridges above us. Returns the guards to release.
 */
static GPtrArray *mxgpu_guard_config(MxgpuState *s)
{
    GPtrArray *guards = g_ptr_array_new();
    PCIBus *bus = pci_get_bus(PCI_DEVICE(s));
    Object *host = object_resolve_path_type("", TYPE_PCIE_HOST_BRIDGE, NULL);

    if (host) {
        g_ptr_array_add(guards, &DEVICE(host)->mem_reentrancy_guard);
    }
    while (!pci_bus_is_root(bus)) {
        g_ptr_array_add(guards,
                        &DEVICE(bus->parent_dev)->mem_reentrancy_guard);
        bus = pci_get_bus(bus->parent_dev);
    }
    for (unsigned i = guards->len; i-- > 0;) {
        MemReentrancyGuard *guard = g_ptr_array_index(guards, i);

        if (guard->engaged_in_io) {
            g_ptr_array_remove_index_fast(guards, i);
        }
        guard->engaged_in_io = true;
    }
    return guards;
}

static void mxgpu_unguard_config(GPtrArray *guards)
{
    for (unsigned i = 0; i < guards->len; i++) {
        MemReentrancyGuard *guard = g_ptr_array_index(guards, i);

        guard->engaged_in_io = false;
    }
    g_ptr_array_free(guards, true);
}

/* Entry points of the core that wait for device threads run here, so that the
 * holder of the BQL that asked can serve those threads meanwhile. */
static void *mxgpu_control_thread(void *opaque)
{
    MxgpuState *s = opaque;
    void (*func)(MxgpuState *);

    qemu_mutex_lock(&s->call_lock);
    while (!s->control_quit) {
        func = s->control_func;
        if (!func) {
            qemu_cond_wait(&s->control_cond, &s->call_lock);
            continue;
        }
        qemu_mutex_unlock(&s->call_lock);
        func(s);
        qemu_mutex_lock(&s->call_lock);
        s->control_func = NULL;
        qemu_cond_broadcast(&s->call_cond);
    }
    qemu_mutex_unlock(&s->call_lock);
    return NULL;
}

bool mxgpu_host_serving(MxgpuState *s)
{
    return s->serving;
}

void mxgpu_host_refuse(MxgpuState *s)
{
    qemu_mutex_lock(&s->call_lock);
    s->refusing = true;
    qemu_mutex_unlock(&s->call_lock);
}

/* With call_lock, dropped meanwhile: calls of threads that we wait for. */
static void mxgpu_calls_serve_waiting(MxgpuState *s)
{
    GPtrArray *guards;

    qemu_mutex_unlock(&s->call_lock);
    guards = mxgpu_guard_config(s);
    mxgpu_calls_serve(s);
    mxgpu_unguard_config(guards);
    qemu_mutex_lock(&s->call_lock);
}

bool mxgpu_host_wait(MxgpuState *s, void (*func)(MxgpuState *),
                     MxgpuWait calls)
{
    bool refused;

    if (s->serving) {
        return false;
    }
    if (s->deterministic) {
        func(s);
        return true;
    }
    qemu_mutex_lock(&s->call_lock);
    refused = s->refusing;
    s->refusing |= calls == MXGPU_REFUSE;
    s->control_func = func;
    qemu_cond_signal(&s->control_cond);
    while (s->control_func) {
        if (QSIMPLEQ_EMPTY(&s->calls)) {
            qemu_cond_wait(&s->call_cond, &s->call_lock);
        } else {
            mxgpu_calls_serve_waiting(s);
        }
    }
    s->refusing = refused;
    qemu_mutex_unlock(&s->call_lock);
    return true;
}

/* ---- interrupts --------------------------------------------------------- */

void mxgpu_host_deliver(MxgpuState *s)
{
    unsigned long bits;

    if (s->gone || s->asleep) { /* sends no messages */
        mxgpu_host_drop_irqs(s);
        return;
    }
    /* They wait for the machine, and may go on in another one: interrupt
     * controllers are saved, or loaded, meanwhile. */
    if (s->stopped) {
        return;
    }
    for (unsigned i = 0; i < ARRAY_SIZE(s->irq_pending); i++) {
        bits = qatomic_xchg(&s->irq_pending[i], 0);
        while (bits) {
            msix_notify(PCI_DEVICE(s), i * BITS_PER_LONG + ctzl(bits));
            bits &= bits - 1;
        }
    }
    mxgpu_config_note(PCI_DEVICE(s), qatomic_xchg(&s->notes_pending, 0));
}

static void mxgpu_irq_bh(void *opaque)
{
    mxgpu_host_deliver(opaque);
}

/* A vector raised again before it was delivered is one message, as it is
 * on hardware whose earlier message was not yet taken. */
static void mxgpu_host_irq(void *host, unsigned vector)
{
    MxgpuState *s = host;

    if (vector < MXGPU_MAX_VECTORS) {
        set_bit_atomic(vector, s->irq_pending);
        mxgpu_run_soon(s, s->irq_bh);
    }
}

void mxgpu_host_note(MxgpuState *s, uint32_t note)
{
    if (!(qatomic_fetch_or(&s->notes_pending, note) & note)) {
        mxgpu_run_soon(s, s->irq_bh);
    }
}

static void mxgpu_host_error(void *host)
{
    mxgpu_host_note(host, MXGPU_NOTE_INTERNAL);
}

static bool mxgpu_irqs_pending(MxgpuState *s)
{
    for (unsigned i = 0; i < ARRAY_SIZE(s->irq_pending); i++) {
        if (qatomic_read(&s->irq_pending[i])) {
            return true;
        }
    }
    return qatomic_read(&s->notes_pending);
}

void mxgpu_host_drop_irqs(MxgpuState *s)
{
    for (unsigned i = 0; i < ARRAY_SIZE(s->irq_pending); i++) {
        qatomic_set(&s->irq_pending[i], 0);
    }
    qatomic_set(&s->notes_pending, 0);
}

void mxgpu_host_cont(MxgpuState *s)
{
    if (mxgpu_irqs_pending(s)) {
        mxgpu_run_soon(s, s->irq_bh);
    }
}

void mxgpu_host_save_irqs(MxgpuState *s)
{
    for (unsigned i = 0; i < MXGPU_IRQ_WORDS; i++) {
        s->irq_saved[i] = 0;
    }
    for (unsigned i = 0; i < MXGPU_MAX_VECTORS; i++) {
        if (test_bit(i, s->irq_pending)) {
            s->irq_saved[i / 64] |= 1ull << i % 64;
        }
    }
    s->notes_saved = qatomic_read(&s->notes_pending);
}

/* Vectors that the function does not have must not reach msix_notify(). */
void mxgpu_host_load_irqs(MxgpuState *s)
{
    unsigned vectors = MIN(PCI_DEVICE(s)->msix_entries_nr, MXGPU_MAX_VECTORS);

    mxgpu_host_drop_irqs(s);
    for (unsigned i = 0; i < vectors; i++) {
        if (s->irq_saved[i / 64] >> i % 64 & 1) {
            set_bit_atomic(i, s->irq_pending);
        }
    }
    qatomic_set(&s->notes_pending, s->notes_saved & MXGPU_NOTES);
}

static uint64_t mxgpu_host_clock(void *host)
{
    return qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
}

/* ---- firmware console --------------------------------------------------- */

static gboolean mxgpu_console_ready(void *do_not_use, GIOCondition cond,
                                    void *opaque);

/* With console_lock. Writes what the backend takes now; never waits for it. */
static void mxgpu_console_write(MxgpuState *s)
{
    int written;

    if (!qemu_chr_fe_backend_connected(&s->console)) {
        g_byte_array_set_size(s->console_out, 0);
        return;
    }
    if (!s->console_out->len) {
        return;
    }
    written = qemu_chr_fe_write(&s->console, s->console_out->data,
                                s->console_out->len);
    if (written > 0) {
        g_byte_array_remove_range(s->console_out, 0, written);
    }
}

bool mxgpu_host_flush(MxgpuState *s)
{
    QEMU_LOCK_GUARD(&s->console_lock);
    mxgpu_console_write(s);
    return !s->console_out->len;
}

static void mxgpu_console_flush(void *opaque)
{
    MxgpuState *s = opaque;

    QEMU_LOCK_GUARD(&s->console_lock);
    if (s->console_watch) {
        return;
    }
    mxgpu_console_write(s);
    if (s->console_out->len) {
        s->console_watch = qemu_chr_fe_add_watch(&s->console,
                                                 G_IO_OUT | G_IO_HUP,
                                                 mxgpu_console_ready, s);
        if (!s->console_watch) {
            s->console_lost += s->console_out->len;
            g_byte_array_set_size(s->console_out, 0);
        }
    }
}

static gboolean mxgpu_console_ready(void *do_not_use, GIOCondition cond,
                                    void *opaque)
{
    MxgpuState *s = opaque;

    qemu_mutex_lock(&s->console_lock);
    s->console_watch = 0;
    qemu_mutex_unlock(&s->console_lock);
    mxgpu_console_flush(s);
    return G_SOURCE_REMOVE;
}

static void mxgpu_host_console(void *host, const char *line, size_t len)
{
    MxgpuState *s = host;

    if (trace_event_get_state_backends(TRACE_MXGPU_CONSOLE)) {
        g_autofree char *text = g_strndup(line, len);
        trace_mxgpu_console(s->name, text);
    }
    if (!qemu_chr_fe_backend_connected(&s->console)) {
        return;
    }
    QEMU_LOCK_GUARD(&s->console_lock);
    if (s->console_out->len + len + 64 > MXGPU_CONSOLE_MAX) {
        s->console_lost += len + 1;
        return;
    }
    if (s->console_lost) {
        char note[64];
        int n = snprintf(note, sizeof(note),
                         "[mxgpu: %" PRIu64 " bytes lost]\n", s->console_lost);

        g_byte_array_append(s->console_out, (const uint8_t *)note, n);
        s->console_lost = 0;
    }
    g_byte_array_append(s->console_out, (const uint8_t *)line, len);
    g_byte_array_append(s->console_out, (const uint8_t *)"\n", 1);
    mxgpu_run_soon(s, s->console_bh);
}

/* ---- the table ---------------------------------------------------------- */

const MxgpuHostOps mxgpu_host_ops = {
    .dma_read = mxgpu_dma_read,
    .dma_write = mxgpu_dma_write,
    .dma_map = mxgpu_dma_map,
    .irq = mxgpu_host_irq,
    .error = mxgpu_host_error,
    .clock = mxgpu_host_clock,
    .console = mxgpu_host_console,
    .kick = mxgpu_run_kick,
    .trace = mxgpu_trace,
    .queue_listens = mxgpu_trace_queue_listens,
    .queue_event = mxgpu_trace_queue,
};

/* ---- life --------------------------------------------------------------- */

void mxgpu_host_init(MxgpuState *s)
{
    MemReentrancyGuard *guard = &DEVICE(s)->mem_reentrancy_guard;

    qemu_mutex_init(&s->call_lock);
    qemu_cond_init(&s->call_cond);
    qemu_cond_init(&s->control_cond);
    qemu_mutex_init(&s->console_lock);
    QSIMPLEQ_INIT(&s->calls);
    s->console_out = g_byte_array_new();
    s->irq_bh = qemu_bh_new_guarded(mxgpu_irq_bh, s, guard);
    s->call_bh = qemu_bh_new_guarded(mxgpu_call_bh, s, guard);
    s->console_bh = qemu_bh_new_guarded(mxgpu_console_flush, s, guard);
    mxgpu_run_init(s);
}

void mxgpu_host_start(MxgpuState *s)
{
    if (!s->deterministic) {
        s->control_quit = false;
        qemu_thread_create(&s->control, "mxgpu-control", mxgpu_control_thread,
                           s, QEMU_THREAD_JOINABLE);
    }
}

void mxgpu_host_stop(MxgpuState *s)
{
    if (!s->deterministic) {
        qemu_mutex_lock(&s->call_lock);
        s->control_quit = true;
        qemu_cond_signal(&s->control_cond);
        qemu_mutex_unlock(&s->call_lock);
        qemu_thread_join(&s->control);
    }
}

void mxgpu_host_cleanup(MxgpuState *s)
{
    if (s->console_watch) {
        g_source_remove(s->console_watch);
        s->console_watch = 0;
    }
    mxgpu_run_cleanup(s);
    qemu_bh_delete(s->irq_bh);
    qemu_bh_delete(s->call_bh);
    qemu_bh_delete(s->console_bh);
    g_byte_array_free(s->console_out, true);
    qemu_mutex_destroy(&s->console_lock);
    qemu_cond_destroy(&s->control_cond);
    qemu_cond_destroy(&s->call_cond);
    qemu_mutex_destroy(&s->call_lock);
}
