"""Saving through Pillow and imageio, where they are installed."""

import io

import pytest

np = pytest.importorskip("numpy")
import zoetrope  # noqa: E402

from films import film, rgba  # noqa: E402


@pytest.fixture
def pillow():
    pytest.importorskip("PIL", reason="Pillow is not installed")
    from zoetrope import pillow

    pillow.register(save=True)
    yield pillow
    pillow.unregister()


def images(frames):
    from PIL import Image

    return [Image.fromarray(frame) for frame in frames]


def saved(frames, container="GIF", **options):
    return zoetrope.open(saved_bytes(frames, container, **options), delays="exact")


def saved_bytes(frames, container="GIF", **options):
    first, *rest = images(frames)
    file = io.BytesIO()
    first.save(file, container, save_all=True, append_images=rest, **options)
    return file.getvalue()


@pytest.mark.parametrize("container", ["GIF", "PNG"])
@pytest.mark.parametrize("disposal", [None, 0, 1, 2, [2, 0, 1, 2, 0, 1, 2, 0]])
def test_frames_look_as_they_are_with_every_disposal(pillow, container, disposal):
    opaque = np.full((24, 36, 4), 255, np.uint8)
    hole = opaque.copy()
    hole[4:9, 5:30] = 0
    frames = [hole, opaque, np.zeros_like(opaque), *film(4), hole]
    animation = saved(frames, container, duration=50, disposal=disposal)
    assert len(animation) == len(frames)
    for index, frame in enumerate(frames):
        assert np.array_equal(animation[index], frame)


@pytest.mark.parametrize("container", ["GIF", "PNG"])
@pytest.mark.parametrize("order", ["AAB", "ABA", "ABB"])
def test_durations_of_equal_frames_add_up(pillow, container, order):
    one, other = film(2)
    durations = [100, 250, 70]
    animation = saved([one if letter == "A" else other for letter in order], container, duration=durations)
    assert animation.duration == pytest.approx(0.42)
    for moment, letter in ((0.05, order[0]), (0.2, order[1]), (0.4, order[2])):
        assert np.array_equal(animation.at(moment), one if letter == "A" else other)


@pytest.mark.parametrize("container", ["GIF", "PNG"])
def test_fractions_of_milliseconds_do_not_drift(pillow, container):
    animation = saved(film(300), container, duration=1000 / 30)
    assert animation.duration == pytest.approx(10, abs=0.005)
    assert len(animation) == 300


@pytest.mark.parametrize("container", ["GIF", "PNG"])
@pytest.mark.parametrize("loop", [0, 1, 3, 65535])
def test_loop_means_what_it_means_in_pillow(pillow, container, loop):
    assert saved(film(3), container, duration=50, loop=loop).stored_loop_count == loop
    # Options that only Pillow writes.
    other = {"background": 0} if container == "GIF" else {"blend": 0}
    assert saved(film(3), container, duration=50, loop=loop, **other).stored_loop_count == loop
    pillow.register(save=False)
    assert saved(film(3), container, duration=50, loop=loop).stored_loop_count == loop


def test_loop_none_plays_a_gif_once(pillow):
    made = saved(film(3), duration=50, loop=3)
    frames = io.BytesIO()
    pillow.open(saved_bytes(film(3), loop=3)).save(frames, "GIF", save_all=True, loop=None)
    assert (made.plays, zoetrope.open(frames.getvalue()).plays) == (4, 1)
    with pytest.raises(zoetrope.ParameterError, match="loop is -1; it must be 0 or more"):
        saved(film(3), duration=50, loop=-1)


@pytest.mark.parametrize("container", ["GIF", "PNG"])
@pytest.mark.parametrize("plays", [2, 3, 65536, None])
def test_the_loop_of_an_opened_file_may_be_passed_on(pillow, container, plays):
    from PIL import Image

    source = io.BytesIO()
    zoetrope.save(source, film(4), fps=10, format="gif" if container == "GIF" else "apng", plays=plays)
    for opened in (Image.open(io.BytesIO(source.getvalue())), pillow.open(source.getvalue())):
        file = io.BytesIO()
        opened.save(file, container, save_all=True, loop=opened.info["loop"])
        assert zoetrope.open(file.getvalue()).plays == plays


