# SPDX-License-Identifier: MIT
"""The code of docs/python.md, from top to bottom, with the output it shows."""
import contextlib
import io
import os
import re

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                    "../../docs/python.md")


def test_tutorial(request, monkeypatch):
    config = request.config
    for variable, option in (("MXGPU_SIM_LIBRARY", "--mxgpu-library"),
                             ("MXGPU_FIRMWARE", "--mxgpu-firmware")):
        if config.getoption(option):
            monkeypatch.setenv(variable, config.getoption(option))
    with open(PAGE, encoding="utf-8") as f:
        text = f.read()
    blocks = re.findall(r"```python\n(.*?)```\n(?:```text\n(.*?)```)?", text,
                        re.S)
    assert len(blocks) > 6
    names = {"__name__": "tutorial"}
    for source, expected in blocks:
        line = text[:text.index(source)].count("\n")
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile("\n" * line + source, PAGE, "exec"), names)
        assert out.getvalue() == expected, f"line {line + 1}"
