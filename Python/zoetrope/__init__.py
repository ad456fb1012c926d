"""Decode GIF and APNG with browser-exact frames.

>>> import zoetrope
>>> with zoetrope.open("party.gif") as animation:
...     print(animation.size, len(animation), animation.durations)
...     frames = animation.sample(8, size=(224, 224), fit="fill", format="RGB")
"""

from ._animation import Animation, FrameInfo, MetadataItem, open
from ._errors import (
    CancelledError, Damage, ForkedError, LimitError, MalformedError, NotAnImageError,
    OutOfMemoryError, ParameterError, ReadError, TimedOutError, ZoetropeError,
)
from ._jobs import FRAMES_SCHEMA, frames
from ._library import library as _lib

__version__: str = _lib.zoetrope_version().decode()

__all__ = [
    "FRAMES_SCHEMA", "Animation", "CancelledError", "Damage", "ForkedError", "FrameInfo", "LimitError",
    "MalformedError", "MetadataItem", "NotAnImageError", "OutOfMemoryError", "ParameterError", "ReadError",
    "TimedOutError", "ZoetropeError", "frames", "open",
]
