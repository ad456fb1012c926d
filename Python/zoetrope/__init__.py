"""Decode GIF and APNG with browser-exact frames, and write them.

>>> import zoetrope
>>> with zoetrope.open("party.gif") as animation:
...     print(animation.size, len(animation), animation.durations)
...     frames = animation.sample(8, size=(224, 224), fit="fill", format="RGB")
...     animation.convert("start.gif", time=(0, 1.5), speed=2)
>>> zoetrope.save("frames.png", frames, fps=8)
"""

from . import _errors
from ._animation import Animation, open
from ._destinations import Destination, Writable, Written
from ._errors import (
    BudgetError, CancelledError, Damage, DestinationDirectoryError, DirectoryError, ForkedError, LimitError,
    MalformedError, NoDestinationDirectoryError, NoDestinationError, NoDirectoryError, NotAnImageError, NotFoundError,
    NotPermittedError, OutOfMemoryError, ParameterError, ProtectedDestinationError, ReadError, StoreError,
    TimedOutError, UnwritableError, WriteError, ZoetropeError,
)
from ._jobs import FRAMES_SCHEMA, frames
from ._library import library as _lib
from ._records import Batch, Frame, FrameInfo, MetadataItem
from ._store import FrameStore, StoredFrames, StoreStatistics
from ._types import (
    DamagePolicy, Delays, Filter, Fit, Format, Layout, Limits, Order, Output, Pixels, Size, Source,
)
from ._writer_arguments import ByteCount, Container, Delay, Dithering, Effort, Pin, UploadPreset
from ._writing import Writer, save

__version__: str = _lib.zoetrope_version().decode()

__all__ = [
    "Animation", "Batch", "BudgetError", "ByteCount", "CancelledError", "Container", "Damage", "DamagePolicy", "Delay",
    "Delays",
    "Destination", "DestinationDirectoryError", "DirectoryError", "Dithering", "Effort", "FRAMES_SCHEMA",
    "Filter", "Fit", "ForkedError", "Format", "Frame", "FrameInfo", "FrameStore", "Layout", "LimitError", "Limits",
    "MalformedError", "MetadataItem", "NoDestinationDirectoryError", "NoDestinationError", "NoDirectoryError",
    "NotAnImageError", "NotFoundError", "NotPermittedError", "Order", "OutOfMemoryError", "Output",
    "ParameterError", "Pin", "Pixels", "ProtectedDestinationError", "ReadError", "Size", "Source", "StoreError",
    "StoreStatistics", "StoredFrames", "TimedOutError",
    "UnwritableError", "UploadPreset", "Writable", "WriteError", "Writer", "Written", "ZoetropeError", "frames",
    "open", "save",
]

# Let tracebacks, `help` and pickles show the public module. Objects with annotations keep their own module, because
# annotations are resolved in it.
for _public in (Animation, FrameStore, StoredFrames, Writer, open, frames, save):
    _public.__module__ = __name__
for _public in vars(_errors).values():
    if isinstance(_public, type) and issubclass(_public, ZoetropeError) and not _public.__name__.startswith("_"):
        _public.__module__ = __name__
del _public