@pytest.mark.parametrize("plays", [1, 2, 3, 65536, None])
@pytest.mark.parametrize("container", ["GIF", "PNG"])
def test_frames_copied_from_a_gif_play_as_often_as_it(pillow, plays, container):
    from PIL import Image, ImageSequence

    source = io.BytesIO()
    zoetrope.save(source, film(3), fps=10, format="gif", plays=plays)
    for opened in (Image.open(io.BytesIO(source.getvalue())), pillow.open(source.getvalue())):
        for copy in (lambda frame: frame.copy(), lambda frame: frame.convert("RGB")):
            first, *rest = [copy(frame) for frame in ImageSequence.Iterator(opened)]
            assert first.format is None
            file = io.BytesIO()
            first.save(file, container, save_all=True, append_images=rest)
            # A copy does not tell a GIF that plays once from an image without a count.
            expected = None if plays == 1 and container == "PNG" else plays
            assert zoetrope.open(file.getvalue()).plays == expected
    # As Pillow does with a count that comes from no file.
    first, *rest = images(film(3))
    first.info["loop"] = 4
    for save in (True, False):
        pillow.register(save=save)
        file = io.BytesIO()
        first.save(file, container, save_all=True, append_images=rest, duration=50)
        assert zoetrope.open(file.getvalue()).stored_loop_count == 4


def test_without_loop_the_number_of_plays_is_kept(pillow, fixtures):
    from PIL import Image

    assert saved(film(3), "GIF", duration=50).plays == 1
    assert saved(film(3), "PNG", duration=50).plays is None
    for plays in (1, 2, None):
        source = io.BytesIO()
        zoetrope.save(source, film(4), fps=10, format="gif", plays=plays)
        for opened in (Image.open(io.BytesIO(source.getvalue())), pillow.open(source.getvalue())):
            for container in ("GIF", "PNG"):
                file = io.BytesIO()
                opened.save(file, container, save_all=True)
                made = zoetrope.open(file.getvalue())
                assert len(made) == 4 and made.duration == pytest.approx(0.4)
                # Pillow does not say whether a GIF that plays once has a loop count.
                assert made.plays == (None if plays == 1 and container == "PNG" and "loop" not in opened.info
                                      and opened.__class__.__name__ != "ZoetropeImageFile" else plays)


def test_palettes_of_all_frames_are_used(pillow):
    from PIL import Image

    scenes = [Image.new("P", (8, 8)) for _ in range(2)]
    scenes[0].putpalette([255, 0, 0])
    scenes[1].putpalette([0, 255, 0])
    for container in ("GIF", "PNG"):
        file = io.BytesIO()
        scenes[0].save(file, container, save_all=True, append_images=scenes[1:], duration=100)
        made = zoetrope.open(file.getvalue())
        assert made[0][0, 0].tolist() == [255, 0, 0, 255] and made[1][0, 0].tolist() == [0, 255, 0, 255]


def test_a_duration_of_zero_or_none_is_stored_as_zero(pillow):
    for options in ({}, {"duration": 0}):
        assert {frame.delay[0] for frame in saved(film(3), "GIF", **options).frames} == {0}


def saved_by_both(pillow, frames, **options):
    """A GIF by Zoetrope, and one by Pillow's own writer."""
    for is_ours in (True, False):
        pillow.register(save=is_ours)
        yield saved(frames, "GIF", **options)


@pytest.mark.parametrize("duration", [10, 15, 4, [0, 100, 10, 100, 19, 20, 0, 30]])
def test_short_durations_are_stored_as_they_are(pillow, duration):
    ours, pillows = saved_by_both(pillow, film(8), duration=duration)
    assert len(ours) == len(pillows) == 8
    assert np.array_equal(ours.read(), np.stack(film(8)))
    given = duration if isinstance(duration, list) else [duration] * 8
    # Hundredths of a second. Pillow cuts each off, Zoetrope rounds without drift.
    for frame, milliseconds in zip(ours.frames, given):
        assert abs(frame.delay[0] - milliseconds / 10) < 1
    assert sum(frame.delay[0] for frame in ours.frames) == pytest.approx(sum(given) / 10, abs=0.5)
    if all(milliseconds % 10 == 0 for milliseconds in given):
        assert [frame.delay for frame in ours.frames] == [frame.delay for frame in pillows.frames]


@pytest.mark.parametrize("duration", [50, [20, 30, 100, 20, 40]])
def test_equal_neighbours_are_merged_as_pillow_merges_them(pillow, duration):
    one, other = film(2)
    frames = [one, one, other, other, one]
    ours, pillows = saved_by_both(pillow, frames, duration=duration)
    assert [frame.delay for frame in ours.frames] == [frame.delay for frame in pillows.frames]
    assert len(ours) == 3


