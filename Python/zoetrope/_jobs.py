"""Files as rows, for engines that spread work over machines."""

from __future__ import annotations

import math
from typing import Any, Dict, Iterator, List, Mapping, Optional

from ._animation import BYTES_TYPES, Fit, Limits, Size, open
from ._errors import Damage, ForkedError, LimitError, ParameterError, ZoetropeError, parameter_error

#: The names and Arrow types of the rows of :func:`frames`: ``pyarrow.schema(zoetrope.FRAMES_SCHEMA)``. In a
#: table that is made of rows alone, a column of which all values are None has no type.
FRAMES_SCHEMA = {
    "path": "string", "index": "int64", "start_ms": "float64", "duration_ms": "float64",
    "frame": "binary", "damage": "string", "tolerated": "string",
}


def frames(
    row: Mapping[str, Any], *, limits: Optional[Limits] = "strict", size: Optional[Size] = None,
    fit: Fit = "fit",
) -> Iterator[Dict[str, Any]]:
    """The frames of the file ``row["bytes"]``, one row each, decoded one at a time.

    For ``ray.data.read_binary_files(..., include_paths=True).flat_map(zoetrope.frames)`` and the
    like; cast blocks to :data:`FRAMES_SCHEMA` before they are written. Rows have ``path``, ``index``,
    ``start_ms``, ``duration_ms``, ``frame`` (a PNG), ``damage`` (None, or what was lost) and ``tolerated``
    (None, or a deviation from the format without a loss).
    Keep intact frames with ``damage is None``. Equal files give equal rows on every machine.

    A file that cannot be read gives one row, without a frame and with the error as ``damage``; one
    that fails later gives such a row last. Nothing is raised for what a file contains.

    :param row: ``bytes`` is the file, as bytes, bytearray, memoryview or mmap; ``path`` may be missing.
    :param limits: as for :func:`zoetrope.open`. Default: those for untrusted files. ``pixels_per_play`` also
        bounds the pixels of all PNGs together.
    :param size: the box that frames are scaled into. Default: the canvas.
    :raises ParameterError: if ``row`` has no ``bytes``.
    :raises TypeError: if ``row`` is not a mapping, or ``row["bytes"]`` not bytes; a path would be read on
        another machine.
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
        # One thread: the engine runs as many of these as there are processors.
        with open(data, limits=limits, threads=1) as animation:
            infos = animation.frames
            # Small frames on a large canvas take little of the file's own `pixels_per_play`.
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
                # Damage outside frames is told with the first one.
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
    except (ParameterError, ForkedError):
        # Not the file's fault: every row would be like this one.
        raise
    except ZoetropeError as error:
        yield made(error.frame if error.frame is not None else index, 0.0, 0.0, None, str(error))


def first(damage: List[Damage], *, is_tolerated: bool) -> Optional[str]:
    """The first of ``damage`` that is tolerated, or that is not, in words."""
    for item in damage:
        if item.is_tolerated == is_tolerated:
            return describe(item)
    return None


def describe(damage: Damage) -> str:
    """One sentence."""
    return f"{damage.kind}: {damage.detail}, byte {damage.byte_offset}"
