"""Files and file objects that animations are written to."""

import errno
import io
import os
import pickle
import tempfile
from pathlib import Path

import pytest

np = pytest.importorskip("numpy")
import zoetrope  # noqa: E402

from films import film  # noqa: E402


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

    class Failing:
        def write(self, data):
            return -1

    with pytest.raises(OSError, match="write returned -1; it must return a number from 0 to "):
        zoetrope.save(Failing(), film(5), fps=10)
    file = io.BytesIO(b"")
    with pytest.raises(zoetrope.ParameterError, match="2 durations"):
        zoetrope.save(file, iter(film(3)), durations=[1, 2])
    assert file.getvalue() == b""


@pytest.mark.parametrize("kind", [int, np.int64, np.uint16])
def test_a_file_object_that_takes_small_parts_gets_all_bytes_in_linear_time(kind):
    class Small:
        def __init__(self):
            self.data, self.offered = bytearray(), 0

        def write(self, data):
            self.offered += len(data)
            self.data += data[:16384]
            return kind(min(len(data), 16384))

    noise = np.random.default_rng(1).integers(0, 256, (3, 500, 1000, 4), np.uint8)
    small = Small()
    told = zoetrope.save(small, noise, fps=10, effort="fast")
    assert len(small.data) == told.byte_count > 5_000_000 and len(zoetrope.open(small.data)) == 3
    # Had all of the rest been passed again and again, it would be hundreds of times as much.
    assert small.offered < 20 * told.byte_count


def test_a_text_file_is_refused_before_the_first_frame(tmp_path):
    with open(tmp_path / "a.gif", "w") as text, tempfile.NamedTemporaryFile("w") as temporary:
        for file in (io.StringIO(), text, temporary):
            with pytest.raises(TypeError, match="destination must be a binary file object, not the text file"):
                zoetrope.Writer(file)
    with tempfile.NamedTemporaryFile(suffix=".gif") as file:
        zoetrope.save(file, film(2), fps=1)
        file.flush()
        assert len(zoetrope.open(file.name)) == 2


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


@pytest.mark.parametrize("is_writing", [False, True])
def test_errors_of_reading_are_told_from_errors_of_writing(delays, is_writing):
    def call(_, error):
        error.code, error.system_error, error.frame, error.byte_offset = 7, errno.EIO, -1, -1
        error.message, error.of_destination = b'"a.gif": Input/output error', is_writing
        return 7

    animation = zoetrope.open(delays)
    with pytest.raises(zoetrope.WriteError if is_writing else zoetrope.ReadError) as caught:
        animation._decode(call, path="b.gif")
    assert caught.value.filename == ("b.gif" if is_writing else str(delays))


def test_a_destination_whose_name_begins_with_a_quote_is_told_from_the_source(tmp_path, delays, monkeypatch):
    animation = zoetrope.open(os.path.abspath(delays))
    monkeypatch.chdir(tmp_path)
    for write in (animation.convert, animation.optimize):
        with pytest.raises(zoetrope.WriteError) as caught:
            write('"none"/a.gif')
        assert caught.value.filename == '"none"/a.gif' and caught.value.errno == errno.ENOENT
