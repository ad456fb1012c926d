"""What the package promises, on the project's own fixtures."""

import io
import json
import os
import pickle
import random
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import zoetrope
from zoetrope.__main__ import main


def test_facts_are_those_of_the_file(delays):
    with zoetrope.open(delays) as animation:
        assert animation.format == "gif"
        assert animation.size == (124, 24)
        assert len(animation) == 10
        assert animation.path == str(delays)
        assert len(animation.durations) == len(animation.timestamps) == 10
        assert animation.timestamps[0] == 0
        assert animation.duration == pytest.approx(sum(animation.durations))
        assert animation.durations[0] == pytest.approx(0.02)
        assert animation.frames[0].delay == (2, 100)
        assert animation.damage == ()
        assert "10 frames" in repr(animation)


def test_paths_bytes_and_file_objects_give_the_same_frames(delays):
    data = delays.read_bytes()
    with open(delays, "rb") as file:
        sources = [str(delays), delays, data, bytearray(data), memoryview(data), io.BytesIO(data), file]
        pictures = [zoetrope.open(source)[3] for source in sources]
    for picture in pictures[1:]:
        assert np.array_equal(picture, pictures[0])


def test_frames_are_the_same_by_every_way_to_them(delays):
    animation = zoetrope.open(delays)
    every = animation.read()
    assert every.shape == (10, 24, 124, 4) and every.dtype == np.uint8
    for index, frame in enumerate(animation):
        assert np.array_equal(frame, every[index])
    order = list(range(10)) * 3
    random.Random(1).shuffle(order)
    for index in order:
        assert np.array_equal(animation[index], every[index])
    assert np.array_equal(animation[-1], every[9])
    assert np.array_equal(animation[2:8:3], every[2:8:3])
    assert np.array_equal(animation[::-1], every[::-1])
    assert animation[5:5].shape == (0, 24, 124, 4)
    assert np.array_equal(animation.read([7, 7, 0]), every[[7, 7, 0]])
    for index, start in enumerate(animation.timestamps):
        assert animation.index_at(start) == index
        assert np.array_equal(animation.at(start), every[index])
    assert np.array_equal(animation.at(1e9), every[9])
    assert np.array_equal(animation.at(-1), every[0])


def test_an_array_of_the_caller_is_filled(delays):
    animation = zoetrope.open(delays)
    out = np.zeros((24, 124, 4), np.uint8)
    assert animation.frame(4, out=out) is out
    assert np.array_equal(out, animation[4])
    wrong = [
        np.zeros((24, 124, 3), np.uint8), np.zeros((24, 124, 4), np.int16),
        np.zeros((24, 248, 4), np.uint8)[:, ::2],
    ]
    frozen = np.zeros((24, 124, 4), np.uint8)
    frozen.flags.writeable = False
    for array in [*wrong, frozen]:
        with pytest.raises(zoetrope.ParameterError):
            animation.frame(0, out=array)


def test_samples_have_one_shape(delays):
    animation = zoetrope.open(delays)
    for by in ["time", "index"]:
        batch = animation.sample(8, by=by, size=(64, 48), fit="fill", format="RGB")
        assert batch.shape == (8, 48, 64, 3)
        indices = animation.sample_indices(8, by=by)
        assert indices == sorted(indices)
        for place, index in enumerate(indices):
            frame = animation.frame(index, size=(64, 48), fit="fill", format="RGB")
            assert np.array_equal(batch[place], frame)
    # The middle of every part of the play.
    duration = animation.duration
    assert animation.sample_indices(8) == [
        animation.index_at(duration * (2 * part + 1) / 16) for part in range(8)
    ]
    distinct = animation.sample_indices(4, by="distinct")
    assert len(distinct) == len(set(distinct)) == 4
    assert zoetrope.open(delays).sample(25, by="index").shape[0] == 25


