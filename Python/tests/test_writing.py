"""Writing animations from arrays, and from other animations."""

import errno
import io
import itertools
import os
import pickle
import subprocess
import sys
import tempfile
import threading
from fractions import Fraction
from pathlib import Path

import pytest

np = pytest.importorskip("numpy")
import zoetrope  # noqa: E402

import hostile  # noqa: E402


def film(count, shape=(24, 36, 4), dtype=np.uint8, step=1):
    """A square of another colour that moves over transparent ground, or over black."""
    frames = []
    most = np.iinfo(dtype).max
    for index in range(count):
        frame = np.zeros(shape, dtype)
        left = index * step % (shape[1] - 8)
        frame[6:14, left:left + 8] = most
        if len(shape) == 3:
            frame[6:14, left:left + 8, 1] = most // 3
        frames.append(frame)
    return frames


def rgba(frame):
    frame = frame if frame.ndim == 3 else np.repeat(frame[..., None], 3, axis=2)
    if frame.shape[2] == 4:
        return frame
    opaque = np.full(frame.shape[:2] + (1,), np.iinfo(frame.dtype).max, frame.dtype)
    return np.concatenate([frame, opaque], axis=2)


def written(frames, format="apng", **options):
    file = io.BytesIO()
    if "fps" not in options:
        options.setdefault("durations", 0.1)
    told = zoetrope.save(file, frames, format=format, **options)
    assert told.byte_count == len(file.getvalue())
    return zoetrope.open(file.getvalue(), delays="exact", damage="strict", deep=True)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
@pytest.mark.parametrize("channels", [None, 3, 4])
@pytest.mark.parametrize("kind", ["list", "array", "generator", "strided", "reversed", "swapped"])
def test_arrays_come_back_as_they_were(dtype, channels, kind):
    frames = film(9, (24, 36) if channels is None else (24, 36, channels), dtype)
    expected = [rgba(frame) for frame in frames]
    given = {
        "list": lambda: frames, "array": lambda: np.stack(frames), "generator": lambda: iter(frames),
        "strided": lambda: list(np.stack([frames, frames], axis=3)[:, :, :, 0]),
        "reversed": lambda: [frame[::-1].copy()[::-1] for frame in frames],
        "swapped": lambda: [frame.astype(frame.dtype.newbyteorder()) for frame in frames],
    }[kind]()
    animation = written(given, plays=3)
    assert (animation.format, animation.plays, len(animation)) == ("apng", 3, 9)
    for index, frame in enumerate(expected):
        got = animation.frame(index, format="RGBA16" if dtype == np.uint16 else "RGBA")
        assert np.array_equal(got, frame)


@pytest.mark.parametrize("format", ["gif", "apng"])
@pytest.mark.parametrize("plays", [1, 2, 65536, None])
def test_plays_are_total_plays(format, plays):
    assert written(film(3), format, plays=plays).plays == plays


@pytest.mark.parametrize("format", ["gif", "apng"])
@pytest.mark.parametrize("order", ["AAB", "ABA", "ABB", "AAA", "AABBA"])
def test_equal_frames_keep_their_time(format, order):
    one, other = film(2)
    durations = [0.1 * (place + 1) for place in range(len(order))]
    frames = [one if letter == "A" else other for letter in order]
    for keep in (False, True):
        animation = written(frames, format, durations=durations, keep_identical=keep)
        assert animation.duration == pytest.approx(sum(durations))
        if keep:
            assert len(animation) == len(order)
        start = 0.0
        for frame, duration in zip(frames, durations):
            for moment in (start + 0.001, start + duration - 0.001):
                assert np.array_equal(animation.at(moment), frame)
            start += duration


@pytest.mark.parametrize("format", ["gif", "apng"])
@pytest.mark.parametrize("delay", [1 / 30, Fraction(1, 30), [(1, 30)] * 1000, np.float64(1 / 30)])
def test_a_thousand_thirtieths_do_not_drift(format, delay):
    animation = written(film(1000, (16, 24, 4)), format, durations=delay)
    assert len(animation) == 1000
    # To half a centisecond in a GIF, exactly in an APNG.
    total = sum(Fraction(*frame.delay) for frame in animation.frames)
    assert abs(total - Fraction(1000, 30)) <= (Fraction(1, 200) if format == "gif" else 0)
    if format == "apng":
        assert {Fraction(*frame.delay) for frame in animation.frames} == {Fraction(1, 30)}


@pytest.mark.parametrize("fps", [60, 120, 1000])
def test_frames_too_short_for_browsers_are_merged(fps):
    animation = written(film(300), "gif", fps=fps)
    assert min(frame.delay[0] for frame in animation.frames) >= 2
    assert animation.duration == pytest.approx(300 / fps, abs=0.006)
    every = written(film(300), "gif", fps=fps, exact_delays=True)
    assert every.duration == pytest.approx(300 / fps, abs=0.006)
    assert len(written(film(300), "gif", fps=fps, keep_identical=True)) == 300


def test_a_delay_of_zero_lasts_as_long_as_in_browsers():
    assert {frame.delay for frame in written(film(4), "gif", durations=0).frames} == {(10, 100)}
    assert {frame.delay[0] for frame in written(film(4), "gif", durations=0, exact_delays=True).frames} == {0}


