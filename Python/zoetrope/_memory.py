"""Reuse of the memory of large arrays.

The system clears new memory page by page, which can take as long as decoding simple frames. The allocator returns
blocks over 32 MiB to the system as soon as they are freed, so one block is kept here.
"""

from __future__ import annotations

import collections
import functools
from typing import Any, Deque, Tuple

#: The smallest array for which memory is kept. For smaller arrays, the allocator itself keeps the memory.
LEAST_BYTES = 16 << 20
#: The largest block that is kept.
MOST_BYTES = 128 << 20

#: The kept block, if any. Popping and appending are atomic.
_kept: Deque[Any] = collections.deque(maxlen=1)


class _Lease:
    """Owns a block while an array of it, or a view of that array, exists. Afterwards, the block is kept for reuse."""

    # As in `_Owned`, the destructor is a C function, in which no signal handler runs. It also keeps the block alive.
    __slots__ = ("__array_interface__", "__del__")

    def __init__(self, block: Any, shape: Tuple[int, ...], dtype: Any) -> None:
        self.__del__ = functools.partial(_kept.append, block)
        self.__array_interface__ = {
            "version": 3, "shape": shape, "typestr": dtype.str, "data": (block.ctypes.data, False),
        }


def empty(numpy: Any, shape: Tuple[int, ...], dtype: Any) -> Any:
    """Do the same as ``numpy.empty``, but reuse the kept block if it has a suitable size.

    :raises MemoryError: if there is not enough memory, even after freeing the kept block.
    """
    count = dtype.itemsize
    for side in shape:
        count *= side
    try:
        if LEAST_BYTES <= count <= MOST_BYTES:
            # Round the size up, so that a block suits more arrays. Pages that are never written take no memory.
            return numpy.asarray(_Lease(_block(numpy, 1 << (count - 1).bit_length()), shape, dtype))
        return numpy.empty(shape, dtype)
    except MemoryError:
        # There may be enough memory for the exact size once the kept block is freed.
        _kept.clear()
        return numpy.empty(shape, dtype)


def _block(numpy: Any, capacity: int) -> Any:
    """Return the kept block if it has ``capacity`` bytes; otherwise a new block."""
    try:
        block = _kept.pop()
        if block.nbytes == capacity:
            return block
        # Free the kept block before the new one is allocated.
        del block
    except IndexError:
        pass
    return numpy.empty(capacity, numpy.uint8)
