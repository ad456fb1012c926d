"""Where files are written to, and what was written."""

from __future__ import annotations

import ctypes
import errno
import io
import os
import stat
from ctypes import sizeof
from numbers import Integral
from typing import TYPE_CHECKING, Any, Callable, Dict, NamedTuple, Optional, Protocol, Tuple, Union

from . import _library as c
from ._calls import _Owned
from ._errors import parameter_error
from ._library import library as _lib
from ._types import _CONTAINERS
from ._writer_arguments import Container

if TYPE_CHECKING:
    from ._animation import Animation

#: The greatest number of bytes that are passed again to a file object that has taken a part.
_PIECE = 1 << 18
#: The formats by file name extension.
_SUFFIXES: Dict[str, Container] = {".gif": "gif", ".png": "apng", ".apng": "apng"}


class Writable(Protocol):
    """A binary file object. Once the file is complete, all its bytes are passed to ``write``."""

    def write(self, __bytes: bytes) -> Any: ...


#: A path, or a binary file object.
Destination = Union[str, "os.PathLike[str]", "os.PathLike[bytes]", Writable]


class Written(NamedTuple):
    """A description of a written file.

    :ivar byte_count: the size of the file in bytes.
    :ivar frame_count: the number of frames in the file.
    :ivar merged_count: the number of frames that were merged into others because they were equal or too short.
    :ivar copied_count: the number of frames whose compressed pixels were copied.
    :ivar has_exact_delays: whether all delays are stored exactly. If not, they are rounded, without drift.
    :ivar format: ``"gif"``, ``"apng"`` or ``"png"``.
    :ivar reduced_count: the number of frames whose colours were reduced to a palette.
    :ivar partial_alpha_share: the share of pixels in the changed rectangles that were partly transparent and became
        opaque or fully transparent, from 0 to 1.
    :ivar size: the width and height of the pictures in pixels.
    :ivar lossy: how much colours may differ: the value of ``lossy``, or more if ``max_bytes`` or ``preset`` required
        it.
    :ivar colors: the maximum number of colours in a palette, or None if it was not limited. It may be less than was
        asked for where ``max_bytes`` or ``preset`` required it. For a GIF of scaled pictures whose colours were reduced
        it is 256, or less where the file would otherwise have become larger than its source.
    :ivar fps: the maximum number of frames per second if the rate was limited to save bytes, otherwise None. Frames
        that are dropped for the greatest number of frames of a preset are only in ``dropped_count``.
    :ivar is_stripped: whether ``convert`` or ``optimize`` left out metadata that was to be kept: for ``max_bytes`` or
        ``preset``, because the format cannot store it, or because it may not apply to pixels that are stored in
        another way.
    :ivar dropped_count: the number of frames dropped for ``max_bytes`` or ``preset``, before short ones are merged.
    """

    byte_count: int
    frame_count: int
    merged_count: int
    copied_count: int
    has_exact_delays: bool
    format: str
    reduced_count: int = 0
    partial_alpha_share: float = 0.0
    size: Tuple[int, int] = (0, 0)
    lossy: int = 0
    colors: Optional[int] = None
    fps: Optional[int] = None
    is_stripped: bool = False
    dropped_count: int = 0


class _Sink:
    """A destination, converted for the library, and the work that remains once the file is complete."""

    def __init__(self, destination: Destination) -> None:
        #: The path, or None for a file object.
        self.path: Optional[str] = None
        self.struct = c.Destination(size=sizeof(c.Destination))
        self._write: Optional[Callable[[bytes], Any]] = None
        #: The path, or the name of the file object, or an empty string if it has none.
        self._name = ""
        #: Whether writing may wait for a reader, as in a pipe.
        self.may_block = False
        if isinstance(destination, (str, os.PathLike)):
            path = os.fspath(destination)
            if not isinstance(path, (str, bytes)):
                raise TypeError(f"the path must be str or bytes, not {type(path).__name__}")
            name = os.fsencode(path)
            if b"\0" in name:
                raise parameter_error(f"the path {os.fsdecode(name)!r} contains a null byte")
            self.path = self._name = os.fsdecode(name)
            self.struct.path = name
            try:
                self.may_block = not stat.S_ISREG(os.stat(name).st_mode)
            except OSError:
                # The file does not exist yet. It will become a regular file, or cannot be written.
                pass
        else:
            # File objects of the module `tempfile` wrap the actual file object.
            if isinstance(getattr(destination, "file", destination), io.TextIOBase):
                raise TypeError(
                    f"destination must be a binary file object, not the text file {type(destination).__name__}")
            self._write = getattr(destination, "write", None)
            if self._write is None:
                raise TypeError(
                    f"destination must be a path or a binary file object, not {type(destination).__name__}")
            # The name is a number if the file object was opened from a descriptor.
            named = getattr(destination, "name", None)
            if isinstance(named, (str, bytes, os.PathLike)):
                self._name = os.fsdecode(named)

    @property
    def _suffix(self) -> str:
        return os.path.splitext(self._name)[1].lower()

    @property
    def format(self) -> Optional[Container]:
        """The format for the extension of the path or of the file object's name, or None if there is no such format."""
        return _SUFFIXES.get(self._suffix)

    def check_format(self, animation: "Animation") -> None:
        """Reject a destination whose extension is that of a format other than ``animation``'s."""
        kept = "gif" if animation.format == "gif" else "apng"
        if _SUFFIXES.get(self._suffix, kept) != kept:
            raise parameter_error(
                f"optimize keeps the format, {animation.format.upper()}, but {self._name!r} ends in {self._suffix}; "
                "use convert")

    def deliver(self, written: c.Written) -> Written:
        """Return the description of the file. If the file is in memory, first write it to the file object."""
        if written.bytes:
            held = _Owned(_lib.zoetrope_bytes_free)
            held.pointer.value = written.bytes
            count = written.byte_count
            data = ctypes.create_string_buffer(count)
            _lib.zoetrope_bytes_copy(held.pointer, data, count)
            whole, done = data.raw, 0
            rest = whole
            while rest and self._write is not None:
                answer = self._write(rest)
                # NumPy's integers are numbers, too.
                told = int(answer) if isinstance(answer, Integral) else None
                if told is not None and told < 0:
                    # Nothing says how much was written. Python's own buffered files refuse such a number, too.
                    raise OSError(f"write returned {told}; it must return a number from 0 to {len(rest)}, or None")
                # A raw file may write only a part, or nothing if it is non-blocking. Other objects may return None
                # after writing everything.
                is_raw = isinstance(getattr(self._write, "__self__", None), io.RawIOBase)
                if told == 0 or (told is None and is_raw):
                    raise BlockingIOError(
                        errno.EAGAIN, f"{count - done} of {count} bytes could not be written without blocking", done)
                done += len(rest) if told is None else min(told, len(rest))
                # Not the whole rest, because the copies of a file in small parts would take quadratic time.
                rest = whole[done:done + _PIECE]
        return Written(
            written.byte_count, written.frame_count, written.merged_count, written.copied_count,
            bool(written.has_exact_delays), _CONTAINERS.get(written.format, "unknown"), written.reduced_count,
            written.partial_alpha_share, (written.width, written.height), written.tolerance,
            written.colors or None, written.frame_rate or None, bool(written.is_stripped), written.dropped_count)
