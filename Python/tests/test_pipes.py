"""Destinations that wait for a reader."""

import io
import os
import subprocess
import sys
import threading

import pytest

np = pytest.importorskip("numpy")
import zoetrope  # noqa: E402
from zoetrope import _destinations  # noqa: E402


#: Writes to a pipe until one signal comes, and tells how it ended.
TO_A_PIPE = """
import io, os, signal, sys, threading, time
import numpy as np, zoetrope
path, way = sys.argv[1:]
pictures = np.random.default_rng(1).integers(0, 255, (60, 50, 50, 3), np.uint8)
file = io.BytesIO()
zoetrope.save(file, pictures, fps=5, effort="fast")
animation = zoetrope.open(file.getvalue())
has_begun = threading.Event()

def interrupt():
    # One signal, whether the call waits by then or has yet to begin.
    has_begun.wait()
    time.sleep(0.5)
    os.kill(os.getpid(), signal.SIGINT)

def write():
    if way == "save":
        zoetrope.save(path, pictures, fps=5)
    elif way == "budget":
        zoetrope.save(path, pictures, fps=5, max_bytes=1 << 30)
    elif way == "append":
        with zoetrope.Writer(path) as writer:
            try:
                for picture in pictures:
                    writer.append(picture, 1)
                writer.finish()
            except KeyboardInterrupt:
                try:
                    writer.append(pictures[0], 1)
                except (ValueError, zoetrope.CancelledError):
                    raise KeyboardInterrupt from None
    elif way == "convert":
        animation.convert(path)
    else:
        animation.optimize(path)

threading.Thread(target=interrupt, daemon=True).start()
try:
    has_begun.set()
    write()
except KeyboardInterrupt:
    # The animation can still be used.
    animation[3]
    print("interrupted")
"""


@pytest.mark.parametrize("way", ["save", "budget", "append", "convert", "optimize"])
@pytest.mark.parametrize("has_reader", [False, True])
def test_ctrl_c_ends_writing_to_a_pipe_that_nobody_reads(tmp_path, way, has_reader):
    pipe = tmp_path / "a.png"
    os.mkfifo(pipe)
    # A reader that reads nothing: the pipe gets full.
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK) if has_reader else None
    try:
        run = subprocess.run(
            [sys.executable, "-c", TO_A_PIPE, str(pipe), way], capture_output=True, text=True, timeout=300)
        assert (run.returncode, run.stdout) == (0, "interrupted\n"), run.stderr
    finally:
        if reader is not None:
            os.close(reader)


@pytest.mark.parametrize("has_reader", [False, True])
def test_a_timeout_ends_writing_to_a_pipe_that_nobody_reads(tmp_path, has_reader):
    pipe = tmp_path / "a.png"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK) if has_reader else None
    pictures = np.random.default_rng(1).integers(0, 255, (60, 50, 50, 3), np.uint8)
    file = io.BytesIO()
    zoetrope.save(file, pictures, fps=5, effort="fast")
    try:
        with zoetrope.open(file.getvalue(), timeout=2) as animation, pytest.raises(zoetrope.TimedOutError):
            animation.convert(pipe)
    finally:
        if reader is not None:
            os.close(reader)


@pytest.mark.parametrize("kind", ["pipe", "missing", "regular", "link", "device", "file object"])
def test_what_may_block_is_what_is_not_a_regular_file(tmp_path, kind):
    path = tmp_path / "a.gif"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind in ("regular", "link"):
        (tmp_path / "b.gif").touch()
        path.symlink_to("b.gif")
        path = path if kind == "link" else tmp_path / "b.gif"
    destination = {"device": "/dev/null", "file object": io.BytesIO()}.get(kind, path)
    assert _destinations._Sink(destination).may_block == (kind in ("pipe", "device"))


def test_a_pipe_with_a_reader_gets_the_whole_file(tmp_path):
    pipe, received = tmp_path / "a.gif", []
    os.mkfifo(pipe)
    pictures = np.random.default_rng(1).integers(0, 255, (60, 50, 50, 3), np.uint8)
    thread = threading.Thread(target=lambda: received.append(pipe.read_bytes()))
    thread.start()
    told = zoetrope.save(pipe, pictures, fps=5)
    thread.join()
    assert told.byte_count == len(received[0]) and len(zoetrope.open(received[0])) == 60
