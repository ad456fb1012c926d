"""Writing animations from other animations."""

from __future__ import annotations

import ctypes
import operator
from ctypes import byref, sizeof
from typing import TYPE_CHECKING, Any, Iterable, List, Optional, Sequence, SupportsFloat, SupportsIndex, Tuple, Union

from . import _library as c
from ._arguments import _nanoseconds, _sides
from ._destinations import Destination, Written, _Sink
from ._errors import parameter_error
from ._library import library as _lib
from ._types import _choice, _FILTERS, _FITS, Filter, Fit, Size
from ._writer_arguments import _FORMATS, Delay, _delay, _plays

if TYPE_CHECKING:
    from ._animation import Animation


def _number(value: Any, name: str) -> float:
    """Convert a speed or frame rate to a float, and check it."""
    if isinstance(value, (str, bytes)) or not hasattr(value, "__float__"):
        raise TypeError(f"{name} must be a number, not {type(value).__name__}")
    number = float(value)
    if not 0.001 <= number <= 1000:
        raise parameter_error(f"{name} is {value}; it must be 0.001 to 1000")
    return number


def edits(
    animation: "Animation", *, frames: Union[None, slice, Iterable[SupportsIndex]],
    time: Optional[Sequence[Optional[SupportsFloat]]], reverse: bool, back_and_forth: bool,
    speed: Optional[SupportsFloat], duration: Optional[SupportsFloat], delay: Optional[Delay],
    fps: Optional[SupportsFloat], crop: Optional[Sequence[SupportsIndex]], size: Optional[Size], fit: Fit,
    filter: Filter, linear_light: bool, no_enlarging: bool, plays: Any,
) -> Tuple[Any, int, Any]:
    """Return the edits as an array of structs, their number, and the memory that they refer to."""
    if sum(choice is not None for choice in (speed, duration, delay)) > 1:
        raise parameter_error("pass only one of speed=, duration= and delay=")
    found: List[c.Edit] = []
    kept: Any = None
    if frames is not None:
        count = len(animation)
        chosen = range(count)[frames] if isinstance(frames, slice) else [animation._place(i) for i in frames]
        if not chosen:
            raise parameter_error("frames selects no frames")
        kept = (ctypes.c_int64 * len(chosen))(*chosen)
        found.append(c.Edit(kind=1, indices=ctypes.addressof(kept), index_count=len(chosen)))
    if time is not None:
        try:
            start, end = time
        except (TypeError, ValueError):
            raise parameter_error(f"time is {time!r}; it must be a pair of seconds, (start, end)") from None
        most = (1 << 63) - 1
        first = 0 if start is None else min(_nanoseconds(start, "time"), most)
        last = most if end is None else min(_nanoseconds(end, "time"), most)
        if not 0 <= first < last:
            raise parameter_error(
                f"time is {time}; the start must be 0 or more seconds, and the end must be after it")
        found.append(c.Edit(kind=2, start=first, end=last))
    if reverse:
        found.append(c.Edit(kind=6))
    if back_and_forth:
        found.append(c.Edit(kind=7))
    if speed is not None:
        found.append(c.Edit(kind=3, number=_number(speed, "speed")))
    if duration is not None:
        nanoseconds = _nanoseconds(duration, "duration")
        if not 0 < nanoseconds < 1 << 63:
            raise parameter_error(
                f"duration is {duration}; it must be more than 0 and at most {(1 << 63) // 10**9} seconds")
        found.append(c.Edit(kind=4, end=nanoseconds))
    if delay is not None:
        numerator, denominator = _delay(delay)
        found.append(c.Edit(kind=10, delay_numerator=numerator, delay_denominator=denominator))
    if fps is not None:
        found.append(c.Edit(kind=5, number=_number(fps, "fps")))
    if crop is not None:
        try:
            x, y, width, height = (operator.index(side) for side in crop)
        except (TypeError, ValueError):
            raise parameter_error(
                f"crop is {crop!r}; it must be four integers, (left, top, width, height)") from None
        if x < 0 or y < 0 or width < 1 or height < 1:
            raise parameter_error(
                f"crop is {crop!r}; left and top must be at least 0, width and height at least 1")
        if not all(side < 1 << 31 for side in (x, y, width, height)):
            raise parameter_error(f"crop is {crop!r}, which is out of range")
        found.append(c.Edit(kind=8, x=x, y=y, width=width, height=height))
    fit_kind, filter_kind = _choice(fit, _FITS, "fit"), _choice(filter, _FILTERS, "filter")
    if size is not None:
        wide, high = _sides(size)
        if wide is None and high is None:
            raise parameter_error("size has neither width nor height")
        found.append(c.Edit(
            kind=11, width=wide or 0, height=high or 0, fit=fit_kind, filter=filter_kind,
            linear_light=bool(linear_light), no_enlarging=bool(no_enlarging)))
    if plays != "keep":
        found.append(c.Edit(kind=9, end=_plays(plays)))
    return (c.Edit * len(found))(*found), len(found), kept


def rewrite(
    animation: "Animation", destination: Destination, options: c.WriterOptions,
    edits: Optional[Tuple[Any, int, Any]],
) -> Written:
    """Write an animation with ``edits``, or optimise it if ``edits`` is None."""
    sink = _Sink(destination)
    if edits is None:
        sink.check_format(animation)
    elif not options.format and sink.format is not None:
        options.format = _FORMATS[sink.format]
    written = c.Written(size=sizeof(c.Written))
    options.delays = animation._delays

    def call(pointer: Any, error: c.Error) -> int:
        status: int
        if edits is None:
            status = _lib.zoetrope_optimize(
                pointer, byref(options), byref(sink.struct), byref(written), byref(error))
        else:
            status = _lib.zoetrope_rewrite(
                pointer, edits[0], edits[1], sizeof(c.Edit), byref(options), byref(sink.struct),
                byref(written), byref(error))
        return status

    animation._decode_interruptibly(1 << 62, call, sink.path, is_repeatable=not sink.may_block)
    return sink.deliver(written)
