"""Writing within a number of bytes, by preset, and with similar or fewer colours."""

import io
import pickle
import threading
import time
import typing

import pytest

np = pytest.importorskip("numpy")
import zoetrope  # noqa: E402


SIDE = 64


def film(count=12, side=SIDE):
    """Gradients with grain, which take more bytes the more exact they are."""
    grain = np.random.default_rng(7)
    y, x = np.mgrid[:side, :side]
    frames = np.empty((count, side, side, 3), np.uint8)
    for index in range(count):
        frames[index] = np.stack([x + 5 * index, y, 0 * x], axis=2) + grain.integers(0, 8, (side, side, 3))
    return frames


@pytest.fixture(scope="module", params=["gif", "apng"])
def source(request):
    file = io.BytesIO()
    zoetrope.save(file, film(), fps=25, format=request.param)
    return file.getvalue()


def converted(source, **options):
    file = io.BytesIO()
    with zoetrope.open(source) as animation:
        told = animation.convert(file, **options)
    assert told.byte_count == len(file.getvalue())
    return told, zoetrope.open(file.getvalue(), damage="strict")


def test_similar_colours_take_fewer_bytes_and_stay_close(source):
    exact = zoetrope.open(source)
    told, animation = converted(source, lossy=60)
    assert told.byte_count < len(source)
    assert told.lossy == 60
    assert len(animation) == len(exact)
    for index, frame in enumerate(exact):
        assert np.abs(animation[index].astype(int) - frame).max() <= 60
    file = io.BytesIO()
    assert exact.optimize(file, lossy=60).byte_count <= exact.optimize(io.BytesIO()).byte_count
    assert zoetrope.open(file.getvalue()).size == exact.size


@pytest.mark.parametrize("format", ["gif", "apng"])
def test_writers_take_similar_colours(format):
    exact, near = io.BytesIO(), io.BytesIO()
    zoetrope.save(exact, film(), fps=25, format=format)
    with zoetrope.Writer(near, format=format, lossy=80) as writer:
        for frame in film():
            writer.append(frame, 0.04)
    assert writer.written.lossy == 80
    assert writer.written.size == (SIDE, SIDE)
    assert len(near.getvalue()) < len(exact.getvalue())


