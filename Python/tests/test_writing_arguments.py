"""Arguments of writers that are refused, and what the errors say."""

import errno
import io
import os
from fractions import Fraction

import pytest

np = pytest.importorskip("numpy")
import zoetrope  # noqa: E402

from films import film, written  # noqa: E402
import hostile  # noqa: E402


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
    with pytest.raises(zoetrope.ParameterError, match="does not end in .gif") as caught:
        zoetrope.Writer("a\x1b[0m\n.webp")
    assert str(caught.value).isprintable()
    assert zoetrope.save(tmp_path / "a.webp", frames, fps=1, format="gif").format == "gif"
    with pytest.raises(FileNotFoundError) as caught:
        zoetrope.save(tmp_path / "none" / "a.gif", frames, fps=1)
    assert caught.value.errno == errno.ENOENT and "none" in str(caught.value)
    assert file.getvalue() == b""
    with pytest.raises(zoetrope.UnwritableError):
        zoetrope.save(file, frames, fps=1, format="gif", plays=65537)


@pytest.mark.parametrize("options, words", [
    ({"fps": -5}, "fps is -5; it must be more than 0"), ({"fps": 0}, "fps is 0; it must be more than 0"),
    ({"fps": 1e-12}, "fps is 1e-12; frames would last longer than 4294967295 seconds"),
    ({"fps": 1, "plays": 1 << 64}, "plays is 18446744073709551616; no format stores so many"),
    ({"fps": 1, "texts": {"a ": "b"}}, "texts: 'a ': key must be 1 to 79"),
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


def test_a_delay_that_is_no_number_may_be_a_pair():
    for wrong in ([1, 3], None, object()):
        with pytest.raises(TypeError, match=r"delay must be a number or a pair, \(numerator, denominator\), not "):
            with zoetrope.Writer(io.BytesIO()) as writer:
                writer.append(film(1)[0], wrong)


def test_only_a_delay_of_0_is_0():
    # Players show a delay of 0 for 100 ms.
    for tiny in (1e-9, 1e-300, Fraction(1, 1 << 70)):
        assert all(frame.duration_ns < 10 for frame in written(film(2), durations=tiny).frames)
        made = written(film(3), "gif", durations=[tiny, 0.1, 0.1])
        assert made.duration == 0.2 and len(made) == 2, made.frames
    assert written(film(2), "gif", durations=0).duration == 0.2


def test_texts_must_be_strings():
    for texts, words in (({"a": 3}, "'a' must be a str, not int"), ({3: "a"}, "key 3"), ("Title", "mapping, not str")):
        with pytest.raises(TypeError, match=words):
            zoetrope.Writer(io.BytesIO(), texts=texts)


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


def test_an_array_with_two_axes_is_one_picture():
    grey = np.zeros((5, 6), np.uint8)
    with pytest.raises(zoetrope.ParameterError, match=r"shape \(5, 6\) is one picture in grey; pass frames\[None\]"):
        zoetrope.save(io.BytesIO(), grey, fps=5)
    assert written(grey[None], fps=5).size == (6, 5)


@pytest.mark.parametrize("mode", ["RGB", "L", "P"])
def test_one_pillow_image_is_no_list_of_frames(mode):
    Image = pytest.importorskip("PIL.Image")
    with pytest.raises(zoetrope.ParameterError, match=r"frames is one picture; pass \[image\]"):
        zoetrope.save(io.BytesIO(), Image.new(mode, (5, 4)), fps=5)
    assert written([Image.new(mode, (5, 4))], fps=5).size == (5, 4)


def test_the_frames_of_a_pillow_image_are_in_its_iterator(delays):
    Image = pytest.importorskip("PIL.Image")
    from PIL import ImageSequence
    count = len(zoetrope.open(delays))
    for options in ({}, {"max_bytes": "1M"}):
        with Image.open(delays) as image:
            with pytest.raises(zoetrope.ParameterError, match=rf"{count} frames; pass PIL\.ImageSequence\.Iterator"):
                zoetrope.save(io.BytesIO(), image, fps=5, **options)
            # All elements are the same object.
            for frames in (list(ImageSequence.Iterator(image)), (image, image)):
                with pytest.raises(zoetrope.ParameterError, match="more than once.* without list"):
                    zoetrope.save(io.BytesIO(), frames, fps=5, **options)
            assert len(written(ImageSequence.Iterator(image), fps=5, **options)) == count
            assert len(written([frame.copy() for frame in ImageSequence.Iterator(image)], fps=5, **options)) == count
            image.seek(0)
            assert len(written([image], fps=5, **options)) == 1
    # A list may hold a picture twice.
    still = Image.new("L", (5, 4))
    assert len(written([still, still], fps=5, keep_identical=True)) == 2


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_an_array_that_may_have_grey_and_alpha_is_refused(dtype):
    frames = np.zeros((48, 64, 2), dtype)
    frames[::2] = 1
    with pytest.raises(zoetrope.ParameterError, match=r"grey and alpha.*convert it to RGBA.*frames\[..., None\]"):
        zoetrope.save(io.BytesIO(), frames, fps=5)
    made = written(frames[..., None], fps=5)
    assert (made.size, len(made)) == ((2, 64), 48)


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


def test_numbers_of_colors_do_not_wrap():
    for colors in (2**32 + 16, 1 << 70, -(2**32) + 16):
        with pytest.raises(zoetrope.ParameterError):
            zoetrope.save(io.BytesIO(), [film(1)[0]], fps=5, format="gif", colors=colors)


def test_plays_are_not_changed_for_a_preset():
    with pytest.raises(zoetrope.BudgetError):
        zoetrope.save(io.BytesIO(), film(6), fps=10, format="apng", plays=9, preset="line-sticker")
