# SPDX-License-Identifier: MIT
"""static texture<float, 2> image; in relocatable device code.

The host registers such a variable by its name, which static ones of several
files may share. In the preprocessed text each gets a name with the file's
number, by a label that both passes take it from.
"""
import re

DECLARATION = re.compile(
    r"(\bstatic\s+(?:const\s+)?(?:texture|surface)\s*<[^;{}()]*>\s*"
    r"([A-Za-z_]\w*))(\s*[;=(])")


def wanted(source):
    if source == "-":
        return False
    with open(source, encoding="utf-8", errors="surrogateescape") as f:
        return bool(DECLARATION.search(f.read()))


def rewrite(text, number):
    return DECLARATION.sub(
        lambda m: f'{m[1]} __asm__("{m[2]}.static.{number}"){m[3]}', text)