def test_comments_are_kept(pillow):
    assert saved(film(3), comment="A disc", duration=50).metadata[0].value == b"A disc"


@pytest.mark.parametrize("comment", [
    b"caf\xe9", b"a\0b", "a\0b", "café", b"A disc", b"", "", b"x" * 1000, "\u2192" * 300, b"\xff\0" * 300])
def test_comments_are_those_that_pillow_stores(pillow, comment):
    from PIL import Image

    def stored(first, *rest, **options):
        file = io.BytesIO()
        first.save(file, "GIF", save_all=True, append_images=rest, duration=50, **options)
        return Image.open(io.BytesIO(file.getvalue())).info.get("comment")

    for is_ours in (True, False):
        pillow.register(save=is_ours)
        expected = (comment if isinstance(comment, bytes) else comment.encode()) or None
        assert stored(*images(film(3)), comment=comment) == expected
        # Of an opened file.
        first, *rest = images(film(3))
        first.info["comment"] = comment
        assert stored(first, *rest) == expected


def test_what_zoetrope_does_not_write_is_left_to_pillow(pillow, tmp_path):
    from PIL import Image, PngImagePlugin

    info = PngImagePlugin.PngInfo()
    info.add_text("Title", "Disc")
    made = saved(film(3), "PNG", duration=50, pnginfo=info)
    assert [item.key for item in made.metadata] == ["Title"] and len(made) == 3
    assert len(saved(film(1), "GIF")) == 1
    sizes = images([np.zeros((4, 4, 3), np.uint8), np.full((5, 5, 3), 9, np.uint8)])
    file = io.BytesIO()
    sizes[0].save(file, "PNG", save_all=True, append_images=sizes[1:], duration=50)
    assert zoetrope.open(file.getvalue()).size == (5, 5)
    # An iterator is not used up before Pillow comes to it.
    file = io.BytesIO()
    sizes[0].save(file, "PNG", save_all=True, append_images=iter(sizes[1:]), duration=50)
    assert zoetrope.open(file.getvalue()).size == (5, 5)
    # One frame, and formats that are not ours.
    Image.new("RGB", (4, 4)).save(tmp_path / "a.png")
    Image.new("RGB", (4, 4)).save(tmp_path / "a.tiff", save_all=True, append_images=[Image.new("RGB", (4, 4))])
    with pytest.raises(ValueError, match="duration"):
        saved(film(3), "GIF", duration=[1, 2])


@pytest.mark.parametrize("container", ["GIF", "PNG"])
def test_an_animation_of_which_one_frame_is_a_thumbnail_is_left_to_pillow(pillow, container):
    pillow.register(first=True, save=True)
    from PIL import Image

    with Image.open(io.BytesIO(saved_bytes(film(3), container, duration=50))) as image:
        image.thumbnail((10, 10))
        file = io.BytesIO()
        image.save(file, container, save_all=True)
    assert len(zoetrope.open(file.getvalue())) == 3


def test_pillow_writes_again_when_it_is_unregistered():
    pytest.importorskip("PIL", reason="Pillow is not installed")
    from PIL import Image
    from zoetrope import pillow

    Image.init()
    before = dict(Image.SAVE_ALL)
    pillow.register()
    assert Image.SAVE_ALL == before
    pillow.register(save=True)
    pillow.register(save=True)
    assert Image.SAVE_ALL["GIF"] != before["GIF"]
    pillow.register()
    assert Image.SAVE_ALL == before
    pillow.register(first=True, save=True)
    pillow.unregister()
    assert Image.SAVE_ALL == before


# ---- imageio


@pytest.fixture
def iio():
    pytest.importorskip("imageio.v3", reason="imageio is not installed")
    import imageio.v3
    import zoetrope.imageio

    zoetrope.imageio.register()
    return imageio.v3


