"""Signals that are sent after a while, and what a process has open."""

import os
import threading
import time


def until_it_ends(call, *arguments):
    """Repeat a call, which may be faster than thought, until it raises."""
    while True:
        call(*arguments)


class Sender(threading.Thread):
    """Sends a signal after a while, and again while nobody joins it: Python loses what is raised in a
    destructor."""

    def __init__(self, number, seconds):
        super().__init__()
        self.number, self.seconds, self.sent = number, seconds, []
        self.is_over = threading.Event()

    def run(self):
        wait = self.seconds
        while not self.is_over.wait(wait):
            self.sent.append(time.monotonic())
            os.kill(os.getpid(), self.number)
            wait = 10

    def join(self, timeout=None):
        self.is_over.set()
        super().join(timeout)


def eventually(condition):
    end = time.monotonic() + 60
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    assert condition()


def threads():
    return len(os.listdir("/proc/self/task"))


def descriptors(path):
    found = 0
    for entry in os.listdir("/proc/self/fd"):
        try:
            found += os.readlink(f"/proc/self/fd/{entry}") == str(path)
        except OSError:
            pass
    return found
