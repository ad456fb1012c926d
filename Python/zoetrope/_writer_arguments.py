"""Checks the arguments of writers, and converts them to the types of the library."""

from __future__ import annotations

import math
import operator
import re
from ctypes import sizeof
from fractions import Fraction
from numbers import Rational
from typing import (
    Any, Iterable, List, Literal, Mapping, Optional, Sequence, SupportsFloat, SupportsIndex, Tuple, Union,
)

from . import _library as c
from ._arguments import _int32, _integer, _threads
from ._arrays import _gaps, _numpy
from ._errors import LimitError, UnwritableError, parameter_error
from ._types import _choice

#: A delay in seconds: a number, which is exact if it is a Fraction, or a pair of numerator and denominator.
Delay = Union[SupportsFloat, Rational, Tuple[int, int]]
#: A number of bytes, or a text with a unit, such as ``"256K"``: K, M and G are powers of 1024; KB, MB and GB are powers
#: of 1000.
ByteCount = Union[SupportsIndex, str]
Container = Literal["gif", "apng"]
Effort = Literal["balanced", "fast", "small"]
Dithering = Literal["auto", "none", "ordered", "diffusion"]
#: The names of upload presets: sets of a site's limits on picture size, bytes, frames, duration and plays.
UploadPreset = Literal[
    "slack-emoji", "discord-emoji", "discord-sticker", "signal-sticker", "line-sticker", "imessage-small",
    "imessage-medium", "imessage-large", "twitch-emote"]
#: A property that ``max_bytes`` and ``preset`` must not change: the size of pictures, or the number of frames.
Pin = Literal["size", "fps"]

_FORMATS = {"gif": 1, "apng": 2}
_EFFORTS = {"balanced": 0, "fast": 1, "small": 2}
_PINS = {"size": 0, "fps": 1}
_DITHERING = {"auto": 0, "none": 1, "ordered": 2, "diffusion": 3}
#: The library's pixel formats, by the number of bytes per sample and the number of channels.
_PIXELS = {(1, 1): 7, (1, 3): 5, (1, 4): 0, (2, 1): 10, (2, 3): 9, (2, 4): 8}
_UNITS = {
    "": 1, "b": 1, "k": 1 << 10, "kib": 1 << 10, "m": 1 << 20, "mib": 1 << 20, "g": 1 << 30, "gib": 1 << 30,
    "kb": 10**3, "mb": 10**6, "gb": 10**9,
}
_LARGEST = (1 << 32) - 1
#: The maximum side of a GIF, which stores sides in 16 bits.
_LARGEST_GIF = 65535
#: The maximum number of pixels of an APNG, as zoetrope.h states it.
_LARGEST_APNG = 268435455


def _options(
    format: Optional[Container], effort: Effort, threads: SupportsIndex, *, keep_identical: bool = False,
    exact_delays: bool = False, keep_hidden: bool = False, colors: Union[None, SupportsIndex, Literal["exact"]] = None,
    dithering: Dithering = "auto", matte: Optional[Sequence[SupportsIndex]] = None, lossy: SupportsIndex = 0,
    max_bytes: Optional[ByteCount] = None, preset: Optional[UploadPreset] = None,
    pin: Union[Pin, Iterable[Pin]] = (),
) -> c.WriterOptions:
    options = c.WriterOptions(size=sizeof(c.WriterOptions), effort=_choice(effort, _EFFORTS, "effort"))
    options.format = 0 if format is None else _choice(format, _FORMATS, "format")
    options.parallelism = _threads(threads)
    options.keep_identical = bool(keep_identical)
    options.exact_delays = bool(exact_delays)
    options.keep_hidden = bool(keep_hidden)
    options.dithering = _choice(dithering, _DITHERING, "dithering")
    if colors == "exact":
        options.colors = -1
    elif colors is not None:
        count = _integer(colors, "colors")
        if not 2 <= count <= 256:
            raise parameter_error(f"colors is {colors}; it must be 2 to 256, 'exact' or None")
        options.colors = count
    if matte is not None:
        try:
            red, green, blue = (operator.index(sample) for sample in matte)
        except (TypeError, ValueError):
            raise parameter_error(f"matte is {matte!r}; it must be three integers, (red, green, blue)") from None
        if not all(0 <= sample <= 255 for sample in (red, green, blue)):
            raise parameter_error(f"matte is {matte!r}; its samples must be 0 to 255")
        options.has_matte, options.matte = 1, red << 16 | green << 8 | blue
    options.tolerance = _int32(lossy, "lossy")
    if not 0 <= options.tolerance <= 200:
        raise parameter_error(f"lossy is {lossy}; it must be 0 to 200")
    if max_bytes is not None:
        options.max_bytes = _max_bytes(max_bytes)
    if preset is not None:
        if not isinstance(preset, str):
            raise TypeError(f"preset must be a str, not {type(preset).__name__}")
        if not preset:
            raise parameter_error("preset is empty")
        # The library checks the name. A name that is too long is cut, because it cannot be valid.
        options.preset = preset.encode("utf-8", "replace").replace(b"\0", b"?")[:31]
    for word in (pin,) if isinstance(pin, str) else pin:
        setattr(options, ("keep_size", "keep_frame_rate")[_choice(word, _PINS, "pin")], 1)
    if (options.keep_size or options.keep_frame_rate) and max_bytes is None and preset is None:
        raise parameter_error("pin= can be used only with max_bytes= or preset=")
    return options


