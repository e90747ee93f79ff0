// SPDX-License-Identifier: GPL-2.0-only
/*
 * The self-test: an address space, a queue in it, and a buffer that a copy
 * engine takes to VRAM and back; the queue's interrupt says when.
 */
#include <linux/dma-mapping.h>
#include <linux/io-64-nonatomic-lo-hi.h>
#include <linux/random.h>

#include "stub.h"

#define TEST_VMID 1
#define TEST_QUEUE 0
#define TEST_TIMEOUT (30 * HZ)
#define TEST_PAGES 16
#define TEST_SIZE (TEST_PAGES * (size_t)SZ_4K)
#define TEST_LOG2_PACKETS 4

/* All of it lies in one 2 MiB of device addresses, so one table a level. */
#define TEST_VA 0x100000000ull

/*
 * What the device reads and writes in system memory, in this order at
 * TEST_VA except for the tables, which it reaches without translation.
 */
struct stub_memory {
	union mxgpu_packet ring[SZ_4K / MXGPU_PACKET_SIZE];
	struct mxgpu_queue_ctl ctl;
	u64 signal;
	u8 ctl_pad[SZ_4K - sizeof(struct mxgpu_queue_ctl) - 8];
	u8 src[TEST_SIZE];
	u8 dst[TEST_SIZE];
	u64 table[MXGPU_PT_LEVELS][MXGPU_PT_ENTRIES];
};

#define TEST_VRAM_VA (TEST_VA + offsetof(struct stub_memory, table))
#define VA(member) (TEST_VA + offsetof(struct stub_memory, member))

struct stub_selftest {
	struct stub_memory *mem;
	dma_addr_t dma;
	void __iomem *vram;	/* first TEST_SIZE bytes */
};

static void stub_map_pages(struct stub_memory *mem, u64 va, u64 addr,
			   size_t size, u64 flags)
{
	for (; size; size -= SZ_4K, va += SZ_4K, addr += SZ_4K)
		mem->table[0][MXGPU_PT_INDEX(va, 0)] =
			addr | flags | MXGPU_PTE_VALID;
}

static u64 stub_build_tables(struct stub_memory *mem, dma_addr_t dma)
{
	const u64 link = MXGPU_PTE_VALID | MXGPU_PTE_SYSTEM | MXGPU_PTE_TABLE;
	const u64 rw = MXGPU_PTE_READ | MXGPU_PTE_WRITE;
	const u64 tables = dma + offsetof(struct stub_memory, table);
	int level;

	for (level = 1; level < MXGPU_PT_LEVELS; level++)
		mem->table[level][MXGPU_PT_INDEX(TEST_VA, level)] =
			(tables + (level - 1) * SZ_4K) | link;
	stub_map_pages(mem, TEST_VA, dma, offsetof(struct stub_memory, table),
		       MXGPU_PTE_SYSTEM | rw);
	stub_map_pages(mem, TEST_VRAM_VA, 0, TEST_SIZE, rw);
	return (tables + (MXGPU_PT_LEVELS - 1) * SZ_4K) | link;
}

int stub_selftest_alloc(struct stub_device *sd, struct stub_selftest **out)
{
	struct pci_dev *pdev = sd->pdev;
	struct device *dev = &pdev->dev;
	struct stub_selftest *test;

	BUILD_BUG_ON(offsetof(struct stub_memory, ctl) % SZ_4K);
	BUILD_BUG_ON(offsetof(struct stub_memory, src) % SZ_4K);
	BUILD_BUG_ON(offsetof(struct stub_memory, table) % SZ_4K);

	test = devm_kzalloc(dev, sizeof(*test), GFP_KERNEL);
	if (!test)
		return -ENOMEM;
	test->mem = dmam_alloc_coherent(dev, sizeof(*test->mem), &test->dma,
					GFP_KERNEL);
	if (!test->mem)
		return dev_err_probe(dev, -ENOMEM, "no DMA memory\n");
	if (pci_resource_len(pdev, MXGPU_BAR_VRAM) < TEST_SIZE ||
	    !devm_request_mem_region(dev,
				     pci_resource_start(pdev, MXGPU_BAR_VRAM),
				     TEST_SIZE, KBUILD_MODNAME))
		return dev_err_probe(dev, -EBUSY, "no VRAM\n");
	test->vram = devm_ioremap_wc(dev,
				     pci_resource_start(pdev, MXGPU_BAR_VRAM),
				     TEST_SIZE);
	if (!test->vram)
		return dev_err_probe(dev, -ENOMEM, "cannot map VRAM\n");
	*out = test;
	return 0;
}

static int stub_vm_set(struct stub_device *sd, u64 root)
{
	const struct mxgpu_msg_vm_set msg = {
		.op = MXGPU_MSG_VM_SET, .vmid = TEST_VMID,
		.root_lo = lower_32_bits(root), .root_hi = upper_32_bits(root),
	};

	return stub_mbox_call(sd, (const u32 *)&msg, sizeof(msg) / 4, NULL, 0);
}

