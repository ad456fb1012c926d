"""Pillow and imageio, where they are installed."""

import copy
import importlib
import io
import os
import pickle
import random

import pytest

np = pytest.importorskip("numpy")
import zoetrope  # noqa: E402

import hostile  # noqa: E402
from signals import descriptors  # noqa: E402


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


@pytest.mark.parametrize("way", [lambda image: pickle.loads(pickle.dumps(image)), copy.deepcopy])
@pytest.mark.parametrize("index", [0, 4])
def test_pillow_images_keep_their_pixels_when_pickled_or_deeply_copied(pillow, delays, way, index):
    expected = zoetrope.open(delays)[index]
    with pillow.open(str(delays)) as image:
        image.seek(index)
        made = way(image)
        assert made == image and made.info == image.info
    assert np.array_equal(np.asarray(made), expected) and made.tobytes() == expected.tobytes()
    made.load()
    assert made.convert("RGB").size == made.copy().size == made.size == (124, 24)
    assert made.resize((5, 5)).size == (5, 5)
    file = io.BytesIO()
    made.save(file, "PNG")
    assert np.array_equal(zoetrope.open(file.getvalue())[0], expected)
    assert (made.format, made.get_format_mimetype()) == ("GIF", "image/gif")
    assert (made.n_frames, made.is_animated, made.tell()) == (1, False, 0)
    made.seek(0)
    with pytest.raises(EOFError):
        made.seek(1)
    assert way(made) == made
    with made:
        made.thumbnail((32, 32))
    made.close()


def test_image_open_stays_pillows_unless_asked(pillow, delays):
    from PIL import Image

    def opened(**options):
        with Image.open(delays, **options) as image:
            # What programs ask for is the same.
            assert (image.format, image.get_format_mimetype()) == ("GIF", "image/gif")
            return type(image).__name__

    theirs, ours = "GifImageFile", "ZoetropeImageFile"
    assert opened() == theirs
    pillow.register()
    assert (opened(), opened(formats=["ZOETROPE"])) == (theirs, ours)
    pillow.register(first=True)
    pillow.register(first=True)
    assert (opened(), opened(formats=["GIF"])) == (ours, theirs)
    pillow.unregister()
    assert opened() == theirs


def test_pillow_leaves_other_formats_alone(pillow, fixtures):
    from PIL import Image

    pillow.register(first=True)
    file = io.BytesIO()
    Image.new("RGB", (3, 2), "red").save(file, "BMP")
    with Image.open(io.BytesIO(file.getvalue())) as image:
        assert image.format == "BMP"


@pytest.mark.parametrize("way", ["open", "registered"])
def test_pillow_refuses_as_pillow_does(pillow, fixtures, way):
    from PIL import Image, UnidentifiedImageError

    if way == "registered":
        pillow.register(first=True)
    opened = pillow.open if way == "open" else lambda data: Image.open(io.BytesIO(data))
    for data in (b"nothing of the kind", b"GIF89a" + bytes(7) + b";", b"GIF89a"):
        with pytest.raises(UnidentifiedImageError):
            opened(data)
    with pytest.raises(Image.DecompressionBombError) as caught:
        opened(hostile.gif(60000, 60000, [(0, 0, 1, 1, 0, hostile.lzw(1))]))
    assert isinstance(caught.value, zoetrope.LimitError) and caught.value.code == "limitExceeded"
    if way == "open":
        with pytest.raises(UnidentifiedImageError) as caught:
            opened(b"GIF89a" + bytes(7) + b";")
        assert isinstance(caught.value.__cause__, zoetrope.ZoetropeError)
        with pytest.raises(FileNotFoundError):
            opened("/nonexistent.gif")


def test_pillow_seeks_after_thumbnails(pillow, delays):
    animation = zoetrope.open(delays)
    with pillow.open(str(delays)) as image:
        for index in (0, 4, 4, 7, 0):
            image.seek(index)
            image.thumbnail((32, 32))
            assert image.size[0] == 32
        image.seek(4)
        assert np.array_equal(np.asarray(image), animation[4])
        image.thumbnail((32, 32))
        image.seek(5)
        assert np.array_equal(np.asarray(image), animation[5])