@pytest.mark.parametrize("extension", [".gif", ".png"])
def test_imageio_writes_frames_at_once_or_one_by_one(iio, tmp_path, extension):
    frames = np.stack(film(6))
    path = tmp_path / f"a{extension}"
    iio.imwrite(path, frames, plugin="zoetrope", duration=50, loop=2)
    animation = zoetrope.open(path)
    assert animation.stored_loop_count == 2 and animation.durations == (0.05,) * 6
    assert np.array_equal(animation.read(), frames)
    with iio.imopen(path, "w", plugin="zoetrope") as file:
        for index, frame in enumerate(frames):
            file.write(frame, duration=10 * (index + 2))
            frame = None
        file.write(frames[:2], fps=50)
    animation = zoetrope.open(path)
    assert animation.durations == (0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.02, 0.02) and animation.plays is None
    assert np.array_equal(animation.read(), np.concatenate([frames, frames[:2]]))
    data = iio.imwrite("<bytes>", list(frames), plugin="zoetrope", extension=extension, duration=[50] * 6)
    assert np.array_equal(zoetrope.open(data).read(), frames)
    assert np.array_equal(iio.imread(data, plugin="zoetrope"), frames)


@pytest.mark.parametrize("extension", [".gif", ".png"])
@pytest.mark.parametrize("plays", [1, 2, 3, 65536, None])
def test_the_plays_of_a_file_that_imageio_reads_may_be_passed_on(iio, extension, plays):
    frames = film(3)
    data = iio.imwrite("<bytes>", frames, plugin="zoetrope", extension=extension, plays=plays)
    told = iio.immeta(data, plugin="zoetrope")
    assert told["plays"] == zoetrope.open(data).plays == plays
    for key in {"plays", "loop"} & told.keys():
        options = {key: told[key]}
        copy = iio.imwrite("<bytes>", frames, plugin="zoetrope", extension=extension, **options)
        assert zoetrope.open(copy).plays == plays
    for options, words in (
        ({"loop": 1, "plays": 2}, "not both"), ({"loop": -1}, "0 or more"), ({"plays": 0}, "plays is 0"),
    ):
        with pytest.raises(zoetrope.ParameterError, match=words):
            iio.imwrite("<bytes>", frames, plugin="zoetrope", extension=extension, **options)


@pytest.mark.parametrize("channels", [1, 3, 4])
@pytest.mark.parametrize("count", [None, 1, 5])
def test_imageio_takes_a_last_axis_of_channels(iio, channels, count):
    frames = np.stack(film(count or 1, (20, 30, max(channels, 3))))[..., :channels]
    data = iio.imwrite("<bytes>", frames if count else frames[0], plugin="zoetrope", extension=".png")
    made = zoetrope.open(data)
    assert (made.size, len(made)) == ((30, 20), count or 1)
    for index, frame in enumerate(frames):
        assert np.array_equal(made[index], rgba(frame[..., 0] if channels == 1 else frame))
    # Frames of one pixel in width.
    if channels == 1 and count is None:
        data = iio.imwrite("<bytes>", frames[0], plugin="zoetrope", extension=".png", is_batch=True)
        assert zoetrope.open(data).size == (1, 30)


@pytest.mark.parametrize("shape", [(8, 9, 2), (5, 8, 9, 2)])
def test_imageio_refuses_grey_with_alpha(iio, shape):
    with pytest.raises(zoetrope.ParameterError, match=r"not uint8 of shape \(8, 9, 2\)"):
        iio.imwrite("<bytes>", np.zeros(shape, np.uint8), plugin="zoetrope", extension=".png")


def test_imageio_writes_where_it_is_told_to(iio, tmp_path, monkeypatch):
    frames = np.stack(film(3))
    (tmp_path / "a.gif").write_bytes(b"old")
    (tmp_path / "link.gif").symlink_to("a.gif")
    monkeypatch.chdir(tmp_path)
    with open("file.gif", "wb") as file:
        for uri in ("b.gif", tmp_path / "c.gif", "link.gif", file, "all.zip/d.gif"):
            iio.imwrite(uri, frames, plugin="zoetrope", extension=".gif")
    for uri in ("a.gif", "b.gif", "c.gif", "file.gif", "all.zip/d.gif"):
        assert np.array_equal(iio.imread(uri, plugin="zoetrope"), frames)
    assert (tmp_path / "link.gif").is_symlink()


def test_names_of_the_v2_api(iio, tmp_path):
    import imageio.v2

    frames = film(3)
    imageio.v2.mimsave(tmp_path / "a.gif", frames, format="zoetrope", duration=50)
    assert np.array_equal(imageio.v2.mimread(tmp_path / "a.gif", format="zoetrope"), frames)


