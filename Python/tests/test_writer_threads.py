"""Writers that several threads use, and writers and calls that are cancelled or interrupted."""

import io
import os
import subprocess
import sys
import threading

import pytest

np = pytest.importorskip("numpy")
import zoetrope  # noqa: E402

from films import film  # noqa: E402


def test_several_threads_may_append():
    file = io.BytesIO()
    with zoetrope.Writer(file, format="gif", keep_identical=True) as writer:
        threads = [
            threading.Thread(target=lambda: [writer.append(frame, 0.1) for frame in film(10)]) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(zoetrope.open(file.getvalue())) == 40


def test_cancelling_a_writer():
    writer = zoetrope.Writer(io.BytesIO())
    writer.append(film(1)[0], 1)
    thread = threading.Thread(target=writer.cancel)
    thread.start()
    thread.join()
    for call in (lambda: writer.append(film(1)[0], 1), writer.finish):
        with pytest.raises(zoetrope.CancelledError):
            call()
    with pytest.raises(ValueError):
        writer.append(film(1)[0], 1)


def test_ctrl_c_ends_writing(tmp_path):
    program = f"""
import signal, threading, numpy as np, zoetrope, os
noise = np.random.default_rng(1).integers(0, 255, (1500, 1500, 4), np.uint8)
def endless():
    first = True
    while True:
        yield noise
        if first:
            first = False
            threading.Timer(0, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        noise[0, 0] += 1
try:
    zoetrope.save({str(tmp_path / "a.png")!r}, endless(), fps=10, effort="small")
except KeyboardInterrupt:
    print("interrupted")
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=600)
    assert result.stdout == "interrupted\n", result.stderr
    assert os.listdir(tmp_path) == []


def test_writers_cannot_be_copied():
    import copy

    with pytest.raises(TypeError):
        copy.copy(zoetrope.Writer(io.BytesIO()))


def test_a_call_that_left_something_behind_is_not_repeated(delays):
    animation = zoetrope.open(delays)
    calls = []

    def cancelled(_, error):
        calls.append(None)
        error.code = 9
        return 9 if len(calls) < 3 else 0

    animation._decode(cancelled)
    assert len(calls) == 3
    calls.clear()
    with pytest.raises(zoetrope.CancelledError):
        animation._decode(cancelled, is_repeatable=False)
    assert len(calls) == 1 and not animation._calls


def test_a_call_that_waits_for_another_can_be_interrupted(delays, monkeypatch):
    from zoetrope import _opened

    animation = zoetrope.open(delays)
    interruptible = []
    original = _opened._interruptible
    monkeypatch.setattr(
        _opened, "_interruptible", lambda *arguments: (interruptible.append(None), original(*arguments))[1])
    expected = animation.frame(1)
    assert not interruptible
    # As if another thread were decoding.
    animation._calls.append(None)
    assert (animation.frame(1) == expected).all()
    assert len(interruptible) == 1


def test_a_call_of_a_writer_that_waits_for_another_can_be_interrupted(monkeypatch):
    from zoetrope import _writing

    writer = zoetrope.Writer(io.BytesIO())
    interruptible = []
    original = _writing._interruptible
    monkeypatch.setattr(
        _writing, "_interruptible", lambda *arguments: (interruptible.append(None), original(*arguments))[1])
    writer.append(film(1)[0], 1)
    assert not interruptible
    # As if another thread were appending.
    writer._calls.append(None)
    writer.append(film(2)[1], 1)
    assert len(interruptible) == 1 and writer.frame_count == 2 and writer._calls == [None]


@pytest.mark.parametrize("has_begun", [False, True])
def test_an_interrupted_writer_is_cancelled(monkeypatch, has_begun):
    from zoetrope import _writing

    def interrupted(work, stop):
        if has_begun:
            assert work() == 0
        raise KeyboardInterrupt

    file = io.BytesIO()
    writer = zoetrope.Writer(file)
    writer.append(film(1)[0], 1)
    monkeypatch.setattr(_writing, "_LONG_PICTURE", 1)
    with monkeypatch.context() as patch:
        patch.setattr(_writing, "_interruptible", interrupted)
        with pytest.raises(KeyboardInterrupt):
            writer.append(film(2)[1], 1)
    for call in (lambda: writer.append(film(1)[0], 1), writer.finish):
        with pytest.raises(zoetrope.CancelledError):
            call()
    assert not writer._calls and file.getvalue() == b""