@pytest.mark.parametrize("seed", range(40))
def test_pillow_calls_in_any_order_show_what_a_fresh_image_does(pillow, delays, seed):
    draw = random.Random(seed)
    data = delays.read_bytes()
    # What the program has done to the frame since it sought it.
    index, changes = 0, []

    def expected():
        with pillow.open(data) as fresh:
            fresh.seek(index)
            for change in changes:
                change(fresh)
            fresh.load()
            return fresh.size, fresh.mode, fresh.tobytes()

    steps = []
    with pillow.open(data) as image:
        for _ in range(30):
            step = draw.choice(["seek"] * 4 + ["thumbnail"] * 2 + ["load", "copy", "paste", "look"])
            place, side = draw.randrange(image.n_frames), draw.choice([16, 32, 48, 1000])
            steps.append((step, place, side))
            if step == "seek":
                image.seek(place)
                if place != index:
                    index, changes = place, []
            elif step == "thumbnail":
                changes.append(lambda other, side=side: other.thumbnail((side, side)))
                changes[-1](image)
            elif step == "paste":
                changes.append(lambda other, side=side: other.paste((side % 256, 0, 0, 255), (1, 1, 9, 9)))
                changes[-1](image)
            elif step == "load":
                image.load()
            elif step == "copy":
                made = image.copy()
                assert (made.size, made.mode, made.tobytes()) == expected(), steps
            else:
                assert (image.size, image.mode, image.tobytes()) == expected(), steps
            assert image.tell() == index
        assert (image.size, image.mode, image.tobytes()) == expected(), steps


def test_pillow_thumbnails_then_seeks_without_loading(pillow, delays):
    # What was loaded before the size was put back is gone.
    with pillow.open(str(delays)) as image:
        image.seek(0)
        image.thumbnail((32, 32))
        image.seek(3)
        image.seek(0)
        assert np.array_equal(np.asarray(image), zoetrope.open(delays)[0])


@pytest.mark.parametrize("error, expected", [
    (zoetrope.LimitError("limitExceeded", "no memory"), "DecompressionBombError"),
    (zoetrope.MalformedError("malformed", "words", 3, 7), "OSError"),
    (zoetrope.ReadError("io", "words"), "ReadError"),
    (zoetrope.ForkedError("forked", "words"), "ForkedError"),
    (zoetrope.OutOfMemoryError("outOfMemory", "words"), "OutOfMemoryError"),
])
def test_pillow_loads_fail_as_pillows_do(pillow, delays, monkeypatch, error, expected):
    def fail(*_, **__):
        raise error

    with pillow.open(str(delays)) as image:
        monkeypatch.setattr(zoetrope.Animation, "decode", fail)
        with pytest.raises(Exception) as caught:
            image.load()
        assert type(caught.value).__name__ == expected
        assert caught.value is error or caught.value.__cause__ is error
        assert isinstance(caught.value, (OSError, RuntimeError, MemoryError, zoetrope.LimitError))
        monkeypatch.undo()
        # It can be tried again.
        assert np.array_equal(np.asarray(image), zoetrope.open(delays)[0])
        monkeypatch.setattr(zoetrope.Animation, "frames", property(fail))
        with pytest.raises(type(caught.value)):
            image.seek(2)
        monkeypatch.undo()
        image.seek(4)
        assert np.array_equal(np.asarray(image), zoetrope.open(delays)[4])


