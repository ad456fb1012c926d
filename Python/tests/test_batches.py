"""Batches, times, layouts, strided arrays and files by descriptor."""

import io
import os
import pickle
import subprocess
import sys
import weakref

import numpy as np
import pytest

import zoetrope


@pytest.fixture
def animation(delays):
    with zoetrope.open(delays) as opened:
        yield opened


# ---- Batches and times


@pytest.mark.parametrize("n", [1, 3, 5, 1000])
@pytest.mark.parametrize("format", ["RGBA", "L", "RGBA16"])
def test_batches_are_the_frames_in_order(animation, n, format):
    whole = animation.read(format=format, size=(20, 10))
    seen = []
    for indices, times, frames in animation.batches(n, format=format, size=(20, 10)):
        assert 0 < len(indices) == len(times) == len(frames) <= n
        assert indices.dtype == np.int64 and times.dtype == np.float64
        assert times.tolist() == [animation.timestamps[index] for index in indices]
        assert np.array_equal(frames, whole[indices])
        seen += indices.tolist()
    assert seen == list(range(len(animation)))


@pytest.mark.parametrize("layout", ["NHWC", "NCHW"])
def test_batches_hold_no_batch(animation, layout):
    batches = animation.batches(3, layout=layout)
    batch = next(batches)
    frames = weakref.ref(batch.frames if batch.frames.base is None else batch.frames.base)
    del batch
    assert frames() is None
    assert len(next(batches).frames) == 3


def test_batches_of_chosen_frames(animation):
    chosen = [5, 1, -1, 1]
    batches = list(animation.batches(3, chosen))
    assert [batch.indices.tolist() for batch in batches] == [[5, 1, len(animation) - 1], [1]]
    for batch in batches:
        assert np.array_equal(batch.frames, animation.read(batch.indices))
    assert list(animation.batches(3, [])) == []


def test_batches_report_mistakes_at_once(animation, delays):
    for n in [0, -1]:
        with pytest.raises(zoetrope.ParameterError, match="n is"):
            animation.batches(n)
    with pytest.raises(IndexError):
        animation.batches(2, [1000])
    with pytest.raises(zoetrope.ParameterError, match="layout"):
        animation.batches(2, layout="CHWN")
    with pytest.raises(zoetrope.LimitError, match="output_bytes"):
        zoetrope.open(delays, limits={"output_bytes": 1000}).batches(2)
    batches = animation.batches(2)
    next(batches)
    animation.cancel()
    with pytest.raises(zoetrope.CancelledError):
        next(batches)


def test_many_times_in_one_call(animation):
    times = [1.5, 0, -3, 0.2, 1e9]
    frames = animation.read_at(times, size=(8, 8))
    for time, frame in zip(times, frames):
        assert np.array_equal(frame, animation.at(time, size=(8, 8)))
    even = animation.read_at(np.arange(0, animation.duration, 0.1), format="L")
    assert len(even) == len(np.arange(0, animation.duration, 0.1))
    assert animation.read_at([]).shape[0] == 0


def test_a_decoded_frame_has_its_times(animation, fixtures):
    frame = animation.decode(-1, size=(8, 8))
    assert frame.index == len(animation) - 1 and frame.damage is None
    assert np.array_equal(frame.pixels, animation.frame(-1, size=(8, 8)))
    assert (frame.timestamp, frame.duration) == (animation.timestamps[-1], animation.durations[-1])


# ---- Layouts and strides


def test_channels_apart_are_a_view(animation):
    apart = animation.read(range(3), format="RGB", layout="NCHW")
    together = animation.read(range(3), format="RGB")
    assert apart.shape == (3, 3, *together.shape[1:3]) and apart.base is not None
    assert np.array_equal(apart, together.transpose(0, 3, 1, 2))
    assert np.array_equal(animation.sample(2, layout="NCHW").transpose(0, 2, 3, 1), animation.sample(2))
    for _, _, frames in animation.batches(4, layout="NCHW"):
        assert frames.shape[1] == 4
    out = np.zeros_like(together)
    view = out.transpose(0, 3, 1, 2)
    assert animation.read(range(3), format="RGB", layout="NCHW", out=view) is view
    assert np.array_equal(out, together)
    with pytest.raises(zoetrope.ParameterError, match="strides"):
        animation.read(range(3), format="RGB", layout="NCHW", out=np.zeros(apart.shape, np.uint8))
    with pytest.raises(zoetrope.ParameterError, match="channels"):
        animation.read(format="L", layout="NCHW")


