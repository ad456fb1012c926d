"""Animations made from other animations: edits, conversions and smaller files."""

import io
import os
import subprocess
import sys
from fractions import Fraction

import pytest

np = pytest.importorskip("numpy")
import zoetrope  # noqa: E402

from films import film  # noqa: E402


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


def test_damage_in_copied_frames_is_copied_or_rejected(fixtures):
    path = fixtures / "Bad" / "lzw-end-early.gif"
    kinds = [damage.kind for damage in zoetrope.open(path).check()]
    assert kinds
    animation, file = zoetrope.open(path), io.BytesIO()
    assert animation.convert(file, plays=3).copied_count == len(animation)
    assert [damage.kind for damage in zoetrope.open(file.getvalue()).check()] == kinds
    strict, file = zoetrope.open(path, damage="strict"), io.BytesIO()
    for call in (
        strict.check, lambda: strict.optimize(file), lambda: strict.convert(file, plays=3),
        lambda: strict.convert(file, max_bytes="9M"),
    ):
        with pytest.raises(zoetrope.MalformedError):
            call()
    assert not file.getvalue()


def test_unknown_chunks_that_are_left_out_are_told(fixtures):
    for name in ("APNG/chunk-unknown.png", "GIF/extension-unknown.gif"):
        animation = zoetrope.open(fixtures / name)
        assert animation.convert(io.BytesIO(), size=(4, None)).is_stripped, name
        assert not animation.convert(io.BytesIO(), plays=3).is_stripped, name


def test_delays_that_browsers_do_not_show_as_stored():
    fast = film(12)
    # An APNG stores what it gets, so it plays too slowly in browsers, whose rules are the default.
    for options, shown in (({"fps": 120}, 1.2), ({"durations": 0.011}, 0.132), ({"fps": 120, "format": "gif"}, 0.1)):
        file = io.BytesIO()
        zoetrope.save(file, fast, **options)
        assert zoetrope.open(file.getvalue()).duration == pytest.approx(shown), options
    file = io.BytesIO()
    zoetrope.save(file, fast, fps=10)
    animation = zoetrope.open(file.getvalue())
    for format in ("gif", "apng"):
        made, told = rewritten(animation, format=format, speed=20)
        assert made.duration == pytest.approx(0.06) and len(made) + told.merged_count == 12 > len(made)
        assert min(frame.duration_ns for frame in made.frames) >= (20 if format == "gif" else 11) * 10**6
        made, told = rewritten(animation, format="apng", speed=20, exact_delays=True)
        assert made.duration == pytest.approx(1.2) and told.merged_count == 0
        # No change concerns these.
        made, told = rewritten(made, plays=2)
        assert made.duration == pytest.approx(1.2) and told.copied_count == 12
