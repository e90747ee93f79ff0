# SPDX-License-Identifier: MIT
"""api.def, read."""
import os
import re
from collections import namedtuple

# result: its type; parameters: (type, name); text: what it does
Entry = namedtuple("Entry", "section status result name parameters text")

PATTERN = re.compile(
    r'MC_SECTION\("([^"]*)"\)|'
    r'MC_API\((\w+), ([^,]+), (\w+),\s*\((.*?)\),'
    r'\s*((?:"(?:[^"\\]|\\.)*"\s*)+)\)', re.S)


def parameter(text):
    words = re.sub(r"\s+", " ", text.strip())
    kind, name = re.fullmatch(r"(.*?)(\w+)", words).groups()
    return kind.strip(), name


def parameters(text):
    if text.strip() == "void":
        return []
    return [parameter(p) for p in text.split(",")]


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def files(path):
    """An api.def and what it includes."""
    folder = os.path.dirname(path)
    return [path] + [os.path.join(folder, name) for name in
                     re.findall(r'#include "(.*)"', read(path))]


def entries(path):
    """All entries of an api.def, in order."""
    text = "".join(read(name) for name in files(path))
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    section = None
    for m in PATTERN.finditer(text):
        if m.group(1):
            section = m.group(1)
            continue
        words = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', m.group(6)))
        yield Entry(section, m.group(2), m.group(3).strip(), m.group(4),
                    parameters(m.group(5)), words.replace('\\"', '"'))


def sources(path):
    """(name, text without comments) of each test program in tests/, beside
    an api.def."""
    top = os.path.join(os.path.dirname(path), "tests")
    for where, _, names in os.walk(top):
        for name in names:
            stem, ext = os.path.splitext(name)
            # What only compiles tests the headers.
            if ext not in (".c", ".cc", ".cpp", ".maca") or stem == "headers":
                continue
            with open(os.path.join(where, name), encoding="utf-8") as f:
                text = re.sub(r"/\*.*?\*/|//[^\n]*", "", f.read(), flags=re.S)
            yield os.path.relpath(os.path.join(where, stem), top), text
