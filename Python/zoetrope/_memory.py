"""Memory of large arrays, kept for the next one.

The system clears fresh memory page by page, which takes as long as decoding where frames are easy to
decode, and the allocator returns blocks over 32 MiB at once. So one block is kept.
"""

from __future__ import annotations

from typing import Any, List, Tuple

#: Smaller arrays are left to the allocator, which keeps such blocks itself.
LEAST_BYTES = 16 << 20
#: The largest block that is kept when its array is gone.
MOST_BYTES = 128 << 20

#: The block that is kept, if any. Popped and appended, which is atomic.
_kept: List[Any] = []


class _Lease:
    """Owns a block while an array or a view of it lives, and then keeps the block."""

    __slots__ = ("__array_interface__", "_block")

    def __init__(self, block: Any, shape: Tuple[int, ...], dtype: Any) -> None:
        self._block = block
        self.__array_interface__ = {
            "version": 3, "shape": shape, "typestr": dtype.str, "data": (block.ctypes.data, False),
        }

    # At the interpreter's end, names of the module may be gone before the last array.
    def __del__(self, _kept: List[Any] = _kept) -> None:
        _kept[:] = [self._block]


def empty(numpy: Any, shape: Tuple[int, ...], dtype: Any) -> Any:
    """Like ``numpy.empty``, in the block that is kept if that suits."""
    count = dtype.itemsize
    for side in shape:
        count *= side
    if not LEAST_BYTES <= count <= MOST_BYTES:
        return numpy.empty(shape, dtype)
    # Rounded up, so that more sizes suit: pages that are not written take no memory.
    capacity = 1 << (count - 1).bit_length()
    try:
        block = _kept.pop()
    except IndexError:
        block = None
    if block is None or block.nbytes != capacity:
        block = numpy.empty(capacity, numpy.uint8)
    return numpy.asarray(_Lease(block, shape, dtype))