def test_formats_agree_with_each_other(fixtures):
    animation = zoetrope.open(fixtures / "APNG" / "blend-over-alpha.png")
    rgba = animation[1].astype(int)
    alpha = rgba[..., 3:]
    rgb = animation.frame(1, format="RGB")
    # Blended over black, rounded to nearest.
    assert np.array_equal(rgb, (2 * rgba[..., :3] * alpha + 255) // 510)
    assert np.array_equal(animation.frame(1, format="RGBX")[..., :3], rgb)
    assert np.array_equal(animation.frame(1, format="BGRA")[..., [2, 1, 0, 3]], rgba)
    assert animation.frame(1, format="L").shape == rgba.shape[:2]
    assert animation.frame(1, format="RGBa")[..., 3].tolist() == rgba[..., 3].tolist()
    deep = zoetrope.open(fixtures / "APNG" / "type-rgb-16.png", deep=True)
    assert deep.frame(0, format="RGBA16").dtype == np.uint16
    # More than 8 bits.
    assert np.any(deep.frame(0, format="RGBA16") % 257)


def test_boxes_keep_the_aspect_unless_told_otherwise(delays):
    animation = zoetrope.open(delays)
    assert animation.frame(0, size=(62, 62)).shape == (12, 62, 4)
    assert animation.frame(0, size=(62, 62), fit="stretch").shape == (62, 62, 4)
    assert animation.frame(0, size=(62, None)).shape == (12, 62, 4)
    assert animation.frame(0, size=(None, 48)).shape == (48, 248, 4)


def test_errors_carry_their_place(fixtures, tmp_path):
    with pytest.raises(zoetrope.ReadError) as caught:
        zoetrope.open(tmp_path / "none.gif")
    assert isinstance(caught.value, OSError) and caught.value.path.endswith("none.gif")
    assert caught.value.code == "io"
    with pytest.raises(zoetrope.NotAnImageError) as caught:
        zoetrope.open(b"this is no picture")
    assert caught.value.byte_offset == 0 and caught.value.frame is None
    assert str(caught.value).startswith("notAnImage: ")
    with pytest.raises(zoetrope.MalformedError):
        zoetrope.open(b"")
    cut = fixtures / "Bad" / "apng-cut-in-frame-2.png"
    with pytest.raises(zoetrope.MalformedError) as caught:
        zoetrope.open(cut, damage="strict").read()
    assert caught.value.byte_offset > 0 and caught.value.path == str(cut)
    with pytest.raises(zoetrope.LimitError) as caught:
        zoetrope.open(fixtures / "Demo" / "variable-delay.gif", limits={"frame_count": 3})
    error = caught.value
    assert "3" in error.message and error.found == 4 and error.allowed == 3
    again = pickle.loads(pickle.dumps(error))
    assert (again.found, again.allowed, str(again)) == (4, 3, str(error))


@pytest.mark.parametrize(
    "call",
    [
        lambda a: a.frame(0, size=(-1, 5)), lambda a: a.frame(0, size=(1 << 40, 5)),
        lambda a: a.frame(0, size=(70000, 5)), lambda a: a.frame(0, fit="squeeze"),
        lambda a: a.frame(0, filter="magic"), lambda a: a.frame(0, format="CMYK"),
        lambda a: a.sample(0), lambda a: a.sample(-3), lambda a: a.sample(1 << 30),
        lambda a: a.sample(3, by="luck"), lambda a: a.at(float("nan")),
        lambda a: zoetrope.open(b"", limits="some"), lambda a: zoetrope.open(b"", limits={"speed": 3}),
        lambda a: zoetrope.open(b"", limits={"frame_count": -1}), lambda a: zoetrope.open("a\0b"),
        lambda a: zoetrope.open(b"", damage="ignore"), lambda a: zoetrope.open(b"", threads=-1),
    ],
)
def test_bad_arguments_are_errors(delays, call):
    with pytest.raises(ValueError):
        call(zoetrope.open(delays))


def test_a_single_frame_is_not_called_several(delays):
    still = io.BytesIO()
    zoetrope.open(delays).convert(still, frames=[0], format="gif")
    with pytest.raises(IndexError, match="frame 1 does not exist; there is 1 frame$"):
        zoetrope.open(still.getvalue())[1]
    with pytest.raises(IndexError, match="frame 10 does not exist; there are 10 frames$"):
        zoetrope.open(delays)[10]


def test_bad_types_are_type_errors(delays):
    animation = zoetrope.open(delays)
    for source in [3, None, io.StringIO("text"), object()]:
        with pytest.raises(TypeError):
            zoetrope.open(source)
    for index in ["0", 1.5, None]:
        with pytest.raises((TypeError, AttributeError)):
            animation[index]
    with pytest.raises(IndexError):
        animation[10]
    with pytest.raises(IndexError):
        animation[-11]
    with pytest.raises(TypeError):
        import pickle

        pickle.dumps(animation)


def test_a_closed_animation_says_so(delays):
    animation = zoetrope.open(delays)
    animation.close()
    animation.close()
    with pytest.raises(ValueError):
        animation[0]
    with pytest.raises(ValueError):
        animation.metadata
    # What was known stays known.
    assert len(animation) == 10


def test_metadata_and_damage_are_listed(fixtures):
    animation = zoetrope.open(fixtures / "APNG" / "metadata.png")
    assert {item.kind for item in animation.metadata} >= {"text"}
    assert animation.metadata is animation.metadata
    bad = zoetrope.open(fixtures / "Bad" / "apng-cut-in-frame-2.png")
    assert bad.damage and all(item.byte_offset >= 0 for item in bad.damage)
    assert tuple(bad.check()[: len(bad.damage)]) == bad.damage


def test_a_png_holds_the_frame(delays):
    animation = zoetrope.open(delays)
    again = zoetrope.open(animation.png(3))
    assert np.array_equal(again[0], animation[3])
    assert animation.png(3) == zoetrope.open(delays).png(3)
    assert zoetrope.open(animation.png(3, size=(31, 6))).size == (31, 6)


def test_one_animation_serves_several_threads(delays):
    animation = zoetrope.open(delays)
    expected = animation.read()

    def work(seed):
        order = random.Random(seed)
        for _ in range(200):
            index = order.randrange(10)
            if order.random() < 0.8:
                assert np.array_equal(animation[index], expected[index])
            else:
                assert np.array_equal(animation.read([index, 0]), expected[[index, 0]])
        return True

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(8)))


