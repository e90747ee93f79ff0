/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The capabilities of the function, and what a reset makes of them. What the
 * PCI core knows (header, BARs, power state, MSI-X) it resets itself.
 */
#include "qemu/osdep.h"
#include "qemu/range.h"
#include "qemu/units.h"
#include "qapi/error.h"
#include "hw/pci/pcie.h"
#include "mxgpu.h"

#define MXGPU_CAP_PM      0x40
#define MXGPU_CAP_EXPRESS 0x80
#define MXGPU_CAP_AER     0x100
#define MXGPU_CAP_SERIAL  0x150
#define MXGPU_CAP_REBAR   0x160

#define MXGPU_REBAR_VERSION 1
#define MXGPU_REBAR_SIZEOF  12

/* ---- power management and PCI Express ----------------------------------- */

static bool mxgpu_config_init_pm(PCIDevice *pci, Error **errp)
{
    int pm = pci_pm_init(pci, MXGPU_CAP_PM, errp);

    if (pm < 0) {
        return false;
    }
    /* D0 and D3hot; going back to D0 resets (No_Soft_Reset is 0). */
    pci_set_word(pci->config + pm + PCI_PM_PMC, 3);
    pci_set_word(pci->wmask + pm + PCI_PM_CTRL, PCI_PM_CTRL_STATE_MASK);
    return true;
}

unsigned mxgpu_config_power_state(PCIDevice *pci)
{
    return pci_get_word(pci->config + MXGPU_CAP_PM + PCI_PM_CTRL) &
           PCI_PM_CTRL_STATE_MASK;
}

/* An endpoint that is part of the root complex has no link. */
static bool mxgpu_has_link(PCIDevice *pci)
{
    return pcie_cap_get_type(pci) != PCI_EXP_TYPE_RC_END;
}

static bool mxgpu_config_init_express(MxgpuState *s, Error **errp)
{
    PCIDevice *pci = PCI_DEVICE(s);
    uint8_t *config = pci->config + MXGPU_CAP_EXPRESS;
    uint8_t *wmask = pci->wmask + MXGPU_CAP_EXPRESS;

    if (pcie_endpoint_cap_init(pci, MXGPU_CAP_EXPRESS) < 0) {
        error_setg(errp, "no room for the PCI Express capability");
        return false;
    }
    pcie_cap_flr_init(pci);
    pcie_cap_deverr_init(pci);
    if (pci_get_long(config + PCI_EXP_DEVCAP) & PCI_EXP_DEVCAP_EXT_TAG) {
        pci_word_test_and_set_mask(wmask + PCI_EXP_DEVCTL,
                                   PCI_EXP_DEVCTL_EXT_TAG);
    }
    pci_long_test_and_set_mask(config + PCI_EXP_DEVCAP2,
                               PCI_EXP_DEVCAP2_COMP_TMOUT_DIS);
    pci_word_test_and_set_mask(wmask + PCI_EXP_DEVCTL2,
                               PCI_EXP_DEVCTL2_COMP_TMOUT_DIS);
    if (mxgpu_has_link(pci)) {
        pcie_cap_fill_link_ep_usp(pci, s->link_width, s->link_speed);
        pcie_cap_lnkctl_init(pci);
    } else {
        pci_set_long(config + PCI_EXP_LNKCAP, 0);
        pci_set_word(config + PCI_EXP_LNKSTA, 0);
    }
    return true;
}

/* AER's registers are sticky: they outlive every reset but power-on. */
static void mxgpu_config_reset_express(PCIDevice *pci)
{
    uint8_t *config = pci->config + MXGPU_CAP_EXPRESS;
    uint8_t *wmask = pci->wmask + MXGPU_CAP_EXPRESS;
    bool flr = pci_get_word(config + PCI_EXP_DEVCTL) & PCI_EXP_DEVCTL_BCR_FLR;

    pcie_cap_deverr_reset(pci);
    pci_word_test_and_clear_mask(config + PCI_EXP_DEVCTL,
                                 PCI_EXP_DEVCTL_EXT_TAG);
    pci_word_test_and_clear_mask(config + PCI_EXP_DEVSTA, 0xf);
    pci_word_test_and_clear_mask(config + PCI_EXP_DEVCTL2,
                                 pci_get_word(wmask + PCI_EXP_DEVCTL2));
    /* The link is not the function's alone. */
    if (!flr && mxgpu_has_link(pci)) {
        pcie_cap_lnkctl_reset(pci);
    }
}

