"""Writing animations from arrays and Pillow images."""

import io
import itertools
from fractions import Fraction

import pytest

np = pytest.importorskip("numpy")
import zoetrope  # noqa: E402

from films import film, rgba, written  # noqa: E402


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


def test_texts_are_written():
    animation = written(film(2), texts={"Title": "Disc", "Author": "Ä"})
    assert [(item.key, item.value.decode()) for item in animation.metadata] == [("Title", "Disc"), ("Author", "Ä")]
    assert written(film(2), "gif", texts={"Comment": "Disc"}).metadata[0].value == b"Disc"


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