@pytest.mark.parametrize("format", ["gif", "apng"])
def test_there_are_neither_trails_nor_holes(format):
    opaque = np.full((24, 36, 4), 255, np.uint8)
    clear = np.zeros_like(opaque)
    hole = opaque.copy()
    hole[5:9, 7:20] = 0
    frames = [hole, opaque, clear, hole, *film(5), clear, opaque, *reversed(film(5)), clear]
    animation = written(frames, format)
    assert len(animation) == len(frames)
    for index, frame in enumerate(frames):
        assert np.array_equal(animation[index], frame)


def test_each_frame_of_a_gif_has_its_own_colours():
    scenes = []
    for channel in range(3):
        scene = np.zeros((16, 16, 3), np.uint8)
        scene[..., channel] = np.arange(256).reshape(16, 16)
        scenes.append(scene)
    animation = written(scenes, "gif", colors="exact")
    for index, scene in enumerate(scenes):
        assert np.array_equal(animation[index][..., :3], scene)


@pytest.mark.parametrize("count", [2, 255, 256, 257, 4000])
@pytest.mark.parametrize("has_clear", [False, True])
def test_palettes_at_their_limit(count, has_clear):
    numbers = np.arange(64 * 64) % count
    frame = np.zeros((64, 64, 4), np.uint8)
    frame[..., 0], frame[..., 1], frame[..., 3] = (numbers % 256).reshape(64, 64), (numbers // 256 * 16).reshape(64, 64), 255
    if has_clear:
        frame[0, 0] = 0
    frames = [frame, np.roll(frame, 1, axis=1)]
    fits = count + has_clear <= 256
    if fits:
        animation = written(frames, "gif", colors="exact")
        assert np.array_equal(animation[0], frame) and np.array_equal(animation[1], frames[1])
    else:
        with pytest.raises(zoetrope.UnwritableError):
            written(frames, "gif", colors="exact")
    animation = written(frames, "gif")
    assert np.array_equal(animation[0][..., 3], frame[..., 3])
    error = np.abs(animation[0].astype(int) - frame)[..., :3].mean()
    assert error <= (0 if fits else 8)


def test_colours_dithering_and_matte():
    ramp = np.zeros((32, 64, 4), np.uint8)
    ramp[..., 0], ramp[..., 1] = np.arange(64) * 4, np.arange(32)[:, None] * 8
    ramp[..., 3] = 200
    for dithering in ("auto", "none", "ordered", "diffusion"):
        animation = written([ramp, ramp[::-1]], "gif", colors=16, dithering=dithering)
        assert len(np.unique(animation[0].reshape(-1, 4), axis=0)) <= 16
        assert (animation[0][..., 3] == 255).all()
    ramp[..., 3] = 100
    assert (written([ramp], "gif")[0] == 0).all()
    matte = written([np.full((4, 4, 4), (0, 0, 0, 51), np.uint8)], "gif", matte=(255, 0, 100))[0]
    assert np.array_equal(matte[0, 0], (204, 0, 80, 255))
    with pytest.raises(zoetrope.UnwritableError, match="transparent"):
        written([ramp], "gif", colors="exact")


def test_a_small_change_takes_few_bytes():
    still = np.random.default_rng(1).integers(0, 200, (200, 200), np.uint8)
    frames = []
    for index in range(40):
        frame = still.copy()
        frame[10:18, index:index + 8] = 255
        frames.append(frame)
    for format in ("gif", "apng"):
        one = len(written_bytes(frames[:1], format))
        assert len(written_bytes(frames, format)) < one + 40 * 400


def written_bytes(frames, format, **options):
    file = io.BytesIO()
    zoetrope.save(file, frames, fps=25, format=format, **options)
    return file.getvalue()


def test_files_appear_when_they_are_complete(tmp_path):
    for name, format in (("a.gif", "gif"), ("b.png", "apng"), ("c.APNG", "apng"), ("ä ö.png", "apng")):
        path = tmp_path / name
        with zoetrope.Writer(path, plays=2) as writer:
            for frame in film(5):
                writer.append(frame, 0.1)
                assert not path.exists()
        assert writer.written.frame_count == 5 and writer.closed
        with zoetrope.open(path) as animation:
            assert (animation.format, animation.plays, len(animation)) == (format, 2, 5)
        before = path.read_bytes()
        with pytest.raises(ZeroDivisionError):
            with zoetrope.Writer(path) as writer:
                writer.append(film(1)[0], 1)
                1 / 0
        # Neither changed nor joined by another.
        assert path.read_bytes() == before
    assert len(os.listdir(tmp_path)) == 4
    with pytest.raises(ValueError, match="closed"):
        writer.append(film(1)[0], 1)


def test_a_file_object_gets_all_or_nothing():
    class Slow(io.RawIOBase):
        def __init__(self):
            self.data = b""

        def writable(self):
            return True

        def write(self, data):
            self.data += bytes(data[:100])
            return min(len(data), 100)

    slow = Slow()
    told = zoetrope.save(slow, film(5), fps=10)
    assert len(slow.data) == told.byte_count and zoetrope.open(slow.data)[4] is not None
    # A pipe that does not block and is full takes nothing, or a part and then nothing.
    for refusal in (None, 0):
        class Full(Slow):
            def write(self, data):
                return refusal if len(self.data) >= 200 else super().write(data)

        full = Full()
        with pytest.raises(BlockingIOError) as caught:
            zoetrope.save(full, film(5), fps=10)
        assert caught.value.characters_written == 200 == len(full.data)
    file = io.BytesIO(b"")
    with pytest.raises(zoetrope.ParameterError, match="2 durations"):
        zoetrope.save(file, iter(film(3)), durations=[1, 2])
    assert file.getvalue() == b""


def test_wrong_arguments(tmp_path):
    file, frames = io.BytesIO(), film(2)
    for options in (
        {}, {"fps": 3, "durations": 1}, {"fps": 0}, {"fps": -1}, {"fps": float("nan")}, {"durations": -1},
        {"durations": float("inf")}, {"durations": [1]}, {"durations": [1, 2, 3]}, {"durations": [(1, 0), 1]},
        {"fps": 1, "plays": 0}, {"fps": 1, "plays": -1}, {"fps": 1, "format": "webp"}, {"fps": 1, "effort": "most"},
        {"fps": 1, "colors": 1}, {"fps": 1, "colors": 257}, {"fps": 1, "dithering": "noise"},
        {"fps": 1, "matte": (1, 2)}, {"fps": 1, "matte": (1, 2, 256)}, {"fps": 1, "threads": -1},
        {"durations": 1 << 33}, {"fps": 1, "texts": {"": "a"}}, {"fps": 1, "texts": {"a": "\0"}},
    ):
        with pytest.raises(zoetrope.ParameterError):
            zoetrope.save(file, frames, **options)
    for frame in (
        np.zeros((3, 3), float), np.zeros((3, 3), np.int16), np.zeros((3, 3), bool), np.zeros((3, 3, 2), np.uint8),
        np.zeros((3, 3, 5), np.uint8), np.zeros(3, np.uint8), np.zeros((0, 3), np.uint8), np.zeros((3, 0, 3), np.uint8),
        np.zeros((1, 3, 3, 3), np.uint8), [["a"]], None,
    ):
        with pytest.raises(zoetrope.ParameterError):
            zoetrope.save(file, [frame], fps=1)
    with pytest.raises(zoetrope.ParameterError, match="no frame was appended"):
        zoetrope.save(file, [], fps=1)
    with pytest.raises(zoetrope.ParameterError, match="but the canvas is"):
        zoetrope.save(file, [frames[0], frames[0][1:]], fps=1)
    with pytest.raises(TypeError):
        zoetrope.save(file, frames, fps="3")
    for wrong in (3, None, []):
        with pytest.raises(TypeError):
            zoetrope.Writer(wrong)
    with pytest.raises(zoetrope.ParameterError, match="format"):
        zoetrope.Writer(tmp_path / "a.webp")
    assert zoetrope.save(tmp_path / "a.webp", frames, fps=1, format="gif").format == "gif"
    with pytest.raises(FileNotFoundError) as caught:
        zoetrope.save(tmp_path / "none" / "a.gif", frames, fps=1)
    assert caught.value.errno == errno.ENOENT and "none" in str(caught.value)
    assert file.getvalue() == b""
    with pytest.raises(zoetrope.UnwritableError):
        zoetrope.save(file, frames, fps=1, format="gif", plays=65537)


@pytest.mark.parametrize("options, words", [
    ({"fps": -5}, "fps is -5; it must be more than 0"), ({"fps": 0}, "fps is 0; it must be more than 0"),
    ({"fps": 1, "threads": -1}, "threads is -1"), ({"fps": 1, "texts": {"a": "\0"}}, "texts: 'a' contains"),
    ({"fps": 1, "texts": {"a": "\udc80"}}, "texts: 'a' has"),
    ({"fps": float("inf")}, "fps is inf; it must be finite"), ({"durations": float("nan")}, "durations is nan; it must be f"),
])
def test_messages_name_the_parameter(options, words):
    with pytest.raises(zoetrope.ParameterError, match=words):
        zoetrope.save(io.BytesIO(), film(2), **options)


def test_what_must_be_an_integer_is_named(tmp_path, fixtures):
    animation = zoetrope.open(fixtures / "Demo" / "variable-delay.gif")
    calls = {
        "a side of size must be an integer, not float": lambda: animation.frame(0, size=(64.0, 64.0)),
        "n must be an integer, not float": lambda: animation.sample(2.5),
        "n must be an integer, not str": lambda: animation.batches("3"),
        "max_bytes must be an integer, not float": lambda: animation.convert(io.BytesIO(), max_bytes=1e6),
        "plays must be an integer, not str": lambda: animation.convert(io.BytesIO(), plays="kep"),
        "colors must be an integer, not str": lambda: animation.convert(io.BytesIO(), colors="exakt"),
        "lossy must be an integer, not float": lambda: animation.optimize(io.BytesIO(), lossy=0.5),
        "byte_limit must be an integer, not float": lambda: zoetrope.FrameStore(tmp_path, byte_limit=1e9),
    }
    for words, call in calls.items():
        with pytest.raises(TypeError, match=words):
            call()
    for lossy in (-1, 201):
        with pytest.raises(zoetrope.ParameterError, match=f"lossy is {lossy}; it must be 0 to 200"):
            animation.optimize(io.BytesIO(), lossy=lossy)
    assert "closed" not in repr(animation)
    animation.close()
    assert "closed" in repr(animation)


def test_texts_must_be_strings():
    for texts, words in (({"a": 3}, "'a' must be a str, not int"), ({3: "a"}, "key 3"), ("Title", "mapping, not str")):
        with pytest.raises(TypeError, match=words):
            zoetrope.Writer(io.BytesIO(), texts=texts)


def test_a_text_file_is_refused_before_the_first_frame(tmp_path):
    with open(tmp_path / "a.gif", "w") as text, tempfile.NamedTemporaryFile("w") as temporary:
        for file in (io.StringIO(), text, temporary):
            with pytest.raises(TypeError, match="destination must be a binary file object, not the text file"):
                zoetrope.Writer(file)
    with tempfile.NamedTemporaryFile(suffix=".gif") as file:
        zoetrope.save(file, film(2), fps=1)
        file.flush()
        assert len(zoetrope.open(file.name)) == 2


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
@pytest.mark.parametrize("shape", [(48, 64, 1), (48, 3, 1), (48, 64, 3), (48, 3, 4)])
def test_an_array_that_may_be_one_picture_or_many_is_refused(dtype, shape):
    frames = np.zeros(shape, dtype)
    frames[::2] = 1
    with pytest.raises(zoetrope.ParameterError, match=r"frames\[None\].*frames\[..., None\]"):
        zoetrope.save(io.BytesIO(), frames, fps=5)
    one = written(frames[None], fps=5)
    assert (one.size, len(one)) == (shape[1::-1], 1)
    for several in (frames[..., None], list(frames)):
        made = written(several, fps=5)
        assert (made.size, len(made)) == (shape[:0:-1], 48)


@pytest.mark.parametrize("mode", ["RGB", "L", "P"])
def test_one_pillow_image_is_no_list_of_frames(mode):
    Image = pytest.importorskip("PIL.Image")
    with pytest.raises(zoetrope.ParameterError, match=r"frames is one picture; pass \[image\]"):
        zoetrope.save(io.BytesIO(), Image.new(mode, (5, 4)), fps=5)
    assert written([Image.new(mode, (5, 4))], fps=5).size == (5, 4)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_an_array_that_may_have_grey_and_alpha_is_refused(dtype):
    frames = np.zeros((48, 64, 2), dtype)
    frames[::2] = 1
    with pytest.raises(zoetrope.ParameterError, match=r"grey and alpha.*convert it to RGBA.*frames\[..., None\]"):
        zoetrope.save(io.BytesIO(), frames, fps=5)
    made = written(frames[..., None], fps=5)
    assert (made.size, len(made)) == ((2, 64), 48)


class Tensor:
    """As PyTorch's: an array by `__array__` only."""

    def __init__(self, array):
        self._array = array
        self.shape = array.shape

    def __len__(self):
        return len(self._array)

    def __iter__(self):
        return map(Tensor, self._array)

    def __array__(self, dtype=None, copy=None):
        return self._array


def test_tensors_are_written_as_arrays_are():
    frames = np.stack(film(3))
    expected, file = io.BytesIO(), io.BytesIO()
    zoetrope.save(expected, frames, durations=[1, 2, 3])
    zoetrope.save(file, Tensor(frames), durations=[1, 2, 3])
    # Its frames were surveyed, too.
    assert file.getvalue() == expected.getvalue()
    with pytest.raises(zoetrope.ParameterError, match="may be one picture in colour"):
        zoetrope.save(io.BytesIO(), Tensor(frames[0]), fps=1)
    bare = Tensor(frames[0])
    del bare.shape
    with pytest.raises(zoetrope.ParameterError, match="may be one picture in colour"):
        zoetrope.save(io.BytesIO(), bare, fps=1)


def test_sizes_are_checked_before_pixels_are_copied(monkeypatch):
    # Such arrays cannot be described to the library without a copy.
    tall = np.broadcast_to(np.uint8(0), (65536, 100, 3))
    vast = np.broadcast_to(np.uint8(0), (60000, 60000, 3))
    flat = np.broadcast_to(np.uint8(0), (100, 0))

    def copy(array):
        raise AssertionError("copied")

    monkeypatch.setattr(np, "ascontiguousarray", copy)
    for call in (lambda writer, frame: writer.survey(frame), lambda writer, frame: writer.append(frame, 1)):
        with pytest.raises(zoetrope.UnwritableError, match="100x65536; the sides of a GIF are at most 65535"):
            call(zoetrope.Writer("a.GIF"), tall)
        with pytest.raises(zoetrope.LimitError, match="60000x60000; an APNG has at most 268435455 pixels"):
            call(zoetrope.Writer("a.png"), vast)
        for format in ("gif", "apng"):
            with pytest.raises(zoetrope.ParameterError, match="0x100; it must have pixels"):
                call(zoetrope.Writer(io.BytesIO(), format=format), flat)


def test_the_limits_of_a_writer_are_not_those_of_open():
    from zoetrope import _library as c
    from zoetrope._errors import make_error

    for text, is_raisable in (
        (b"live_bytes would be 2, but the limit is 1", True), (b"but canvas_pixels allows only 5000 pixels", True),
        (b"but canvasPixels allows only 5000 pixels", True), (b"a canvas of 9x9 is too large for an APNG", False),
        (b"there would be 9 frames, but the limit is 8", False), (b"but the limit is 268435456 pixels", False),
    ):
        error = c.Error(code=6, frame=-1, byte_offset=-1, name=b"limitExceeded", message=text)
        assert ("; see limits= of zoetrope.open" in str(make_error(error))) == is_raisable, text
        assert str(make_error(error, is_writing=True)) == f"limitExceeded: {text.decode()}"


def test_the_hint_at_limits_is_only_where_they_help(delays, tmp_path, capsys):
    from zoetrope.__main__ import main

    with pytest.raises(zoetrope.LimitError) as caught:
        zoetrope.open(delays).convert(io.BytesIO(), duration=1.5e9)
    assert "limits=" not in str(caught.value)
    for call in (
        lambda: zoetrope.open(delays, limits={"canvas_pixels": 5000}).frame(0, size=(1000, 1000)),
        lambda: zoetrope.open(delays, limits={"canvas_pixels": 5000}).convert(io.BytesIO(), size=(1000, 1000)),
    ):
        with pytest.raises(zoetrope.LimitError, match="canvas_?[pP]ixels.*; see limits= of zoetrope.open"):
            call()
    reader, writer = os.pipe()
    os.write(writer, delays.read_bytes())
    os.close(writer)
    with pytest.raises(zoetrope.LimitError, match="live_bytes.*; see limits= of zoetrope.open"):
        zoetrope.open(f"/dev/fd/{reader}", limits={"live_bytes": 1000})
    os.close(reader)
    vast = tmp_path / "vast.gif"
    vast.write_bytes(hostile.gif(65535, 65535, [(0, 0, 1, 1, 1, hostile.lzw(1))]))
    with pytest.raises(zoetrope.LimitError, match="canvas_pixels.*; see limits= of zoetrope.open"):
        zoetrope.open(vast)
    assert main(["info", str(vast)]) == 1 and main(["info", "--json", str(vast)]) == 1
    told = capsys.readouterr()
    for text in told:
        assert "canvas_pixels" in text and "limits=" not in text
    pillow = pytest.importorskip("zoetrope.pillow")
    with pytest.raises(zoetrope.LimitError, match="canvas_pixels") as caught:
        pillow.open(vast)
    assert "limits=" not in str(caught.value)


class Named(io.BytesIO):
    """A file object with a name, as `open` and `tempfile` return them."""

    def __init__(self, name):
        self.name = name


@pytest.mark.parametrize("name, format", [
    ("a.gif", "gif"), ("b.GIF", "gif"), ("c.png", "apng"), ("d.apng", "apng"), (b"e.gif", "gif"),
    (Path("f.gif"), "gif"), ("g.dat", None), ("h", None), (3, None), (None, None)])
def test_the_name_of_a_file_object_says_the_format(delays, name, format):
    for call, otherwise in (
        (lambda file, **options: zoetrope.save(file, film(2), fps=5, **options), "apng"),
        (lambda file, **options: zoetrope.save(file, iter(film(2)), fps=5, max_bytes=10_000, **options), "apng"),
        (lambda file, **options: zoetrope.open(delays).convert(file, **options), "gif"),
    ):
        file = Named(name)
        told = call(file)
        assert told.format == zoetrope.open(file.getvalue()).format == (format or otherwise)
        # An argument says it better.
        for other in ("gif", "apng"):
            file = Named(name)
            assert call(file, format=other).format == zoetrope.open(file.getvalue()).format == other


def test_an_open_file_gets_the_format_of_its_name(tmp_path):
    with open(tmp_path / "a.gif", "wb") as file, zoetrope.Writer(file) as writer:
        with pytest.raises(zoetrope.UnwritableError, match="the sides of a GIF"):
            writer.append(np.zeros((1, 65536), np.uint8), 1)
        writer.append(film(1)[0], 1)
    assert zoetrope.open(tmp_path / "a.gif").format == "gif"
    with tempfile.NamedTemporaryFile(suffix=".gif") as file:
        assert zoetrope.save(file, film(2), fps=5).format == "gif"


def test_optimising_checks_the_name_of_a_file_object(delays):
    file = Named("a.png")
    with pytest.raises(zoetrope.ParameterError, match="optimize keeps the format"):
        zoetrope.open(delays).optimize(file)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_a_full_disk_is_an_error_of_writing(delays):
    for call in (
        lambda: zoetrope.save("/dev/full", film(2), fps=1, format="gif"),
        lambda: zoetrope.open(delays).convert("/dev/full", format="gif"),
        lambda: zoetrope.open(delays).optimize("/dev/full"),
    ):
        with pytest.raises(zoetrope.WriteError) as caught:
            call()
        error = caught.value
        assert (error.code, error.errno, error.filename) == ("io", errno.ENOSPC, "/dev/full")
        assert isinstance(error, OSError) and not isinstance(error, zoetrope.ReadError)


def test_errors_of_writing_are_those_of_the_system(tmp_path, delays):
    (tmp_path / "file").write_bytes(b"")
    for path, kind in (
        (tmp_path / "none" / "a.gif", FileNotFoundError), (tmp_path, IsADirectoryError),
        (tmp_path / "file" / "a.gif", NotADirectoryError),
    ):
        with pytest.raises(kind) as caught:
            zoetrope.open(delays).convert(path, format="gif")
        error = caught.value
        assert isinstance(error, zoetrope.WriteError) and not isinstance(error, zoetrope.ReadError)
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), again.errno, str(again)) == (type(error), error.errno, str(error))


