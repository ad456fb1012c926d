"""The properties of frames and metadata of an animation."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple, Optional, Tuple

from ._errors import Damage
from ._types import IndexArray, Pixels, TimeArray

_DISPOSALS = ("keep", "background", "previous")


class FrameInfo(NamedTuple):
    """The stored properties of a frame.

    :ivar rect: the frame's rectangle on the canvas, as stored: left, top, width and height in pixels.
    :ivar delay: the stored delay in seconds, as numerator and denominator.
    :ivar start_ns: when the frame is first shown, in nanoseconds, under the animation's delay policy.
    :ivar duration_ns: how long the frame is shown, in nanoseconds, under the animation's delay policy.
    :ivar disposal: the disposal method: ``"keep"``, ``"background"`` or ``"previous"``.
    :ivar blend: the blend operation: ``"source"`` or ``"over"``.
    :ivar is_independent: whether decoding can start at this frame.
    :ivar byte_range: the offset and the length of the frame's data in the file, in bytes.
    """

    rect: Tuple[int, int, int, int]
    delay: Tuple[int, int]
    start_ns: int
    duration_ns: int
    disposal: str
    blend: str
    is_independent: bool
    byte_range: Tuple[int, int]


class MetadataItem(NamedTuple):
    """An item of metadata.

    :ivar kind: the kind of item: ``"text"``, ``"xmp"``, ``"exif"``, ``"icc_profile"``, ``"application"`` or
        ``"color"``.
    :ivar key: ``"Comment"`` for a comment of a GIF, the keyword of a text chunk, the name of a profile, the identifier
        of an application block, or the name of a colour property such as ``"gamma"``.
    :ivar value: the item's bytes; for an application block, its size, and for a colour property, the stored numbers,
        as decimal text.
    """

    kind: str
    key: str
    value: bytes


_KINDS = {1: "text", 2: "xmp", 3: "exif", 4: "icc_profile", 5: "application", 6: "color"}


@dataclasses.dataclass(frozen=True, eq=False)
class Frame:
    """A decoded frame.

    :ivar index: the index of the frame, counted from 0.
    :ivar pixels: the pixels: an H×W×C array, or H×W for ``"L"``.
    :ivar timestamp: when the frame is first shown, in seconds, under the animation's delay policy.
    :ivar duration: how long the frame is shown, in seconds, under the animation's delay policy.
    :ivar damage: the damage found in the frame's own pixels, or None.
    """

    index: int
    pixels: Pixels
    timestamp: float
    duration: float
    damage: Optional[Damage]


class Batch(NamedTuple):
    """A batch of the frames that :meth:`Animation.batches` yields.

    :ivar indices: the indices of the frames: an int64 array of shape (N,).
    :ivar times: when each frame is first shown, in seconds: a float64 array of shape (N,).
    :ivar frames: the frames, in an array as :meth:`Animation.read` returns it: N×H×W×C, N×H×W for ``"L"``, or N×C×H×W.
    """

    indices: IndexArray
    times: TimeArray
    frames: Pixels
