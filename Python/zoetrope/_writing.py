"""Writing animations: from arrays, and from other animations."""

from __future__ import annotations

import ctypes
import io
import math
import operator
import os
from ctypes import byref, sizeof
from fractions import Fraction
from numbers import Rational
from typing import (
    TYPE_CHECKING, Any, Callable, Iterable, List, Literal, Mapping, NamedTuple, Optional, Protocol, Sequence,
    Sized, SupportsFloat, SupportsIndex, Tuple, Union,
)

from . import _library as c
from ._arguments import _nanoseconds, _sides, _threads
from ._arrays import _gaps, _numpy
from ._calls import _interruptible, _Owned
from ._errors import UnwritableError, make_error, parameter_error
from ._library import library as _lib
from ._types import _choice, _CONTAINERS, _FILTERS, _FITS, Filter, Fit, Pixels, Size

if TYPE_CHECKING:
    from ._animation import Animation


class Writable(Protocol):
    """A binary file object. It gets the whole file with one call of ``write``, once it is complete."""

    def write(self, __bytes: bytes) -> Any: ...


#: A path, or a binary file object.
Destination = Union[str, "os.PathLike[str]", "os.PathLike[bytes]", Writable]
#: Seconds: a number, exact if it is a fraction, or numerator and denominator.
Delay = Union[SupportsFloat, Rational, Tuple[int, int]]
Container = Literal["gif", "apng"]
Effort = Literal["balanced", "fast", "small"]
Dithering = Literal["auto", "none", "ordered", "diffusion"]

_FORMATS = {"gif": 1, "apng": 2}
_EFFORTS = {"balanced": 0, "fast": 1, "small": 2}
_DITHERING = {"auto": 0, "none": 1, "ordered": 2, "diffusion": 3}
#: By bytes per sample and channels.
_PIXELS = {(1, 1): 7, (1, 3): 5, (1, 4): 0, (2, 1): 10, (2, 3): 9, (2, 4): 8}
#: Calls that encode at least this many pixels are interruptible by Ctrl-C.
_LONG_PICTURE = 1 << 19
_LARGEST = (1 << 32) - 1
#: GIF stores sides in 16 bits.
_LARGEST_GIF = 65535
_SUFFIXES = {".gif": "gif", ".png": "apng", ".apng": "apng"}


class Written(NamedTuple):
    """What was written."""

    byte_count: int
    #: Frames in the file.
    frame_count: int
    #: Frames that were merged into others, because they were equal or too short.
    merged_count: int
    #: Frames whose compressed pixels were copied.
    copied_count: int
    #: Whether delays are stored exactly; otherwise they are rounded without drift.
    has_exact_delays: bool
    #: ``"gif"``, ``"apng"`` or ``"png"``.
    format: str
    #: Frames of a GIF whose colours were reduced to a palette.
    reduced_count: int = 0
    #: Partly transparent pixels that became opaque or transparent, as a share of all that were drawn.
    partial_alpha_share: float = 0.0


class _Sink:
    """A destination as the library takes it, and what remains to be done when the file is complete."""

    def __init__(self, destination: Destination) -> None:
        #: None for a file object.
        self.path: Optional[str] = None
        self.struct = c.Destination(size=sizeof(c.Destination))
        self._write: Optional[Callable[[bytes], Any]] = None
        if isinstance(destination, (str, os.PathLike)):
            path = os.fspath(destination)
            if not isinstance(path, (str, bytes)):
                raise TypeError(f"the path must be str or bytes, not {type(path).__name__}")
            name = os.fsencode(path)
            if b"\0" in name:
                raise parameter_error(f"the path {os.fsdecode(name)!r} contains a null byte")
            self.path = os.fsdecode(name)
            self.struct.path = name
        else:
            # Files of `tempfile` wrap the file itself.
            if isinstance(getattr(destination, "file", destination), io.TextIOBase):
                raise TypeError(
                    f"destination must be a binary file object, not the text file {type(destination).__name__}")
            self._write = getattr(destination, "write", None)
            if self._write is None:
                raise TypeError(
                    f"destination must be a path or a binary file object, not {type(destination).__name__}")

    def check_format(self, animation: "Animation") -> None:
        """Refuse the name of another format than that of ``animation``, which is kept."""
        if self.path is None:
            return
        suffix = os.path.splitext(self.path)[1].lower()
        kept = "gif" if animation.format == "gif" else "apng"
        if _SUFFIXES.get(suffix, kept) != kept:
            raise parameter_error(
                f"optimize keeps the format, {animation.format.upper()}, and {self.path!r} ends in {suffix}; "
                "use convert")

    def deliver(self, written: c.Written) -> Written:
        """Write a file in memory to the file object, and describe it."""
        if written.bytes:
            held = _Owned(_lib.zoetrope_bytes_free)
            held.pointer.value = written.bytes
            count = written.byte_count
            data = ctypes.create_string_buffer(count)
            _lib.zoetrope_bytes_copy(held.pointer, data, count)
            rest = data.raw
            while rest and self._write is not None:
                done = self._write(rest)
                # Raw files may write a part; other objects may return nothing.
                rest = rest[done:] if isinstance(done, int) and 0 < done < len(rest) else b""
        return Written(
            written.byte_count, written.frame_count, written.merged_count, written.copied_count,
            bool(written.has_exact_delays), _CONTAINERS.get(written.format, "unknown"), written.reduced_count,
            written.partial_alpha_share)


