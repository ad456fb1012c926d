"""What a first user of the package tried: times, sources, errors, arguments, Ctrl-C and types."""

import array
import copy
import gzip
import io
import itertools
import json
import math
import mmap
import os
import pickle
import shutil
import signal
import subprocess
import sys
import threading
import time
import typing
import zipfile
from pathlib import Path

import numpy as np
import pytest

import zoetrope

HERE = Path(__file__).parent


# ---- Times


@pytest.mark.parametrize("delays", ["browser", "exact", "ffmpeg", "imageio"])
def test_every_frame_is_shown_at_its_own_time(fixtures, delays):
    tried = 0
    for path in sorted(p for p in fixtures.glob("*/*") if p.suffix in {".gif", ".png"}):
        try:
            animation = zoetrope.open(path, delays=delays)
        except zoetrope.ZoetropeError:
            continue
        with animation:
            infos = animation.frames
            sums = [0, *itertools.accumulate(info.duration_ns for info in infos)]
            assert [info.start_ns for info in infos] == sums[:-1]
            assert animation.duration == pytest.approx(sums[-1] / 1e9, rel=1e-15)
            assert math.fsum(animation.durations) == pytest.approx(animation.duration, rel=1e-12)
            now = 0.0
            for index, start in enumerate(animation.timestamps):
                if infos[index].duration_ns:
                    tried += 1
                    assert animation.index_at(start) == index, path
                    assert animation.index_at(now) == index, path
                now += animation.durations[index]
    assert tried > 500


def test_twelfths_of_a_second_add_up(fixtures):
    animation = zoetrope.open(fixtures / "Demo" / "spinner.png")
    assert [animation.index_at(t) for t in animation.timestamps] == list(range(len(animation)))
    assert animation.duration == 1.0


def test_large_times_map_back():
    from zoetrope._arguments import _nanoseconds, _seconds

    for start in [1, 3, 10**9 - 1, 2**53 - 1, 2**53 + 1, 2**60 + 7, 2**62 + 12345]:
        assert start <= _nanoseconds(_seconds(start)) <= start + (start >> 50)


def test_times_outside_the_plays(delays, fixtures):
    finite = zoetrope.open(delays)
    assert finite.plays is not None
    for seconds in [1e10, 1e300, math.inf, 10**400]:
        assert finite.index_at(seconds) == len(finite) - 1
    for seconds in [-1e-9, -5, -math.inf, -1e300]:
        assert finite.index_at(seconds) == 0
    endless = zoetrope.open(fixtures / "Demo" / "bouncing-ball.gif")
    assert endless.plays is None
    assert endless.index_at(10**13) == endless.index_at(10**13 % endless.duration)
    with pytest.raises(zoetrope.ParameterError, match="forever"):
        endless.index_at(math.inf)
    for wrong in ["1.5", b"1", None, [1]]:
        with pytest.raises(TypeError):
            finite.index_at(wrong)
    with pytest.raises(zoetrope.ParameterError, match="nan"):
        finite.at(math.nan)


# ---- File objects


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


# ---- Errors


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


# ---- Damage


def test_damage_of_a_frame_comes_with_it(fixtures):
    animation = zoetrope.open(fixtures / "Bad" / "gif-cut-in-frame-1.gif", damage="partial")
    every = animation.read()
    found = []
    for index in range(len(animation)):
        decoded = animation.decode(index)
        frame, damage = decoded.pixels, decoded.damage
        assert np.array_equal(frame, every[index])
        found += [] if damage is None else [damage]
    assert found and found == animation.check()[len(animation.damage):]
    damage = animation.decode(0, size=(8, 8), format="RGB").damage
    assert damage is None