def test_errors_of_conversions_name_the_file_with_the_error(tmp_path, delays):
    path = tmp_path / "b.gif"
    with pytest.raises(zoetrope.BudgetError) as budget:
        zoetrope.open(delays).convert(path, max_bytes=1)
    source = tmp_path / "a.png"
    zoetrope.save(source, np.random.default_rng(1).integers(0, 255, (2, 30, 30, 3), np.uint8), fps=5)
    with pytest.raises(zoetrope.UnwritableError) as unwritable:
        zoetrope.open(source).convert(path, colors="exact")
    assert budget.value.path == unwritable.value.path == str(path)


@pytest.mark.parametrize("message, frame, is_writing", [
    (b"b.gif: No space left on device", -1, True), (b'"a.gif": Input/output error', -1, False),
    (b"Input/output error", -1, False), (b"a.gif: Input/output error", 3, False)])
def test_errors_of_reading_are_told_from_errors_of_writing(delays, message, frame, is_writing):
    def call(_, error):
        error.code, error.system_error, error.frame, error.byte_offset = 7, errno.EIO, frame, -1
        error.message = message
        return 7

    animation = zoetrope.open(delays)
    with pytest.raises(zoetrope.WriteError if is_writing else zoetrope.ReadError) as caught:
        animation._decode(call, path="b.gif")
    assert caught.value.filename == ("b.gif" if is_writing else str(delays))


