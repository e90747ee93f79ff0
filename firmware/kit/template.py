# SPDX-License-Identifier: MIT
"""A packet type of one's own: the files of a new one, and its lines in the lists
that know every type. What it does at first, adding a value to a word of memory,
is there to be replaced."""
import os
import re
import subprocess

PACKET = """\
/* {NAME}: adds value to the 64-bit word at addr, not as one access. */
struct mxgpu_packet_{name} {{
    uint16_t type, flags;
    uint32_t reserved0;
    uint64_t addr; /* multiple of 8 */
    uint64_t value;
    uint64_t reserved1[3];
    uint64_t signal_addr, signal_value;
}};

"""

COMMAND = """\
/* SPDX-License-Identifier: MIT */
/* {NAME}: adds value to the 64-bit word at addr. */
#include "cmd/commands.h"

/* The offset of the first field that is wrong. Nothing was done then. */
static uint32_t {name}_check(const union mxgpu_packet *packet)
{{
    const struct mxgpu_packet_{name} *{name} = &packet->{name};

    if ({name}->reserved0) {{
        return FIELD({name}, reserved0);
    }}
    if ({name}->addr & 7) {{
        return FIELD({name}, addr);
    }}
    return cmd_check_zero(packet, FIELD({name}, reserved1) / 4, 11);
}}

/* Never waits: what takes time is given to a unit, or parked (fw.h, FwStart). */
static FwStart {name}_start(FwQueue *queue)
{{
    const struct mxgpu_packet_{name} *{name} = &queue->packet.{name};
    uint32_t fault = mem_load(queue->vmid, {name}->addr, 8);
    enum mxgpu_access access = MXGPU_ACCESS_READ;

    if (likely(!fault)) {{
        access = MXGPU_ACCESS_WRITE;
        fault = mem_write64(queue->vmid, {name}->addr,
                            reg_read64(MXGPU_MEM_BUF) + {name}->value);
    }}
    if (unlikely(fault)) {{
        cmd_fail_access(queue, MXGPU_QERR_FAULT, fault, {name}->addr, access);
        return FW_START_FAILED;
    }}
    wait_notify({name}->addr);
    return FW_START_DONE;
}}

const FwCommand cmd_{name} = {{
    .name = "{name}",
    .check = {name}_check,
    .start = {name}_start,
}};
"""

TEST = """\
/* SPDX-License-Identifier: MIT */
/* {NAME}: what it does, each malformed field, each fault. */
#include "test_util.h"

static Packet {name}(uint64_t addr, uint64_t value)
{{
    Packet p = {{.{name} = {{
                    .type = MXGPU_PKT_{NAME},
                    .addr = addr,
                    .value = value,
                    .signal_addr = SIGNAL(0),
                    .signal_value = 1000,
                }}}};

    return p;
}}

static void test_adds(void)
{{
    Packet p = {name}(DATA, 1ull << 40);

    start_queue(0);
    *mem64(DATA) = 5;
    run_packet(&p);
    g_assert_true(signalled(0));
    g_assert_cmphex(*mem64(DATA), ==, (1ull << 40) + 5);
}}

static void test_fields(void)
{{
    const unsigned bad[][2] = {{
        {{4, 4}}, {{8, 8}}, {{24, 24}}, {{44, 44}}, /* byte set to 1, field */
    }};

    for (unsigned i = 0; i < G_N_ELEMENTS(bad); i++) {{
        Packet p = {name}(DATA, 1);

        start_queue(0);
        ((uint8_t *)&p)[bad[i][0]] |= 1;
        run_packet(&p);
        expect_error(0, MXGPU_QERR_PACKET, bad[i][1]);
        g_assert_cmphex(*mem64(DATA), ==, 0);
    }}
}}

static void test_fault(void)
{{
    Packet p = {name}(0x1234000, 1);

    start_queue(0);
    run_packet(&p);
    expect_error(0, MXGPU_QERR_FAULT, 0);
    g_assert_cmphex(ctl(0)->error.fault_addr, ==, 0x1234000);
    g_assert_cmpuint(ctl(0)->error.access, ==, MXGPU_ACCESS_READ);
    g_assert_false(signalled(0));
}}

int main(int argc, char **argv)
{{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/firmware/{name}/adds", test_adds);
    g_test_add_func("/firmware/{name}/fields", test_fields);
    g_test_add_func("/firmware/{name}/fault", test_fault);
    return g_test_run();
}}
"""

PACKETS = "hw-mxgpu/include/mxgpu/packets.h"


