"""Reading file objects."""

from __future__ import annotations

import errno
from typing import Any, Callable, Protocol, Union

from ._errors import LimitError, ReadError

_SIGNATURES = (b"GIF87a", b"GIF89a", b"\x89PNG\r\n\x1a\n")
#: The number of bytes that are enough to recognize every format.
_SIGNATURE_BYTES = 13
_PIECE = 1 << 20


class Readable(Protocol):
    """A binary file object: ``read(n)`` returns up to ``n`` bytes, and none at the end."""

    def read(self, __count: int) -> bytes: ...


def read_all(read: Callable[[int], Any], limit: int) -> Union[bytes, bytearray]:
    """Read to the end of the input, or stop early if the first bytes are not those of an image.

    :raises LimitError: if there are more than ``limit`` bytes.
    :raises BlockingIOError: if the file object is non-blocking and no bytes are available.
    """
    # Append the pieces to a bytearray, because joining large pieces could not be interrupted.
    whole = bytearray()
    is_known = False
    while True:
        wanted = _PIECE if is_known else _SIGNATURE_BYTES - len(whole)
        data = read(wanted)
        if data is None:
            raise BlockingIOError(
                errno.EAGAIN, "the non-blocking file object has no bytes yet")
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise TypeError(
                f"the file object is not binary: read({wanted}) returned {type(data).__name__}")
        piece = bytes(data)
        if not piece:
            break
        if len(piece) > wanted:
            raise ReadError("io", f"the file object returned {len(piece)} bytes from read({wanted})")
        whole += piece
        if len(whole) > limit:
            raise LimitError(
                "limitExceeded", f"the input is longer than the {limit} bytes that live_bytes allows", None, limit,
                found=len(whole), allowed=limit)
        if not is_known and len(whole) >= _SIGNATURE_BYTES:
            is_known = True
            if not whole.startswith(_SIGNATURES):
                # Stop, because the input may be endless. The library reports the error.
                break
    return whole or b""
