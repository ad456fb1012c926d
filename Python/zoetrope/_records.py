"""The properties of frames and metadata of an animation."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple, Optional, Tuple

from ._errors import Damage
from ._types import IndexArray, Pixels, TimeArray

_DISPOSALS = ("keep", "background", "previous")


class FrameInfo(NamedTuple):
    """The stored properties of a frame."""

    #: Left, top, width and height on the canvas, as stored.
    rect: Tuple[int, int, int, int]
    #: The stored delay in seconds, as a fraction.
    delay: Tuple[int, int]
    #: When it is shown and for how long, in nanoseconds, under the animation's delay policy.
    start_ns: int
    duration_ns: int
    #: ``"keep"``, ``"background"`` or ``"previous"``.
    disposal: str
    #: ``"source"`` or ``"over"``.
    blend: str
    #: Whether decoding can start here.
    is_independent: bool
    #: Offset and length of its pixels in the file.
    byte_range: Tuple[int, int]


class MetadataItem(NamedTuple):
    """A piece of metadata."""

    #: ``"text"``, ``"xmp"``, ``"exif"``, ``"icc_profile"``, ``"application"`` or ``"color"``.
    kind: str
    key: str
    value: bytes


_KINDS = {1: "text", 2: "xmp", 3: "exif", 4: "icc_profile", 5: "application", 6: "color"}


@dataclasses.dataclass(frozen=True, eq=False)
class Frame:
    """A decoded frame."""

    index: int
    #: H×W×C, or H×W for ``"L"``.
    pixels: Pixels
    #: When it is shown and for how long, in seconds, under the animation's delay policy.
    timestamp: float
    duration: float
    #: The damage found in the frame's own pixels.
    damage: Optional[Damage]


class Batch(NamedTuple):
    """Consecutive frames of :meth:`Animation.batches`."""

    indices: IndexArray
    #: When each is shown, in seconds.
    times: TimeArray
    #: As :meth:`Animation.read` returns them.
    frames: Pixels
