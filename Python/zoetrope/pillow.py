"""Frames as Pillow images. ``Image.open`` stays Pillow's unless :func:`register` is asked to change it.

>>> from zoetrope import pillow
>>> with pillow.open("party.gif") as image:
...     image.seek(3)
...     image.convert("RGB").save("3.jpg")

Images are RGBA, and each frame is composited as in a browser. ``format`` is Pillow's, ``"GIF"`` or
``"PNG"``. ``info`` has ``duration`` (of the frame, in ms, as shown), ``loop`` (as stored), and
``icc_profile``, ``exif``, ``xmp``, texts, and the ``comment``, ``background`` and ``version`` of a GIF, if
there are any. Needs Pillow 10.2 or later, and NumPy.
"""

from __future__ import annotations

from contextlib import contextmanager
from io import BytesIO
from typing import IO, Any, Iterator, List, Union

try:
    import PIL
    from PIL import Image, ImageFile, UnidentifiedImageError
except ModuleNotFoundError as error:
    if error.name != "PIL":
        raise
    raise ImportError("zoetrope.pillow needs Pillow: pip install 'pillow>=10.2'") from None

from . import _animation
from ._errors import ForkedError, LimitError, ZoetropeError

# Earlier ones read the size, mode and tiles of a plugin from elsewhere.
if tuple(int(part) for part in PIL.__version__.split(".")[:2]) < (10, 2):
    raise ImportError(
        f"zoetrope.pillow needs Pillow 10.2 or later, not {PIL.__version__}: pip install -U pillow")

FORMAT = "ZOETROPE"
_STARTS = (b"GIF87a", b"GIF89a", b"\x89PNG\r\n\x1a\n")


class DecompressionBombError(LimitError, Image.DecompressionBombError):
    """The file asks for more than a limit allows, or than there is memory."""


@contextmanager
def _as_pillow_does() -> Iterator[None]:
    """Raises what Pillow does when a frame cannot be decoded: an OSError, with the error as its cause."""
    try:
        yield
    except LimitError as error:
        raise DecompressionBombError(*error.args) from error
    except (OSError, ForkedError):
        raise
    except ZoetropeError as error:
        raise OSError(str(error)) from error


class ZoetropeImageFile(ImageFile.ImageFile):
    """A GIF, APNG or PNG, decoded frame by frame."""

    format = FORMAT
    format_description = "GIF and APNG, by Zoetrope"

    def _open(self) -> None:
        try:
            self._read()
        except LimitError as error:
            raise DecompressionBombError(*error.args) from error
        except ZoetropeError as error:
            # Pillow tries its own readers, then.
            raise SyntaxError(str(error)) from error

    def _read(self) -> None:
        assert self.fp is not None
        start = self.fp.tell()
        header = self.fp.read(13)
        self.fp.seek(start)
        animation = self._animation = _animation.open(self.fp)
        self.format = "GIF" if animation.format == "gif" else "PNG"
        self.custom_mimetype = f"image/{animation.format}"
        self._size = animation.size
        self._mode = "RGBA"
        self.n_frames = len(animation)
        self.is_animated = self.n_frames > 1
        if animation.stored_loop_count is not None:
            self.info["loop"] = animation.stored_loop_count
        comments: List[bytes] = []
        for item in animation.metadata:
            if item.kind in ("icc_profile", "exif", "xmp"):
                self.info[item.kind] = item.value
            elif item.kind == "text" and self.format == "GIF":
                comments.append(item.value)
            elif item.kind == "text":
                self.info[item.key] = item.value.decode("utf-8", "replace")
        if self.format == "GIF":
            self.info["version"] = header[:6]
            if comments:
                self.info["comment"] = b"\n".join(comments)
            # With a global palette only.
            if header[10] & 0x80:
                self.info["background"] = header[11]
        self._index = 0
        self._loaded = -1
        self._note_duration()

    def _note_duration(self) -> None:
        if self.is_animated:
            self.info["duration"] = self._animation.frames[self._index].duration_ns / 1e6

    def seek(self, frame: int) -> None:
        # Raises EOFError if there is no such frame.
        if self._seek_check(frame):
            self._index = frame
            # Whatever the memory holds, `thumbnail` or the program may have changed it.
            self._loaded = -1
            if self._size != self._animation.size:
                self._size = self._animation.size
                self.im = Image.core.new(self.mode, self.size)
            with _as_pillow_does():
                self._note_duration()

    def tell(self) -> int:
        return self._index

    def load(self) -> Any:
        if self._loaded != self._index:
            with _as_pillow_does():
                pixels = self._animation.frame(self._index)
            if self.fp and getattr(self, "_exclusive_fp", False):
                self.fp.close()
            self.fp = BytesIO(pixels.tobytes())
            self.tile = [ImageFile._Tile("raw", (0, 0, *self.size), 0, "RGBA")]
            pixel = super().load()
            # Not before: loading may fail, or end with Ctrl-C.
            self._loaded = self._index
            return pixel
        return super().load()

    def load_seek(self, pos: int) -> None:
        """The pixels are not in the file."""


def _accept(prefix: bytes) -> bool:
    return prefix.startswith(_STARTS)


def open(source: Union[str, bytes, IO[bytes]]) -> ZoetropeImageFile:  # noqa: A001: pillow.open
    """Open a file as a Pillow image.

    :param source: a path, the file's bytes, or a binary file object.
    :raises: what Pillow does: UnidentifiedImageError, with the :class:`ZoetropeError` as its cause,
        :class:`DecompressionBombError` past a limit, or the system's OSError. Loading a frame raises an
        OSError, or :class:`DecompressionBombError`.
    """
    try:
        return ZoetropeImageFile(BytesIO(source) if isinstance(source, bytes) else source)
    except SyntaxError as error:
        raise UnidentifiedImageError(str(error)) from error.__cause__


def register(*, first: bool = False) -> None:
    """Make the format known to ``Image.open(file, formats=["ZOETROPE"])``.

    :param first: also for every ``Image.open`` of a GIF or PNG in this process that names no formats.
    """
    # Otherwise Pillow puts its own in front later.
    Image.preinit()
    Image.register_open(FORMAT, ZoetropeImageFile, _accept)
    # `register_open` appends the name each time.
    Image.ID[:] = [name for name in Image.ID if name != FORMAT]
    Image.ID.insert(0 if first else len(Image.ID), FORMAT)


def unregister() -> None:
    """Undo :func:`register`."""
    Image.ID[:] = [name for name in Image.ID if name != FORMAT]
    Image.OPEN.pop(FORMAT, None)
