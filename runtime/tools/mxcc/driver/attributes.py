# SPDX-License-Identifier: MIT
"""__shared__ alignas(16) float tile[64];

clang takes alignas in front of attributes and of all else in a declaration, but
not behind __shared__ and its kin, where nvcc takes it. When it has refused one,
the preprocessed text is compiled, in which such an alignas is C's _Alignas: that
may stand anywhere among the words of a declaration, and means the same.
"""
import re

REFUSED = re.compile(r"(?:an attribute list cannot appear here|'alignas' "
                     r"attribute cannot be applied to types)[^\n]*\n"
                     r"[^\n]*\balignas\b")
BEHIND = re.compile(r"""
    (__attribute__\(\((?:shared|constant|device|managed)\b
                     (?:[^()]|\([^()]*\))*\)\)\s*
     (?:(?:static|extern|const|constexpr|volatile|inline|
           __attribute__\(\((?:[^()]|\([^()]*\))*\)\))\s*)*)
    alignas\b""", re.X)


def rewrite(text):
    return BEHIND.sub(r"\1_Alignas", text)
