"""Decode GIF and APNG with browser-exact frames.

>>> import zoetrope
>>> with zoetrope.open("party.gif") as animation:
...     print(animation.size, len(animation), animation.durations)
...     frames = animation.sample(8, size=(224, 224), fit="fill", format="RGB")
"""

from . import _errors
from ._animation import (
    Animation, Batch, DamagePolicy, Delays, Filter, Fit, Format, Frame, FrameInfo, Layout, Limits,
    MetadataItem, Order, Output, Pixels, Size, Source, open,
)
from ._errors import (
    CancelledError, Damage, DirectoryError, ForkedError, LimitError, MalformedError, NoDirectoryError,
    NotAnImageError, NotFoundError, NotPermittedError, OutOfMemoryError, ParameterError, ReadError,
    TimedOutError, ZoetropeError,
)
from ._jobs import FRAMES_SCHEMA, frames
from ._library import library as _lib

__version__: str = _lib.zoetrope_version().decode()

__all__ = [
    "FRAMES_SCHEMA", "Animation", "Batch", "CancelledError", "Damage", "DamagePolicy", "Delays",
    "DirectoryError", "Filter", "Fit", "ForkedError", "Format", "Frame", "FrameInfo", "Layout",
    "LimitError", "Limits", "MalformedError", "MetadataItem", "NoDirectoryError", "NotAnImageError",
    "NotFoundError", "NotPermittedError", "Order", "OutOfMemoryError", "Output", "ParameterError",
    "Pixels", "ReadError", "Size", "Source", "TimedOutError", "ZoetropeError", "frames", "open",
]

# Tracebacks, `help` and pickles name the public module. Values with annotations stay where those are found.
for _public in (Animation, open, frames):
    _public.__module__ = __name__
for _public in vars(_errors).values():
    if isinstance(_public, type) and issubclass(_public, ZoetropeError) and not _public.__name__.startswith("_"):
        _public.__module__ = __name__
del _public
