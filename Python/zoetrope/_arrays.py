"""NumPy, and the memory of arrays in the form that the library expects."""

from __future__ import annotations

import ctypes
from ctypes import byref
from typing import Any, Optional, Tuple

from . import _library as c
from ._errors import parameter_error


def _numpy() -> Any:
    """Return the module numpy, which only calls that return arrays need."""
    global _np
    if _np is None:
        try:
            import numpy
        except ImportError:
            raise ImportError("frames as arrays need NumPy: pip install numpy") from None
        _np = numpy
    return _np


_np: Any = None


def _is_array(value: Any) -> bool:
    # Without NumPy, nothing is an array.
    return _np is not None and isinstance(value, _np.ndarray)


def _check_layout(layout: str, format: str) -> None:
    if layout not in ("NHWC", "NCHW"):
        raise parameter_error(f"layout is {layout!r}; it must be one of 'NHWC', 'NCHW'")
    if layout == "NCHW" and format == "L":
        raise parameter_error("layout='NCHW' needs channels, and format='L' has none")


def _gaps(array: Any, has_channels: bool) -> Optional[Tuple[int, int, int]]:
    """Return the number of bytes from row to row, from frame to frame, and in total.

    The result is None if the library cannot write an array with this layout.

    :param has_channels: whether the last axis is that of the channels.
    """
    itemsize = array.itemsize
    shape, strides = list(array.shape), list(array.strides)
    if 0 in shape:
        return 0, 0, 0
    width = itemsize
    for _ in range(2 if has_channels else 1):
        side, stride = shape.pop(), strides.pop()
        if side > 1 and stride != width:
            return None
        width *= side
    height, row = shape.pop(), strides.pop()
    row = row if height > 1 else width
    frame = row * (height - 1) + width
    several = strides.pop() if shape else frame
    count = shape.pop() if shape else 1
    several = several if count > 1 else frame
    if row < width or several < frame:
        return None
    return row, several, several * (count - 1) + frame


class _Target:
    """The library's description of the memory to draw into. The object keeps that memory alive."""

    __slots__ = ("buffer", "_memory")

    def __init__(self, array: Any, is_several: bool = False) -> None:
        self.buffer = c.Buffer()
        if _is_array(array) and not array.flags.c_contiguous:
            # NumPy does not move the array's memory while this object refers to the array.
            self._memory: Any = array
            gaps = _gaps(array, array.ndim - is_several > 2)
            assert gaps is not None
            self.buffer.pixels = array.__array_interface__["data"][0]
            self.buffer.bytes_per_row, self.buffer.bytes_per_frame, self.buffer.byte_count = gaps
        else:
            # While this object exists, a bytearray cannot be resized.
            self._memory = _from_buffer(array)
            self.buffer.pixels = _addressof(self._memory)
            self.buffer.byte_count = _view(array).nbytes


class _Structs:
    """The structs that a call needs, and references to them."""

    __slots__ = ("buffer", "buffer_reference", "error", "error_reference")

    def __init__(self) -> None:
        self.buffer = c.Buffer()
        self.buffer_reference = byref(self.buffer)
        self.error = c.Error()
        self.error_reference = byref(self.error)


_addressof = ctypes.addressof
# NumPy's type hints do not declare that arrays are buffers.
_from_buffer: Any = ctypes.c_char.from_buffer
_view: Any = memoryview
