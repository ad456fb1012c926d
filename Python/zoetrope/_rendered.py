"""How frames are rendered, and the arrays for them."""

from __future__ import annotations

import math
import operator
from ctypes import byref, sizeof
from typing import Any, Optional, SupportsIndex, Tuple

from . import _library as c, _memory
from ._arguments import _sides
from ._arrays import _gaps, _is_array, _numpy
from ._errors import LimitError, OutOfMemoryError, parameter_error
from ._library import library as _lib
from ._opened import Opened
from ._types import _CHANNELS, _choice, _FILTERS, _FITS, _FORMATS, Size


class Rendered(Opened):
    """The part of :class:`zoetrope.Animation` that checks indices, sizes, formats and arrays of requests for frames."""

    def _place(self, index: SupportsIndex) -> int:
        count = self._info.frame_count
        place = operator.index(index)
        if place < 0:
            place += count
        if not 0 <= place < count:
            self._use()
            existing = "there is 1 frame" if count == 1 else f"there are {count} frames"
            raise IndexError(f"frame {index} does not exist; {existing}")
        return place

    def _make_rendering(
        self, size: Optional[Size], fit: str, filter: str, format: str, linear_light: bool,
        no_enlarging: bool,
    ) -> c.Rendering:
        width, height = (None, None) if size is None else _sides(size)
        return c.Rendering(
            size=sizeof(c.Rendering), format=_choice(format, _FORMATS, "format"),
            fit=_choice(fit, _FITS, "fit"), filter=_choice(filter, _FILTERS, "filter"),
            width=width or 0, height=height or 0,
            linear_light=1 if linear_light else 0, no_enlarging=1 if no_enlarging else 0)

    def _rendering(
        self, size: Optional[Size], fit: str, filter: str, format: str, linear_light: bool = False,
        no_enlarging: bool = False,
    ) -> Tuple[Any, Tuple[int, ...], Any]:
        """Return a reference to the rendering, and the shape and the dtype of a frame.

        The result is cached, because most calls repeat their arguments.
        """
        # `size` cannot be the key itself, because 32.0 equals 32.
        sides = None if size is None else _sides(size)
        key = (sides, fit, filter, format, linear_light, no_enlarging)
        try:
            return self._renderings[key]
        except (KeyError, TypeError):
            # Arguments of wrong types are reported below.
            pass
        rendering = self._make_rendering(sides, fit, filter, format, linear_light, no_enlarging)
        layout = c.Layout(size=sizeof(c.Layout))
        error = c.Error()
        held = self._use()
        self._check(
            _lib.zoetrope_get_layout(held.pointer, byref(rendering), byref(layout), byref(error)),
            error)
        shape: Tuple[int, ...] = (layout.height, layout.width)
        if format != "L":
            shape += (_CHANNELS[format],)
        dtype: Any = "uint16" if format == "RGBA16" else "uint8"
        try:
            dtype = _numpy().dtype(dtype)
        except ImportError:
            # NumPy may not be needed, because the caller can pass a buffer.
            pass
        # The reference also keeps the struct alive.
        made = (byref(rendering), shape, dtype)
        if len(self._renderings) >= 16:
            self._renderings = {}
        self._renderings[key] = made
        return made

    def _out_of_memory(self, byte_count: int) -> OutOfMemoryError:
        return OutOfMemoryError(
            "outOfMemory", f"not enough memory for {byte_count} bytes", path=self._path)

    def _out(
        self, out: Any, shape: Tuple[int, ...], dtype: Any, layout: str = "NHWC",
        is_several: bool = False,
    ) -> Any:
        """Return the array to draw into, with the channels last: a new array, or ``out``."""
        if out is None:
            numpy = _numpy()
            try:
                return _memory.empty(numpy, shape, dtype)
            except MemoryError:
                raise self._out_of_memory(math.prod(shape) * dtype.itemsize) from None
        if _is_array(out):
            array = out
            wanted = shape
            if layout == "NCHW":
                wanted = (shape[0], shape[3], shape[1], shape[2])
                array = out.transpose(0, 2, 3, 1) if out.ndim == 4 else out
            if array.shape != shape or out.dtype != dtype or not out.flags.writeable:
                kind = "an array" if out.flags.writeable else "a read-only array"
                raise parameter_error(
                    f"out must be a writable {dtype} array of shape {wanted}, not {kind} of "
                    f"{out.dtype} and shape {out.shape}")
            if _gaps(array, len(shape) - is_several > 2) is None:
                raise parameter_error(
                    f"out has strides {out.strides}: the pixels of a row must be next to each other, and "
                    "rows and frames must not overlap or run backwards")
            return array
        if layout == "NCHW":
            raise parameter_error("with layout='NCHW', out must be a NumPy array")
        try:
            view = memoryview(out)
        except TypeError:
            raise TypeError(
                f"out must be a NumPy array or a writable buffer, not {type(out).__name__}") from None
        with view:
            count = math.prod(shape) * (2 if dtype == "uint16" else 1)
            if view.nbytes != count or view.readonly or not view.c_contiguous:
                raise parameter_error(
                    f"out must be a writable contiguous buffer of {count} bytes, for shape {shape}")
        return out

    def _allow(self, byte_count: int) -> None:
        if byte_count > self._output_bytes:
            raise LimitError(
                "limitExceeded",
                f"the array would have {byte_count} bytes, but output_bytes allows {self._output_bytes}; pass size=, "
                "out=, limits={'output_bytes': ...}, or read fewer frames", path=self._path, found=byte_count,
                allowed=self._output_bytes)
