#!/usr/bin/env python3
"""How soon calls end: milliseconds from cancel(), the end of a timeout, or Ctrl-C to the exception.

    ZOETROPE_LIBRARY=.build-static/lib/dist/libzoetrope.so.1 PYTHONPATH=Python:Python/tests \\
      python3 Python/benchmarks/measure_stopping.py [TRIES]

The files are those of the tests of stopping: small ones that ask for everything the strict limits allow.
"""

import os
import signal
import statistics
import sys
import threading
import time

import numpy as np

import hostile
import test_stopping
import zoetrope

WAIT = 0.25


def by_cancel(file, name, out):
    animation = zoetrope.open(file, limits="strict")
    ended = []

    def cancel():
        ended.append(time.monotonic())
        animation.cancel()

    timer = threading.Timer(WAIT, cancel)
    timer.start()
    try:
        test_stopping.until_it_ends(test_stopping.CALLS[name], animation, out)
    except zoetrope.CancelledError:
        return time.monotonic() - ended[0]
    finally:
        timer.join()


def by_timeout(file, name, out):
    begun = time.monotonic()
    try:
        # Opening is a call of its own, which has as much time.
        animation = zoetrope.open(file, limits="strict", timeout=WAIT)
        begun = time.monotonic()
        test_stopping.CALLS[name](animation, out)
    except TimeoutError:
        return time.monotonic() - begun - WAIT
    # It was done before, or is many calls of which none took so long.
    return 0.0


def by_interrupt(file, name, out):
    animation = zoetrope.open(file, limits="strict")
    ended = []

    def interrupt():
        ended.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(WAIT, interrupt)
    timer.start()
    try:
        test_stopping.until_it_ends(test_stopping.CALLS[name], animation, out)
    except KeyboardInterrupt:
        return time.monotonic() - ended[0]
    finally:
        timer.join()


def main():
    tries = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    files = {
        "large": hostile.large_frames(250), "hidden": hostile.hidden(250), "deep": hostile.noise(30),
        "cut": hostile.large_frames(250, cut=True)}
    pairs = [
        ("large", "frame"), ("large", "png"), ("large", "read"), ("large", "distinct"),
        ("hidden", "check"), ("cut", "frame"), ("deep", "frame"), ("deep", "png")]
    out = np.zeros((64, 64, 4), np.uint8)
    worst = 0
    for file, name in pairs:
        for way in by_cancel, by_timeout, by_interrupt:
            times = [way(files[file], name, out) * 1000 for _ in range(tries)]
            worst = max(worst, max(times))
            print(
                f"{file} {name} {way.__name__[3:]}: median {statistics.median(times):.1f}"
                f" worst {max(times):.1f} ms", flush=True)
    print(f"worst of all: {worst:.1f} ms")


if __name__ == "__main__":
    main()
