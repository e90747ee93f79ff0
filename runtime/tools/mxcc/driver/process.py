# SPDX-License-Identifier: MIT
"""The programs that mxcc runs, several at a time."""
import shlex
import subprocess
import sys
from threading import Lock

from driver.report import Failure


class Processes:
    PIPE = subprocess.PIPE

    def __init__(self, verbose, dry):
        self.verbose, self.dry = verbose, dry
        self.lock = Lock()
        self.alive = set()
        self.stopped = False

    def show(self, argv):
        if self.verbose:
            print(" ".join(shlex.quote(a) for a in argv), file=sys.stderr,
                  flush=True)

    def start(self, argv, **kwargs):
        # Under the lock: stop() misses none that is being started.
        with self.lock:
            if self.stopped:
                raise Failure()
            # pylint: disable=consider-using-with
            child = subprocess.Popen(argv, **kwargs)
            self.alive.add(child)
        return child

    def finish(self, child):
        with self.lock:
            self.alive.discard(child)
        return child.returncode

    def stop(self):
        """Ends what is running, and nothing is started any more."""
        with self.lock:
            self.stopped = True
            children = list(self.alive)
        for child in children:
            child.terminate()
        for child in children:
            child.wait()

    def run(self, argv):
        """Runs a program; its messages go to our stderr."""
        self.show(argv)
        if self.dry:
            return
        child = self.start(argv)
        child.wait()
        status = self.finish(child)
        if status:
            raise Failure("", 1 if status > 0 else 2)

    def capture(self, argv):
        """Runs a program; returns status and messages."""
        self.show(argv)
        if self.dry:
            return 0, ""
        return self.query(argv)

    def query(self, argv, **kwargs):
        """Likewise, unseen, and when dry too; kwargs: where stdout goes."""
        child = self.start(argv, stderr=subprocess.PIPE, encoding="utf-8",
                           errors="replace", **kwargs)
        text = child.communicate()
        return self.finish(child), (text[0] or "") + text[1]
