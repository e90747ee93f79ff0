# SPDX-License-Identifier: MIT
"""scripts/export-registers: each file, read back, is the table of registers."""
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest

SCRIPTS = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                       "../../../scripts")
sys.path.insert(0, SCRIPTS)
import regsdef  # noqa: E402

IPXACT = "{http://www.accellera.org/XMLSchema/IPXACT/1685-2014}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("maps")
    subprocess.run([sys.executable, os.path.join(SCRIPTS, "export-registers"),
                    path], check=True)
    return path


def expected(side):
    """{name: (offset, count, stride, access, {field: (shift, width)})}"""
    return {r.name: (r.offset, r.count, r.stride if r.count > 1 else 0,
                     getattr(r, side),
                     {f.name: (f.shift, f.width) for f in r.fields} or
                     {"VALUE": (0, 32)})
            for r in regsdef.registers() if getattr(r, side) != "NA"}


# ---- SystemRDL: as much of a parser as it takes

TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\n]*|[\w\'.]+|\+=|[{}\[\]:;@=]')
RDL_ACCESS = {("r", None): "RO", ("rw", None): "RW", ("w", None): "WO",
              ("rw", "woclr"): "W1C"}


class Rdl:
    def __init__(self, text):
        left = TOKEN.sub("", text).strip()
        assert not left, left[:80]
        self.tokens = [t for t in TOKEN.findall(text) if not t.startswith("//")]

    def next(self, want=None):
        token = self.tokens.pop(0)
        assert want in (None, token), f"{token}, not {want}"
        return token

    def body(self):
        """Behind the brace: (properties, components)."""
        properties, inner = {}, []
        while self.tokens[0] != "}":
            word = self.next()
            if word in ("reg", "regfile", "field"):
                self.next("{")
                inner.append((word, *self.body(), self.instance()))
                continue
            if word == "default":
                word = self.next()
            value = True
            if self.tokens[0] == "=":
                self.next()
                value = self.next()
            properties[word] = value
            self.next(";")
        self.next("}")
        return properties, inner

    def instance(self):
        """NAME[..] = value @ address += stride;"""
        found = {"name": self.next(), "count": 1, "at": None, "stride": 0}
        while (token := self.next()) != ";":
            if token == "[":
                first = int(self.next())
                if self.tokens[0] == ":":
                    self.next()
                    found["bits"] = (first, int(self.next()))
                else:
                    found["count"] = first
                self.next("]")
            else:
                key = {"@": "at", "+=": "stride", "=": "reset"}[token]
                value = self.next()
                found[key] = int(value, 0) if key != "reset" else value
        return found

    def maps(self):
        while self.tokens:
            self.next("addrmap")
            name = self.next()
            self.next("{")
            _, inner = self.body()
            self.next(";")
            yield name, inner


def rdl_registers(components, base=0, count=1, stride=0):
    for kind, properties, inner, at in components:
        if kind == "regfile":
            assert at["stride"] and at["count"] > 1
            yield from rdl_registers(inner, at["at"], at["count"],
                                     at["stride"])
            continue
        assert properties["regwidth"] == "32"
        fields = {f["name"]: (f["bits"][1], f["bits"][0] - f["bits"][1] + 1)
                  for _, _, _, f in inner}
        access = {RDL_ACCESS[p["sw"], p.get("onwrite")] for _, p, _, _ in inner}
        assert len(access) == 1
        yield at["name"], (base + at["at"], max(count, at["count"]),
                           stride or at["stride"], access.pop(), fields)


def test_systemrdl(folder):
    text = (folder / "mxgpu.rdl").read_text()
    maps = dict(Rdl(text).maps())
    assert set(maps) == {"mxgpu_host", "mxgpu_mcu"}
    for name, components in maps.items():
        assert dict(rdl_registers(components)) == expected(
            name.removeprefix("mxgpu_"))


def test_reset_values(folder):
    text = (folder / "mxgpu.rdl").read_text()
    assert "VALUE[31:0] = 32'h5047584d;" in text       # ID
    assert "MAJOR[31:16] = 16'h1;" in text             # VERSION
    assert re.search(r"COMPUTE_UNITS\[15:0\];", text)  # configured


# ---- XML

def number(text):
    return int(text[2:], 16) if text.startswith("'h") else int(text, 0)


def xml_registers(node, ns, words, base=0, count=1, stride=0):
    """Of a node with registers, files or clusters of them."""
    def get(item, tag, default=None):
        found = item.find(ns + words.get(tag, tag))
        return default if found is None else found.text
    for item in node:
        tag = item.tag.removeprefix(ns)
        if tag in ("registerFile", "cluster"):
            yield from xml_registers(
                item, ns, words, number(get(item, "addressOffset")),
                number(get(item, "dim")), number(get(item, "step")))
        elif tag == "register":
            fields = {get(f, "name"): (number(get(f, "bitOffset")),
                                       number(get(f, "bitWidth")))
                      for f in item.iter(ns + "field")}
            access = {"read-only": "RO", "write-only": "WO",
                      "read-write": "RW"}[get(item, "access")]
            if any("neToClear" in (x.text or "") for x in item.iter()
                   if x.tag.startswith(ns + "modifiedWriteValue")):
                access = "W1C"
            own = number(get(item, "dim", "1"))
            name = get(item, "name").removesuffix("[%s]")
            yield name, (base + number(get(item, "addressOffset")),
                         max(count, own),
                         stride or (4 if own > 1 else 0), access, fields)


def test_ipxact(folder):
    root = ElementTree.parse(folder / "mxgpu.xml").getroot()
    assert root.tag == IPXACT + "component"
    maps = root.findall(f"{IPXACT}memoryMaps/{IPXACT}memoryMap")
    sides = [m.find(IPXACT + "name").text for m in maps]
    assert sides == ["host", "mcu"]
    for side, memory_map in zip(sides, maps):
        block = memory_map.find(IPXACT + "addressBlock")
        assert dict(xml_registers(block, IPXACT, {"step": "range"})) == \
            expected(side)


def test_svd(folder):
    root = ElementTree.parse(folder / "mxgpu.svd").getroot()
    peripheral = root.find("peripherals/peripheral")
    assert number(peripheral.find("baseAddress").text) == 0x40000000
    assert dict(xml_registers(peripheral.find("registers"), "",
                              {"step": "dimIncrement"})) == expected("mcu")
