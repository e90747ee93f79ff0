# SPDX-License-Identifier: MIT
"""Folders of this machine in a guest, through virtiofs: a daemon for each, and
what QEMU and the guest have to know."""

import os
import subprocess
import tempfile
import time

from pack import PackError
from vm import die_with_parent

HERE = os.path.dirname(os.path.realpath(__file__))
ACCEPTS = 1 << 16  # of the flags in /proc/net/unix: it listens
LIMIT = 30  # seconds that a daemon may take to listen


class Share:
    """DIR[:PLACE][,ro]: a folder, and where it is in the guest."""

    def __init__(self, text):
        path, _, options = text.partition(",")
        folder, _, place = path.partition(":")
        if options not in ("", "ro") or not folder:
            raise PackError(f"--share {text}: DIR[:PLACE][,ro]")
        self.folder = os.path.realpath(folder)
        self.place = os.path.abspath(place or folder)
        self.readonly = options == "ro"
        if not os.path.isdir(self.folder):
            raise PackError(f"--share {folder}: no such folder")
        if self.place == "/" or "\n" in self.place:
            raise PackError(f"--share {text}: not there in a guest")

    def settings(self, tag):
        """A line for the guest's init."""
        return f"{tag} {'ro' if self.readonly else 'rw'} {self.place}\n"


def tag(i):
    return f"share{i}"


def command(daemon, share, path):
    words = [daemon, f"--socket-path={path}"]
    if daemon.startswith("/usr/libexec/"):
        words += ["--shared-dir", share.folder]
    else:
        words += ["-o", f"source={share.folder}", "-o", "cache=auto"]
    if not share.readonly:
        return words
    # A guest is not trusted to keep off: nobody can write through this mount,
    # which only the daemon sees.
    script = ('mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && '
              'exec "$@"')
    return ["unshare", "--mount", "--propagation", "private", "sh", "-c",
            script, share.folder, *words]


class Shares:
    """The daemons of a guest's folders, until stop()."""

    def __init__(self, shares, memory):
        self.shares = shares
        self.memory = memory
        self.daemons = []
        self.temp = tempfile.TemporaryDirectory(prefix="mxgpu-share-")

    def start(self):
        run = subprocess.run([os.path.join(HERE, "virtiofsd")],
                             stdout=subprocess.PIPE, text=True, check=False)
        if run.returncode:
            raise PackError("there is no virtiofsd")
        if os.geteuid():
            raise PackError("--share: virtiofsd has to be run by root")
        for i, share in enumerate(self.shares):
            log = open(self.path(i) + ".log", "wb")
            self.daemons.append(subprocess.Popen(
                command(run.stdout.strip(), share, self.path(i)),
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                preexec_fn=die_with_parent))
            log.close()
        for i in range(len(self.shares)):
            self.wait(i)

    def path(self, i):
        return os.path.join(self.temp.name, tag(i))

    def wait(self, i):
        """Until it listens. It takes one connection, which must be QEMU's."""
        end = time.monotonic() + LIMIT
        while not self.listens(i):
            if self.daemons[i].poll() is not None or time.monotonic() > end:
                with open(self.path(i) + ".log", errors="replace") as f:
                    text = f.read().strip().split("\n")[-1]
                raise PackError(f"virtiofsd for {self.shares[i].folder}: "
                                f"{text or 'does not listen'}")
            time.sleep(0.01)

    def listens(self, i):
        with open("/proc/net/unix", errors="replace") as f:
            return any(line.split()[-1] == self.path(i) and
                       int(line.split()[3], 16) & ACCEPTS
                       for line in f if line.rstrip().endswith(self.path(i)))

    def qemu_words(self):
        """The daemons see the guest's memory: it is a file that is shared."""
        words = ["-object", "memory-backend-memfd,id=ram,share=on,"
                 f"size={self.memory}", "-machine", "memory-backend=ram"]
        for i in range(len(self.shares)):
            words += ["-chardev", f"socket,id={tag(i)},path={self.path(i)}",
                      "-device", f"vhost-user-fs-pci,chardev={tag(i)},"
                      f"tag={tag(i)}"]
        return words

    def settings(self):
        return "".join(s.settings(tag(i)) for i, s in enumerate(self.shares))

    def stop(self):
        for daemon in self.daemons:
            daemon.kill()
            daemon.wait()
        self.temp.cleanup()