static int stub_queue_create(struct stub_device *sd)
{
	const struct mxgpu_msg_queue_create msg = {
		.op = MXGPU_MSG_QUEUE_CREATE, .queue = TEST_QUEUE,
		.vmid = TEST_VMID,
		.ring_lo = lower_32_bits(VA(ring)),
		.ring_hi = upper_32_bits(VA(ring)),
		.log2_packets = TEST_LOG2_PACKETS,
		.ctl_lo = lower_32_bits(VA(ctl)),
		.ctl_hi = upper_32_bits(VA(ctl)),
		.vector = STUB_VEC_QUEUE,
	};

	return stub_mbox_call(sd, (const u32 *)&msg, sizeof(msg) / 4, NULL, 0);
}

static int stub_queue_destroy(struct stub_device *sd)
{
	const struct mxgpu_msg_queue_destroy msg = {
		.op = MXGPU_MSG_QUEUE_DESTROY, .queue = TEST_QUEUE,
	};

	return stub_mbox_call(sd, (const u32 *)&msg, sizeof(msg) / 4, NULL, 0);
}

static bool stub_copies_done(struct stub_memory *mem, u64 value)
{
	return READ_ONCE(mem->signal) == value ||
	       READ_ONCE(mem->ctl.state) == MXGPU_QUEUE_ERROR;
}

/* Two packets: to VRAM; then, when that is complete, back. */
static int stub_copy_round_trip(struct stub_device *sd,
				struct stub_selftest *test)
{
	struct stub_memory *mem = test->mem;
	const struct mxgpu_packet_copy to_vram = {
		.type = MXGPU_PKT_COPY, .src = VA(src), .dst = TEST_VRAM_VA,
		.size = TEST_SIZE,
	};
	const struct mxgpu_packet_copy back = {
		.type = MXGPU_PKT_COPY,
		.flags = MXGPU_PKT_BARRIER | MXGPU_PKT_IRQ,
		.src = TEST_VRAM_VA, .dst = VA(dst), .size = TEST_SIZE,
		.signal_addr = VA(signal), .signal_value = 1,
	};
	struct device *dev = &sd->pdev->dev;

	mem->ring[0].copy = to_vram;
	mem->ring[1].copy = back;
	/* The packets must be in memory before the doorbell; writeq orders. */
	writeq(2, sd->doorbells + TEST_QUEUE * MXGPU_DOORBELL_STRIDE);
	wait_event_timeout(sd->wait,
			   atomic_read(&sd->queue_irqs) &&
			   stub_copies_done(mem, 1), TEST_TIMEOUT);

	if (READ_ONCE(mem->ctl.state) == MXGPU_QUEUE_ERROR) {
		dev_err(dev, "queue stopped: error %u fault %u at %#llx\n",
			mem->ctl.error.code, mem->ctl.error.fault,
			mem->ctl.error.fault_addr);
		return -EIO;
	}
	if (!stub_copies_done(mem, 1)) {
		dev_err(dev, "copy does not complete, read index %llu\n",
			mem->ctl.read_index);
		return -ETIMEDOUT;
	}
	if (!atomic_read(&sd->queue_irqs)) {
		dev_err(dev, "copy completed without an interrupt\n");
		return -EIO;
	}
	return 0;
}

/* The copy engine and the CPU's view of VRAM must agree with the source. */
static int stub_compare(struct stub_device *sd, struct stub_selftest *test)
{
	struct stub_memory *mem = test->mem;
	size_t i;

	for (i = 0; i < TEST_SIZE; i += 4) {
		u32 want = *(u32 *)(mem->src + i);
		u32 vram = readl(test->vram + i);
		u32 got = *(u32 *)(mem->dst + i);

		if (got != want || vram != want) {
			dev_err(&sd->pdev->dev,
				"byte %zu: sent %#x, VRAM %#x, back %#x\n", i,
				want, vram, got);
			return -EIO;
		}
	}
	return 0;
}

int stub_selftest_run(struct stub_device *sd, struct stub_selftest *test)
{
	struct stub_memory *mem = test->mem;
	int err, err2;

	get_random_bytes(mem->src, TEST_SIZE);
	memset_io(test->vram, 0, TEST_SIZE);
	err = stub_vm_set(sd, stub_build_tables(mem, test->dma));
	if (err)
		return err;
	err = stub_queue_create(sd);
	if (err)
		goto out_vm;
	err = stub_copy_round_trip(sd, test);
	if (!err)
		err = stub_compare(sd, test);
	err2 = stub_queue_destroy(sd);
	err = err ?: err2;
out_vm:
	err2 = stub_vm_set(sd, 0);
	return err ?: err2;
}