def test_rows_tell_losses_and_harmless_deviations_apart(fixtures):
    lost = harmless = 0
    for path in sorted(p for p in fixtures.glob("*/*") if p.suffix in {".gif", ".png"}):
        data = path.read_bytes()
        try:
            with zoetrope.open(data, limits="strict") as animation:
                found = animation.check()
        except zoetrope.ZoetropeError:
            continue
        rows = list(zoetrope.frames({"path": path.name, "bytes": data}, size=(4, 4)))
        assert (any(row["damage"] for row in rows)) == any(not item.is_tolerated for item in found), path
        assert (any(row["tolerated"] for row in rows)) == any(
            item.is_tolerated for item in found), path
        lost += any(row["damage"] for row in rows)
        harmless += any(row["tolerated"] for row in rows)
    assert lost > 3 and harmless > 3


def test_tables_of_rows_can_be_read_again(fixtures, tmp_path):
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    import pyarrow.dataset
    import pyarrow.parquet

    schema = pyarrow.schema(zoetrope.FRAMES_SCHEMA)
    paths = [fixtures / "Demo" / "variable-delay.gif", fixtures / "Bad" / "apng-cut-in-frame-2.png",
             fixtures / "README.md"]
    rows = []
    for path in paths:
        # A block each: of intact frames, of damage, and of no frame at all.
        block = list(zoetrope.frames({"path": path.name, "bytes": path.read_bytes()}, size=(8, 8)))
        assert all(list(row) == schema.names for row in block)
        rows += block
        # As Ray's `map_batches` gets it and `write_parquet` writes it.
        table = pyarrow.Table.from_pylist(block).cast(schema)
        pyarrow.parquet.write_table(table, tmp_path / f"{path.name}.parquet")
    read = pyarrow.parquet.read_table(tmp_path)
    assert sorted(read.to_pylist(), key=str) == sorted(rows, key=str)
    assert pyarrow.dataset.dataset(tmp_path).to_table(columns=["path", "damage"]).num_rows == len(rows)


def test_facts_are_made_once(delays, fixtures):
    animation = zoetrope.open(delays)
    assert animation.durations is animation.durations and animation.timestamps is animation.timestamps
    bad = zoetrope.open(fixtures / "Bad" / "apng-cut-in-frame-2.png")
    assert bad.damage is bad.damage and bad.damage


@pytest.mark.parametrize("name", [
    "FrameInfo", "MetadataItem", "Frame", "Batch", "Written", "Damage", "StoreStatistics"])
def test_help_shows_every_field(name):
    kind = getattr(zoetrope, name)
    fields = getattr(kind, "_fields", None) or kind.__dataclass_fields__
    for field in fields:
        assert f":ivar {field}: " in kind.__doc__


def test_an_animation_contains_no_arrays(delays):
    animation = zoetrope.open(delays)
    with pytest.raises(TypeError, match="Animation"):
        animation[0] in animation


def test_rows_take_bytes_only(delays):
    for wrong in [str(delays), delays, None, open(os.devnull, "rb")]:
        with pytest.raises(TypeError, match="bytes"):
            zoetrope.frames({"bytes": wrong})
    assert len(list(zoetrope.frames({"bytes": memoryview(delays.read_bytes())}))) == 10
    with pytest.raises(zoetrope.ParameterError, match='row has no "bytes"'):
        zoetrope.frames({})
    for wrong in [None, b"GIF89a", 3]:
        with pytest.raises(TypeError, match=f"row must be a mapping.*not {type(wrong).__name__}"):
            zoetrope.frames(wrong)


# ---- Arguments


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda a: a.frame(0, size=64), "pair"), (lambda a: a.frame(0, size="64"), "pair"),
        (lambda a: a.frame(0, size=(64.0, 64)), "integer"), (lambda a: a.frame(0, out=[1]), "NumPy"),
        (lambda a: a.read(out=3), "NumPy"), (lambda a: a.frame(0, out="x" * 11904), "buffer"),
        (lambda a: zoetrope.open(b"", limits={"frame_count": 24.9}), "frame_count must be an int"),
        (lambda a: zoetrope.open(b"", limits={"frame_count": "30"}), "frame_count must be an int"),
        (lambda a: zoetrope.open(b"", limits=7), "limits must be a str or a mapping, not int"),
        (lambda a: copy.copy(a), "copied"), (lambda a: a.at(0, sise=(3, 3)), "sise"),
    ],
)
def test_wrong_types_are_type_errors_with_words(delays, call, words):
    with pytest.raises(TypeError, match=words):
        call(zoetrope.open(delays))


