"""Conversion of the sources that can be opened."""

from __future__ import annotations

import io
import os
import stat
from typing import Any, Optional, Union

from . import _library as c
from ._arguments import _LIVE_BYTES
from ._errors import MalformedError
from ._reading import read_all

#: The minimum size in bytes of a file, and of an interlaced PNG, for which opening is interruptible. Scanning takes
#: only milliseconds per megabyte, but a truncated last frame is decoded, and may be a thousand times as large as its
#: data. Decoding an interlaced frame takes longer.
_LONG_FILE = 1 << 14
_LONG_INTERLACED = 1 << 11
_HEAD = 29
#: The number of bytes in each piece in which a buffer is copied.
_PIECE = 16 << 20


def _descriptor(source: Any) -> Optional[int]:
    """Return the descriptor of a file object made by ``open``, if it is a regular file at its start; else None."""
    # Exclude subclasses, because they may read something other than the file.
    if type(source) not in (io.BufferedReader, io.FileIO):
        return None
    raw = source.raw if isinstance(source, io.BufferedReader) else source
    if type(raw) is not io.FileIO or not raw.readable():
        return None
    number = raw.fileno()
    return number if stat.S_ISREG(os.fstat(number).st_mode) and source.tell() == 0 else None


def _takes_long(name: bytes) -> bool:
    """Return whether opening may take so long that it must be interruptible."""
    try:
        status = os.stat(name)
    except OSError:
        return False
    if not stat.S_ISREG(status.st_mode):
        # Opening a pipe may wait for its writer.
        return True
    head = b""
    if _LONG_INTERLACED <= status.st_size < _LONG_FILE:
        try:
            # `FileIO` closes the file even if a signal handler raises an exception before the `with` block begins.
            with io.FileIO(name) as file:
                head = file.read(_HEAD)
        except OSError:
            pass
    return _is_long(status.st_size, head)


def _is_long(count: int, head: bytes) -> bool:
    # The last byte of the head of a PNG is the interlace method.
    return count >= _LONG_FILE or count >= _LONG_INTERLACED and head[_HEAD - 1:] == b"\1"


def _bytes(source: Any, options: c.Options) -> Union[bytes, bytearray]:
    if isinstance(source, bytes):
        return source
    try:
        # Try this first because of memory maps, whose `read` would start at their current position.
        view = memoryview(source)
    except TypeError:
        pass
    else:
        with view:
            return _copied(view)
    read = getattr(source, "read", None)
    if read is None:
        raise TypeError(
            f"source must be a path, bytes or a binary file object, not {type(source).__name__}")
    limit = options.live_bytes or _LIVE_BYTES[options.limits]
    data = read_all(read, limit)
    if not data:
        position = _position(source)
        if position:
            # Otherwise the file would be called empty.
            raise MalformedError(
                "truncated", f"the file object has no bytes after its position, {position}; call seek(0) first")
    return data


def _position(source: Any) -> int:
    """Return the position of a file object, or 0 if it has none, or if all its bytes are read whatever it is."""
    try:
        # Memory maps have a position, too.
        with memoryview(source):
            return 0
    except TypeError:
        pass
    try:
        position = source.tell()
    except (AttributeError, OSError, ValueError):
        return 0
    return position if isinstance(position, int) else 0


def _copied(view: memoryview) -> Union[bytes, bytearray]:
    """Return a copy of the bytes of ``view``, made in pieces so that Ctrl-C can interrupt it."""
    count = view.nbytes
    if count < _PIECE:
        return view.tobytes()
    try:
        flat = view.cast("B")
    except TypeError:
        # The memory has gaps or contains structs.
        return view.tobytes()
    with flat:
        copy = bytearray(count)
        for start in range(0, count, _PIECE):
            copy[start:start + _PIECE] = flat[start:start + _PIECE]
        return copy