def test_texts_are_written():
    animation = written(film(2), texts={"Title": "Disc", "Author": "Ä"})
    assert [(item.key, item.value.decode()) for item in animation.metadata] == [("Title", "Disc"), ("Author", "Ä")]
    assert written(film(2), "gif", texts={"Comment": "Disc"}).metadata[0].value == b"Disc"


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


# ---- Pillow images


def picture(mode):
    """A Pillow image of ``mode``; small letters say how its ``info`` makes pixels transparent."""
    Image = pytest.importorskip("PIL.Image")
    random = np.random.default_rng(3)
    colours = Image.fromarray(random.integers(0, 4, (9, 11, 3), np.uint8) * 80)
    if mode == "PA":
        image = colours.quantize(50).convert("PA")
        image.putalpha(Image.fromarray(random.integers(0, 2, (9, 11), np.uint8) * 255))
        return image
    if mode == "RGBa":
        colours = colours.convert("RGBA")
    image = colours.quantize(50) if mode[0] == "P" else colours.convert(mode.rstrip("tb"))
    if mode[-1] == "t":
        image.info["transparency"] = image.getpixel((3, 3))
    elif mode[-1] == "b":
        image.info["transparency"] = bytes(random.integers(0, 256, 50, np.uint8))
    return image


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "PA", "RGB", "RGBA", "RGBX", "RGBa", "Lt", "RGBt", "Pt", "Pb", "1t"])
@pytest.mark.parametrize("kind", [list, iter])
def test_pillow_images_look_as_they_do_in_pillow(mode, kind):
    images = [picture(mode), picture(mode).transpose(0)]
    made = written(kind(images))
    for index, image in enumerate(images):
        expected = np.array(image.convert("RGBA"))
        assert (expected[..., 3] == 255).all() != (mode in ("PA", "Lt", "RGBt", "Pt", "Pb", "1t"))
        assert np.array_equal(made[index][..., 3], expected[..., 3])
        # The colours of transparent pixels are not kept.
        assert np.array_equal(made[index][expected[..., 3] > 0], expected[expected[..., 3] > 0])