class Tree:
    """Edits that are made together, or not at all."""

    def __init__(self, top):
        self.top, self.texts = top, {}

    def text(self, path):
        if path not in self.texts:
            with open(os.path.join(self.top, path), encoding="utf-8") as f:
                self.texts[path] = f.read()
        return self.texts[path]

    def change(self, path, pattern, by):
        """Replaces the first match; by may name its groups."""
        new, count = re.subn(pattern, by, self.text(path), count=1,
                             flags=re.S | re.M)
        if not count:
            raise ValueError(f"{path}: no place for the new type")
        self.texts[path] = new

    def add(self, path, text):
        if os.path.exists(os.path.join(self.top, path)):
            raise ValueError(f"{path} is there")
        self.texts[path] = text

    def write(self):
        for path, text in self.texts.items():
            with open(os.path.join(self.top, path), "w",
                      encoding="utf-8") as f:
                f.write(text)


def lists(tree, name):
    """The lines that a new type has in lists of all."""
    upper = name.upper()
    taken = re.findall(r"MXGPU_PKT_(\w+) = (\d+),", tree.text(PACKETS))
    if upper in dict(taken):
        raise ValueError(f"there is a packet type {upper}")
    number = 1 + max(int(n) for _, n in taken)
    tree.change(PACKETS, r"^    MXGPU_PKT_TYPES$",
                f"    MXGPU_PKT_{upper} = {number},\n    MXGPU_PKT_TYPES")
    tree.change(PACKETS, r"^union mxgpu_packet \{$",
                PACKET.format(name=name, NAME=upper) + "union mxgpu_packet {")
    tree.change(PACKETS, r"^    uint32_t words\[16\];\n\};$",
                f"    struct mxgpu_packet_{name} {name};\n"
                "    uint32_t words[16];\n};")
    tree.change(PACKETS, r"^MXGPU_ASSERT_SIZE\(union mxgpu_packet, 64\);$",
                f"MXGPU_ASSERT_SIZE(struct mxgpu_packet_{name}, 64);\n"
                f"MXGPU_ASSERT_OFFSET(struct mxgpu_packet_{name}, signal_addr, "
                "48);\nMXGPU_ASSERT_SIZE(union mxgpu_packet, 64);")
    tree.change("firmware/cmd/commands.h", r"(extern const FwCommand [^;]*);",
                rf"\1,\n    cmd_{name};")
    tree.change("firmware/cmd/commands.c", r"^\};$",
                f"    [MXGPU_PKT_{upper}] = &cmd_{name},\n}};")
    tree.change("firmware/meson.build", r"^  'front.c',$",
                f"  'cmd/{name}.c',\n  'front.c',")
    tree.change("firmware/tests/meson.build", r"^foreach name : \['packets', ",
                f"foreach name : ['packets', '{name}', ")
    minor = int(re.search(r"FW_VERSION_MINOR (\d+)",
                          tree.text("firmware/fw.h"))[1])
    tree.change("firmware/fw.h", r"FW_VERSION_MINOR \d+",
                f"FW_VERSION_MINOR {minor + 1}")
    tree.change("hw-mxgpu/include/mxgpu/packets.def", r"\Z",
                f"MXGPU_PACKET({upper}, {name})\n"
                f"MXGPU_PACKET_FIELD({upper}, {name}, addr, 1, HEX)\n"
                f"MXGPU_PACKET_FIELD({upper}, {name}, value, 1, HEX)\n")
    tree.change("firmware/kit/budgets.txt", r"\Z", f"{name:15} 2500\n")
    tree.change("firmware/kit/bounds.txt", r"\Z", f"{name:15} 8000\n")


def make(top, name):
    """Adds the type; what to say of it. ValueError: nothing was changed."""
    if not re.fullmatch(r"[a-z][a-z0-9_]{1,30}", name):
        raise ValueError(f"{name!r}: a name is lower case, digits and _")
    tree = Tree(top)
    tree.add(f"firmware/cmd/{name}.c", COMMAND.format(name=name,
                                                     NAME=name.upper()))
    tree.add(f"firmware/tests/test-{name}.c", TEST.format(name=name,
                                                         NAME=name.upper()))
    lists(tree, name)
    tree.write()
    for script in ("gen-constants", "gen-python"):
        subprocess.run([os.path.join(top, "scripts", script)], check=True)
    return [f"{path}" for path in tree.texts] + [
        "Edit the first two and the structure in packets.h, then:",
        "  scripts/firmware build && meson test -C build "
        f"firmware-{name} && scripts/firmware cost"]
