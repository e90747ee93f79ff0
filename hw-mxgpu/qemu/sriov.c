/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SR-IOV: the card cut into parts. Each virtual function is a whole device
 * behind registers of its own: engines, MCU, VRAM, and nothing of it is shared
 * with the physical function but the slot and the properties. QEMU makes the
 * functions with the physical one and shows those that its driver enables;
 * showing and hiding is a reset.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "hw/pci/pcie.h"
#include "hw/pci/pcie_sriov.h"
#include "mxgpu.h"
#include "mxgpu/properties.h"

#define MXGPU_CAP_ARI   0x170
#define MXGPU_CAP_SRIOV 0x180

/* Functions 1 to 7 of the physical one's slot: reached without ARI as well. */
#define MXGPU_VF_OFFSET 1
#define MXGPU_VF_STRIDE 1

bool mxgpu_is_vf(MxgpuState *s)
{
    return pci_is_vf(PCI_DEVICE(s));
}

/* A virtual function has no properties of its own. */
void mxgpu_vf_inherit(MxgpuState *s)
{
    MxgpuState *pf = MXGPU(pcie_sriov_get_pf(PCI_DEVICE(s)));

#define MXGPU_NUMBER(field, ...) s->field = pf->field;
#define MXGPU_SIZE MXGPU_NUMBER
#define MXGPU_SWITCH MXGPU_NUMBER
#include "mxgpu/properties.def"
#undef MXGPU_NUMBER
#undef MXGPU_SIZE
#undef MXGPU_SWITCH
    s->vram_size = pf->vf_vram;
    s->compute_units = pf->vf_compute_units;
    s->link_speed = pf->link_speed;
    s->link_width = pf->link_width;
}

static bool mxgpu_sriov_check(MxgpuState *s, Error **errp)
{
    PCIDevice *pci = PCI_DEVICE(s);

    if (s->vfs > MXGPU_MAX_VFS) {
        error_setg(errp, "mxgpu: vfs=%u is not in the range 0 to %u", s->vfs,
                   MXGPU_MAX_VFS);
        return false;
    }
    if (PCI_FUNC(pci->devfn)) {
        error_setg(errp, "mxgpu: vfs needs the device at function 0 of its "
                   "slot");
        return false;
    }
    if (!pci_bus_is_express(pci_get_bus(pci))) {
        error_setg(errp, "mxgpu: vfs needs a PCI Express bus");
        return false;
    }
    return true;
}

bool mxgpu_sriov_init(MxgpuState *s, Error **errp)
{
    ERRP_GUARD();
    PCIDevice *pci = PCI_DEVICE(s);
    const uint8_t type = PCI_BASE_ADDRESS_MEM_TYPE_64;

    if (mxgpu_is_vf(s)) {
        pcie_ari_init(pci, MXGPU_CAP_ARI);
        return true;
    }
    if (!s->vfs) {
        return true;
    }
    if (!mxgpu_sriov_check(s, errp)) {
        return false;
    }
    pcie_ari_init(pci, MXGPU_CAP_ARI);
    if (!pcie_sriov_pf_init(pci, MXGPU_CAP_SRIOV, TYPE_MXGPU_VF,
                            MXGPU_PCI_DEVICE, s->vfs, s->vfs, MXGPU_VF_OFFSET,
                            MXGPU_VF_STRIDE, errp)) {
        /* Its functions are gone again; pcie_sriov_pf_exit() would look. */
        pci->exp.sriov_cap = 0;
        error_prepend(errp, "virtual function: ");
        return false;
    }
    pcie_sriov_pf_init_vf_bar(pci, MXGPU_BAR_REGS, type, MXGPU_REGS_SIZE);
    pcie_sriov_pf_init_vf_bar(pci, MXGPU_BAR_VRAM,
                              type | PCI_BASE_ADDRESS_MEM_PREFETCH,
                              s->vf_vram);
    pcie_sriov_pf_init_vf_bar(pci, MXGPU_BAR_DOORBELL, type,
                              MXGPU_DOORBELL_SIZE);
    return true;
}

void mxgpu_sriov_exit(MxgpuState *s)
{
    PCIDevice *pci = PCI_DEVICE(s);

    if (pci->exp.sriov_cap) {
        pcie_sriov_pf_exit(pci);
        pci->exp.sriov_cap = 0;
    }
}