def test_pillow_images_have_pillows_facts(pillow, fixtures):
    from PIL import Image

    compared = 0
    for path in sorted((fixtures / "GIF").glob("*.gif")) + sorted((fixtures / "APNG").glob("*.png")):
        try:
            theirs = Image.open(path)
            ours = pillow.open(str(path))
        except OSError:
            continue
        assert ours.format == theirs.format
        assert ours.get_format_mimetype() == theirs.get_format_mimetype()
        if "comment" in theirs.info:
            # Pillow has those before the first frame.
            assert ours.info["comment"].startswith(theirs.info["comment"])
            compared += 1
        for key in ("background", "version"):
            assert ours.info.get(key) == theirs.info.get(key), path
        compared += 1
    assert compared > 30


def test_pillow_images_have_pillows_colors_and_durations(pillow, fixtures):
    from PIL import Image

    keys = ("gamma", "chromaticity", "srgb", "dpi", "aspect", "exif")
    compared = set()
    paths = [fixtures / "Demo" / "variable-delay.gif", *(fixtures / "GIF").glob("*.gif")]
    for path in [*paths, *(fixtures / "APNG").glob("*.png")]:
        try:
            theirs = Image.open(path)
            ours = pillow.open(str(path))
        except OSError:
            continue
        for key in keys:
            assert ours.info.get(key) == theirs.info.get(key), path
            compared |= {key} & theirs.info.keys()
        # Delays up to 10 ms are shown longer; and Pillow's times of fractions are not exact.
        duration = theirs.info.get("duration", 0)
        if duration > 10 and ours.tell() == 0 and not theirs.info.get("default_image"):
            assert ours.info["duration"] == pytest.approx(duration)
            assert type(ours.info["duration"]) is type(duration), path
            compared.add(ours.format)
        assert ours.default_image is False
    assert compared >= {"gamma", "chromaticity", "srgb", "dpi", "exif", "GIF", "PNG"}


@pytest.mark.parametrize("delay", [4, 0])
def test_pillow_still_images_have_the_duration_of_the_file(pillow, delay):
    data = hostile.gif(1, 1, [(0, 0, 1, 1, 1, hostile.lzw(1))])
    data = data.replace(b"\x21\xf9\x04\x05\x05\x00", b"\x21\xf9\x04\x05" + bytes([delay, 0]))
    with pillow.open(data) as image:
        assert image.info.get("duration") == (40 if delay else None)


@pytest.fixture
def truncated():
    """Sets `LOAD_TRUNCATED_IMAGES`."""
    from PIL import ImageFile

    before = ImageFile.LOAD_TRUNCATED_IMAGES
    ImageFile.LOAD_TRUNCATED_IMAGES = True
    yield ImageFile
    ImageFile.LOAD_TRUNCATED_IMAGES = before


@pytest.mark.parametrize("name, frame, words", [
    ("gif-cut-in-frame-0.gif", 0, "image file is truncated"),
    ("lzw-stop-early.gif", 1, "image file is truncated"),
    ("lzw-end-early.gif", 1, "image file is truncated"),
    ("lzw-no-data.gif", 1, "image file is truncated"),
    ("lzw-bad-code.gif", 1, "broken data stream when reading image file"),
    ("apng-cut-in-idat.png", 0, "image file is truncated"),
    ("zlib-cut.png", 1, "image file is truncated"),
    ("zlib-corrupt.png", 1, "broken data stream when reading image file"),
    ("zlib-header.png", 1, "broken data stream when reading image file"),
])
def test_pillow_loads_truncated_frames_only_if_asked(pillow, fixtures, truncated, name, frame, words):
    from PIL import Image

    path = str(fixtures / "Bad" / name)
    for opened in (pillow.open, Image.open):
        truncated.LOAD_TRUNCATED_IMAGES = False
        with opened(path) as image:
            image.seek(frame)
            with pytest.raises(OSError, match=words):
                image.load()
            # Pillow raises only once where the data is broken.
            if opened is pillow.open:
                with pytest.raises(OSError, match=words):
                    image.convert("RGB")
                # What is intact can be loaded later.
                truncated.LOAD_TRUNCATED_IMAGES = True
                assert np.array_equal(np.asarray(image), zoetrope.open(path)[frame])