def _options(
    format: Optional[Container], effort: Effort, threads: SupportsIndex, *, keep_identical: bool = False,
    exact_delays: bool = False, keep_hidden: bool = False, colors: Union[None, SupportsIndex, Literal["exact"]] = None,
    dithering: Dithering = "auto", matte: Optional[Sequence[SupportsIndex]] = None,
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
        options.colors = operator.index(colors)
        if not 2 <= options.colors <= 256:
            raise parameter_error(f"colors is {colors}; it must be 2 to 256, 'exact' or None")
    if matte is not None:
        try:
            red, green, blue = (operator.index(sample) for sample in matte)
        except (TypeError, ValueError):
            raise parameter_error(f"matte is {matte!r}; it must be three integers, (red, green, blue)") from None
        if not all(0 <= sample <= 255 for sample in (red, green, blue)):
            raise parameter_error(f"matte is {matte!r}; its samples must be 0 to 255")
        options.has_matte, options.matte = 1, red << 16 | green << 8 | blue
    return options


def _plays(plays: Optional[SupportsIndex]) -> int:
    """The number of plays in the library, where 0 means forever."""
    if plays is None:
        return 0
    number = operator.index(plays)
    if not 0 < number < 1 << 63:
        raise parameter_error(f"plays is {number}; it must be 1 or more, or None to play forever")
    return number


def plays_of_loop(loop: Any, is_gif: bool) -> Optional[int]:
    """The total number of plays for a stored loop count, which is that of repetitions in a GIF; None for ever."""
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
    """Frames per second as a fraction, which is never 0."""
    rate = _exact(fps, "fps")
    if rate <= 0:
        raise parameter_error(f"fps is {fps}; it must be more than 0")
    return rate


def exact_seconds(value: Any, name: str) -> Fraction:
    """``value`` as a fraction, which is never negative."""
    number = _exact(value, name)
    if number < 0:
        raise parameter_error(f"{name} is {value}; it must be 0 or more")
    return number


def _exact(value: Any, name: str) -> Fraction:
    """``value`` as a fraction; floats as the fraction they are meant to be, such as 1/30."""
    if isinstance(value, Fraction):
        number = value
    elif isinstance(value, Rational):
        number = Fraction(int(value.numerator), int(value.denominator))
    elif isinstance(value, tuple):
        if len(value) != 2 or operator.index(value[1]) <= 0:
            raise parameter_error(f"{name} is {value}; a pair is a numerator and a denominator")
        number = Fraction(operator.index(value[0]), operator.index(value[1]))
    elif hasattr(value, "__float__") and not isinstance(value, (str, bytes)):
        if not math.isfinite(float(value)):
            raise parameter_error(f"{name} is {value}")
        # Far more digits than any file stores.
        number = Fraction(float(value)).limit_denominator(10**6)
    else:
        raise TypeError(f"{name} must be a number, not {type(value).__name__}")
    return number


def _delay(value: Any, name: str = "delay") -> Tuple[int, int]:
    """Numerator and denominator, both below 2^32."""
    number = exact_seconds(value, name)
    if number > _LARGEST:
        raise parameter_error(f"{name} is {value}; it must be at most {_LARGEST} seconds")
    if number.denominator > _LARGEST or number.numerator > _LARGEST:
        number = number.limit_denominator(_LARGEST // max(math.ceil(number), 1))
    return number.numerator, number.denominator


def check_size(width: int, height: int, is_gif: bool) -> None:
    """Refuse a frame of a size that cannot be written, before it is copied."""
    if width <= 0 or height <= 0:
        raise parameter_error(f"a frame is {width}x{height}; it must have pixels")
    if is_gif and max(width, height) > _LARGEST_GIF:
        raise UnwritableError(
            "unwritable", f"a frame is {width}x{height}; the sides of a GIF are at most {_LARGEST_GIF}")


def _picture(source: Any, is_gif: bool) -> Tuple[c.Picture, Any]:
    """The library's description of an array, and the array, which must be kept meanwhile."""
    numpy = _numpy()
    mode = getattr(source, "mode", None)
    if isinstance(mode, str) and hasattr(source, "convert"):
        check_size(source.size[0], source.size[1], is_gif)
    if isinstance(mode, str) and mode not in ("L", "RGB", "RGBA") and hasattr(source, "convert"):
        # A Pillow image, whose array would have the numbers of its palette.
        source = source.convert("RGBA")
    array = numpy.asarray(source)
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


class Writer:
    """Writes an animation frame by frame.

    >>> with zoetrope.Writer("party.png") as writer:
    ...     for array in arrays:
    ...         writer.append(array, 1 / 30)

    The file appears when the ``with`` block ends; if it raises, nothing appears. ``append`` encodes on all
    processors, releases the GIL, and waits while enough frames are in progress, so memory does not grow with
    the number of frames. Calls of several threads on one writer run one at a time. Ctrl-C and :meth:`cancel`
    end them. A process that is killed may leave ``.zoetrope-*.tmp`` in the directory, which the command-line tool
    removes when it next writes there.

    An APNG stores all pixels and delays exactly. A GIF is exact for frames that change pixels to at most 256
    colours, none partly transparent; ``colors``, ``dithering`` and ``matte`` say what happens to others. Its delays
    are rounded to hundredths of a second without drift.
    """

    def __init__(
        self, destination: Destination, *, plays: Optional[SupportsIndex] = None,
        format: Optional[Container] = None, effort: Effort = "balanced", keep_identical: bool = False,
        exact_delays: bool = False, keep_hidden: bool = False,
        colors: Union[None, SupportsIndex, Literal["exact"]] = None, dithering: Dithering = "auto",
        matte: Optional[Sequence[SupportsIndex]] = None, texts: Optional[Mapping[str, str]] = None,
        threads: SupportsIndex = 0,
    ) -> None:
        """
        :param destination: a path, or a binary file object, which gets all bytes at the end. A file is written
            under a temporary name and renamed.
        :param plays: the total number of plays; None to play forever.
        :param format: ``"gif"`` or ``"apng"``; None for that of the path's extension, ``.gif``, ``.png`` or
            ``.apng``, and for APNG without a path.
        :param effort: ``"fast"``, ``"balanced"`` or ``"small"``: the time that is spent on a small file.
        :param keep_identical: store frames that equal the one before, instead of adding their delays to it.
        :param exact_delays: store delays below 20 ms in a GIF, which browsers do not show as stored; otherwise
            such frames are merged, and the total stays.
        :param keep_hidden: keep the colours of fully transparent pixels in an APNG.
        :param colors: for GIF. None reduces the colours of frames that have too many; a number from 2 to 256 uses
            palettes of at most so many; ``"exact"`` raises :class:`UnwritableError` instead.
        :param dithering: for GIF: ``"auto"``, ``"none"``, ``"ordered"`` or ``"diffusion"``.
        :param matte: for GIF: the colour, (red, green, blue), that partly transparent pixels are blended with.
            Default: they become opaque from half opacity on, and transparent below.
        :param texts: text chunks of a PNG by keyword, or comments of a GIF.
        :param threads: the number of encoding threads, including the caller's; 0 for one per processor.
        :raises ParameterError: if the extension says nothing and there is no ``format``.
        """
        #: None once it is finished or cancelled.
        self._held: Optional[_Owned] = None
        #: What was written, once it is finished.
        self.written: Optional[Written] = None
        #: The number of frames that were appended.
        self.frame_count = 0
        self._sink = _Sink(destination)
        options = _options(
            format, effort, threads, keep_identical=keep_identical, exact_delays=exact_delays,
            keep_hidden=keep_hidden, colors=colors, dithering=dithering, matte=matte)
        options.plays = _plays(plays)
        suffix = os.path.splitext(self._sink.path or "")[1].lower()
        self._is_gif = (format or _SUFFIXES.get(suffix)) == "gif"
        held = _Owned(_lib.zoetrope_writer_free)
        error = c.Error()
        self._check(
            _lib.zoetrope_writer_create(
                byref(self._sink.struct), byref(options), byref(held.pointer), byref(error)), error)
        for words in _texts(texts):
            self._check(_lib.zoetrope_writer_add_text(held.pointer, *words, byref(error)), error)
        self._held = held

    def _check(self, status: int, error: c.Error) -> None:
        if status:
            raise make_error(error, self._sink.path, is_writing=True)

    def _use(self) -> _Owned:
        held = self._held
        if held is None:
            raise ValueError("the writer is finished" if self.written else "the writer is closed")
        return held

    def _call(self, pixels: int, call: Callable[[Any, c.Error], int]) -> None:
        """Call a function of the library, interruptible by Ctrl-C if there are many pixels."""
        held = self._use()
        error = c.Error()
        if pixels < _LONG_PICTURE:
            self._check(call(held.pointer, error), error)
            return
        status = _interruptible(
            lambda: call(held.pointer, error), lambda: _lib.zoetrope_writer_cancel(held.pointer))
        self._check(status, error)

    def _picture(self, frame: Any) -> Tuple[c.Picture, Any]:
        return _picture(frame, self._is_gif)

    def survey(self, frame: Pixels) -> None:
        """Collect the colours of a frame that will be appended later.

        If all frames were surveyed before the first one is appended, the file uses the smallest pixel format that
        holds them. :func:`zoetrope.save` does this for lists and arrays.
        """
        picture, array = self._picture(frame)

        def call(pointer: Any, error: c.Error, array: Any = array) -> int:
            status: int = _lib.zoetrope_writer_survey(pointer, byref(picture), byref(error))
            return status

        self._call(picture.width * picture.height, call)

    def append(self, frame: Pixels, delay: Delay) -> None:
        """Append a frame: the whole canvas, of the size of the first one.

        :param frame: a uint8 or uint16 array of shape (h, w), (h, w, 1), (h, w, 3) or (h, w, 4) with straight
            alpha, or a Pillow image. It is copied, as RGBA. The sides of a GIF are at most 65535.
        :param delay: seconds: a number, a Fraction, or a pair of numerator and denominator. Fractions are exact;
            a float stands for the closest fraction with a denominator up to a million.
        :raises ParameterError: for a frame of another shape, type or size; the last ends the writer.
        :raises UnwritableError: if a GIF cannot hold the frame's size, or its colours and ``colors`` is
            ``"exact"``. The latter may also be raised by a later call.
        :raises LimitError: if the frame has too many pixels for an APNG: more than 268,435,455.
        """
        numerator, denominator = _delay(delay)
        picture, array = self._picture(frame)

        def call(pointer: Any, error: c.Error, array: Any = array) -> int:
            # Holds the memory: signals can end the call while the other thread still copies.
            status: int = _lib.zoetrope_writer_append(
                pointer, byref(picture), numerator, denominator, byref(error))
            return status

        self._call(picture.width * picture.height, call)
        self.frame_count += 1

    @property
    def closed(self) -> bool:
        """Whether it is finished or discarded."""
        return self._held is None

    def finish(self) -> Written:
        """Complete the file, and describe it. Leaving the ``with`` block calls this.

        :raises ParameterError: if there is no frame.
        """
        written = c.Written(size=sizeof(c.Written))

        def call(pointer: Any, error: c.Error) -> int:
            status: int = _lib.zoetrope_writer_finish(pointer, byref(written), byref(error))
            return status

        try:
            self._call(_LONG_PICTURE, call)
            self.written = self._sink.deliver(written)
        finally:
            self._held = None
        return self.written

    def cancel(self) -> None:
        """End all calls, on all threads, with a :class:`CancelledError`, and discard the file. Does not wait.

        Does nothing once the writer is finished.
        """
        held = self._held
        if held is not None:
            _lib.zoetrope_writer_cancel(held.pointer)

    def __enter__(self) -> "Writer":
        self._use()
        return self

    def __exit__(self, kind: Any, *_: object) -> None:
        if self._held is None:
            return
        if kind is None:
            self.finish()
        else:
            self.cancel()
            # The file is discarded when its last user drops it.
            self._held = None

    def __reduce__(self) -> Any:
        raise TypeError("a Writer cannot be copied or pickled")


def save(
    destination: Destination, frames: Iterable[Pixels], *,
    durations: Union[None, Delay, Iterable[Delay]] = None, fps: Optional[SupportsFloat] = None,
    plays: Optional[SupportsIndex] = None, format: Optional[Container] = None, effort: Effort = "balanced",
    keep_identical: bool = False, exact_delays: bool = False, keep_hidden: bool = False,
    colors: Union[None, SupportsIndex, Literal["exact"]] = None, dithering: Dithering = "auto",
    matte: Optional[Sequence[SupportsIndex]] = None, texts: Optional[Mapping[str, str]] = None,
    threads: SupportsIndex = 0,
) -> Written:
    """Write an animation of ``frames``. See :class:`Writer` for what the formats hold.

    >>> zoetrope.save("party.png", frames, fps=30)
    >>> zoetrope.save("party.gif", frames, durations=[0.1, 0.1, 2], plays=1)

    :param frames: arrays or Pillow images as for :meth:`Writer.append`: an N×H×W×C or N×H×W array, a list, or any
        other iterable. An array of three axes whose last is 3 or 4 is refused: pass ``frames[None]`` if it is one
        picture, or ``frames[..., None]`` if it is several in grey. The colours of arrays and lists are collected
        first, so that the file can use a palette, grey or RGB; frames of other iterables are written as they come,
        as RGBA.
    :param durations: seconds, for all frames, or one for each, as for :meth:`Writer.append`. A pair is two durations.
    :param fps: frames per second, instead of ``durations``.

    The other parameters are those of :class:`Writer`.

    :raises WriteError: if the file cannot be written, such as on a full disk; it is also an OSError.
    :raises ParameterError: for neither or both of ``durations`` and ``fps``, or another number of durations
        than of frames.
    """
    if (durations is None) == (fps is None):
        raise parameter_error("pass either durations= or fps=")
    delays: Optional[List[Tuple[int, int]]] = None
    delay = (0, 1)
    if fps is not None:
        delay = _delay(1 / exact_rate(fps), "1 / fps")
    elif isinstance(durations, Iterable) and getattr(durations, "ndim", 1) != 0:
        delays = [_delay(value, "durations") for value in durations]
    else:
        delay = _delay(durations, "durations")
    shape: Tuple[int, ...] = tuple(getattr(frames, "shape", ()))
    if len(shape) == 3 and shape[2] in (3, 4) and hasattr(frames, "__array_interface__"):
        raise parameter_error(
            f"frames of shape {shape} may be one picture in colour or {shape[0]} in grey: "
            "pass frames[None] for the one, or frames[..., None] for the others")
    is_known = isinstance(frames, Sized)
    if is_known and delays is not None and len(delays) != len(frames):  # type: ignore[arg-type]
        raise parameter_error(f"there are {len(delays)} durations and {len(frames)} frames")  # type: ignore[arg-type]
    with Writer(
        destination, plays=plays, format=format, effort=effort, keep_identical=keep_identical,
        exact_delays=exact_delays, keep_hidden=keep_hidden, colors=colors, dithering=dithering, matte=matte,
        texts=texts, threads=threads,
    ) as writer:
        if is_known and isinstance(frames, Sequence) or hasattr(frames, "__array_interface__"):
            for frame in frames:
                writer.survey(frame)
        count = 0
        for frame in frames:
            if delays is not None:
                if count == len(delays):
                    raise parameter_error(f"there are {count} durations and more frames")
                delay = delays[count]
            writer.append(frame, delay)
            count += 1
        if delays is not None and count != len(delays):
            raise parameter_error(f"there are {len(delays)} durations and {count} frames")
        return writer.finish()


def _number(value: Any, name: str) -> float:
    """A speed or frame rate."""
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
    """The library's list of edits, their number, and memory that they refer to."""
    if sum(choice is not None for choice in (speed, duration, delay)) > 1:
        raise parameter_error("pass one of speed=, duration= and delay=")
    found: List[c.Edit] = []
    kept: Any = None
    if frames is not None:
        count = len(animation)
        chosen = range(count)[frames] if isinstance(frames, slice) else [animation._place(i) for i in frames]
        if not chosen:
            raise parameter_error("frames selects no frame")
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
            raise parameter_error(f"duration is {duration}; it must be more than 0")
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
        if not all(0 <= side < 1 << 31 for side in (x, y, width, height)):
            raise parameter_error(f"crop is {crop!r}, which is out of range")
        found.append(c.Edit(kind=8, x=x, y=y, width=width, height=height))
    if size is not None:
        wide, high = _sides(size)
        if wide is None and high is None:
            raise parameter_error("size has neither width nor height")
        found.append(c.Edit(
            kind=11, width=wide or 0, height=high or 0, fit=_choice(fit, _FITS, "fit"),
            filter=_choice(filter, _FILTERS, "filter"), linear_light=bool(linear_light),
            no_enlarging=bool(no_enlarging)))
    if plays != "keep":
        found.append(c.Edit(kind=9, end=_plays(plays)))
    return (c.Edit * len(found))(*found), len(found), kept


def rewrite(
    animation: "Animation", destination: Destination, options: c.WriterOptions,
    edits: Optional[Tuple[Any, int, Any]],
) -> Written:
    """Write an animation with ``edits``; with None, optimise it."""
    sink = _Sink(destination)
    if edits is None:
        sink.check_format(animation)
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

    animation._decode_interruptibly(1 << 62, call, sink.path)
    return sink.deliver(written)