def test_closing_waits_for_calls_of_other_threads(delays):
    for _ in range(50):
        animation = zoetrope.open(delays)
        started = threading.Event()
        outcomes = []

        def work():
            started.set()
            try:
                while True:
                    animation.read()
            except ValueError:
                outcomes.append("closed")

        thread = threading.Thread(target=work)
        thread.start()
        started.wait()
        animation.close()
        thread.join()
        assert outcomes == ["closed"]


def test_calls_release_the_gil(delays, tmp_path):
    # Opening a pipe waits for the thread that writes it, which needs the GIL.
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    def write():
        with open(pipe, "wb") as file:
            data = delays.read_bytes()
            for start in range(0, len(data), 100):
                file.write(data[start:start + 100])
                file.flush()

    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    assert np.array_equal(zoetrope.open(pipe)[3], zoetrope.open(delays)[3])
    thread.join()


def test_a_forked_child_gets_an_error_and_does_not_hang(delays):
    zoetrope.open(delays).close()
    child = os.fork()
    if child == 0:
        try:
            zoetrope.open(delays)
        except zoetrope.ForkedError as error:
            os._exit(7 if "use spawn or forkserver" in str(error) else 1)
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    assert os.WEXITSTATUS(status) == 7


def test_rows_tell_damage_and_never_raise(fixtures):
    good = (fixtures / "Demo" / "variable-delay.gif").read_bytes()
    rows = list(zoetrope.frames({"path": "a.gif", "bytes": good}))
    assert [row["index"] for row in rows] == list(range(10))
    assert rows[1]["start_ms"] == pytest.approx(20) and rows[0]["damage"] is None
    assert np.array_equal(zoetrope.open(rows[4]["frame"])[0], zoetrope.open(good)[4])
    rows = list(zoetrope.frames({"path": "b", "bytes": b"nothing"}))
    assert len(rows) == 1 and rows[0]["frame"] is None and rows[0]["damage"].startswith("notAnImage")
    told = 0
    for path in sorted((fixtures / "Bad").iterdir()):
        rows = list(zoetrope.frames({"path": path.name, "bytes": path.read_bytes()}))
        assert rows
        told += any(row["damage"] for row in rows)
    assert told > 10