def test_a_size_is_refused_whatever_was_asked_for_before(delays):
    animation = zoetrope.open(delays)
    for call in [animation.frame, animation.png, animation.decode]:
        call(0, size=(32, 32))
        call(0, size=(np.int32(32), 32))
        for size in [(32.0, 32), (32, 32.0), (np.float32(32), None)]:
            with pytest.raises(TypeError, match="integer"):
                call(0, size=size)


@pytest.mark.parametrize(
    "call",
    [
        lambda a: a.frame(0, out=bytearray(9)), lambda a: a.frame(0, out=bytes(11904)),
        lambda a: a.read(out=bytearray(11904)), lambda a: a.frame(0, out=memoryview(bytearray(23808))[::2]),
        lambda a: a.frame(0, size=(0, 0)), lambda a: a.frame(0, size=(0, 4)), lambda a: a.png(0, size=(4, -1)),
        lambda a: a.frame(0, size=(10**30, 4)), lambda a: a.frame(0, size=(1, 2, 3)),
        lambda a: a.sample(10**30), lambda a: zoetrope.open(b"", threads=10**30),
        lambda a: zoetrope.open(b"", limits={"frame_count": 10**30}),
    ],
)
def test_numbers_out_of_range_are_value_errors(delays, call):
    with pytest.raises(zoetrope.ParameterError):
        call(zoetrope.open(delays))


def test_what_works_is_accepted(delays):
    animation = zoetrope.open(delays, limits=None)
    every = animation.read()
    assert np.array_equal(animation[np.int64(3)], every[3])
    for indices in [np.array([1, 2]), {1, 2}, (i for i in (1, 2)), range(1, 3)]:
        assert np.array_equal(animation.read(indices), every[1:3])
    assert animation.frame(0, size=[62, None]).shape == (12, 62, 4)
    assert animation.frame(0, size=(500, 500), no_enlarging=True).shape == (24, 124, 4)
    half = {"size": (50, 9), "filter": "lanczos", "fit": "stretch"}
    assert any(
        not np.array_equal(animation.frame(i, **half), animation.frame(i, linear_light=True, **half))
        for i in range(10))
    out = np.empty((3, 24, 124, 4), np.uint8)
    assert animation.sample(3, out=out) is out
    assert np.array_equal(out, every[animation.sample_indices(3)])


def test_buffers_are_filled_as_arrays_are(delays):
    animation = zoetrope.open(delays)
    with mmap.mmap(-1, 11904) as mapped:
        for out in [bytearray(11904), memoryview(bytearray(11904)), array.array("H", bytes(11904)), mapped]:
            for index in [3, 7]:
                assert animation.frame(index, out=out) is out
                assert bytes(memoryview(out).cast("B")) == animation[index].tobytes()
    out = bytearray(3 * 11904)
    assert animation.read([1, 2, 3], out=out) is out
    assert bytes(out) == animation.read([1, 2, 3]).tobytes()
    # Released again: it can be resized.
    out.clear()


def test_after_closing_only_what_was_known_is_known(delays):
    animation = zoetrope.open(delays)
    assert not animation.closed and len(animation.frames) == 10
    animation.close()
    assert animation.closed
    known = (len(animation), animation.size, animation.format, animation.plays, animation.byte_count)
    assert known[:3] == (10, (124, 24), "gif")
    calls = [
        lambda: animation.frames, lambda: animation.durations, lambda: animation.timestamps,
        lambda: animation.duration, lambda: animation.damage, lambda: animation.metadata,
        lambda: animation[0], lambda: animation[99], lambda: animation[0:0], lambda: animation.read([]),
        lambda: list(animation), lambda: animation.at(0), lambda: animation.png(0),
        lambda: animation.check(), lambda: animation.sample(2), lambda: animation.__enter__(),
        lambda: animation.decode(0),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="closed"):
            call()


# ---- Ctrl-C


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


# ---- The program, the library and types


