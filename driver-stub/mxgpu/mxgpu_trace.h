/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events under /sys/kernel/tracing/events/mxgpu. Work does not pass through the
 * driver, so there is none for a packet: the device's own capture has those
 * (hw-mxgpu/docs/monitor.md). What is here is what the driver does, or learns.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM mxgpu

#if !defined(MXGPU_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define MXGPU_TRACE_H

#include <linux/tracepoint.h>

#include "mxgpu_drv.h"

TRACE_EVENT(mxgpu_queue_create,
	TP_PROTO(const struct mxgpu_file *file,
		 const struct drm_mxgpu_queue_create *args, unsigned int id),
	TP_ARGS(file, args, id),
	TP_STRUCT__entry(
		__field(u64, client)
		__field(u64, ring)
		__field(u32, packets)
		__field(u32, queue)
		__field(u32, vmid)
		__field(u32, priority)
	),
	TP_fast_assign(
		__entry->client = file->id;
		__entry->ring = args->ring;
		__entry->packets = args->packets;
		__entry->queue = id;
		__entry->vmid = file->vmid;
		__entry->priority = args->priority;
	),
	TP_printk("client=%llu queue=%u vmid=%u priority=%u ring=%#llx packets=%u",
		  __entry->client, __entry->queue, __entry->vmid,
		  __entry->priority, __entry->ring, __entry->packets)
);

TRACE_EVENT(mxgpu_queue_destroy,
	TP_PROTO(const struct mxgpu_queue *queue),
	TP_ARGS(queue),
	TP_STRUCT__entry(
		__field(u64, client)
		__field(u32, queue)
	),
	TP_fast_assign(
		__entry->client = queue->file->id;
		__entry->queue = queue->id;
	),
	TP_printk("client=%llu queue=%u", __entry->client, __entry->queue)
);

/* Something of the queue has completed, or it has stopped with an error. */
TRACE_EVENT(mxgpu_queue_irq,
	TP_PROTO(const struct mxgpu_queue *queue, u32 count),
	TP_ARGS(queue, count),
	TP_STRUCT__entry(
		__field(u64, client)
		__field(u32, queue)
		__field(u32, count)
	),
	TP_fast_assign(
		__entry->client = queue->file->id;
		__entry->queue = queue->id;
		__entry->count = count;
	),
	TP_printk("client=%llu queue=%u count=%u", __entry->client,
		  __entry->queue, __entry->count)
);

/* A request to the firmware and what it answered. */
TRACE_EVENT(mxgpu_mbox,
	TP_PROTO(u32 op, u32 vmid_or_queue, int result),
	TP_ARGS(op, vmid_or_queue, result),
	TP_STRUCT__entry(
		__field(u32, op)
		__field(u32, first)
		__field(int, result)
	),
	TP_fast_assign(
		__entry->op = op;
		__entry->first = vmid_or_queue;
		__entry->result = result;
	),
	TP_printk("op=%s first=%u result=%d",
		  __print_symbolic(__entry->op,
			{ MXGPU_MSG_PING, "PING" },
			{ MXGPU_MSG_HELLO, "HELLO" },
			{ MXGPU_MSG_VM_SET, "VM_SET" },
			{ MXGPU_MSG_TLB_INVALIDATE, "TLB_INVALIDATE" },
			{ MXGPU_MSG_QUEUE_CREATE, "QUEUE_CREATE" },
			{ MXGPU_MSG_QUEUE_DESTROY, "QUEUE_DESTROY" },
			{ MXGPU_MSG_LOG_LEVEL, "LOG_LEVEL" },
			{ MXGPU_MSG_QUEUE_PROFILE, "QUEUE_PROFILE" },
			{ MXGPU_MSG_QUEUE_LAUNCH, "QUEUE_LAUNCH" },
			{ MXGPU_MSG_QUEUE_RESET, "QUEUE_RESET" },
			{ MXGPU_MSG_CONTEXTS, "CONTEXTS" },
			{ MXGPU_MSG_QUEUE_HOLD, "QUEUE_HOLD" },
			{ MXGPU_MSG_QUEUE_RESUME, "QUEUE_RESUME" },
			{ MXGPU_MSG_UNIT_RESET, "UNIT_RESET" }),
		  __entry->first, __entry->result)
);

