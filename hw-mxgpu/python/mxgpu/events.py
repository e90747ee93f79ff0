# SPDX-License-Identifier: MIT
"""Events to wait for: event.wait() in plain code, await event in coroutines."""
import asyncio
import select
import time

LIMIT = 60 # seconds; ends a test that hangs, and measures nothing
TICK = 0.0005


class Timeout(Exception):
    """An event did not come in time. The text says what the device did."""


class Event:
    """check() is called until it returns something else than None, whenever a
    vector was raised, and now and then. It may raise."""

    def __init__(self, gpu, check, what, vector=None):
        self.gpu, self._check, self.what = gpu, check, what
        self.vector = vector

    def check(self):
        return self._check()

    def _late(self, limit):
        return Timeout(f"no {self.what} within {limit} s\n{self.gpu.status()}")

    def wait(self, timeout=LIMIT):
        end = time.monotonic() + timeout
        while True:
            value = self.check()
            if value is not None:
                return value
            if time.monotonic() > end:
                raise self._late(timeout)
            self.gpu.relax(self.vector)

    async def _wait(self, timeout):
        end = time.monotonic() + timeout
        while True:
            value = self.check()
            if value is not None:
                return value
            if time.monotonic() > end:
                raise self._late(timeout)
            await self.gpu.relax_async(self.vector)

    def __await__(self):
        return self._wait(LIMIT).__await__()

    def within(self, timeout):
        """await event.within(seconds)"""
        return self._wait(timeout)


class Vector:
    """Interrupts of a vector, counted. Who waits for one takes all that came
    since the last was taken; others can look without taking."""

    def __init__(self, host, number):
        self.host, self.number = host, number
        self.total = self.taken = 0
        self._waiters = set()
        self._loop = None

    def drain(self):
        self.total += self.host.interrupts(self.number)

    def take(self):
        self.drain()
        count, self.taken = self.total - self.taken, self.total
        return count or None

    def sleep(self):
        """Until an interrupt, or for a moment."""
        fd = self.host.irq_fd(self.number)
        if fd is None:
            self.host.tick()
            time.sleep(TICK)
        else:
            poll = select.poll()
            poll.register(fd, select.POLLIN)
            poll.poll(20)
        self.drain()

    async def sleep_async(self):
        fd = self.host.irq_fd(self.number)
        if fd is None:
            self.host.tick()
            await asyncio.sleep(TICK)
            self.drain()
            return
        loop = asyncio.get_running_loop()
        future = loop.create_future()
        if not self._waiters:
            loop.add_reader(fd, self._readable)
        self._waiters.add(future)
        try:
            await asyncio.wait([future], timeout=0.02)
        finally:
            self._waiters.discard(future)
            if not self._waiters:
                loop.remove_reader(fd)

    def _readable(self):
        self.drain()
        for future in self._waiters:
            if not future.done():
                future.set_result(None)


async def first(*events):
    """The event that comes first, and its value; the others are left alone."""
    tasks = {asyncio.ensure_future(e._wait(LIMIT)): e for e in events}
    try:
        done, _ = await asyncio.wait(tasks,
                                     return_when=asyncio.FIRST_COMPLETED)
        task = next(t for t in tasks if t in done)
        return tasks[task], task.result()
    finally:
        for task in tasks:
            task.cancel()


async def every(*events):
    """The values of all events, when the last has come."""
    return await asyncio.gather(*(e._wait(LIMIT) for e in events))