@pytest.mark.parametrize("format,depth", [("RGBA", np.uint8), ("RGB", np.uint8), ("L", np.uint8), ("RGBA16", np.uint16)])
def test_arrays_with_gaps(animation, format, depth):
    rendering = {"size": (12, 9), "fit": "stretch", "format": format}
    whole = animation.read(range(4), **rendering)
    height, width, *channels = whole.shape[1:]
    # Rows with padding, every other frame, and a slice of a batch of clips: nothing beside them changes.
    large = np.full((8, height + 2, width + 5, *channels), 77, depth)
    out = large[::2, 1:-1, 2:-3]
    assert animation.read(range(4), out=out, **rendering) is out
    assert np.array_equal(out, whole)
    mask = np.ones(large.shape, bool)
    mask[::2, 1:-1, 2:-3] = False
    assert (large[mask] == 77).all()
    clips = np.zeros((4, 3, height, width, *channels), depth)
    animation.read(range(4), out=clips[:, 1], **rendering)
    assert np.array_equal(clips[:, 1], whole) and not clips[:, ::2].any()
    for index in range(4):
        assert animation.frame(index, out=large[index, 1:-1, 2:-3], **rendering).base is not None
        assert np.array_equal(large[index, 1:-1, 2:-3], whole[index])
    animation.decode(2, out=clips[0, 0], **rendering)
    assert np.array_equal(clips[0, 0], whole[2])


def test_arrays_that_cannot_be_written_are_refused(animation):
    rendering = {"size": (12, 9), "fit": "stretch"}
    large = np.zeros((4, 9, 24, 8), np.uint8)
    for wrong in [
        large[:, :, ::2, :4], large[..., ::2][:, :, :12], np.zeros((4, 9, 12, 4), np.uint8)[::-1],
        np.zeros((4, 9, 12, 4), np.uint8)[:, ::-1], np.broadcast_to(np.zeros((9, 12, 4), np.uint8), (4, 9, 12, 4)),
        np.lib.stride_tricks.as_strided(np.zeros(2000, np.uint8), (4, 9, 12, 4), (8, 48, 4, 1)),
    ]:
        with pytest.raises(zoetrope.ParameterError, match="strides|read-only"):
            animation.read(range(4), out=wrong, **rendering)
    with pytest.raises(zoetrope.ParameterError, match=r"not an array of int32 and shape \(4, 9, 12, 4\)"):
        animation.read(range(4), out=np.zeros((4, 9, 12, 4), np.int32), **rendering)


# ---- Files by descriptor


def test_a_file_object_is_read_on_demand(delays):
    expected = zoetrope.open(delays)[7]
    for buffering in [0, -1]:
        with open(delays, "rb", buffering) as file:
            opened = zoetrope.open(file)
            assert file.tell() == delays.stat().st_size
        assert np.array_equal(opened[7], expected) and opened.path is None
        with open(delays, "rb", buffering) as file:
            size = len(file.read())
            # It is not empty.
            with pytest.raises(zoetrope.MalformedError, match=rf"no bytes after its position, {size}; call seek\(0\)"):
                zoetrope.open(file)
            file.seek(1)
            with pytest.raises(zoetrope.NotAnImageError, match=r"signature at the position .*, 1; call seek\(0\) first"):
                zoetrope.open(file)
    with open(delays, "r+b") as file:
        assert np.array_equal(zoetrope.open(file)[7], expected)

    class Other(io.FileIO):
        def read(self, *_):
            return b""

    with pytest.raises(zoetrope.ZoetropeError):
        zoetrope.open(Other(delays))


def test_a_file_object_is_read_from_its_position(delays):
    data = delays.read_bytes()
    file = io.BytesIO(b"before" + data)
    file.seek(6)
    assert zoetrope.open(file).byte_count == len(data)
    with pytest.raises(zoetrope.MalformedError, match="position"):
        zoetrope.open(file)
    with pytest.raises(zoetrope.MalformedError, match="the file is empty"):
        zoetrope.open(io.BytesIO())


def test_a_file_object_takes_no_copy_of_the_file(delays, tmp_path):
    padded = tmp_path / "padded.gif"
    # Bytes past the end of the animation belong to the file.
    padded.write_bytes(delays.read_bytes() + bytes(64 << 20))
    with open(padded, "rb") as file:
        assert zoetrope.open(file, limits={"live_bytes": 8 << 20}).byte_count >= 64 << 20


# ---- Names


def test_public_names_are_those_of_the_package(delays):
    assert zoetrope.Animation.__module__ == zoetrope.open.__module__ == "zoetrope"
    with pytest.raises(FileNotFoundError) as caught:
        zoetrope.open("/nowhere.gif")
    assert f"{type(caught.value).__module__}.{type(caught.value).__name__}" == "zoetrope.NotFoundError"
    assert isinstance(pickle.loads(pickle.dumps(caught.value)), zoetrope.NotFoundError)
    for name in zoetrope.__all__:
        assert getattr(zoetrope, name) is not None


def test_imageio_by_name(delays):
    iio = pytest.importorskip("imageio.v3")
    code = (
        "import sys, imageio.v3 as iio, zoetrope, zoetrope.imageio\n"
        "zoetrope.imageio.register()\n"
        "frames = iio.imread(sys.argv[1], plugin='zoetrope', mode='RGB')\n"
        "assert (frames == zoetrope.open(sys.argv[1]).read(format='RGB')).all()\n")
    del iio
    subprocess.run([sys.executable, "-c", code, str(delays)], check=True, env=dict(os.environ))
