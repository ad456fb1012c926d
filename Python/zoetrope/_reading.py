"""Reading file objects."""

from __future__ import annotations

import errno
from typing import Any, Callable, Protocol, Union

from ._errors import LimitError, ReadError

_SIGNATURES = (b"GIF87a", b"GIF89a", b"\x89PNG\r\n\x1a\n")
#: Bytes after which every format is known.
_SIGNATURE_BYTES = 13
_PIECE = 1 << 20


class Readable(Protocol):
    """A binary file object: ``read(n)`` gives up to ``n`` bytes, and none at the end."""

    def read(self, __count: int) -> bytes: ...


def read_all(read: Callable[[int], Any], limit: int) -> Union[bytes, bytearray]:
    """Everything that ``read`` gives until its end, but only the start of what is no image.

    :raises LimitError: for more than ``limit`` bytes.
    :raises BlockingIOError: if the object does not block and has nothing yet.
    """
    # Grows without being copied: joining large pieces could not be interrupted.
    whole = bytearray()
    is_known = False
    while True:
        wanted = _PIECE if is_known else _SIGNATURE_BYTES - len(whole)
        data = read(wanted)
        if data is None:
            raise BlockingIOError(
                errno.EAGAIN, "the file object has no bytes yet; read it to its end first")
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise TypeError(
                f"the file object is not binary: read({wanted}) returned {type(data).__name__}")
        piece = bytes(data)
        if not piece:
            break
        if len(piece) > wanted:
            raise ReadError("io", f"read({wanted}) of the file object returned {len(piece)} bytes")
        whole += piece
        if len(whole) > limit:
            raise LimitError(
                "limitExceeded", f"the input is too long, live_bytes allows {limit} bytes", None, limit)
        if not is_known and len(whole) >= _SIGNATURE_BYTES:
            is_known = True
            if not whole.startswith(_SIGNATURES):
                # An endless input would not end; the library says what is wrong with it.
                break
    return whole or b""