/* ---- errors ------------------------------------------------------------- */

/*
 * What the function would have to say of itself on a bus: that a read of its own
 * was answered with Unsupported Request, as that of memory which is not there or
 * not permitted is, which only its Status register tells; and errors inside,
 * which are masked until software says otherwise. Errors of a function in a root
 * complex have no port to go to, but are noted all the same.
 */
void mxgpu_config_note(PCIDevice *pci, uint32_t notes)
{
    PCIEAERErr internal = {
        .status = PCI_ERR_UNC_INTN, .source_id = pci_requester_id(pci),
    };

    /* Who may not send anything is answered nothing. */
    if ((notes & MXGPU_NOTE_MASTER_ABORT) &&
        (pci_get_word(pci->config + PCI_COMMAND) & PCI_COMMAND_MASTER)) {
        pci_word_test_and_set_mask(pci->config + PCI_STATUS,
                                   PCI_STATUS_REC_MASTER_ABORT);
    }
    if (notes & MXGPU_NOTE_INTERNAL) {
        pcie_aer_inject_error(pci, &internal);
    }
}

/* ---- Resizable BAR: of the physical function; it has the other's BARs ---- */

static unsigned mxgpu_rebar_default(MxgpuState *s)
{
    return ctz64(s->vram_size / MiB);
}

static unsigned mxgpu_rebar_field(PCIDevice *pci)
{
    return (pci_get_long(pci->config + MXGPU_CAP_REBAR + PCI_REBAR_CTRL) &
            PCI_REBAR_CTRL_BAR_SIZE) >> PCI_REBAR_CTRL_BAR_SHIFT;
}

/* The aperture shows the first 2^log2 MiB of VRAM. */
static void mxgpu_rebar_set(MxgpuState *s, unsigned log2)
{
    PCIDevice *pci = PCI_DEVICE(s);
    PCIIORegion *bar = &pci->io_regions[MXGPU_BAR_VRAM];
    unsigned offset = PCI_BASE_ADDRESS_0 + 4 * MXGPU_BAR_VRAM;
    uint64_t size = MiB << log2, base;
    uint8_t *ctrl = pci->config + MXGPU_CAP_REBAR + PCI_REBAR_CTRL;

    pci_set_long(ctrl, (pci_get_long(ctrl) & ~PCI_REBAR_CTRL_BAR_SIZE) |
                       log2 << PCI_REBAR_CTRL_BAR_SHIFT);
    if (bar->size == size) {
        return;
    }
    memory_region_transaction_begin();
    bar->size = size;
    memory_region_set_size(&s->aperture, size);
    base = pci_get_quad(pci->config + offset) & ~(size - 1);
    pci_set_quad(pci->wmask + offset, ~(size - 1));
    pci_set_quad(pci->config + offset, base | bar->type);
    /* Where it is mapped its address may have changed with its alignment. */
    pci_default_write_config(pci, PCI_COMMAND,
                             pci_get_word(pci->config + PCI_COMMAND), 2);
    memory_region_transaction_commit();
}

/* A size that is not offered is not taken. */
static void mxgpu_rebar_write(MxgpuState *s, unsigned old)
{
    PCIDevice *pci = PCI_DEVICE(s);
    unsigned log2 = mxgpu_rebar_field(pci);

    mxgpu_rebar_set(s, log2 <= mxgpu_rebar_default(s) ? log2 : old);
}