def test_rows_end_with_an_error_if_memory_is_short(delays, monkeypatch):
    # An engine then repeats the task; a row would look like a damaged file.
    def fail(*_, **__):
        raise zoetrope.OutOfMemoryError("outOfMemory", "no memory")

    data = delays.read_bytes()
    rows = zoetrope.frames({"bytes": data})
    assert next(rows)["index"] == 0
    monkeypatch.setattr(zoetrope.Animation, "png_with_damage", fail)
    with pytest.raises(zoetrope.OutOfMemoryError):
        next(rows)
    monkeypatch.setattr(zoetrope._jobs, "open", fail)
    with pytest.raises(zoetrope.OutOfMemoryError):
        next(zoetrope.frames({"bytes": data}))


def test_mutated_files_never_crash(fixtures):
    seeds = [p.read_bytes() for p in sorted((fixtures / "GIF").glob("*.gif"))[:20]]
    seeds += [p.read_bytes() for p in sorted((fixtures / "APNG").glob("*.png"))[:20]]
    order = random.Random(7)
    outcomes = set()
    for _ in range(1500):
        data = bytearray(order.choice(seeds))
        for _ in range(order.randrange(1, 4)):
            data[order.randrange(len(data))] = order.randrange(256)
        if order.random() < 0.3:
            del data[order.randrange(len(data)):]
        try:
            animation = zoetrope.open(bytes(data), limits="strict")
            animation.sample(3, size=(16, 16))
            outcomes.add("decoded")
        except zoetrope.ZoetropeError as error:
            assert error.code and error.message
            outcomes.add(error.code)
    assert {"decoded", "malformed"} <= outcomes


def test_the_program_reports_files(delays, fixtures, capsys):
    assert main(["info", str(delays)]) == 0
    assert "124x24, 10 frames" in capsys.readouterr().out
    assert main(["info", "--json", str(delays), str(fixtures / "README.md")]) == 1
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert lines[0]["frames"] == 10 and lines[1]["error"] == "notAnImage"


PROGRAM = [sys.executable, "-m", "zoetrope"]


@pytest.mark.parametrize("arguments", [["info"], ["info", "--json"], ["--version"]])
@pytest.mark.parametrize("output, words", [
    (">&-", "standard output is closed"), ("> /dev/full", "standard output: No space left on device")])
def test_the_program_ends_with_a_status_if_it_cannot_write(delays, arguments, output, words):
    files = [str(delays)] if arguments[0] == "info" else []
    # Without a buffer, argparse itself ignores that it cannot write.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    run = subprocess.run(
        ["sh", "-c", f'"$@" {output}', "sh", *PROGRAM, *arguments, *files], capture_output=True, text=True,
        env=environment)
    assert (run.returncode, run.stdout, run.stderr) == (1, "", f"zoetrope: {words}\n")