/* A recoverable fault, as it was found in the ring. */
TRACE_EVENT(mxgpu_fault,
	TP_PROTO(const struct mxgpu_fault_record *record),
	TP_ARGS(record),
	TP_STRUCT__entry(
		__field(u64, addr)
		__field(u64, pc)
		__field(u32, sequence)
		__field(u32, queue)
		__field(u16, unit)
		__field(u8, vmid)
		__field(u8, access)
		__field(u8, source)
	),
	TP_fast_assign(
		__entry->addr = record->addr;
		__entry->pc = record->pc;
		__entry->sequence = record->sequence;
		__entry->queue = record->queue;
		__entry->unit = record->unit;
		__entry->vmid = record->vmid;
		__entry->access = record->access;
		__entry->source = record->source;
	),
	TP_printk("number=%u vmid=%u queue=%u addr=%#llx access=%s source=%s unit=%u pc=%#llx",
		  __entry->sequence, __entry->vmid, __entry->queue,
		  __entry->addr,
		  __print_symbolic(__entry->access,
			{ MXGPU_ACCESS_READ, "read" },
			{ MXGPU_ACCESS_WRITE, "write" },
			{ MXGPU_ACCESS_EXECUTE, "execute" },
			{ MXGPU_ACCESS_ATOMIC, "atomic" }),
		  __print_symbolic(__entry->source,
			{ MXGPU_FAULT_COMPUTE, "compute" },
			{ MXGPU_FAULT_COPY, "copy" }),
		  __entry->unit, __entry->pc)
);

TRACE_EVENT(mxgpu_fault_verdict,
	TP_PROTO(u32 sequence, bool killed),
	TP_ARGS(sequence, killed),
	TP_STRUCT__entry(
		__field(u32, sequence)
		__field(bool, killed)
	),
	TP_fast_assign(
		__entry->sequence = sequence;
		__entry->killed = killed;
	),
	TP_printk("number=%u verdict=%s", __entry->sequence,
		  __entry->killed ? "kill" : "replay")
);

/* Pages of the process that come to the device, and go. */
DECLARE_EVENT_CLASS(mxgpu_svm,
	TP_PROTO(const struct mxgpu_file *file, u64 start, u64 end),
	TP_ARGS(file, start, end),
	TP_STRUCT__entry(
		__field(u64, client)
		__field(u64, start)
		__field(u64, end)
	),
	TP_fast_assign(
		__entry->client = file->id;
		__entry->start = start;
		__entry->end = end;
	),
	TP_printk("client=%llu start=%#llx end=%#llx", __entry->client,
		  __entry->start, __entry->end)
);

DEFINE_EVENT(mxgpu_svm, mxgpu_svm_map,
	TP_PROTO(const struct mxgpu_file *file, u64 start, u64 end),
	TP_ARGS(file, start, end)
);

DEFINE_EVENT(mxgpu_svm, mxgpu_svm_zap,
	TP_PROTO(const struct mxgpu_file *file, u64 start, u64 end),
	TP_ARGS(file, start, end)
);

TRACE_EVENT(mxgpu_move,
	TP_PROTO(const struct mxgpu_bo *bo, bool to_vram),
	TP_ARGS(bo, to_vram),
	TP_STRUCT__entry(
		__field(u64, client)
		__field(u64, size)
		__field(u64, vram)
		__field(bool, to_vram)
	),
	TP_fast_assign(
		__entry->client = bo->share->client;
		__entry->size = bo->base.size;
		__entry->vram = bo->vram.start;
		__entry->to_vram = to_vram;
	),
	TP_printk("client=%llu size=%#llx vram=%#llx to=%s", __entry->client,
		  __entry->size, __entry->vram,
		  __entry->to_vram ? "vram" : "system")
);

TRACE_EVENT(mxgpu_lost,
	TP_PROTO(const struct mxgpu_device *mdev, const char *why),
	TP_ARGS(mdev, why),
	TP_STRUCT__entry(
		__string(device, pci_name(mdev->pdev))
		__string(why, why)
		__field(u32, generation)
	),
	TP_fast_assign(
		mxgpu_assign_str(device, pci_name(mdev->pdev));
		mxgpu_assign_str(why, why);
		__entry->generation = mdev->generation;
	),
	TP_printk("device=%s generation=%u why=\"%s\"", __get_str(device),
		  __entry->generation, __get_str(why))
);

TRACE_EVENT(mxgpu_up,
	TP_PROTO(const struct mxgpu_device *mdev, int result),
	TP_ARGS(mdev, result),
	TP_STRUCT__entry(
		__string(device, pci_name(mdev->pdev))
		__field(u32, generation)
		__field(int, result)
	),
	TP_fast_assign(
		mxgpu_assign_str(device, pci_name(mdev->pdev));
		__entry->generation = mdev->generation;
		__entry->result = result;
	),
	TP_printk("device=%s generation=%u result=%d", __get_str(device),
		  __entry->generation, __entry->result)
);

#endif /* MXGPU_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE mxgpu_trace
#include <trace/define_trace.h>