static void mxgpu_config_init_rebar(MxgpuState *s)
{
    PCIDevice *pci = PCI_DEVICE(s);
    uint8_t *config = pci->config + MXGPU_CAP_REBAR;
    unsigned log2 = mxgpu_rebar_default(s);

    pcie_add_capability(pci, PCI_EXT_CAP_ID_REBAR, MXGPU_REBAR_VERSION,
                        MXGPU_CAP_REBAR, MXGPU_REBAR_SIZEOF);
    /* bit 4 is 1 MiB */
    pci_set_long(config + PCI_REBAR_CAP, ((2u << log2) - 1) << 4);
    pci_set_long(config + PCI_REBAR_CTRL,
                 MXGPU_BAR_VRAM | 1 << PCI_REBAR_CTRL_NBAR_SHIFT |
                 log2 << PCI_REBAR_CTRL_BAR_SHIFT);
    pci_set_long(pci->wmask + MXGPU_CAP_REBAR + PCI_REBAR_CTRL,
                 PCI_REBAR_CTRL_BAR_SIZE);
    /* A saved state may be of a smaller aperture, whose address has more bits:
     * QEMU compares what cannot be written before mxgpu_config_loaded(). */
    pci_set_quad(pci->cmask + PCI_BASE_ADDRESS_0 + 4 * MXGPU_BAR_VRAM,
                 MiB - 1);
}

bool mxgpu_config_loaded(MxgpuState *s)
{
    PCIDevice *pci = PCI_DEVICE(s);
    uint8_t *bar = pci->config + PCI_BASE_ADDRESS_0 + 4 * MXGPU_BAR_VRAM;
    unsigned log2 = mxgpu_rebar_field(pci);

    if (mxgpu_is_vf(s)) {
        return true;
    }
    if (log2 > mxgpu_rebar_default(s)) {
        return false;
    }
    mxgpu_rebar_set(s, log2);
    /* A broken state may have address bits below the size. */
    pci_set_quad(bar, (pci_get_quad(bar) & ~((MiB << log2) - 1)) |
                          pci->io_regions[MXGPU_BAR_VRAM].type);
    return true;
}

/* ---- all of them -------------------------------------------------------- */

/* 64 bits of the UUID that differ when its halves do. */
static uint64_t mxgpu_serial_number(MxgpuState *s)
{
    return ldq_be_p(s->uuid.data) ^ ldq_be_p(s->uuid.data + 8);
}

bool mxgpu_config_init(MxgpuState *s, Error **errp)
{
    PCIDevice *pci = PCI_DEVICE(s);

    if (!mxgpu_config_init_pm(pci, errp) ||
        !mxgpu_config_init_express(s, errp) ||
        pcie_aer_init(pci, PCI_ERR_VER, MXGPU_CAP_AER, PCI_ERR_SIZEOF,
                      errp) < 0) {
        return false;
    }
    pcie_dev_ser_num_init(pci, MXGPU_CAP_SERIAL, mxgpu_serial_number(s));
    if (!mxgpu_is_vf(s)) {
        mxgpu_config_init_rebar(s);
    }
    return mxgpu_sriov_init(s, errp);
}

void mxgpu_config_exit(PCIDevice *pci)
{
    if (pci->exp.aer_cap) {
        pcie_aer_exit(pci);
    }
    if (pci->exp.exp_cap) {
        pcie_cap_exit(pci);
    }
}

void mxgpu_config_write(PCIDevice *pci, uint32_t addr, uint32_t value, int len)
{
    unsigned rebar = mxgpu_rebar_field(pci);

    pci_default_write_config(pci, addr, value, len);
    if (!pci_is_vf(pci) && ranges_overlap(addr, len, MXGPU_CAP_REBAR +
                                            PCI_REBAR_CTRL, 4)) {
        mxgpu_rebar_write(MXGPU(pci), rebar);
    }
    pcie_cap_flr_write_config(pci, addr, value, len);
    pcie_aer_write_config(pci, addr, value, len);
}

void mxgpu_config_reset(MxgpuState *s)
{
    mxgpu_config_reset_express(PCI_DEVICE(s));
    if (!mxgpu_is_vf(s)) {
        mxgpu_rebar_set(s, mxgpu_rebar_default(s));
    }
}