def test_the_program_reports_nothing_where_errors_go_nowhere(fixtures):
    run = subprocess.run(
        ["sh", "-c", '"$@" 2>&-', "sh", *PROGRAM, "info", str(fixtures / "README.md")], capture_output=True, text=True)
    assert (run.returncode, run.stdout) == (1, "")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_the_program_prints_names_in_every_encoding(delays, tmp_path, encoding):
    path = tmp_path / "\u2192 \xe9.gif"
    path.write_bytes(delays.read_bytes())
    run = subprocess.run(
        [*PROGRAM, "info", str(path), str(path) + "x"], capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": encoding})
    shown = str(path).encode(encoding, "backslashreplace")
    assert run.stdout.startswith(shown + b": gif 124x24") and run.stderr.startswith(shown + b"x: io: ")
    assert run.returncode == 1 and b"Traceback" not in run.stderr


def test_numpy_is_needed_only_for_arrays(delays):
    program = (
        "import sys\n"
        "sys.modules['numpy'] = None\n"
        "import zoetrope\n"
        f"a = zoetrope.open({str(delays)!r})\n"
        "print(len(a), len(a.png(0)) > 50, a.check())\n"
        "b = bytearray(4 * 124 * 24)\n"
        "two = a.read([1, 2], size=(8, 8), fit='fill', format='L', out=bytearray(128))\n"
        "print(a.frame(0, out=b) is b, sum(b) > 0, two)\n"
        "for call in [lambda: a[0], lambda: a.read(), lambda: a.decode(0)]:\n"
        "  try:\n    call()\n  except ImportError as error:\n    print(error)\n"
    )
    output = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    lines = output.splitlines()
    assert lines[0] == "10 True []" and lines[1].startswith("True True bytearray(b")
    assert len(lines) == 5 and all("pip install numpy" in line for line in lines[2:])


def test_memory_of_large_arrays_is_reused(delays, monkeypatch):
    from zoetrope import _memory

    monkeypatch.setattr(_memory, "LEAST_BYTES", 1000)
    _memory._kept.clear()
    with zoetrope.open(delays) as animation:
        expected = animation.read(out=np.empty((10, 24, 124, 4), np.uint8))
        first = animation.read()
        second = animation.read()
        # Two arrays at a time have blocks of their own.
        assert not np.shares_memory(first, second)
        assert np.array_equal(first, expected) and np.array_equal(second, expected)
        assert first.flags.writeable and first.flags.c_contiguous
        view = first[3, 2:5]
        kept = view.copy()
        del first
        # A view keeps the block from being reused.
        third = animation.read()
        assert not np.shares_memory(view, third) and np.array_equal(view, kept)
        del view
        fourth = animation.read(format="RGB", size=(120, 24))
        # Another size has another block.
        assert fourth.shape == (10, 23, 120, 3)
        del fourth
        address = second.ctypes.data
        del second
        second = animation.read()
        assert second.ctypes.data == address and np.array_equal(second, expected)
        del second, third
    assert len(_memory._kept) == 1


def test_rgb_is_blended_over_black_at_every_width(fixtures):
    """Vectors of pixels, the pixels after them, and rows of mixed alpha."""
    for name in ("blend-over-alpha", "type-grey-alpha-8-interlaced"):
        with zoetrope.open(fixtures / "APNG" / f"{name}.png") as animation:
            for width in (*range(1, 45), 200):
                options = {"size": (width, 3), "fit": "stretch"}
                rgba = animation.frame(0, **options).astype(np.uint32)
                rgb = animation.frame(0, format="RGB", **options)
                expected = (2 * rgba[..., :3] * rgba[..., 3:] + 255) // 510
                assert np.array_equal(rgb, expected), (name, width)
            alphas = set(rgba[..., 3].flat)
        assert len(alphas) > 2


def test_arrays_do_without_the_kept_block_where_memory_is_short(monkeypatch):
    from zoetrope import _memory

    monkeypatch.setattr(_memory, "LEAST_BYTES", 1000)
    _memory._kept.append(np.empty(4096, np.uint8))
    short = [5000]

    class Numpy:
        """NumPy on a machine with little memory left, more once the block is dropped."""

        asarray, uint8 = np.asarray, np.uint8

        @staticmethod
        def empty(shape, dtype):
            if np.prod(shape) > short[0]:
                raise MemoryError
            return np.empty(shape, dtype)

    # Rounded up to 8192 it would not fit.
    assert _memory.empty(Numpy, (50, 100), np.dtype(np.uint8)).shape == (50, 100)
    assert not _memory._kept
    short[0] = 10
    with pytest.raises(MemoryError):
        _memory.empty(Numpy, (50, 100), np.dtype(np.uint8))
