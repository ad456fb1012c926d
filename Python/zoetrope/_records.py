"""The properties of frames and metadata of an animation."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple, Optional, Tuple

from ._errors import Damage
from ._types import IndexArray, Pixels, TimeArray

_DISPOSALS = ("keep", "background", "previous")


class FrameInfo(NamedTuple):
    """The stored properties of a frame."""

    #: The frame's rectangle on the canvas, as stored: left, top, width and height.
    rect: Tuple[int, int, int, int]
    #: The stored delay in seconds, as numerator and denominator.
    delay: Tuple[int, int]
    #: When the frame is shown and for how long, in nanoseconds, under the animation's delay policy.
    start_ns: int
    duration_ns: int
    #: The disposal method: ``"keep"``, ``"background"`` or ``"previous"``.
    disposal: str
    #: The blend operation: ``"source"`` or ``"over"``.
    blend: str
    #: Whether decoding can start at this frame.
    is_independent: bool
    #: The offset and the length of the frame's data in the file.
    byte_range: Tuple[int, int]


class MetadataItem(NamedTuple):
    """An item of metadata."""

    #: The kind of item: ``"text"``, ``"xmp"``, ``"exif"``, ``"icc_profile"``, ``"application"`` or ``"color"``.
    kind: str
    key: str
    value: bytes


_KINDS = {1: "text", 2: "xmp", 3: "exif", 4: "icc_profile", 5: "application", 6: "color"}


@dataclasses.dataclass(frozen=True, eq=False)
class Frame:
    """A decoded frame."""

    index: int
    #: The pixels: an H×W×C array, or H×W for ``"L"``.
    pixels: Pixels
    #: When the frame is shown and for how long, in seconds, under the animation's delay policy.
    timestamp: float
    duration: float
    #: The damage found in the frame's own pixels, or None.
    damage: Optional[Damage]


class Batch(NamedTuple):
    """A batch of the frames that :meth:`Animation.batches` yields."""

    indices: IndexArray
    #: When each frame is shown, in seconds.
    times: TimeArray
    #: The frames, in an array as :meth:`Animation.read` returns it.
    frames: Pixels
