#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""test-circles.py CHECK-CIRCLES: the circles it finds, and what is none."""
import os
import runpy
import subprocess
import sys
import tempfile

from tap import check, end

SCRIPT = os.path.abspath(sys.argv[1])


def circles(**files):
    """Status and output for a tree of these; "a__b_c" is a/b.c."""
    with tempfile.TemporaryDirectory() as tree:
        subprocess.run(["git", "init", "-q", tree], check=True)
        for name, text in files.items():
            path = os.path.join(tree, *name.split("__"))
            path = path[:-2] + "." + path[-1]
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
        done = subprocess.run([SCRIPT, tree], text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.returncode, done.stdout


def finds(name, words, **files):
    status, out = circles(**files)
    check(name, (status == 1 and all(w in out for w in words)) if words
          else status == 0, out)


FLOOR = {"runtime__base__log_h": "void mc_log(void);\n",
         "runtime__base__log_c": '#include "log.h"\nvoid mc_log(void)\n{\n}\n'}

finds("a tree without circles", [], **FLOOR,
      runtime__core__context__a_c='#include "base/log.h"\nvoid a(void)\n{\n mc_log();\n}')
finds("a folder that looks up", ["runtime/core/context is not below runtime/base"],
      **FLOOR, runtime__core__context__a_h="",
      runtime__base__b_c='#include "core/context/a.h"\n')
finds("headers in a circle", ["context/a needs", "context/b needs"],
      runtime__core__context__a_c='#include "b.h"\n', runtime__core__context__a_h="",
      runtime__core__context__b_c='#include "b.h"\n',
      runtime__core__context__b_h='#include "a.h"\n')
PRIV = "void a(void);\nvoid b(void);\nextern int v;\n"
A = '#include "priv.h"\nvoid a(void)\n{\n    b();\n}\n'
finds("functions in a circle, behind one header", ["kmd/a needs", "(b)"],
      runtime__kmd__priv_h=PRIV, runtime__kmd__a_c=A,
      runtime__kmd__b_c='#include "priv.h"\nvoid b(void)\n{\n    a();\n}\n')
finds("a variable is needed, too", ["kmd/b needs runtime/kmd/a (v)"],
      runtime__kmd__priv_h=PRIV, runtime__kmd__a_c=A + "int v = 1;\n",
      runtime__kmd__b_c='#include "priv.h"\nvoid b(void)\n{\n    v++;\n}\n')
finds("macros of the header as well", ["kmd/b needs runtime/kmd/a (a)"],
      runtime__kmd__priv_h=PRIV + "#define OPS \\\n    a\n",
      runtime__kmd__a_c=A,
      runtime__kmd__b_c='#include "priv.h"\nvoid b(void)\n{\n    OPS();\n}\n')
finds("comments and texts need nothing", [],
      runtime__kmd__priv_h=PRIV, runtime__kmd__a_c=A,
      runtime__kmd__b_c='/* a() */ void b(void)\n{\n    puts("a");\n}\n')
finds("one way is no circle", [], runtime__kmd__priv_h=PRIV,
      runtime__kmd__a_c=A, runtime__kmd__b_c="void b(void)\n{\n}\n")
# Until none is left.
LISTED = next(((folder, names[0]) for folder, names in
               runpy.run_path(SCRIPT)["FILES"].items() if names), None)
if LISTED:
    finds("a list that is too long", ["strike it off"],
          **{f"{LISTED[0].replace('/', '__')}__{LISTED[1]}_c": ""})
end()
