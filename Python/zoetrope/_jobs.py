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
    """Yield one row per frame of the file in ``row["bytes"]``, decoding one frame at a time.

    Made for ``ray.data.read_binary_files(..., include_paths=True).flat_map(zoetrope.frames)`` and similar
    calls. Cast blocks to :data:`FRAMES_SCHEMA` before you write them. Equal files give equal rows on every
    machine.

    Rows have ``path``, ``index``, ``start_ms``, ``duration_ms``, ``frame`` (a PNG file), ``damage`` (what was
    lost, or None) and ``tolerated`` (a deviation from the format that loses nothing, or None). Filter by
    ``damage is None`` to keep only intact frames.

    The contents of a file never raise an exception. A file that cannot be read yields one row without a
    frame and with the error as ``damage``. A file that fails later ends with such a row.

    :param row: ``bytes`` is the file, as bytes, bytearray, memoryview or mmap; ``path`` is optional.
    :param limits: as for :func:`zoetrope.open`. Default: ``"strict"``. ``pixels_per_play`` also bounds the
        pixels of all PNGs together.
    :param size: the box to scale frames into. Default: the canvas size.
    :raises ParameterError: if ``row`` has no ``bytes``.
    :raises OutOfMemoryError: if the system has no memory or thread left, so that the engine can repeat the task.
    :raises TypeError: if ``row`` is not a mapping, or ``row["bytes"]`` is not bytes. Paths are not accepted,
        because another machine might not have the file.
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
        # One thread, because the engine already runs one task per processor.
        with open(data, limits=limits, threads=1) as animation:
            infos = animation.frames
            # The file's own `pixels_per_play` does not bound this: its frames may be small on a large canvas.
            pixels = math.prod(animation._rendering(size, fit, "bilinear", "L")[1]) * len(infos)
            if pixels > animation._pixels_per_play:
                raise LimitError(
                    "limitExceeded",
                    f"the frames have {pixels} pixels, pixels_per_play allows "
                    f"{animation._pixels_per_play}; use size= or limits=")
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
                    # A frame that was lost.
                    yield made(
                        frame, 0.0, 0.0, None,
                        first(damage, is_tolerated=False), first(damage, is_tolerated=True))
    except (ParameterError, ForkedError, OutOfMemoryError):
        # A mistake of the caller, or a shortage on this machine: not a property of the file.
        raise
    except ZoetropeError as error:
        yield made(error.frame if error.frame is not None else index, 0.0, 0.0, None, str(error))


def first(damage: List[Damage], *, is_tolerated: bool) -> Optional[str]:
    """A description of the first tolerated, or not tolerated, item of ``damage``."""
    for item in damage:
        if item.is_tolerated == is_tolerated:
            return describe(item)
    return None


def describe(damage: Damage) -> str:
    """One sentence."""
    return f"{damage.kind}: {damage.detail}, byte {damage.byte_offset}"