def test_an_import_without_the_library_says_what_to_do(tmp_path):
    shutil.copytree(HERE.parent / "zoetrope", tmp_path / "zoetrope",
                    ignore=shutil.ignore_patterns("*.so*", "__pycache__"))
    environment = {k: v for k, v in os.environ.items() if k != "ZOETROPE_LIBRARY"}
    environment["PYTHONPATH"] = str(tmp_path)
    run = subprocess.run(
        [sys.executable, "-c", "import zoetrope"], env=environment, cwd=tmp_path, capture_output=True,
        text=True)
    assert run.returncode == 1 and "ImportError" in run.stderr and "make wheel" in run.stderr


def test_an_editable_wheel_leads_to_the_package(tmp_path, monkeypatch):
    library = Path(zoetrope._library.library._name)
    if not (library.parent / "glibc-floor").exists():
        pytest.skip("not the library of make lib")
    monkeypatch.setenv("ZOETROPE_LIBRARY_FOLDER", str(library.parent))
    monkeypatch.syspath_prepend(str(HERE.parent))
    import build_zoetrope

    name = build_zoetrope.build_editable(tmp_path)
    with zipfile.ZipFile(tmp_path / name) as wheel:
        assert wheel.read("zoetrope.pth").decode().strip() == str(HERE.parent)
        assert any(item.endswith("METADATA") for item in wheel.namelist())


def test_the_program_is_quiet_when_nobody_reads_on(delays):
    run = subprocess.run(
        f"set -o pipefail; '{sys.executable}' -m zoetrope info --json "
        + f"'{delays}' " * 1000 + " | head -n 1; exit $?",
        shell=True, executable="/bin/bash", capture_output=True, text=True)
    assert json.loads(run.stdout)["frames"] == 10
    assert run.stderr == ""


def is_open_in(process, path):
    folder = f"/proc/{process.pid}/fd"
    for entry in os.listdir(folder):
        try:
            if os.readlink(f"{folder}/{entry}") == str(path):
                return True
        except OSError:
            # Closed meanwhile.
            pass
    return False


def test_the_program_ends_quietly_with_ctrl_c(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    run = subprocess.Popen(
        [sys.executable, "-c", "import zoetrope.__main__ as m, sys; print(1, flush=True); sys.exit(m.run())",
         "info", str(pipe)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert run.stdout.readline() == "1\n"
    # It waits for a writer as soon as it has the pipe.
    end = time.monotonic() + 60
    while not is_open_in(run, pipe):
        assert time.monotonic() < end
        time.sleep(0.01)
    run.send_signal(signal.SIGINT)
    output, errors = run.communicate(timeout=60)
    assert (run.returncode, output, errors) == (130, "", "")


def test_hints_resolve():
    for function in [zoetrope.open, zoetrope.frames]:
        assert typing.get_type_hints(function)["return"]
    for name in ["__init__", "frame", "at", "read", "sample", "sample_indices", "png", "check",
                 "index_at", "decode", "png_with_damage", "__getitem__"]:
        assert "return" in typing.get_type_hints(getattr(zoetrope.Animation, name))
    for function in [
            zoetrope.Animation.convert, zoetrope.Animation.optimize, zoetrope.save, zoetrope.Writer.__init__,
            zoetrope.FrameStore.__init__, zoetrope.FrameStore.frames, zoetrope.StoredFrames.__getitem__]:
        assert "return" in typing.get_type_hints(function)
    for item in [zoetrope.FrameInfo, zoetrope.Damage, zoetrope.MetadataItem]:
        assert typing.get_type_hints(item)


def test_a_typed_client_passes_mypy():
    pytest.importorskip("mypy", reason="mypy is not installed")
    command = [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "--cache-dir", os.devnull]
    environment = {**os.environ, "MYPYPATH": str(HERE.parent)}
    run = subprocess.run(
        [*command, str(HERE / "typed_client.py")], env=environment, cwd=HERE, capture_output=True,
        text=True)
    # Lines marked as wrong must be: an ignore without an error is one.
    assert run.returncode == 0, run.stdout + run.stderr


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
