"""File objects, and the errors of reading."""

import copy
import gzip
import io
import math
import mmap
import os
import pickle
import shutil
import subprocess
import sys

import numpy as np
import pytest

import zoetrope


class Reads:
    """A file object whose ``read`` is a function."""

    def __init__(self, read):
        self._read = read
        self.asked = []

    def read(self, count):
        self.asked.append(count)
        return self._read(count)


def test_file_objects_are_read_to_their_end_in_pieces(delays):
    data = delays.read_bytes()
    expected = zoetrope.open(data)[7]
    for piece in [1, 7, 1000, len(data)]:
        source = io.BytesIO(data)
        reads = Reads(lambda n, source=source, piece=piece: source.read(min(n, piece)))
        assert np.array_equal(zoetrope.open(reads)[7], expected)
        assert all(0 < count <= 1 << 20 for count in reads.asked)
    packed = io.BytesIO(gzip.compress(data))
    assert np.array_equal(zoetrope.open(gzip.GzipFile(fileobj=packed))[7], expected)
    with open(delays, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        assert np.array_equal(zoetrope.open(mapped)[7], expected)
    assert np.array_equal(zoetrope.open(np.frombuffer(data, np.uint8))[7], expected)


def test_endless_file_objects_are_refused(delays):
    zeros = Reads(bytes)
    with pytest.raises(zoetrope.NotAnImageError):
        zoetrope.open(zeros)
    assert sum(zeros.asked) <= 13
    start = delays.read_bytes()
    pieces = [start[:13], start[13:]]
    endless = Reads(lambda count: pieces.pop(0) if pieces else bytes(count))
    with pytest.raises(zoetrope.LimitError, match="live_bytes"):
        zoetrope.open(endless, limits={"live_bytes": 3 << 20})
    assert sum(endless.asked) < 8 << 20


def test_file_objects_that_are_none_say_so(delays):
    with pytest.raises(BlockingIOError):
        zoetrope.open(Reads(lambda count: None))
    for wrong in [lambda count: "text", lambda count: 5]:
        with pytest.raises(TypeError, match="not binary"):
            zoetrope.open(Reads(wrong))
    data = delays.read_bytes()
    with pytest.raises(zoetrope.ReadError, match="returned"):
        zoetrope.open(Reads(lambda count: data))
    with pytest.raises(ZeroDivisionError):
        zoetrope.open(Reads(lambda count: 1 // 0))


def test_system_errors_are_the_usual_ones(tmp_path, delays):
    with pytest.raises(FileNotFoundError) as caught:
        zoetrope.open(tmp_path / "none.gif")
    error = caught.value
    assert isinstance(error, zoetrope.ReadError) and isinstance(error, zoetrope.ZoetropeError)
    assert (error.errno, error.filename) == (2, str(tmp_path / "none.gif"))
    assert error.strerror == error.message == os.strerror(2)
    assert str(error) == f"{tmp_path / 'none.gif'}: io: {os.strerror(2)}"
    assert error.args == (2, os.strerror(2))
    with pytest.raises(FileNotFoundError) as unnamed:
        zoetrope.open("")
    assert str(unnamed.value).startswith(": io: ")
    again = pickle.loads(pickle.dumps(error))
    assert isinstance(again, FileNotFoundError)
    assert (str(again), again.errno, again.path) == (str(error), 2, error.path)
    assert str(copy.copy(error)) == str(error)
    with pytest.raises(IsADirectoryError):
        zoetrope.open(tmp_path)
    with pytest.raises(NotADirectoryError):
        zoetrope.open(delays / "more")
    if os.geteuid():
        closed = tmp_path / "closed.gif"
        closed.write_bytes(b"")
        closed.chmod(0)
        with pytest.raises(PermissionError):
            zoetrope.open(closed)


def test_errors_can_be_printed_whatever_the_path(tmp_path):
    for name in [b"n\xff\xc3.gif", b"line\nbreak\x1b[31m.gif", "größe.gif".encode(), b"d" * 255]:
        path = os.path.join(str(tmp_path), os.fsdecode(name))
        with pytest.raises(FileNotFoundError) as caught:
            zoetrope.open(path)
        text = str(caught.value)
        text.encode("utf-8")
        assert "\n" not in text and "\x1b" not in text and os.strerror(2) in text
    text = tmp_path / os.fsdecode(b"n\xff.gif")
    text.write_bytes(b"this is no picture")
    with pytest.raises(zoetrope.NotAnImageError) as caught:
        zoetrope.open(text)
    assert "n\\xff.gif" in str(caught.value)


def test_messages_use_the_names_of_the_caller(delays):
    for limits, name in [({"frame_count": 2}, "frame_count"), ({"canvas_pixels": 9}, "canvas_pixels"),
                         ({"live_bytes": 1000}, "live_bytes")]:
        with pytest.raises(zoetrope.LimitError, match=name):
            zoetrope.open(delays, limits=limits)
    with pytest.raises(zoetrope.ParameterError, match="timeout is nan"):
        zoetrope.open(delays, timeout=math.nan)
    with pytest.raises(TypeError, match="timeout must be a number, not str"):
        zoetrope.open(delays, timeout="1")
    with pytest.raises(zoetrope.ParameterError, match="threads is -1"):
        zoetrope.open(delays, threads=-1)
    animation = zoetrope.open(delays)
    with pytest.raises(zoetrope.ParameterError, match="n is 0; it must be 1 to 16777216"):
        animation.sample(0)
    with pytest.raises(zoetrope.ParameterError, match="limits: frame_count is 0"):
        zoetrope.open(delays, limits={"frame_count": 0})


def test_a_file_cut_while_it_is_open_is_damaged(delays, tmp_path):
    path = tmp_path / "a.gif"
    shutil.copy(delays, path)
    with zoetrope.open(path, damage="strict") as animation:
        os.truncate(path, path.stat().st_size // 2)
        with pytest.raises(zoetrope.ZoetropeError) as caught:
            animation.read()
        assert caught.value.frame is not None
    shutil.copy(delays, path)
    with zoetrope.open(path) as animation:
        os.truncate(path, path.stat().st_size // 2)
        assert any(not item.is_tolerated for item in animation.check())


def test_a_mistake_of_the_caller_is_not_a_damaged_file(delays):
    with pytest.raises(zoetrope.ParameterError):
        list(zoetrope.frames({"path": "a", "bytes": delays.read_bytes()}, limits="bogus"))


NO_MEMORY = """
import resource, sys
import numpy, zoetrope
animation = zoetrope.open(sys.argv[1])
pages = int(open("/proc/self/statm").read().split()[0])
resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + (128 << 20),) * 2)
large = {"size": (8000, 8000), "fit": "stretch"}
for call in (lambda: animation.frame(0, **large), lambda: animation.decode(0, **large),
             lambda: animation.read(**large)):
    try:
        call()
    except MemoryError as error:
        print(type(error).__name__, error.code, error.path == sys.argv[1])
print(animation.frame(0).shape)
"""


def test_arrays_that_do_not_fit_raise_the_error_of_the_package(delays):
    run = subprocess.run(
        [sys.executable, "-c", NO_MEMORY, str(delays)], capture_output=True, text=True, timeout=100)
    assert run.stdout.splitlines() == ["OutOfMemoryError outOfMemory True"] * 3 + ["(24, 124, 4)"], run.stderr


def test_an_input_that_does_not_fit_raises_the_error_of_the_package(delays):
    def read(count):
        raise MemoryError

    with pytest.raises(zoetrope.OutOfMemoryError) as caught:
        zoetrope.open(Reads(read))
    assert isinstance(caught.value, MemoryError) and caught.value.code == "outOfMemory"


def test_no_memory_is_a_memory_error_and_no_limit():
    from zoetrope._errors import make_error
    from zoetrope import _library as c

    error = make_error(c.Error(code=13, frame=-1, byte_offset=-1, name=b"outOfMemory", message=b"none"))
    assert isinstance(error, zoetrope.OutOfMemoryError) and isinstance(error, MemoryError)
    assert not isinstance(error, zoetrope.LimitError) and error.code == "outOfMemory"
    assert "limits=" not in str(error)