def test_a_budget_is_met_and_what_was_given_up_is_told(source):
    last = len(source)
    for part in (2, 4, 8, 16):
        told, animation = converted(source, max_bytes=len(source) // part)
        assert told.byte_count <= len(source) // part
        assert told.byte_count <= last
        assert told.lossy or told.colors or told.fps or told.size != (SIDE, SIDE)
        assert (told.size, told.frame_count) == (animation.size, len(animation))
        assert (told.fps is not None) == (len(animation) < 12)
        assert told.frame_count + told.dropped_count == 12
        last = told.byte_count


def test_what_is_pinned_stays(source):
    for pin in ("size", ["size"], ("size", "fps")):
        told, animation = converted(source, max_bytes=len(source) * 2 // 3, pin=pin)
        assert animation.size == (SIDE, SIDE)
        assert "fps" not in pin or len(animation) == 12 and told.fps is None
    with zoetrope.open(source) as animation:
        for wrong in ({"pin": "size"}, {"pin": "sise", "max_bytes": 9}):
            with pytest.raises(zoetrope.ParameterError, match="pin"):
                animation.convert(io.BytesIO(), **wrong)


def test_optimize_keeps_size_and_frames(source):
    with zoetrope.open(source) as animation:
        file = io.BytesIO()
        told = animation.optimize(file, max_bytes=len(source) * 2 // 3)
        assert told.byte_count == len(file.getvalue()) <= len(source) * 2 // 3
        assert (told.size, told.frame_count, told.fps) == ((SIDE, SIDE), 12, None)
        # A GIF takes similar colours, an APNG fewer.
        assert told.lossy or told.colors


def test_an_impossible_budget_tells_the_smallest_file_and_writes_none(source, tmp_path):
    path = tmp_path / f"a.{zoetrope.open(source).format}"
    with zoetrope.open(source) as animation:
        for write in (animation.convert, animation.optimize):
            with pytest.raises(zoetrope.BudgetError) as caught:
                write(path, max_bytes=60)
            error = caught.value
            assert (error.code, error.limit, error.allowed) == ("overBudget", "bytes", 60)
            assert error.found is None or error.found > 60
            assert "60" in str(error)
            copy = pickle.loads(pickle.dumps(error))
            assert (copy.limit, copy.found, copy.allowed, str(copy)) == (
                error.limit, error.found, error.allowed, str(error))
        assert not list(tmp_path.iterdir())
        animation.convert(path, max_bytes=len(source))
        assert path.stat().st_size <= len(source)


def test_an_impossible_budget_tells_how_close_it_came():
    # Small enough for every file to be completed.
    file = io.BytesIO()
    zoetrope.save(file, film(2, 16), fps=10, format="gif")
    with pytest.raises(zoetrope.BudgetError) as caught:
        converted(file.getvalue(), max_bytes=60)
    assert caught.value.found > 60


def test_presets_are_met():
    file = io.BytesIO()
    told = zoetrope.save(file, film(12, 160), fps=25, format="gif", preset="discord-emoji", max_bytes=60_000)
    animation = zoetrope.open(file.getvalue())
    assert max(animation.size) <= 128
    assert animation.size == told.size
    assert animation.byte_count <= 60_000
    told, animation = converted(file.getvalue(), format="apng", frames=[0], preset="signal-sticker", max_bytes=None)
    assert animation.size == (512, 512)
    assert animation.plays is None


def test_frames_dropped_for_a_site_are_told_and_a_pin_that_excludes_it_is_refused():
    file = io.BytesIO()
    zoetrope.save(file, film(60, 32), fps=25, format="gif")
    told, animation = converted(file.getvalue(), preset="slack-emoji")
    assert len(animation) <= 50 and told.dropped_count == 60 - len(animation)
    with pytest.raises(zoetrope.BudgetError, match="slack-emoji") as caught:
        converted(file.getvalue(), preset="slack-emoji", pin="fps")
    assert (caught.value.limit, caught.value.found, caught.value.allowed) == ("frames", 60, 50)


@pytest.mark.parametrize("options, limit, found, allowed", [
    ({"preset": "line-sticker", "frames": slice(3)}, "frames", 3, 5),
    ({"preset": "line-sticker", "duration": 6.5}, "duration", 6.5, 4),
    ({"preset": "signal-sticker", "crop": (0, 0, SIDE, 40)}, "sides", SIDE, 512),
    ({"preset": "imessage-small", "size": (20, 20)}, "sides", 20, 300),
])
def test_presets_that_cannot_be_met_name_the_limit(source, options, limit, found, allowed):
    with pytest.raises(zoetrope.BudgetError, match=options["preset"]) as caught:
        converted(source, format="apng", **options)
    assert (caught.value.limit, caught.value.found, caught.value.allowed) == (limit, found, allowed)


def test_the_type_of_presets_lists_those_of_the_library(source):
    with pytest.raises(zoetrope.ParameterError) as caught:
        converted(source, preset="myspace")
    listed = str(caught.value).split("one of ")[1].split(", ")
    assert list(typing.get_args(zoetrope.UploadPreset)) == listed
    for wrong in ("telegram", "x" * 99, "a\0b", ""):
        with pytest.raises(zoetrope.ParameterError, match="preset is (?!empty)" if wrong else "preset is empty"):
            converted(source, preset=wrong)


def test_a_number_of_bytes_may_have_a_unit(source):
    from zoetrope._writer_arguments import _max_bytes

    for text, count in {
        "9": 9, "9B": 9, "256K": 1 << 18, "256k": 1 << 18, "256KiB": 1 << 18, "1.5M": 3 << 19, "2MiB": 2 << 20,
        "1G": 1 << 30, "1GiB": 1 << 30, "1kB": 1000, "1KB": 1000, "1.MB": 10**6, "0.3GB": 300_000_000,
        "200kb": 200_000, "1.5mb": 1_500_000, "9b": 9, "99999999999G": (1 << 63) - 1,
    }.items():
        assert _max_bytes(text) == count, text
    plain, exact = converted(source, max_bytes="1G")[0], converted(source, max_bytes=1 << 30)[0]
    assert plain.byte_count == exact.byte_count
    with pytest.raises(zoetrope.BudgetError) as caught:
        converted(source, max_bytes="0.05K")
    assert caught.value.allowed == 51


def test_wrong_arguments_are_refused(source):
    texts = ("", "K", "-9K", "9X", "1e3", "9 K", "0", "0.1", "0x9", "\u0663K", "1.2.3M", "9k\n")
    for wrong in (
        {"lossy": 201}, {"lossy": -1}, {"max_bytes": 0}, {"max_bytes": -3}, {"colors": 1},
        *({"max_bytes": text} for text in texts),
    ):
        with pytest.raises(zoetrope.ParameterError):
            converted(source, **wrong)
    for wrong in ({"lossy": 1.5}, {"max_bytes": 9.5}, {"preset": 3}, {"pin": 3, "max_bytes": 9}):
        with pytest.raises(TypeError):
            converted(source, **wrong)
    for wrong in ({"lossy": 201}, {"pin": "size"}):
        with pytest.raises(zoetrope.ParameterError):
            zoetrope.save(io.BytesIO(), film(1), fps=1, format="gif", **wrong)


def test_fewer_colours_take_fewer_bytes():
    file = io.BytesIO()
    zoetrope.save(file, film(), fps=25, format="gif")
    told, animation = converted(file.getvalue(), colors=16)
    assert told.colors == 16
    assert told.byte_count < len(file.getvalue())
    assert len(np.unique(animation[0].reshape(-1, 4), axis=0)) <= 16
    with pytest.raises(zoetrope.UnwritableError):
        partly = np.full((1, 4, 4, 4), 100, np.uint8)
        zoetrope.save(io.BytesIO(), partly, fps=1, format="gif", colors="exact")


def opened_in_time(data, timeout):
    # A busy machine may need the time for itself.
    for _ in range(20):
        try:
            return zoetrope.open(data, timeout=timeout)
        except zoetrope.TimedOutError:
            continue
    pytest.fail("opened in time not once in twenty")


def test_cancelling_ends_a_search():
    file = io.BytesIO()
    zoetrope.save(file, film(60, 160), fps=25, format="apng", effort="fast")
    animation = zoetrope.open(file.getvalue())
    timer = threading.Timer(0.05, animation.cancel)
    timer.start()
    target = io.BytesIO()
    with pytest.raises(zoetrope.CancelledError):
        animation.convert(target, format="gif", max_bytes=20_000, effort="small")
    timer.join()
    assert not target.getvalue()
    with opened_in_time(file.getvalue(), 0.05) as animation:
        start = time.monotonic()
        with pytest.raises(zoetrope.TimedOutError):
            animation.convert(target, format="gif", max_bytes=20_000, effort="small")
        # Ample for a busy machine; it ends with its time.
        assert time.monotonic() - start < 60


def test_a_budget_changes_no_other_parameter():
    def saved(frames, format, **options):
        file = io.BytesIO()
        zoetrope.save(file, frames, format=format, **options)
        return zoetrope.open(file.getvalue(), delays="exact")

    frames = film()
    for times in ({"fps": 100}, {"durations": 0}, {"durations": [0.01, 0.02, 0.3] * 4}):
        for exact in (False, True):
            plain = saved(frames, "gif", exact_delays=exact, **times)
            bounded = saved(frames, "gif", exact_delays=exact, max_bytes="9M", **times)
            assert [frame.delay for frame in bounded.frames] == [frame.delay for frame in plain.frames]
    texts = {"Author": "me", "Comment": "hello"}
    plain = saved(frames, "gif", fps=25, texts=texts)
    bounded = saved(frames, "gif", fps=25, texts=texts, max_bytes="9M")
    assert [item.value for item in bounded.metadata] == [item.value for item in plain.metadata] == [b"me", b"hello"]
    hidden = np.zeros((2, 4, 4, 4), np.uint8)
    hidden[..., 0] = 200
    hidden[1, 0, 0] = 255
    for keeps in (False, True):
        picture = saved(hidden, "apng", fps=5, keep_hidden=keeps, max_bytes="9M").frame(0)
        assert picture[1, 1].tolist() == ([200, 0, 0, 0] if keeps else [0, 0, 0, 0])


def test_a_preset_says_which_format_the_output_would_have(fixtures):
    with pytest.raises(zoetrope.ParameterError, match="slack-emoji requires a GIF, but the output would be an APNG"):
        converted((fixtures / "Demo" / "spinner.png").read_bytes(), preset="slack-emoji")
