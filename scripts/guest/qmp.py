# SPDX-License-Identifier: MIT
"""QEMU's monitor protocol, as much of it as guests ask for."""

import json
import time

STEP_LIMIT = 600  # seconds that QEMU may take for an answer, or for a job


class QmpError(Exception):
    pass


class Qmp:
    """The monitor of one QEMU; events are of no interest."""

    def __init__(self, sock):
        sock.settimeout(STEP_LIMIT)
        self.sock = sock
        self.lines = sock.makefile("r", encoding="utf-8")
        self._read("QMP")
        self.call("qmp_capabilities")

    def _read(self, *keys):
        while True:
            line = self.lines.readline()
            if not line:
                raise QmpError("QEMU ended")
            answer = json.loads(line)
            if any(key in answer for key in keys):
                return answer

    def call(self, command, **arguments):
        request = {"execute": command, "arguments": arguments}
        self.sock.sendall(json.dumps(request).encode() + b"\n")
        answer = self._read("return", "error")
        if "error" in answer:
            raise QmpError(f"{command}: {answer['error']['desc']}")
        return answer["return"]

    def close(self):
        self.lines.close()
        self.sock.close()

    def job(self, command, **arguments):
        """Runs a job to its end."""
        self.call(command, **{"job-id": "it"}, **arguments)
        deadline = time.monotonic() + STEP_LIMIT
        while time.monotonic() < deadline:
            state = self.call("query-jobs")[0]
            if state["status"] == "concluded":
                self.call("job-dismiss", id="it")
                if "error" in state:
                    raise QmpError(f"{command}: {state['error']}")
                return
            time.sleep(0.01)
        raise QmpError(f"{command} does not end")
