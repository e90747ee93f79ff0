# SPDX-License-Identifier: MIT
"""A guest that is recorded, and the same guest again."""

import json
import os
import shutil
import socket
import subprocess
import time

from qmp import Qmp, QmpError

# 8 ns of the guest's clock an instruction, about as many as TCG does. An idle
# guest goes on at its next timer at once: its time has nothing to do with ours.
ICOUNT = ("shift=3,sleep=off,rr={mode},rrfile={folder}/log,"
          "rrsnapshot=start")
# Where the machine's states are: that of its start, and whichever a replay
# adds with savevm. What goes backwards begins at one.
SNAPSHOTS = "{folder}/snapshots.qcow2"
# What else two guests could differ in; the clock begins at the same time.
FIXED = ["-rtc", "base=@time@,clock=vm", "-seed", "1"]
FILES = ("kernel", "initrd")


class RecordError(Exception):
    pass


def command(qemu, words, folder, mode):
    """The command line, with what depends on the run put in."""
    place = {"@kernel@": f"{folder}/kernel", "@initrd@": f"{folder}/initrd"}
    icount = ICOUNT.format(mode=mode, folder=folder)
    disk = SNAPSHOTS.format(folder=folder)
    return [qemu, *(place.get(w, w) for w in words),
            "-drive", f"file={disk},if=none,format=qcow2,id=snapshots",
            "-icount", icount]


def make_disk(qemu, path):
    """An empty qcow2 image; QEMU that knows the format makes it."""
    ours, theirs = socket.socketpair()
    with ours, theirs, subprocess.Popen(
            [qemu, "-machine", "none", "-nodefaults", "-display", "none",
             "-chardev", f"socket,id=qmp,fd={theirs.fileno()}",
             "-mon", "chardev=qmp,mode=control"],
            pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL) as process:
        try:
            qmp = Qmp(ours)
            qmp.job("blockdev-create",
                    options={"driver": "file", "filename": path, "size": 0})
            qmp.call("blockdev-add", **{"driver": "file", "filename": path,
                                        "node-name": "file"})
            qmp.job("blockdev-create", options={"driver": "qcow2",
                                                "file": "file",
                                                "size": 1 << 20})
        except (QmpError, OSError) as e:
            raise RecordError(f"{path} cannot be made: {e}") from None
        finally:
            process.kill()


def start(qemu, folder, kernel, initrd, words, mark):
    """Makes the folder; words are QEMU's arguments, with @kernel@, @initrd@."""
    try:
        os.makedirs(folder)
    except FileExistsError:
        raise RecordError(f"--record {folder}: it exists") from None
    make_disk(qemu, SNAPSHOTS.format(folder=folder))
    shutil.copyfile(kernel, f"{folder}/kernel")
    shutil.copyfile(f"/dev/fd/{initrd}", f"{folder}/initrd")
    epoch = float(os.environ.get("SOURCE_DATE_EPOCH") or time.time())
    now = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(epoch))
    words = words + [w.replace("@time@", now) for w in FIXED]
    with open(f"{folder}/guest.json", "w", encoding="utf-8") as f:
        json.dump({"words": words, "mark": mark.decode()}, f, indent=1)


def load(folder, whole):
    """Arguments of QEMU and the mark that ends its outputs. whole: there must
    be a log already."""
    try:
        with open(f"{folder}/guest.json", encoding="utf-8") as f:
            data = json.load(f)
        words, mark = data["words"], data["mark"].encode()
    except (OSError, ValueError, KeyError) as e:
        raise RecordError(f"--replay {folder}: no record: {e}") from None
    for name in (*FILES, "log") if whole else FILES:
        if not os.path.isfile(f"{folder}/{name}"):
            raise RecordError(f"--replay {folder}: {name} is missing")
    return words, mark
