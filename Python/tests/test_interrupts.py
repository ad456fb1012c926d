"""Calls that Ctrl-C ends."""

import os
import signal
import threading
import time

import numpy as np
import pytest

import zoetrope


@pytest.mark.parametrize("what", ["read", "distinct"])
def test_ctrl_c_ends_long_calls(fixtures, what):
    animation = zoetrope.open(fixtures / "Demo" / "bouncing-ball.gif")
    out = np.empty((len(animation), 1500, 2000), np.uint8) if what == "read" else None
    # As if the canvas were large.
    animation._area = 1 << 30

    def work():
        while True:
            if what == "read":
                animation.read(size=(2000, 2000), format="L", filter="lanczos", out=out)
            else:
                animation.sample_indices(5, by="distinct")

    sent = []

    def interrupt():
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.3, interrupt)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        work()
    timer.join()
    assert animation[3].shape == (120, 160, 4)


def test_ctrl_c_ends_no_call_of_another_thread(fixtures):
    animation = zoetrope.open(fixtures / "Demo" / "bouncing-ball.gif")
    animation._area = 1 << 30
    small = {"size": (16, 12)}
    expected = animation.read(**small)
    indices = animation.sample_indices(5, by="distinct")
    counts, errors = [0, 0, 0, 0], []
    is_over = threading.Event()

    def check(place, call):
        try:
            while not is_over.is_set():
                assert call()
                counts[place] += 1
        except BaseException as error:
            errors.append(error)

    calls = [
        lambda: np.array_equal(animation.read(**small), expected),
        lambda: animation.sample_indices(5, by="distinct") == indices,
        lambda: np.array_equal(animation.frame(7, **small), expected[7]),
        lambda: not animation.check(),
    ]
    threads = [threading.Thread(target=check, args=pair) for pair in enumerate(calls)]
    out = np.empty((len(animation), 500, 500), np.uint8)
    for thread in threads:
        thread.start()
    try:
        for _ in range(5):
            timer = threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT))
            timer.start()
            with pytest.raises(KeyboardInterrupt):
                while True:
                    animation.read(size=(500, 500), format="L", fit="stretch", filter="lanczos", out=out)
            timer.join()
    finally:
        is_over.set()
        for thread in threads:
            thread.join()
    assert not errors and all(counts), (errors, counts)


def test_no_thread_writes_into_memory_that_was_given_back(fixtures, monkeypatch):
    animation = zoetrope.open(fixtures / "Demo" / "bouncing-ball.gif")
    animation._area = 1 << 30
    read_frames = zoetrope._library.library.zoetrope_read_frames
    inside = 0

    def counted(*arguments):
        nonlocal inside
        inside += 1
        try:
            return read_frames(*arguments)
        finally:
            inside -= 1

    monkeypatch.setattr(zoetrope._library.library, "zoetrope_read_frames", counted)

    def handler(_, frame):
        while frame is not None and frame.f_code.co_name != "_interruptible":
            frame = frame.f_back
        if frame is not None:
            raise TimeoutError

    before = signal.signal(signal.SIGALRM, handler)
    try:
        for _ in range(5):
            out = bytearray(4 * 2000 * 2000)
            is_resized = False
            # Signals one after another: a second one comes while the first ends the call.
            signal.setitimer(signal.ITIMER_REAL, 0.02, 0.002)
            try:
                while True:
                    animation.read(
                        range(4), size=(2000, 2000), format="L", fit="stretch", filter="lanczos", out=out)
            except TimeoutError:
                signal.setitimer(signal.ITIMER_REAL, 0)
            try:
                out.append(0)
                is_resized = True
            except BufferError:
                pass
            # No call of another thread is in the library.
            assert not is_resized or inside == 0
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