@pytest.mark.parametrize("mode", ["I;16", "I;16L", "I;16B"])
def test_grey_pillow_images_of_16_bits_are_exact(mode):
    Image = pytest.importorskip("PIL.Image")
    samples = np.random.default_rng(4).integers(0, 65536, (9, 11), np.uint16)
    image = Image.frombytes(mode, (11, 9), samples.astype(">u2" if mode == "I;16B" else "<u2").tobytes())
    for number in (None, int(samples[2, 3])):
        if number is not None:
            image.info["transparency"] = number
        for kind in (list, iter):
            made = written(kind([image])).frame(0, format="RGBA16")
            expected = np.stack([samples] * 3 + [np.full_like(samples, 65535)], axis=2)
            assert np.array_equal(made[..., 3] == 0, samples == number)
            made = np.where(made[..., 3:] == 0, 0, made)
            expected[samples == number] = 0
            assert np.array_equal(made, expected)


@pytest.mark.parametrize("mode", ["I", "F", "La"])
def test_pillow_images_without_a_range_or_a_conversion_are_refused(mode):
    Image = pytest.importorskip("PIL.Image")
    with pytest.raises(zoetrope.ParameterError, match=f"image of mode {mode}; convert it to .*RGBA"):
        written([Image.new(mode, (3, 3))])