def test_pillow_loads_frames_with_harmless_deviations(pillow, fixtures):
    from PIL import ImageFile

    assert not ImageFile.LOAD_TRUNCATED_IMAGES
    for name in ("lzw-tail.gif", "gif-pixel-out-of-range.gif", "zlib-tail.png", "crc-fdat.png"):
        with pillow.open(str(fixtures / "Bad" / name)) as image:
            image.seek(1)
            assert np.array_equal(np.asarray(image), zoetrope.open(fixtures / "Bad" / name)[1])


@pytest.mark.parametrize("way", ["close", "exit"])
def test_pillow_images_are_closed_as_pillows_are(pillow, delays, way):
    from PIL import Image

    for opened in (pillow.open, Image.open):
        image = opened(str(delays))
        image.load()
        if way == "close":
            image.close()
        else:
            with image:
                pass
        image.seek(0)
        with pytest.raises(ValueError, match="Operation on closed image"):
            image.seek(1)
        assert image.tell() == 0
        if way == "close":
            with pytest.raises(ValueError):
                image.load()
        else:
            assert image.convert("RGB").size == (124, 24)
    image = pillow.open(str(delays))
    with image:
        pass
    with pytest.raises(ValueError, match="Operation on closed image"):
        image.load()
    # The file is the program's.
    image = pillow.open(io.BytesIO(delays.read_bytes()))
    with image:
        pass
    image.seek(3)
    assert np.array_equal(np.asarray(image), zoetrope.open(delays)[3])


def test_a_still_image_keeps_no_file_open_once_it_is_loaded(pillow, fixtures):
    from PIL import Image

    pillow.register(first=True)
    path = fixtures / "APNG" / "still.png"
    for opened in (pillow.open, Image.open):
        image = opened(path)
        assert descriptors(path) > 0
        image.load()
        assert descriptors(path) == 0
        image.seek(0)
        image.load()
        assert image.copy().size == pickle.loads(pickle.dumps(image)).size == image.size


def test_pillow_refuses_what_is_no_source(pillow, delays):
    for wrong in (None, 5, object()):
        with pytest.raises(TypeError, match=f"not {type(wrong).__name__}"):
            pillow.open(wrong)
    with pytest.raises(ValueError, match="StringIO"):
        pillow.open(io.StringIO("GIF89a"))
    data = delays.read_bytes()
    for source in (delays, bytearray(data), memoryview(data)):
        assert pillow.open(source).size == (124, 24)


def test_plugins_show_damaged_files_as_the_direct_way_does(pillow, plugin, fixtures, truncated):
    import imageio.v3 as imageio
    from PIL import Image

    compared = damaged = 0
    for path in sorted((fixtures / "Bad").iterdir()):
        try:
            animation = zoetrope.open(path)
        except zoetrope.ZoetropeError as error:
            refusal = (
                Image.DecompressionBombError if isinstance(error, zoetrope.LimitError) else OSError)
            with pytest.raises(refusal):
                pillow.open(str(path))
            continue
        expected = animation.read()
        damaged += bool(animation.check())
        assert np.array_equal(imageio.imread(path, index=None, plugin=plugin), expected)
        # Pillow has a truncated last frame, too.
        shown = zoetrope.open(path, damage="partial").read()
        with pillow.open(str(path)) as image:
            assert image.n_frames in (len(shown), len(shown) + 1)
            # Not in order.
            for index in [*range(0, len(shown), 2), *range(1, len(shown), 2)]:
                image.seek(index)
                assert np.array_equal(np.asarray(image), shown[index]), (path, index)
                compared += 1
            for index in range(len(expected)):
                single = imageio.imread(path, index=index, plugin=plugin)
                assert np.array_equal(single, expected[index]), (path, index)
    assert compared > 50 and damaged > 20


