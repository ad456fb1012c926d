"""Pillow and imageio, where they are installed."""

import io

import pytest

np = pytest.importorskip("numpy")
import zoetrope  # noqa: E402


@pytest.fixture
def pillow():
    pytest.importorskip("PIL", reason="Pillow is not installed")
    from zoetrope import pillow

    yield pillow
    pillow.unregister()


@pytest.fixture
def plugin():
    pytest.importorskip("imageio.v3", reason="imageio is not installed")
    from zoetrope.imageio import Plugin

    return Plugin


def test_pillow_images_have_our_frames_and_times(pillow, delays):
    animation = zoetrope.open(delays)
    for source in (str(delays), delays.read_bytes(), io.BytesIO(delays.read_bytes())):
        with pillow.open(source) as image:
            assert (image.size, image.mode, image.n_frames) == (animation.size, "RGBA", 10)
            assert image.is_animated
            for index in (0, 7, 3, 9):
                image.seek(index)
                assert image.tell() == index
                assert image.info["duration"] == pytest.approx(1000 * animation.durations[index])
                assert np.array_equal(np.asarray(image), animation[index])
            assert image.resize((5, 5)).size == (5, 5)
            with pytest.raises(EOFError):
                image.seek(10)
            assert image.tell() == 9


def test_pillow_images_may_be_copied_and_saved(pillow, delays):
    from PIL import ImageSequence

    animation = zoetrope.open(delays)
    with pillow.open(str(delays)) as image:
        frames = [frame.copy() for frame in ImageSequence.Iterator(image)]
        assert [np.array_equal(np.asarray(f), animation[i]) for i, f in enumerate(frames)] == [True] * 10
        file = io.BytesIO()
        image.seek(4)
        image.save(file, "PNG")
    assert np.array_equal(zoetrope.open(file.getvalue())[0], animation[4])


def test_image_open_stays_pillows_unless_asked(pillow, delays):
    from PIL import Image

    def opened(**options):
        with Image.open(delays, **options) as image:
            return image.format

    assert opened() == "GIF"
    pillow.register()
    assert (opened(), opened(formats=["ZOETROPE"])) == ("GIF", "ZOETROPE")
    pillow.register(first=True)
    pillow.register(first=True)
    assert (opened(), opened(formats=["GIF"])) == ("ZOETROPE", "GIF")
    pillow.unregister()
    assert opened() == "GIF"


def test_pillow_leaves_other_formats_alone(pillow, fixtures):
    from PIL import Image

    pillow.register(first=True)
    file = io.BytesIO()
    Image.new("RGB", (3, 2), "red").save(file, "BMP")
    with Image.open(io.BytesIO(file.getvalue())) as image:
        assert image.format == "BMP"
    with pytest.raises(SyntaxError):
        pillow.open(b"nothing of the kind")
    for path in sorted((fixtures / "Bad").iterdir()):
        try:
            with pillow.open(str(path)) as image:
                image.seek(image.n_frames - 1)
                image.load()
        except (zoetrope.ZoetropeError, SyntaxError):
            pass


def test_imageio_reads_through_the_plugin(plugin, delays):
    import imageio.v3 as imageio

    animation = zoetrope.open(delays)
    every = imageio.imread(delays, plugin=plugin)
    assert np.array_equal(every, animation.read())
    assert np.array_equal(imageio.imread(delays, index=..., plugin=plugin), every)
    rgb = imageio.imread(delays.read_bytes(), index=3, mode="RGB", plugin=plugin)
    assert np.array_equal(rgb, animation.frame(3, format="RGB"))
    small = imageio.imread(delays, index=3, size=(31, 6), plugin=plugin)
    assert small.shape == (6, 31, 4)
    frames = list(imageio.imiter(delays, plugin=plugin))
    assert len(frames) == 10 and np.array_equal(frames[9], every[9])


def test_imageio_tells_shape_and_times(plugin, delays):
    import imageio.v3 as imageio

    facts = imageio.improps(delays, plugin=plugin)
    assert (facts.shape, facts.n_images, facts.is_batch) == ((10, 24, 124, 4), 10, True)
    assert imageio.improps(delays, index=2, plugin=plugin).shape == (24, 124, 4)
    durations = [1000 * seconds for seconds in zoetrope.open(delays).durations]
    assert imageio.immeta(delays, plugin=plugin)["duration"] == pytest.approx(durations)
    assert imageio.immeta(delays, index=1, plugin=plugin)["duration"] == pytest.approx(durations[1])


def test_imageio_says_what_the_plugin_cannot_do(plugin, delays, tmp_path, fixtures):
    import imageio.v3 as imageio

    with pytest.raises(OSError):
        imageio.imread(fixtures / "README.md", plugin=plugin)
    with pytest.raises(OSError):
        imageio.imwrite(tmp_path / "a.gif", np.zeros((2, 2, 3), np.uint8), plugin=plugin)