@pytest.mark.parametrize("duration", [10, 15, [0, 100, 10, 100, 19, 20, 0, 30]])
def test_imageio_stores_short_durations_as_they_are(iio, duration):
    data = iio.imwrite("<bytes>", film(8), plugin="zoetrope", extension=".gif", duration=duration)
    made = zoetrope.open(data, delays="exact")
    given = duration if isinstance(duration, list) else [duration] * 8
    assert np.array_equal(made.read(), np.stack(film(8)))
    for frame, milliseconds in zip(made.frames, given):
        assert abs(frame.delay[0] - milliseconds / 10) < 1
    file = io.BytesIO()
    with iio.imopen(file, "w", plugin="zoetrope", extension=".gif", exact_delays=False) as merging:
        merging.write(film(8), duration=10)
    assert len(zoetrope.open(file.getvalue())) == 4


@pytest.mark.parametrize("fps", [0, -1])
def test_imageio_refuses_a_rate_of_nothing(iio, fps):
    with pytest.raises(zoetrope.ParameterError, match=f"fps is {fps}; it must be more than 0"):
        iio.imwrite("<bytes>", film(2), plugin="zoetrope", extension=".gif", fps=fps)


def test_imageio_says_what_to_do_with_a_generator(iio):
    with pytest.raises(TypeError, match=r"ndimage is a generator; pass list\(...\)"):
        iio.imwrite("<bytes>", (frame for frame in film(2)), plugin="zoetrope", extension=".gif")


@pytest.mark.parametrize("kind", ["one", "list", "one by one"])
def test_imageio_takes_pillow_images(iio, kind):
    Image = pytest.importorskip("PIL.Image")
    import zoetrope.imageio

    pixels = np.random.default_rng(2).integers(0, 4, (2, 9, 11, 3), np.uint8) * 80
    images = [Image.fromarray(frame).quantize(50) for frame in pixels]
    images[0].info["transparency"] = images[0].getpixel((3, 3))
    expected = [np.asarray(image.convert("RGBA")) for image in images]
    if kind == "one by one":
        file = io.BytesIO()
        with iio.imopen(file, "w", plugin=zoetrope.imageio.Plugin, extension=".png") as opened:
            for image in images:
                opened.write(image)
        data = file.getvalue()
    else:
        data = iio.imwrite(
            "<bytes>", images if kind == "list" else images[0], extension=".png", plugin=zoetrope.imageio.Plugin)
    found = zoetrope.open(data)
    assert len(found) == (1 if kind == "one" else 2)
    for frame, wanted in zip(found, expected):
        seen = wanted[..., 3] > 0
        assert np.array_equal(frame[..., 3], wanted[..., 3]) and np.array_equal(frame[seen], wanted[seen])


def test_imageio_writes_nothing_after_an_error(iio, tmp_path):
    for before in (None, b"old"):
        if before:
            (tmp_path / "a.gif").write_bytes(before)
        for error in (ZeroDivisionError, KeyboardInterrupt):
            with pytest.raises(error):
                with iio.imopen(tmp_path / "a.gif", "w", plugin="zoetrope") as file:
                    file.write(film(1)[0])
                    raise error
        assert [path.read_bytes() for path in tmp_path.iterdir()] == [before][:bool(before)]
    with pytest.raises(OSError):
        iio.imwrite(tmp_path / "a.webp", film(2), plugin="zoetrope")
    with pytest.raises(zoetrope.ParameterError):
        iio.imwrite(tmp_path / "b.gif", film(2), plugin="zoetrope", duration=[1, 2, 3])


@pytest.mark.parametrize("wrong, options", [
    (np.zeros((2, 4, 4, 3)), {}), (np.zeros((4, 65536), np.uint8), {}),
    (np.zeros((4, 4), np.uint8), {"duration": 1e13})])
def test_imageio_refuses_a_wrong_first_frame_at_once(iio, wrong, options):
    file = io.BytesIO()
    with iio.imopen(file, "w", plugin="zoetrope", extension=".gif") as writer:
        with pytest.raises(ValueError):
            writer.write(wrong, **options)
        writer.write(film(2))
    assert len(zoetrope.open(file.getvalue())) == 2


def test_imageio_writes_nothing_after_the_file_is_closed(iio, tmp_path):
    with iio.imopen(tmp_path / "a.gif", "w", plugin="zoetrope") as file:
        file.write(film(3))
    with pytest.raises(ValueError, match="closed"):
        file.write(film(1))
    file.close()
    assert len(zoetrope.open(tmp_path / "a.gif")) == 3