@pytest.mark.parametrize("name", ["bouncing-ball.gif", "spinner.png", "glass.png"])
def test_pillow_notices_that_an_animation_is_truncated(pillow, fixtures, truncated, name):
    data = (fixtures / "Demo" / name).read_bytes()
    for share in (0.6, 0.8):
        truncated.LOAD_TRUNCATED_IMAGES = False
        image = pillow.open(io.BytesIO(data[:int(len(data) * share)]))
        last = image.n_frames - 1
        for index in range(last):
            image.seek(index)
            image.load()
        image.seek(last)
        with pytest.raises(OSError, match="truncated"):
            image.load()
        truncated.LOAD_TRUNCATED_IMAGES = True
        image.load()


def test_pillow_takes_durations_in_an_array(pillow):
    from PIL import Image

    frames = [Image.new("L", (4, 4), level) for level in (0, 128, 255)]
    pillow.register(save=True)
    try:
        file = io.BytesIO()
        frames[0].save(
            file, "GIF", save_all=True, append_images=frames[1:], duration=np.array([100, 200, 300]))
    finally:
        pillow.unregister()
    assert list(zoetrope.open(file.getvalue()).durations) == [0.1, 0.2, 0.3]


def test_pillow_reads_a_file_object_from_its_start(pillow):
    file = io.BytesIO()
    zoetrope.save(file, np.zeros((2, 3, 4, 3), np.uint8), fps=1, keep_identical=True)
    assert file.tell() > 0
    assert pillow.open(file).n_frames == 2


def test_pillow_finds_texts_that_were_written(fixtures):
    from PIL import Image

    file = io.BytesIO()
    zoetrope.save(file, np.zeros((2, 3, 4, 3), np.uint8), fps=1, keep_identical=True, texts={"Author": "me"})
    image = Image.open(file)
    assert image.n_frames == 2 and image.info["Author"] == "me"
    image.load()
    assert image.text == {"Author": "me"}


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
    assert np.array_equal(imageio.imread(delays, index=slice(1, 9, 3), plugin=plugin), every[1:9:3])
    assert imageio.improps(delays, index=slice(0, 3), plugin=plugin).shape == (3, 24, 124, 4)
    assert len(imageio.immeta(delays, index=slice(0, 3), plugin=plugin)["duration"]) == 3
    frames = list(imageio.imiter(delays, plugin=plugin))
    assert len(frames) == 10 and np.array_equal(frames[9], every[9])


def test_imageio_tells_shape_and_times(plugin, delays):
    import imageio.v3 as imageio

    planes = imageio.improps(delays, index=slice(0, 3), plugin=plugin, layout="NCHW")
    assert planes.shape == imageio.imread(delays, index=slice(0, 3), plugin=plugin, layout="NCHW").shape
    with pytest.raises(TypeError):
        imageio.improps(delays, plugin=plugin, sise=(4, 4))
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
        imageio.imwrite(tmp_path / "a.webp", np.zeros((2, 2, 3), np.uint8), plugin=plugin)


@pytest.mark.parametrize("version", ["9.5.0", "10.1.0"])
def test_an_old_pillow_is_named_in_the_error(pillow, monkeypatch, version):
    import PIL

    monkeypatch.setattr(PIL, "__version__", version)
    with pytest.raises(ImportError, match=f"needs Pillow 10.2 or later, not {version}"):
        importlib.reload(pillow)


def test_a_forked_process_does_not_fall_back_to_pillow(pillow, delays):
    from PIL import Image

    pillow.register(first=True)
    Image.open(delays).load()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            Image.open(delays)
        except zoetrope.ForkedError:
            status = 7
        finally:
            os._exit(status)
    assert os.WEXITSTATUS(os.waitpid(child, 0)[1]) == 7


def test_pillow_images_do_not_change_readers_where_memory_is_short(pillow, delays, monkeypatch):
    from PIL import Image

    def fail(*_, **__):
        raise zoetrope.OutOfMemoryError("outOfMemory", "no memory")

    pillow.register(first=True)
    monkeypatch.setattr(pillow._animation, "open", fail)
    for opened in (Image.open, pillow.open):
        with pytest.raises(zoetrope.OutOfMemoryError):
            opened(str(delays))
