"""Ending the opening of files and pipes."""

import io
import os
import signal
import threading

import pytest

np = pytest.importorskip("numpy")
import zoetrope  # noqa: E402
from zoetrope import _library, _opened, _sources  # noqa: E402

import hostile  # noqa: E402
from signals import Sender, descriptors, eventually, threads  # noqa: E402


def test_opening_a_pipe_ends_with_ctrl_c_and_with_its_time(tmp_path, interrupt):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    timer, _ = interrupt
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        zoetrope.open(pipe)
    with pytest.raises(zoetrope.TimedOutError):
        zoetrope.open(pipe, timeout=0.05)
    # The library stops waiting for a writer, and closes it.
    eventually(lambda: descriptors(pipe) == 0)


@pytest.fixture(scope="module")
def slow_files(tmp_path_factory):
    """Files that take some hundred milliseconds to open."""
    folder = tmp_path_factory.mktemp("slow")
    # Its only frame is decoded while it opens.
    deep = hostile.noise(1)
    (folder / "cut").write_bytes(deep[:-2000])
    (folder / "interlaced").write_bytes(hostile.interlaced())
    # Blocks of one byte.
    head = hostile.gif(1, 1, [(0, 0, 1, 1, 1, b"\2")])[:-1]
    (folder / "long").write_bytes(head + b"\1\0" * (100 << 20))
    return folder


@pytest.mark.parametrize("name, way", [
    ("cut", "path"), ("cut", "bytes"), ("cut", "bytearray"), ("cut", "file"), ("long", "path"), ("long", "bytes"),
    ("interlaced", "path"), ("interlaced", "bytes")])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGALRM])
def test_opening_ends_with_a_signal(slow_files, monkeypatch, name, way, number):
    class Alarm(Exception):
        pass

    def handle(*_):
        raise Alarm

    statuses = []

    class Library:
        """The library, and what it returned last."""
        def __getattr__(self, name):
            function = getattr(_library.library, name)

            def call(*arguments):
                statuses.append(function(*arguments))
                return statuses[-1]

            return call if name.startswith("zoetrope_open") else function

    path = slow_files / name
    data = path.read_bytes() if way in ("bytes", "bytearray") else None
    data = bytearray(data) if way == "bytearray" else data
    monkeypatch.setattr(_opened, "_lib", Library())
    before = threads()
    old = signal.signal(signal.SIGALRM, handle)
    try:
        # It may come between two calls of the library.
        for _ in range(20):
            timer = Sender(number, 0.15)
            timer.start()
            with pytest.raises(Alarm if number == signal.SIGALRM else KeyboardInterrupt):
                while True:
                    if way == "file":
                        with open(path, "rb") as file:
                            zoetrope.open(file)
                    else:
                        zoetrope.open(path if way == "path" else data)
            timer.join()
            if statuses and statuses[-1] == _opened._CANCELLED:
                break
        else:
            pytest.fail(f"the library was not told: {statuses}")
    finally:
        signal.signal(signal.SIGALRM, old)
    eventually(lambda: descriptors(path) == 0 and threads() <= before + 4)


def test_a_handler_that_returns_does_not_end_opening(slow_files, delays):
    calls = []
    old = signal.signal(signal.SIGALRM, lambda *_: calls.append(1))
    signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
    try:
        assert len(zoetrope.open(slow_files / "cut")) == 1
        assert len(zoetrope.open((slow_files / "cut").read_bytes())) == 1
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    assert calls


@pytest.mark.parametrize("name", ["cut", "long"])
def test_opening_ends_with_its_time(slow_files, name):
    path = slow_files / name
    for source in path, path.read_bytes():
        with pytest.raises(zoetrope.TimedOutError):
            zoetrope.open(source, timeout=0.02)
    eventually(lambda: descriptors(path) == 0)


def test_opening_on_another_thread_waits_for_nobody(slow_files):
    lengths = []
    thread = threading.Thread(target=lambda: lengths.append(len(zoetrope.open(slow_files / "cut"))))
    thread.start()
    thread.join()
    assert lengths == [1]


@pytest.mark.parametrize("make", [
    bytearray, memoryview, lambda data: memoryview(bytes(len(data)) + data)[len(data):],
    lambda data: np.frombuffer(data, np.uint8), lambda data: np.repeat(np.frombuffer(data, np.uint8), 2)[::2],
    io.BytesIO])
def test_large_buffers_are_read_in_pieces(monkeypatch, fixtures, make):
    monkeypatch.setattr(_sources, "_PIECE", 1000)
    data = (fixtures / "Demo" / "bouncing-ball.gif").read_bytes()
    assert len(data) > 3000
    expected = zoetrope.open(data)
    animation = zoetrope.open(make(data))
    assert animation.byte_count == len(data)
    assert np.array_equal(animation.read(), expected.read())