# ---- Rewriting


def rewritten(animation, **options):
    file = io.BytesIO()
    told = animation.convert(file, **options)
    assert told.byte_count == len(file.getvalue())
    return zoetrope.open(file.getvalue(), damage="strict"), told


@pytest.mark.parametrize("format", [None, "gif", "apng"])
def test_conversions(delays, format):
    animation = zoetrope.open(delays)
    count, whole = len(animation), animation.duration

    def convert(**options):
        return rewritten(animation, format=format, **options)[0]

    def check(made, indices):
        assert made.format == (format or "gif") and len(made) == len(indices)
        for place, index in enumerate(indices):
            assert np.array_equal(made[place], animation[index])

    everything = list(range(count))
    check(convert(), everything)
    check(convert(frames=slice(2, 5)), [2, 3, 4])
    check(convert(frames=slice(None, None, 3)), everything[::3])
    check(convert(frames=[-1, 0, np.int64(3)]), [count - 1, 0, 3])
    check(convert(reverse=True), everything[::-1])
    check(convert(back_and_forth=True), everything + everything[-2:0:-1])
    check(convert(frames=range(1, 4), reverse=True), [3, 2, 1])
    assert convert(speed=0.5).duration == pytest.approx(2 * whole)
    assert convert(duration=3).duration == pytest.approx(3)
    assert convert(delay=Fraction(1, 20)).durations == (0.05,) * count
    assert convert(time=(0.2, 0.5)).duration == pytest.approx(0.3)
    assert convert(time=(0.2, None)).duration == pytest.approx(whole - 0.2)
    assert convert(plays=7).plays == 7 and convert(plays=None).plays is None
    assert convert().plays == animation.plays
    cropped = convert(crop=(3, 2, 20, 10))
    assert cropped.size == (20, 10) and np.array_equal(cropped[1], animation[1][2:12, 3:23])
    half = convert(size=(animation.size[0] // 2, None), filter="box")
    assert half.size == (62, 12) and len(half) == count
    error = np.abs(half[3].astype(int) - animation.frame(3, size=(62, None), filter="box"))
    assert error.mean() < 2
    slow = convert(fps=4)
    assert len(slow) < count and slow.duration == pytest.approx(whole, abs=0.006)


def test_conversions_copy_what_they_can(delays, tmp_path):
    animation = zoetrope.open(delays)
    told = rewritten(animation)[1]
    assert told.copied_count == told.frame_count == len(animation)
    assert rewritten(animation, format="apng")[1].copied_count == 0
    path = tmp_path / "a.gif"
    path.write_bytes(delays.read_bytes())
    with zoetrope.open(path) as other:
        # Onto itself.
        other.convert(path, frames=slice(0, 2))
        assert np.array_equal(other[5], animation[5])
    assert len(zoetrope.open(path)) == 2
    assert animation.convert(tmp_path / "b.png").format == "apng"
    assert animation.convert(tmp_path / "b.dat", format="gif").format == "gif"
    with pytest.raises(zoetrope.ParameterError):
        animation.convert(tmp_path / "c.dat")
    with pytest.raises(FileNotFoundError):
        animation.convert(tmp_path / "none" / "c.gif")
    with pytest.raises(PermissionError if os.geteuid() else OSError):
        animation.convert("/proc/c.gif")
    assert sorted(os.listdir(tmp_path)) == ["a.gif", "b.dat", "b.png"]


def test_wrong_conversions(delays):
    animation = zoetrope.open(delays)
    for options in (
        {"frames": []}, {"frames": slice(3, 3)}, {"time": (1, 0)}, {"time": 3}, {"time": (-1, 2)}, {"speed": 0},
        {"speed": float("nan")}, {"duration": 0}, {"duration": -1}, {"fps": 0}, {"fps": -3}, {"crop": (1, 2, 3)},
        {"crop": (0, 0, 0, 0)}, {"crop": (-1, 0, 3, 3)}, {"plays": 0}, {"plays": -2}, {"delay": -1},
        {"size": (None, None)}, {"size": (0, 1)}, {"size": (9, 9), "fit": "none"}, {"speed": 2, "duration": 3}, {"effort": "none"}, {"format": "png"},
    ):
        file = io.BytesIO()
        with pytest.raises(zoetrope.ParameterError):
            animation.convert(file, **options)
        assert file.getvalue() == b""
    with pytest.raises(zoetrope.ParameterError, match="left and top must be at least 0"):
        animation.convert(io.BytesIO(), format="gif", crop=(-10, 0, 3, 3))
    with pytest.raises(IndexError):
        animation.convert(io.BytesIO(), frames=[99])
    animation.close()
    with pytest.raises(ValueError):
        animation.convert(io.BytesIO())


@pytest.mark.parametrize("options, words", [
    ({"time": (5, 1)}, r"time is \(5, 1\); the start must be 0 or more seconds, and the end must be after it"),
    ({"time": (-1, 2)}, r"time is \(-1, 2\)"), ({"time": (0.1, 0.1)}, r"time is \(0.1, 0.1\)"),
    ({"fps": -5}, "fps is -5; it must be 0.001 to 1000"), ({"fps": 0}, "fps is 0; it must be 0.001 to 1000"),
    ({"duration": float("inf")}, "duration is inf; it must be more than 0 and at most 9223372036 seconds"),
    ({"duration": 0}, "duration is 0; it must be more than 0"), ({"duration": 1 << 70}, "at most 9223372036 seconds"),
    ({"speed": float("nan")}, "speed is nan; it must be 0.001 to 1000"), ({"threads": -1}, "threads is -1"),
])
def test_messages_of_conversions_name_the_parameter(delays, options, words):
    with pytest.raises(zoetrope.ParameterError, match=words):
        zoetrope.open(delays).convert(io.BytesIO(), **options)


def test_speeds_are_numbers(delays):
    for name in ("speed", "fps"):
        with pytest.raises(TypeError, match=f"{name} must be a number, not str"):
            zoetrope.open(delays).convert(io.BytesIO(), **{name: "2"})


def test_optimising_keeps_the_format_that_the_name_has(tmp_path, delays):
    file = io.BytesIO()
    zoetrope.save(file, film(2), fps=1, format="apng")
    for animation, wrong, right in (
        (zoetrope.open(delays), ("a.png", "a.APNG"), ("a.gif", "a.GIF", "a.dat", "a")),
        (zoetrope.open(file.getvalue()), ("b.gif",), ("b.png", "b.apng", "b.dat")),
    ):
        for name in wrong:
            with pytest.raises(zoetrope.ParameterError, match="optimize keeps the format"):
                animation.optimize(tmp_path / name)
            assert not (tmp_path / name).exists()
        for name in right:
            assert animation.optimize(tmp_path / name).format == animation.format


def test_optimising(fixtures):
    for path in sorted((fixtures / "Demo").iterdir()):
        animation = zoetrope.open(path)
        file = io.BytesIO()
        told = animation.optimize(file)
        assert told.byte_count == len(file.getvalue()) <= animation.byte_count
        made = zoetrope.open(file.getvalue())
        assert (made.durations, made.plays) == (animation.durations, animation.plays)
        assert np.array_equal(made.read(), animation.read())


@pytest.mark.parametrize("options", [{"fit": "cover"}, {"filter": "sharp"}])
def test_choices_are_checked_also_without_a_size(options, delays, tmp_path):
    with pytest.raises(zoetrope.ParameterError):
        zoetrope.open(delays).convert(tmp_path / "a.gif", **options)


def test_cancelled_animations_are_not_converted(delays, tmp_path):
    animation = zoetrope.open(delays)
    animation.cancel()
    for call in (animation.convert, animation.optimize):
        with pytest.raises(zoetrope.CancelledError):
            call(tmp_path / "a.gif")
    assert os.listdir(tmp_path) == []


def test_ctrl_c_ends_a_conversion(tmp_path):
    program = f"""
import io, signal, threading, numpy as np, zoetrope, os
file = io.BytesIO()
noise = np.random.default_rng(1).integers(0, 255, (800, 800, 3), np.uint8)
zoetrope.save(file, [np.roll(noise, n, axis=0) for n in range(12)], fps=10, effort="fast")
animation = zoetrope.open(file.getvalue())
threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    while True:
        animation.convert({str(tmp_path / "a.png")!r}, back_and_forth=True, effort="small")
        os.remove({str(tmp_path / "a.png")!r})
except KeyboardInterrupt:
    print("interrupted", animation[0].shape)
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=600)
    assert result.stdout == "interrupted (800, 800, 4)\n", result.stderr
    assert [name for name in os.listdir(tmp_path) if name != "a.png"] == []


def test_writers_cannot_be_copied():
    import copy

    with pytest.raises(TypeError):
        copy.copy(zoetrope.Writer(io.BytesIO()))


def test_durations_without_end(tmp_path):
    frames = [np.full((2, 2), shade, np.uint8) for shade in (0, 90, 180)]
    with pytest.raises(zoetrope.ParameterError, match="more than 3 durations, but 3 frames"):
        zoetrope.save(tmp_path / "a.gif", frames, durations=itertools.repeat(0.1))
    with pytest.raises(zoetrope.ParameterError, match="more than 3 durations, but 3 frames"):
        zoetrope.save(tmp_path / "a.gif", iter(frames), durations=itertools.cycle([0.1, 0.2]))
    with pytest.raises(zoetrope.ParameterError, match="2 durations, but more frames"):
        zoetrope.save(tmp_path / "a.gif", iter(frames), durations=iter([0.1, 0.2]))
    assert not list(tmp_path.iterdir())
    zoetrope.save(tmp_path / "a.gif", iter(frames), durations=itertools.islice(itertools.repeat(0.1), 3))
    with zoetrope.open(tmp_path / "a.gif") as animation:
        assert animation.durations == (0.1, 0.1, 0.1)


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


def test_numbers_of_colors_do_not_wrap():
    for colors in (2**32 + 16, 1 << 70, -(2**32) + 16):
        with pytest.raises(zoetrope.ParameterError):
            zoetrope.save(io.BytesIO(), [film(1)[0]], fps=5, format="gif", colors=colors)


def test_merged_frames_are_counted_with_a_budget():
    a, b = film(2)
    for options in ({}, {"max_bytes": "9M"}):
        written = zoetrope.save(io.BytesIO(), [a, a, b], fps=10, format="gif", **options)
        assert (written.frame_count, written.merged_count) == (2, 1), options


def test_keys_of_texts_do_not_matter_in_a_gif():
    for options in ({}, {"max_bytes": "9M"}):
        file = io.BytesIO()
        zoetrope.save(file, [film(1)[0]], fps=5, format="gif", texts={"\u0410": "x"}, **options)
        assert b"x" in file.getvalue()
    with pytest.raises(zoetrope.ParameterError):
        zoetrope.save(io.BytesIO(), [film(1)[0]], fps=5, format="apng", texts={"\u0410": "x"})


def test_plays_are_not_changed_for_a_preset():
    with pytest.raises(zoetrope.BudgetError):
        zoetrope.save(io.BytesIO(), film(6), fps=10, format="apng", plays=9, preset="line-sticker")