def _max_bytes(count: ByteCount) -> int:
    number = _bytes_of(count) if isinstance(count, str) else _integer(count, "max_bytes")
    if number < 1:
        raise parameter_error(f"max_bytes is {count}; it must be 1 or more")
    return min(number, (1 << 63) - 1)


def _bytes_of(text: str) -> int:
    """Parse a number of bytes with a unit, as the tool parses ``--max-bytes``."""
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]*)?)([A-Za-z]*)", text)
    if match is None or match[2].lower() not in _UNITS:
        raise parameter_error(
            f"max_bytes is {text!r}; write a number and one of the units K, M and G (powers of 1024) or KB, MB and GB "
            "(powers of 1000), as in '256K' or '1.5MB'")
    return round(Fraction(match[1].rstrip(".")) * _UNITS[match[2].lower()])


def _plays(plays: Optional[SupportsIndex]) -> int:
    """Convert a number of plays for the library, where 0 means forever."""
    if plays is None:
        return 0
    number = _integer(plays, "plays")
    if number < 1:
        raise parameter_error(f"plays is {number}; it must be 1 or more, or None to play forever")
    if number >= 1 << 63:
        raise parameter_error(f"plays is {number}; no format stores so many")
    return number


def plays_of_loop(loop: Any, is_gif: bool) -> Optional[int]:
    """Return the total number of plays for a stored loop count, or None for forever.

    The loop count of a GIF is the number of repetitions after the first play.
    """
    number = int(loop)
    if number < 0:
        raise parameter_error(f"loop is {loop}; it must be 0 or more")
    return number + is_gif if number else None


def _texts(texts: Optional[Mapping[str, str]]) -> List[Tuple[bytes, bytes]]:
    if texts is None:
        return []
    if not isinstance(texts, Mapping):
        raise TypeError(f"texts must be a mapping, not {type(texts).__name__}")
    found = []
    for key, text in texts.items():
        if not isinstance(key, str):
            raise TypeError(f"texts: the key {key!r} must be a str, not {type(key).__name__}")
        if not isinstance(text, str):
            raise TypeError(f"texts: {key!r} must be a str, not {type(text).__name__}")
        try:
            words = key.encode(), text.encode()
        except UnicodeEncodeError:
            raise parameter_error(f"texts: {key!r} has characters that are not Unicode") from None
        if b"\0" in words[0] + words[1]:
            raise parameter_error(f"texts: {key!r} contains a null byte")
        found.append(words)
    return found


def exact_rate(fps: Any) -> Fraction:
    """Return frames per second as a fraction, which is never 0."""
    rate = _exact(fps, "fps")
    if rate <= 0:
        raise parameter_error(f"fps is {fps}; it must be more than 0")
    if rate * _LARGEST < 1:
        raise parameter_error(f"fps is {fps}; frames would last longer than {_LARGEST} seconds")
    return rate


def exact_seconds(value: Any, name: str) -> Fraction:
    """Return ``value`` as a fraction, which is never negative."""
    number = _exact(value, name)
    if number < 0:
        raise parameter_error(f"{name} is {value}; it must be 0 or more")
    return number


def _exact(value: Any, name: str) -> Fraction:
    """Return ``value`` as a fraction.

    A float becomes the closest fraction with a denominator up to a million, but 0 only if it is 0.
    """
    if isinstance(value, Fraction):
        number = value
    elif isinstance(value, Rational):
        number = Fraction(int(value.numerator), int(value.denominator))
    elif isinstance(value, tuple):
        if len(value) != 2 or operator.index(value[1]) <= 0:
            raise parameter_error(f"{name} is {value}; a pair must be a numerator and a positive denominator")
        number = Fraction(operator.index(value[0]), operator.index(value[1]))
    elif hasattr(value, "__float__") and not isinstance(value, (str, bytes)):
        if not math.isfinite(float(value)):
            raise parameter_error(f"{name} is {value}; it must be finite")
        whole = Fraction(float(value))
        # This is more precise than the delays of any file. A delay of 0 would be shown for 100 ms.
        number = whole.limit_denominator(10**6) or whole
    else:
        kinds = "a number" if isinstance(value, (str, bytes)) else "a number or a pair, (numerator, denominator)"
        raise TypeError(f"{name} must be {kinds}, not {type(value).__name__}")
    return number


