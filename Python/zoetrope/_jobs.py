"""Files as rows, for distributed engines such as Ray, Dask and Spark."""

from __future__ import annotations

import math
from typing import Any, Dict, Iterator, List, Mapping, Optional

from ._animation import open
from ._errors import (
    Damage, ForkedError, LimitError, OutOfMemoryError, ParameterError, ZoetropeError, parameter_error,
)
from ._types import BYTES_TYPES, Fit, Limits, Size

#: The names and Arrow types of the columns that :func:`frames` yields, for
#: ``pyarrow.schema(zoetrope.FRAMES_SCHEMA)``. Without a schema, Arrow cannot infer the type of a column of None.
FRAMES_SCHEMA = {
    "path": "string", "index": "int64", "start_ms": "float64", "duration_ms": "float64",
    "frame": "binary", "damage": "string", "tolerated": "string",
}


def frames(
    row: Mapping[str, Any], *, limits: Optional[Limits] = "strict", size: Optional[Size] = None,
    fit: Fit = "fit",
) -> Iterator[Dict[str, Any]]:
    """Yield one row for each frame of the file in ``row["bytes"]``. One frame is decoded at a time.

    This function is made for ``ray.data.read_binary_files(..., include_paths=True).flat_map(zoetrope.frames)`` and
    similar calls. Cast blocks to :data:`FRAMES_SCHEMA` before you write them. Equal files give equal rows on every
    machine.

    The columns are ``path``, ``index``, ``start_ms``, ``duration_ms``, ``frame`` (a PNG file), ``damage`` (a
    description of the damage that loses data, or None) and ``tolerated`` (a description of damage that loses nothing,
    or None). To keep only intact frames, filter by ``damage is None``.

    The contents of a file never cause an exception. A file that cannot be read yields one row without a frame, with the
    error as ``damage``. A file that fails at a later frame ends with such a row.

    :param row: ``bytes`` is the file, as bytes, bytearray, memoryview or mmap; ``path`` is optional.
    :param limits: as for :func:`zoetrope.open`. Default: ``"strict"``. ``pixels_per_play`` also limits the total number
        of pixels in the PNG files.
    :param size: the box to scale frames into. Default: the size of the canvas.
    :raises ParameterError: if ``row`` has no ``bytes``.
    :raises OutOfMemoryError: if the system cannot provide memory or a thread. The engine can then repeat the task.
    :raises TypeError: if ``row`` is not a mapping, or ``row["bytes"]`` is not bytes. Paths are not accepted, because
        the file might not exist on another machine.
    """
    if not hasattr(row, "get"):
        raise TypeError(f'row must be a mapping with "bytes", not {type(row).__name__}')
    path = row.get("path")
    try:
        data = row["bytes"]
    except KeyError:
        raise parameter_error('row has no "bytes"') from None
    if not isinstance(data, BYTES_TYPES):
        raise TypeError(f'row["bytes"] must be bytes, not {type(data).__name__}')
    return _rows(path, data, limits, size, fit)


def _rows(
    path: Any, data: Any, limits: Optional[Limits], size: Optional[Size], fit: Fit
) -> Iterator[Dict[str, Any]]:
    def made(index: Optional[int], start: float, duration: float, frame: Optional[bytes],
             damage: Optional[str], tolerated: Optional[str] = None) -> Dict[str, Any]:
        return {
            "path": path, "index": index, "start_ms": start, "duration_ms": duration,
            "frame": frame, "damage": damage, "tolerated": tolerated,
        }

    index: Optional[int] = None
    try:
        # Use one thread, because the engine already runs one task per processor.
        with open(data, limits=limits, threads=1) as animation:
            infos = animation.frames
            # The decoder's limit `pixels_per_play` does not bound this number, because frames may be small on a large
            # canvas.
            pixels = math.prod(animation._rendering(size, fit, "bilinear", "L")[1]) * len(infos)
            if pixels > animation._pixels_per_play:
                raise LimitError(
                    "limitExceeded",
                    f"the frames have {pixels} pixels, but pixels_per_play allows "
                    f"{animation._pixels_per_play}; use size= or limits=",
                    found=pixels, allowed=animation._pixels_per_play)
            structural: Dict[Optional[int], List[Damage]] = {}
            for item in animation.damage:
                structural.setdefault(item.frame, []).append(item)
            for index, info in enumerate(infos):
                png, found = animation.png_with_damage(index, size=size, fit=fit)
                damage = [] if found is None else [found]
                damage += structural.get(index, [])
                # Damage outside frames is reported with the first frame.
                if index == 0:
                    damage += structural.get(None, [])
                yield made(
                    index, info.start_ns / 1e6, info.duration_ns / 1e6, png,
                    first(damage, is_tolerated=False), first(damage, is_tolerated=True))
            for frame, damage in structural.items():
                if frame is not None and frame >= len(infos):
                    # The file has a frame that was lost.
                    yield made(
                        frame, 0.0, 0.0, None,
                        first(damage, is_tolerated=False), first(damage, is_tolerated=True))
    except (ParameterError, ForkedError, OutOfMemoryError):
        # The reason is a mistake of the caller or a shortage on this machine, and not the file.
        raise
    except ZoetropeError as error:
        yield made(error.frame if error.frame is not None else index, 0.0, 0.0, None, str(error))


def first(damage: List[Damage], *, is_tolerated: bool) -> Optional[str]:
    """Return a description of the first damage with this value of ``is_tolerated``, or None if there is none."""
    for item in damage:
        if item.is_tolerated == is_tolerated:
            return describe(item)
    return None


def describe(damage: Damage) -> str:
    """Return a description of ``damage`` in one sentence."""
    return f"{damage.kind}: {damage.detail}, byte {damage.byte_offset}"
