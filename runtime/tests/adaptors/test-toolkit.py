#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""test-toolkit.py BUILD PROJECT MESON...: what is installed builds a project
whose makefile knows CUDA_HOME and HIP_PATH, one of CMake, and one of CMake's
languages CUDA and HIP; the programs run.
"""
import os
import shutil
import subprocess
import sys
import tempfile

from tap import check, end


def run(argv, where, env=None):
    done = subprocess.run(argv, cwd=where, env=env, encoding="utf-8",
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False)
    for line in done.stdout.splitlines():
        print("#", line)
    return done.returncode == 0, done.stdout


def installed_below(folder):
    for path, folders, _ in os.walk(folder):
        if "mxgpu_llvm" in folders:
            return path
    return ""


def passes(program, where, env):
    good, text = run([os.path.join(where, program)], where, env)
    check(f"{program} in {os.path.basename(where)} runs",
          good and "PASSED" in text)


def main():
    build, project = map(os.path.abspath, sys.argv[1:3])
    meson = sys.argv[3:]
    env = {name: value for name, value in os.environ.items()
           if name not in ("LD_LIBRARY_PATH", "MACA_PATH", "MAKEFLAGS",
                           "CUDA_HOME", "HIP_PATH")}
    with tempfile.TemporaryDirectory() as top:
        good, _ = run([*meson, "install", "-C", build, "--no-rebuild",
                       "--quiet", "--destdir", os.path.join(top, "root")],
                      top)
        root = installed_below(os.path.join(top, "root"))
        check("it is installed", good and root)

        place = shutil.copytree(project, os.path.join(top, "make"))
        good, _ = run(["make", f"CUDA_HOME={root}/cuda",
                       f"HIP_PATH={root}/hip"], place, env)
        check("a makefile that knows CUDA_HOME and HIP_PATH", good)
        with_path = env | {"LD_LIBRARY_PATH": f"{root}/cuda/lib64"}
        passes("program", place, with_path)
        passes("shared", place, env)
        passes("single", place, env)

        place = shutil.copytree(project, os.path.join(top, "cmake"))
        good, _ = run(["cmake", "-S", ".", "-B", ".",
                       f"-DCMAKE_PREFIX_PATH={root}",
                       "-DCMAKE_BUILD_TYPE=Release"], place, env)
        check("cmake finds the package", good)
        good, _ = run(["cmake", "--build", "."], place, env)
        check("and builds a project with it", good)
        passes("program", place, env)
        passes("single", place, env)

        place = shutil.copytree(
            os.path.join(os.path.dirname(project), "cuda-language"),
            os.path.join(top, "language"))
        good, _ = run(["cmake", "-S", ".", "-B", ".",
                       f"-DCMAKE_CUDA_COMPILER={root}/cuda/bin/nvcc",
                       "-DCMAKE_BUILD_TYPE=Release"], place, env)
        check("cmake has nvcc as the compiler of its language CUDA", good)
        good, _ = run(["cmake", "--build", "."], place, env)
        check("and builds a project with it", good)
        passes("across", place, env)

        place = shutil.copytree(
            os.path.join(os.path.dirname(project), "hip-language"),
            os.path.join(top, "hip-language"))
        good, _ = run(["cmake", "-S", ".", "-B", ".",
                       f"-DCMAKE_HIP_COMPILER={root}/hip/bin/clang++",
                       f"-DCMAKE_PREFIX_PATH={root}",
                       "-DCMAKE_BUILD_TYPE=Release"], place, env)
        check("cmake has mxcc as the compiler of its language HIP", good)
        good, _ = run(["cmake", "--build", "."], place, env)
        check("and builds a project with it", good)
        passes("both", place, env)
    end()


main()
