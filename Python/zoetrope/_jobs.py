"""Files as rows, for engines that spread work over machines."""

from __future__ import annotations

from typing import Any, Dict, Iterator, Mapping, Optional, Tuple

from ._animation import Limits, open
from ._errors import Damage, ZoetropeError


def frames(
    row: Mapping[str, Any], *, limits: Limits = "strict",
    size: Optional[Tuple[int, int]] = None, fit: str = "fit",
) -> Iterator[Dict[str, Any]]:
    """The frames of the file ``row["bytes"]``, one row each, decoded one at a time.

    For ``ray.data.read_binary_files(..., include_paths=True).flat_map(zoetrope.frames)`` and the
    like. Rows have ``path``, ``index``, ``start_ms``, ``duration_ms``, ``frame`` (a PNG) and
    ``damage`` (None, or what is wrong with it). Equal files give equal rows on every machine.

    A file that cannot be read gives one row, without a frame and with the error as ``damage``; one
    that fails later gives such a row last. Nothing is raised for what a file contains.

    :param limits: as for :func:`zoetrope.open`. Default: those for untrusted files.
    :param size: the box that frames are scaled into. Default: the canvas.
    """
    path = row.get("path")

    def made(index: Optional[int], start: float, duration: float, frame: Optional[bytes],
             damage: Optional[str]) -> Dict[str, Any]:
        return {
            "path": path, "index": index, "start_ms": start, "duration_ms": duration,
            "frame": frame, "damage": damage,
        }

    index: Optional[int] = None
    try:
        # One thread: the engine runs as many of these as there are processors.
        with open(row["bytes"], limits=limits, threads=1) as animation:
            infos = animation.frames
            structural: Dict[Optional[int], Damage] = {}
            for item in animation.damage:
                structural.setdefault(item.frame, item)
            for index, info in enumerate(infos):
                png, found = animation.png_with_damage(index, size=size, fit=fit)
                # Damage outside frames is told with the first one.
                damage = found or structural.get(index)
                if damage is None and index == 0:
                    damage = structural.get(None)
                yield made(
                    index, info.start_ns / 1e6, info.duration_ns / 1e6, png,
                    None if damage is None else describe(damage))
            for frame, damage in structural.items():
                if frame is not None and frame >= len(infos):
                    # A frame that was lost.
                    yield made(frame, 0.0, 0.0, None, describe(damage))
    except ZoetropeError as error:
        yield made(error.frame if error.frame is not None else index, 0.0, 0.0, None, str(error))


def describe(damage: Damage) -> str:
    """One sentence."""
    return f"{damage.kind}: {damage.detail}, byte {damage.byte_offset}"
