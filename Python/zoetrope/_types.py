"""The types of arguments and arrays, and the names for the library's numbers."""

from __future__ import annotations

import mmap
import os
from typing import (
    TYPE_CHECKING, Any, Literal, Mapping, Optional, Protocol, Sequence, SupportsIndex, Tuple, Union,
)

from ._errors import parameter_error
from ._reading import Readable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Pixels = NDArray[Any]
    Pixels8 = NDArray[np.uint8]
    Pixels16 = NDArray[np.uint16]
    IntegerArray = NDArray[np.integer[Any]]
    IndexArray = NDArray[np.int64]
    TimeArray = NDArray[np.float64]
else:
    # NumPy may be absent when type hints are evaluated.
    Pixels = Pixels8 = Pixels16 = IntegerArray = IndexArray = TimeArray = Any


class PillowImage(Protocol):
    """An image of Pillow. The protocol can be used even if Pillow is not installed."""

    @property
    def mode(self) -> str: ...

    @property
    def size(self) -> Tuple[int, int]: ...

    def convert(self, __mode: str) -> Any: ...


#: A frame to be written.
Picture = Union[Pixels, PillowImage]

#: A path, the file's bytes in an array or another buffer, or a binary file object.
Source = Union[
    str, "os.PathLike[str]", "os.PathLike[bytes]", bytes, bytearray, memoryview, mmap.mmap, Pixels, Readable]
BYTES_TYPES = (bytes, bytearray, memoryview, mmap.mmap)

Format = Literal["RGBA", "RGBa", "BGRA", "BGRa", "RGBX", "RGB", "L", "RGBA16"]
Fit = Literal["fit", "fill", "stretch", "integer"]
Filter = Literal["bilinear", "nearest", "box", "bicubic", "lanczos"]
Delays = Literal["browser", "exact", "ffmpeg", "imageio"]
Order = Literal["time", "index", "distinct"]
DamagePolicy = Literal["salvage", "strict", "partial"]
Preset = Literal["default", "strict", "none"]
Limits = Union[Preset, Mapping[str, Union[int, str, None]]]
#: A width and a height. If one of them is None, it is derived from the other.
Size = Union[Sequence[Optional[SupportsIndex]], IntegerArray]
#: The order of an array's axes: channels last, or channels first as PyTorch expects them.
Layout = Literal["NHWC", "NCHW"]

Format8 = Literal["RGBA", "RGBa", "BGRA", "BGRa", "RGBX", "RGB", "L"]
Format16 = Literal["RGBA16"]

#: The memory to draw into: an array with the shape of the result, or a writable buffer with its number of bytes.
Output = Union[Pixels, bytearray, memoryview, mmap.mmap]

if TYPE_CHECKING:
    from typing_extensions import TypedDict

    class OneFrame(TypedDict, total=False):
        """Those parameters of :meth:`Animation.frame` that do not affect the type of its result."""

        size: Optional[Size]
        fit: Fit
        filter: Filter
        out: Optional[Output]
        linear_light: bool
        no_enlarging: bool

    class SeveralFrames(OneFrame, total=False):
        """Those parameters of :meth:`Animation.read` that do not affect the type of its result."""

        layout: Layout

_FORMATS = {"RGBA": 0, "RGBa": 1, "BGRA": 2, "BGRa": 3, "RGBX": 4, "RGB": 5, "L": 7, "RGBA16": 8}
_CHANNELS = {"RGBA": 4, "RGBa": 4, "BGRA": 4, "BGRa": 4, "RGBX": 4, "RGB": 3, "L": 1, "RGBA16": 4}
_FITS = {"fit": 0, "fill": 1, "stretch": 2, "integer": 3}
_FILTERS = {"bilinear": 0, "nearest": 1, "box": 2, "bicubic": 3, "lanczos": 4}
_DELAYS = {"browser": 0, "exact": 1, "ffmpeg": 2, "imageio": 3}
_SAMPLING = {"time": 0, "index": 1, "distinct": 2}
_DAMAGE = {"salvage": 0, "strict": 1, "partial": 2}
_CONTAINERS = {1: "gif", 2: "apng", 3: "png"}


def _choice(value: str, choices: Mapping[str, int], name: str) -> int:
    try:
        return choices[value]
    except (KeyError, TypeError):
        words = ", ".join(repr(word) for word in choices)
        raise parameter_error(f"{name} is {value!r}; it must be one of {words}") from None