def _delay(value: Any, name: str = "delay") -> Tuple[int, int]:
    """Return a delay as numerator and denominator, both below 2^32."""
    number = exact_seconds(value, name)
    if number > _LARGEST:
        raise parameter_error(f"{name} is {value}; it must be at most {_LARGEST} seconds")
    if number.denominator > _LARGEST or number.numerator > _LARGEST:
        number = number.limit_denominator(_LARGEST // max(math.ceil(number), 1)) or Fraction(1, _LARGEST)
    return number.numerator, number.denominator


def check_size(width: int, height: int, is_gif: bool) -> None:
    """Reject a frame of a size that cannot be written, before it is copied."""
    if width <= 0 or height <= 0:
        raise parameter_error(f"a frame is {width}x{height}; it must have pixels")
    if is_gif and max(width, height) > _LARGEST_GIF:
        raise UnwritableError(
            "unwritable", f"a frame is {width}x{height}; the sides of a GIF are at most {_LARGEST_GIF}")
    if not is_gif and width * height > _LARGEST_APNG:
        raise LimitError(
            "limitExceeded", f"a frame is {width}x{height}; an APNG has at most {_LARGEST_APNG} pixels",
            found=width * height, allowed=_LARGEST_APNG)


def _pillow_array(numpy: Any, image: Any, mode: str) -> Any:
    """Return the pixels of a Pillow image as an array."""
    clear = getattr(image, "info", {}).get("transparency")
    if mode.startswith("I;16"):
        array = numpy.asarray(image)
        if clear is None:
            return array
        # Convert the pixels here, because Pillow would reduce them to 8 bits.
        return numpy.dstack([array, array, array, numpy.where(array == clear, 0, 65535).astype(array.dtype)])
    if mode == "RGBA" or mode in ("L", "RGB") and clear is None:
        return numpy.asarray(image)
    if mode not in ("I", "F"):
        try:
            # The array of the unconverted image would contain palette indices, or lack the transparent colour.
            return numpy.asarray(image.convert("RGBA"))
        except ValueError:
            pass
    # Reject these modes, because their samples have no range and would be clipped to 8 bits.
    raise parameter_error(f"a frame is a Pillow image of mode {mode}; convert it to L, RGB, RGBA or I;16 first")


def is_pillow(source: Any) -> bool:
    return isinstance(getattr(source, "mode", None), str) and hasattr(source, "convert")


def frame_count(image: Any) -> int:
    """Return the number of frames of the file that a Pillow image was opened from, or 1 if it shows only one."""
    try:
        return int(getattr(image, "n_frames", 1))
    except (OSError, ValueError):
        # The file is closed or broken.
        return 1


def check_distinct(frames: Sequence[Any]) -> None:
    """Reject a list that contains a Pillow image with several frames more than once.

    ``list(ImageSequence.Iterator(image))`` is such a list. All its elements would be written as the current frame.
    """
    seen = set()
    for image in filter(is_pillow, frames):
        if id(image) in seen and frame_count(image) > 1:
            raise parameter_error(
                "frames contains a Pillow image with several frames more than once, which shows only its current "
                "frame; pass PIL.ImageSequence.Iterator(image) without list(), or [frame.copy() for frame in ...]")
        seen.add(id(image))


def pixels(source: Any, is_gif: bool) -> Any:
    """Return the pixels of an array or a Pillow image as an array."""
    numpy = _numpy()
    if not is_pillow(source):
        return numpy.asarray(source)
    check_size(source.size[0], source.size[1], is_gif)
    return _pillow_array(numpy, source, source.mode)


def _picture(source: Any, is_gif: bool) -> Tuple[c.Picture, Any]:
    """Return a description of the picture for the library, and its array, which must stay alive during the call."""
    numpy = _numpy()
    array = pixels(source, is_gif)
    channels = array.shape[2] if array.ndim == 3 else 1
    form = _PIXELS.get((array.itemsize, channels))
    if array.dtype.kind != "u" or array.ndim not in (2, 3) or form is None:
        raise parameter_error(
            "a frame must be a uint8 or uint16 array of shape (h, w), (h, w, 1), (h, w, 3) or (h, w, 4), not "
            f"{array.dtype} of shape {array.shape}")
    height, width = array.shape[:2]
    check_size(width, height, is_gif)
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    gaps = _gaps(array, array.ndim == 3)
    if gaps is None:
        array = numpy.ascontiguousarray(array)
        gaps = _gaps(array, array.ndim == 3)
    assert gaps is not None
    picture = c.Picture(
        size=sizeof(c.Picture), pixels=array.__array_interface__["data"][0], byte_count=gaps[2],
        bytes_per_row=gaps[0], width=width, height=height, format=form)
    return picture, array
