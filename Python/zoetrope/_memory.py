"""Reuses the memory of large arrays.

The system clears fresh memory page by page, which can take as long as decoding simple frames. The
allocator returns blocks over 32 MiB to the system immediately, so one block is kept here.
"""

from __future__ import annotations

from typing import Any, List, Tuple

#: Smaller arrays are left to the allocator, which keeps such blocks itself.
LEAST_BYTES = 16 << 20
#: The largest block that is kept.
MOST_BYTES = 128 << 20

#: The kept block, if any. Popping and appending are atomic.
_kept: List[Any] = []


class _Lease:
    """Owns a block while an array or a view of it exists, and then stores it for reuse."""

    __slots__ = ("__array_interface__", "_block")

    def __init__(self, block: Any, shape: Tuple[int, ...], dtype: Any) -> None:
        self._block = block
        self.__array_interface__ = {
            "version": 3, "shape": shape, "typestr": dtype.str, "data": (block.ctypes.data, False),
        }

    # At shutdown, the module's globals may be cleared before the last array is freed.
    def __del__(self, _kept: List[Any] = _kept) -> None:
        _kept[:] = [self._block]


def empty(numpy: Any, shape: Tuple[int, ...], dtype: Any) -> Any:
    """Like ``numpy.empty``, but reuses the kept block if its size suits.

    :raises MemoryError: if there is not enough memory, even after freeing the kept block.
    """
    count = dtype.itemsize
    for side in shape:
        count *= side
    try:
        if LEAST_BYTES <= count <= MOST_BYTES:
            # Rounded up so that more sizes suit; pages that are never written take no memory.
            return numpy.asarray(_Lease(_block(numpy, 1 << (count - 1).bit_length()), shape, dtype))
        return numpy.empty(shape, dtype)
    except MemoryError:
        # Without the kept block, the exact size may fit.
        _kept.clear()
        return numpy.empty(shape, dtype)


def _block(numpy: Any, capacity: int) -> Any:
    """The kept block if it has `capacity` bytes, else a new one."""
    try:
        block = _kept.pop()
        if block.nbytes == capacity:
            return block
        # Free it before allocating the new one.
        del block
    except IndexError:
        pass
    return numpy.empty(capacity, numpy.uint8)
