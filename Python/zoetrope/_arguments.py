"""Checks arguments, and converts them to the types of the library."""

from __future__ import annotations

import math
import operator
from typing import Mapping, Optional, SupportsFloat, SupportsIndex, Tuple

from . import _library as c
from ._errors import parameter_error
from ._types import Limits, Size, _choice

_PRESETS = {"default": 0, "strict": 1, "none": 2}
_LIMITS = (
    "canvas_pixels", "frame_count", "live_bytes", "pixels_per_play", "metadata_bytes",
    "metadata_total_bytes", "metadata_count",
)
_LARGEST_SIDE = 65535
_NO_LIMIT = (1 << 63) - 1
#: The limits of the presets, in the order of their numbers in the library.
_LIVE_BYTES = (1 << 30, 256 << 20, _NO_LIMIT)
_OUTPUT_BYTES = (16 << 30, 1 << 30, _NO_LIMIT)
_PIXELS_PER_PLAY = (1 << 34, 1 << 32, _NO_LIMIT)


def _set_limits(options: c.Options, limits: Optional[Limits]) -> int:
    """Set the fields of ``options`` according to ``limits``, and return the limit ``output_bytes``."""
    if limits is None:
        limits = "default"
    if isinstance(limits, str):
        limits = {"preset": limits}
    if not isinstance(limits, Mapping):
        raise TypeError(f"limits must be a str or a mapping, not {type(limits).__name__}")
    options.limits = _choice(str(limits.get("preset", "default")), _PRESETS, "limits: preset")
    output_bytes = _OUTPUT_BYTES[options.limits]
    for name, value in limits.items():
        if name == "preset":
            continue
        if name not in _LIMITS and name != "output_bytes":
            words = ", ".join((*_LIMITS, "output_bytes"))
            raise parameter_error(f"limits: unknown key {name!r}; the keys are preset, {words}")
        if isinstance(value, str) or not (value is None or hasattr(value, "__index__")):
            raise TypeError(f"limits: {name} must be an int or None, not {type(value).__name__}")
        number = _NO_LIMIT if value is None else operator.index(value)
        if not 0 < number <= _NO_LIMIT:
            raise parameter_error(f"limits: {name} is {value}; it must be 1 to {_NO_LIMIT}")
        if name == "output_bytes":
            output_bytes = number
        else:
            setattr(options, name, number)
    return output_bytes


def _timeout(timeout: Optional[SupportsFloat]) -> int:
    """Return the timeout in nanoseconds, or 0 for no limit, as the library expects it."""
    if timeout is None:
        return 0
    nanoseconds = _nanoseconds(timeout, "timeout")
    if nanoseconds <= 0:
        raise parameter_error(f"timeout is {timeout}; it must be greater than 0, or None")
    return min(nanoseconds, _NO_LIMIT)


def _integer(value: SupportsIndex, name: str) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, not {type(value).__name__}") from None


def _int32(value: SupportsIndex, name: str) -> int:
    number = _integer(value, name)
    if not -(1 << 31) <= number < 1 << 31:
        raise parameter_error(f"{name} is {value}, which is out of range")
    return number


def _threads(threads: SupportsIndex) -> int:
    number = _int32(threads, "threads")
    if number < 0:
        raise parameter_error(f"threads is {threads}; it must be 0 or more")
    return number


def _sides(size: Size) -> Tuple[Optional[int], Optional[int]]:
    words = "size must be a pair, (width, height)"
    if isinstance(size, (str, bytes)):
        raise TypeError(f"{words}, not {type(size).__name__}")
    try:
        width, height = size
    except TypeError:
        raise TypeError(f"{words}, not {type(size).__name__}") from None
    except ValueError:
        raise parameter_error(f"{words}, not {len(size)} numbers") from None
    return (
        None if width is None else _side(width), None if height is None else _side(height))


def _side(value: SupportsIndex) -> int:
    # The library interprets 0 as None. A computed size of 0 is probably a bug of the caller, so reject it.
    number = _integer(value, "a side of size")
    if not 0 < number <= _LARGEST_SIDE:
        raise parameter_error(f"size contains {value}; sides must be 1 to {_LARGEST_SIDE}, or None")
    return number


def _seconds(nanoseconds: int) -> float:
    """Return the smallest number of seconds that :func:`_nanoseconds` converts to at least ``nanoseconds``."""
    seconds = nanoseconds / 1e9
    # The loop runs only for times above 50 days.
    while round(seconds * 1e9) < nanoseconds:
        seconds *= 1 + 2.0**-52
    return seconds


def _nanoseconds(seconds: SupportsFloat, name: str = "seconds") -> int:
    if isinstance(seconds, int):
        return seconds * 10**9
    if not hasattr(seconds, "__float__"):
        raise TypeError(f"{name} must be a number, not {type(seconds).__name__}")
    number = float(seconds)
    if math.isnan(number):
        raise parameter_error(f"{name} is nan")
    if math.isinf(number):
        return (1 << 64) if number > 0 else -1
    # A larger number has no fraction, and the product of floats may overflow.
    return round(number * 1e9) if abs(number) < 2.0**53 else int(number) * 10**9
