"""Animations."""

from __future__ import annotations

import ctypes
import math
import mmap
import operator
import os
import threading
from ctypes import byref, sizeof
from typing import (
    TYPE_CHECKING, Any, Callable, Dict, Iterable, Iterator, List, Literal, Mapping, NamedTuple,
    Optional, Sequence, SupportsFloat, SupportsIndex, Tuple, Union, overload,
)

from . import _library as c, _memory
from ._errors import Damage, make_damage, make_error, parameter_error
from ._library import library as _lib
from ._reading import Readable, read_all

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Pixels = NDArray[Any]
else:
    # NumPy may be absent when hints are asked for.
    Pixels = Any

#: A path, the file's bytes, or a binary file object. Other buffers of bytes work too.
Source = Union[
    str, "os.PathLike[str]", "os.PathLike[bytes]", bytes, bytearray, memoryview, mmap.mmap, Readable]
BYTES_TYPES = (bytes, bytearray, memoryview, mmap.mmap)

Format = Literal["RGBA", "RGBa", "BGRA", "BGRa", "RGBX", "RGB", "L", "RGBA16"]
Fit = Literal["fit", "fill", "stretch", "integer"]
Filter = Literal["bilinear", "nearest", "box", "bicubic", "lanczos"]
Delays = Literal["browser", "exact", "ffmpeg", "imageio"]
Order = Literal["time", "index", "distinct"]
DamagePolicy = Literal["salvage", "strict", "partial"]
Preset = Literal["default", "strict", "none"]
Limits = Union[Preset, Mapping[str, Union[int, str]]]
#: Width and height; None for one of them: it follows from the other.
Size = Sequence[Optional[int]]

#: An array of the right shape, or a writable buffer of the right number of bytes.
Output = Union[Pixels, bytearray, memoryview, mmap.mmap]

_FORMATS = {"RGBA": 0, "RGBa": 1, "BGRA": 2, "BGRa": 3, "RGBX": 4, "RGB": 5, "L": 7, "RGBA16": 8}
_CHANNELS = {"RGBA": 4, "RGBa": 4, "BGRA": 4, "BGRa": 4, "RGBX": 4, "RGB": 3, "L": 1, "RGBA16": 4}
_FITS = {"fit": 0, "fill": 1, "stretch": 2, "integer": 3}
_FILTERS = {"bilinear": 0, "nearest": 1, "box": 2, "bicubic": 3, "lanczos": 4}
_DELAYS = {"browser": 0, "exact": 1, "ffmpeg": 2, "imageio": 3}
_SAMPLING = {"time": 0, "index": 1, "distinct": 2}
_DAMAGE = {"salvage": 0, "strict": 1, "partial": 2}
_PRESETS = {"default": 0, "strict": 1, "none": 2}
_LIMITS = (
    "canvas_pixels", "frame_count", "live_bytes", "pixels_per_play", "metadata_bytes",
    "metadata_total_bytes", "metadata_count",
)
_CONTAINERS = {1: "gif", 2: "apng", 3: "png"}
_DISPOSALS = ("keep", "background", "previous")

#: Pixels from which a call may take so long that Ctrl-C has to end it.
_LONG_CALL = 1 << 22
_LARGEST_SIDE = 65535
#: ``ZOETROPE_CANCELLED``.
_CANCELLED = 9


def _never() -> bool:
    return False


class FrameInfo(NamedTuple):
    """What the file says about a frame."""

    #: Left, top, width and height on the canvas, as stored.
    rect: Tuple[int, int, int, int]
    #: The stored delay in seconds, as a fraction.
    delay: Tuple[int, int]
    #: When it is shown and for how long, in nanoseconds, under the animation's delay policy.
    start_ns: int
    duration_ns: int
    #: ``"keep"``, ``"background"`` or ``"previous"``.
    disposal: str
    #: ``"source"`` or ``"over"``.
    blend: str
    #: Whether decoding can start here.
    is_independent: bool
    #: Offset and length of its pixels in the file.
    byte_range: Tuple[int, int]


class MetadataItem(NamedTuple):
    """A piece of metadata."""

    #: ``"text"``, ``"xmp"``, ``"exif"``, ``"icc_profile"``, ``"application"`` or ``"color"``.
    kind: str
    key: str
    value: bytes


_KINDS = {1: "text", 2: "xmp", 3: "exif", 4: "icc_profile", 5: "application", 6: "color"}


def _choice(value: str, choices: Mapping[str, int], name: str) -> int:
    try:
        return choices[value]
    except (KeyError, TypeError):
        words = ", ".join(repr(word) for word in choices)
        raise parameter_error(f"{name} is {value!r}, must be one of {words}") from None


def _numpy() -> Any:
    """NumPy, which only calls that return arrays need."""
    global _np
    if _np is None:
        try:
            import numpy
        except ImportError:
            raise ImportError("frames as arrays need NumPy: pip install numpy") from None
        _np = numpy
    return _np


_np: Any = None


def open(  # noqa: A001: zoetrope.open
    source: Source, *, limits: Optional[Limits] = "default", damage: DamagePolicy = "salvage",
    delays: Delays = "browser", deep: bool = False, threads: SupportsIndex = 0,
) -> "Animation":
    """Open a GIF, APNG or PNG. Scans its structure and decodes no pixels.

    :param source: a path, the file's bytes, or a binary file object, which is read to its end: at
        most ``live_bytes``, and only the first bytes if they are not an image.
    :param limits: bounds on what the file may ask for: ``"default"``, ``"strict"`` for untrusted
        files, ``"none"``, or a mapping that overrides some of the defaults: ``canvas_pixels``,
        ``frame_count``, ``live_bytes``, ``pixels_per_play``, ``metadata_bytes``,
        ``metadata_total_bytes``, ``metadata_count``; ``preset`` names what it starts from.
    :param damage: ``"salvage"`` keeps what is intact; ``"partial"`` also the rows of a last frame
        that is cut; ``"strict"`` raises at the first damage that loses something.
    :param delays: how stored delays are timed: ``"browser"``, ``"exact"``, ``"ffmpeg"`` or
        ``"imageio"``.
    :param deep: keep the 16 bits of a deep PNG, for ``format="RGBA16"``.
    :param threads: threads that decode, the caller's included; 0 for one per processor.
    :raises ZoetropeError: with code, frame and byte offset; a file that cannot be opened is a
        :class:`ReadError`, which is an OSError too, such as FileNotFoundError.
    """
    return Animation(
        source, limits=limits, damage=damage, delays=delays, deep=deep, threads=threads)


class Animation:
    """An opened animation: a sequence of composited frames. Create it with :func:`zoetrope.open`.

    May be used from several threads; calls that decode wait for each other, and release the GIL.
    Open a file twice to decode it on two threads. Ctrl-C ends ``read``, ``sample`` and
    ``sample_indices`` of the main thread after the frame that is being decoded. Calls of other threads go
    on: those on the same animation begin again. After a fork, open again in a process that was
    started by *spawn*: see :class:`ForkedError`.
    """

    def __init__(
        self, source: Source, *, limits: Optional[Limits] = "default",
        damage: DamagePolicy = "salvage", delays: Delays = "browser", deep: bool = False,
        threads: SupportsIndex = 0,
    ) -> None:
        self._handle: Optional[int] = None
        # Calls in flight, so that closing waits for them. See `_begin`.
        self._users = 0
        self._is_closing = False
        self._lock = threading.Lock()
        self._path: Optional[str] = None
        self._delays = _choice(delays, _DELAYS, "delays")
        options = c.Options(size=sizeof(c.Options), damage=_choice(damage, _DAMAGE, "damage"))
        _set_limits(options, limits)
        options.deep = 1 if deep else 0
        self._is_deep = deep
        options.parallelism = _int32(threads, "threads")
        if options.parallelism < 0:
            raise parameter_error(f"threads is {threads}, must be 0 or more")
        handle = ctypes.c_void_p()
        error = c.Error()
        if isinstance(source, (str, os.PathLike)):
            path = os.fspath(source)
            if not isinstance(path, (str, bytes)):
                raise TypeError(f"a path, not {type(path).__name__}")
            name = os.fsencode(path)
            self._path = os.fsdecode(name)
            if b"\0" in name:
                raise parameter_error(f"the path {self._path!r} has a zero byte")
            status = _lib.zoetrope_open_file(name, byref(options), byref(handle), byref(error))
        else:
            data = _bytes(source, options)
            status = _lib.zoetrope_open_bytes(
                data, len(data), byref(options), byref(handle), byref(error))
        if status:
            raise make_error(error, self._path)
        self._handle = handle.value
        info = c.Info(size=sizeof(c.Info))
        self._check(_lib.zoetrope_get_info(handle, byref(info), byref(error)), error)
        self._info = info
        self._area = int(info.width * info.height)
        self._frames: Optional[Tuple[FrameInfo, ...]] = None
        self._renderings: Dict[Any, Tuple[Any, Tuple[int, ...], Any]] = {}
        # Popped and appended, which is atomic.
        self._spare: List[_Structs] = []

    # ---- Lifetime

    def close(self) -> None:
        """Close the file. Calls of other threads finish first.

        ``len``, ``size``, ``format``, ``plays``, ``stored_loop_count``, ``byte_count`` and ``path`` are
        still known then; everything else raises ValueError.
        """
        with self._lock:
            self._is_closing = True
            handle = self._handle if self._users == 0 else None
            if handle is not None:
                self._handle = None
        if handle is not None:
            _lib.zoetrope_close(handle)

    @property
    def closed(self) -> bool:
        """Whether :meth:`close` was called."""
        return self._is_closing

    def __enter__(self) -> "Animation":
        self._require_open()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # At the interpreter's end, names of the module may be gone before the last animation.
    def __del__(self, _close: Any = _lib.zoetrope_close) -> None:
        handle = getattr(self, "_handle", None)
        if handle is not None:
            self._handle = None
            _close(handle)

    def __reduce__(self) -> Any:
        raise TypeError(
            "an Animation can be neither copied nor pickled: open the file again where it is used")

    def _require_open(self) -> None:
        if self._is_closing:
            raise ValueError("the animation is closed")

    def _begin(self) -> int:
        """The handle, which stays open until :meth:`_end`."""
        with self._lock:
            if self._is_closing or self._handle is None:
                raise ValueError("the animation is closed")
            self._users += 1
            return self._handle

    def _end(self) -> None:
        handle = None
        with self._lock:
            self._users -= 1
            if self._is_closing and self._users == 0:
                handle, self._handle = self._handle, None
        if handle is not None:
            _lib.zoetrope_close(handle)

    def _check(self, status: int, error: c.Error) -> None:
        if status:
            raise make_error(error, self._path)

    def _decode(
        self, call: Callable[[int, c.Error], int], is_interrupted: Callable[[], bool] = _never
    ) -> None:
        """Make a call of the library that decodes, and raise its error.

        The library cancels the calls of all threads on an animation. One that was not interrupted
        itself is made again, so that Ctrl-C ends only what the main thread does.
        """
        error = c.Error()
        handle = self._begin()
        try:
            status = call(handle, error)
            while status == _CANCELLED and not is_interrupted():
                status = call(handle, error)
        finally:
            self._end()
        self._check(status, error)

    def _decode_interruptibly(self, pixels: int, call: Callable[[int, c.Error], int]) -> None:
        """:meth:`_decode` of so many pixels; Ctrl-C ends it after a frame.

        Python runs signal handlers on the main thread, between instructions of its own. So while the
        library decodes for long, another thread calls it, and the main thread waits.
        """
        if pixels < _LONG_CALL or threading.current_thread() is not threading.main_thread():
            return self._decode(call)
        errors: List[BaseException] = []
        has_begun = threading.Event()
        is_interrupted = threading.Event()
        # Not the thread's end: an interrupted `join` may take a running thread for one that has ended.
        is_done = threading.Event()

        def work() -> None:
            has_begun.set()
            try:
                if not is_interrupted.is_set():
                    self._decode(call, is_interrupted.is_set)
            except BaseException as error:
                errors.append(error)
            is_done.set()

        thread = threading.Thread(target=work, name="zoetrope", daemon=True)
        try:
            try:
                thread.start()
            except RuntimeError:
                # There are too many threads, or the interpreter ends.
                return self._decode(call)
            is_done.wait()
        except BaseException:
            # From here on, a thread that has not begun calls nothing.
            is_interrupted.set()
            while has_begun.is_set() and not is_done.is_set():
                try:
                    # Again and again, since the thread may not be in the library yet.
                    with self._lock:
                        if self._handle is not None:
                            _lib.zoetrope_cancel(self._handle)
                    is_done.wait(0.01)
                except BaseException:
                    # The one that ended the wait is on its way.
                    continue
            raise
        if errors:
            raise errors[0]

    # ---- Facts

    @property
    def path(self) -> Optional[str]:
        """The path that was opened; None for bytes."""
        return self._path

    @property
    def format(self) -> str:
        """``"gif"``, ``"apng"``, or ``"png"`` for a still one."""
        return _CONTAINERS.get(self._info.format, "unknown")

    @property
    def size(self) -> Tuple[int, int]:
        """Width and height of every frame."""
        return (self._info.width, self._info.height)

    @property
    def plays(self) -> Optional[int]:
        """How often it plays in total; None if it plays without end."""
        return self._info.plays or None

    @property
    def stored_loop_count(self) -> Optional[int]:
        """The loop count as stored; None if there is none."""
        return self._info.stored_loop_count if self._info.stored_loop_count >= 0 else None

    @property
    def byte_count(self) -> int:
        """The size of the file."""
        return int(self._info.byte_count)

    @property
    def frames(self) -> Tuple[FrameInfo, ...]:
        """What the file says about each frame."""
        self._require_open()
        if self._frames is None:
            handle = self._begin()
            try:
                count = self._info.frame_count
                structs = (c.FrameInfo * count)()
                error = c.Error()
                self._check(
                    _lib.zoetrope_get_frames(
                        handle, self._delays, 0, count, structs, sizeof(c.FrameInfo), byref(error)),
                    error)
            finally:
                self._end()
            self._frames = tuple(
                FrameInfo(
                    (f.x, f.y, f.width, f.height), (f.delay_numerator, f.delay_denominator),
                    f.start_ns, f.duration_ns, _DISPOSALS[f.disposal],
                    "over" if f.blend else "source", bool(f.is_independent),
                    (f.byte_offset, f.byte_count))
                for f in structs)
        return self._frames

    @property
    def durations(self) -> List[float]:
        """How long each frame is shown, in seconds, as the delay policy says.

        In nanoseconds they add up to :attr:`duration`; see :attr:`FrameInfo.duration_ns`.
        """
        return [_seconds(frame.duration_ns) for frame in self.frames]

    @property
    def timestamps(self) -> List[float]:
        """When each frame is first shown, in seconds. :meth:`at` shows the frame at its own time."""
        return [_seconds(frame.start_ns) for frame in self.frames]

    @property
    def duration(self) -> float:
        """The length of one play in seconds."""
        return _seconds(self._duration_ns())

    def _duration_ns(self) -> int:
        handle = self._begin()
        try:
            duration, error = ctypes.c_int64(), c.Error()
            self._check(
                _lib.zoetrope_get_duration(handle, self._delays, byref(duration), byref(error)), error)
            return duration.value
        finally:
            self._end()

    @property
    def damage(self) -> List[Damage]:
        """Damage in the structure of the file.

        Damage of pixels is found by decoding: :meth:`frame_with_damage` tells that of a frame,
        :meth:`check` all.
        """
        handle = self._begin()
        try:
            found = []
            error = c.Error()
            for index in range(self._info.damage_count):
                damage = c.Damage()
                self._check(
                    _lib.zoetrope_get_damage(handle, index, byref(damage), byref(error)), error)
                found.append(make_damage(damage))
            return found
        finally:
            self._end()

    @property
    def metadata(self) -> List[MetadataItem]:
        """Comments, text, profiles and colour information, as stored."""
        handle = self._begin()
        try:
            items = []
            error = c.Error()
            for index in range(self._info.metadata_count):
                item = c.Metadata()
                self._check(
                    _lib.zoetrope_get_metadata(handle, index, byref(item), None, 0, byref(error)),
                    error)
                value = ctypes.create_string_buffer(max(item.byte_count, 1))
                self._check(
                    _lib.zoetrope_get_metadata(
                        handle, index, byref(item), value, item.byte_count, byref(error)), error)
                items.append(
                    MetadataItem(
                        _KINDS.get(item.kind, "unknown"), item.key.decode("utf-8", "replace"),
                        value.raw[: item.byte_count]))
            return items
        finally:
            self._end()

    def __len__(self) -> int:
        return int(self._info.frame_count)

    def __repr__(self) -> str:
        width, height = self.size
        name = f" {self._path!r}" if self._path else ""
        return f"<zoetrope.Animation{name} {self.format} {width}x{height}, {len(self)} frames>"

    # ---- Pixels

    def frame(
        self, index: SupportsIndex, *, size: Optional[Size] = None, fit: Fit = "fit",
        filter: Filter = "bilinear", format: Format = "RGBA", out: Optional[Output] = None,
        linear_light: bool = False, no_enlarging: bool = False,
    ) -> Pixels:
        """Frame ``index``, composited, as a new H×W×C array, or in ``out``.

        A damaged frame shows what of it is intact; see :meth:`frame_with_damage`.

        :param size: the box that it is scaled into, ``(width, height)``; None for one of them: it
            follows from the other.
        :param fit: ``"fit"``, ``"fill"``, ``"stretch"`` or ``"integer"``.
        :param filter: ``"bilinear"``, ``"nearest"``, ``"box"``, ``"bicubic"`` or ``"lanczos"``.
        :param format: ``"RGBA"`` (straight alpha), ``"RGBa"`` (premultiplied), ``"BGRA"``,
            ``"BGRa"``, ``"RGBA16"``, or, blended over black, ``"RGB"``, ``"RGBX"`` and ``"L"``. For
            another background blend ``"RGBa"`` over it: ``rgb + background * (1 - alpha / 255)``.
        :param out: a C-contiguous, writable array of that shape and type, or a writable buffer with as many
            bytes, such as a bytearray, which needs no NumPy. It is what is returned.
        :param linear_light: scale in linear light.
        :param no_enlarging: leave smaller canvases at their size (``"fit"`` and ``"integer"`` only).
        """
        place = self._place(index)
        rendering, shape, dtype = self._rendering(
            size, fit, filter, format, linear_light, no_enlarging)
        array: Pixels
        if out is None:
            # Known to be there if there is a type.
            array = (_np or _numpy()).empty(shape, dtype)
        else:
            array = self._out(out, shape, dtype)
        # Structs of an earlier call, if there are any: making them takes a third of a call.
        try:
            structs = self._spare.pop()
        except IndexError:
            structs = _Structs()
        buffer = structs.buffer
        # While this lives, a bytearray cannot be resized.
        held = _from_buffer(array)
        buffer.pixels = _addressof(held)
        buffer.byte_count = array.nbytes if out is None else _view(array).nbytes
        handle = self._begin()
        try:
            # `_decode`, in place.
            while status := _lib.zoetrope_frame_at_index(
                handle, place, rendering, structs.buffer_reference, None, structs.error_reference
            ):
                if status != _CANCELLED:
                    raise make_error(structs.error, self._path)
        finally:
            self._end()
            self._spare.append(structs)
        return array

    def frame_with_damage(
        self, index: SupportsIndex, *, size: Optional[Size] = None, fit: Fit = "fit",
        filter: Filter = "bilinear", format: Format = "RGBA", out: Optional[Output] = None,
        linear_light: bool = False, no_enlarging: bool = False,
    ) -> Tuple[Pixels, Optional[Damage]]:
        """:meth:`frame`, and the damage found in the frame's own pixels.

        Later frames may show parts of a damaged one: they have no damage of their own.
        """
        place = self._place(index)
        rendering, shape, dtype = self._rendering(
            size, fit, filter, format, linear_light, no_enlarging)
        array: Pixels = self._out(out, shape, dtype)
        held = _from_buffer(array)
        buffer = c.Buffer(_addressof(held), _view(array).nbytes, 0, 0)
        frame = c.Frame()
        self._decode(
            lambda handle, error: _lib.zoetrope_frame_at_index(
                handle, place, rendering, byref(buffer), byref(frame), byref(error)))
        return array, make_damage(frame.damage) if frame.damage.is_present else None

    @overload
    def __getitem__(self, index: SupportsIndex) -> Pixels: ...
    @overload
    def __getitem__(self, index: slice) -> Pixels: ...

    def __getitem__(self, index: Any) -> Pixels:
        """A frame as an H×W×4 RGBA array; several, by a slice, as an N×H×W×4 array."""
        if isinstance(index, slice):
            return self.read(range(len(self))[index])
        return self.frame(index)

    def __iter__(self) -> Iterator[Pixels]:
        """Every frame in order, each a new RGBA array."""
        for index in range(len(self)):
            yield self.frame(index)

    def at(
        self, seconds: SupportsFloat, *, size: Optional[Size] = None, fit: Fit = "fit",
        filter: Filter = "bilinear", format: Format = "RGBA", out: Optional[Output] = None,
        linear_light: bool = False, no_enlarging: bool = False,
    ) -> Pixels:
        """The frame shown ``seconds`` after the start; see :meth:`index_at` and :meth:`frame`."""
        return self.frame(
            self.index_at(seconds), size=size, fit=fit, filter=filter, format=format, out=out,
            linear_light=linear_light, no_enlarging=no_enlarging)

    def index_at(self, seconds: SupportsFloat) -> int:
        """The index of the frame shown ``seconds`` after the start.

        Plays follow each other. A negative time gives frame 0; a time past the last play, also an
        infinite one, the last frame.
        """
        nanoseconds = _nanoseconds(seconds)
        if nanoseconds >= 1 << 63 and self.plays is None:
            if seconds == math.inf:
                raise parameter_error("seconds is inf, and the animation plays without end")
            nanoseconds %= self._duration_ns() or 1
        nanoseconds = max(min(nanoseconds, (1 << 63) - 1), -1)
        handle = self._begin()
        try:
            index = ctypes.c_int64()
            error = c.Error()
            self._check(
                _lib.zoetrope_frame_index_at(
                    handle, self._delays, nanoseconds, byref(index), byref(error)), error)
            return index.value
        finally:
            self._end()

    def read(
        self, indices: Optional[Iterable[SupportsIndex]] = None, *, size: Optional[Size] = None,
        fit: Fit = "fit", filter: Filter = "bilinear", format: Format = "RGBA",
        out: Optional[Output] = None, linear_light: bool = False, no_enlarging: bool = False,
    ) -> Pixels:
        """Several frames as one N×H×W×C array, decoded on all processors.

        The memory of an array of 16 to 128 MiB is kept for the next one when the array is gone.

        :param indices: the frames, in any order; None for all.
        """
        self._require_open()
        chosen = None if indices is None else [self._place(index) for index in indices]
        count = len(self) if chosen is None else len(chosen)
        rendering, shape, dtype = self._rendering(
            size, fit, filter, format, linear_light, no_enlarging)
        array: Pixels = self._out(out, (count, *shape), dtype)
        if count == 0:
            return array
        places = None if chosen is None else (ctypes.c_int64 * count)(*chosen)
        held = _from_buffer(array)
        buffer = c.Buffer(_addressof(held), _view(array).nbytes, 0, 0)

        def call(handle: int, error: c.Error, held: Any = held) -> int:
            # Holds the memory: signals can end `read` while the other thread still writes.
            status: int = _lib.zoetrope_read_frames(
                handle, places, count, rendering, byref(buffer), None, byref(error))
            return status

        # Frames before the chosen ones are decoded, too.
        last = count if chosen is None else max(chosen) + 1
        self._decode_interruptibly(self._area * last + count * shape[0] * shape[1], call)
        return array

    def sample_indices(self, n: SupportsIndex, by: Order = "time") -> List[int]:
        """The indices of the ``n`` frames, 1 to 16777216, that :meth:`sample` gives."""
        count = operator.index(n)
        if not 0 < count <= 1 << 24:
            raise parameter_error(f"n is {n}, must be 1 to {1 << 24}")
        number = _choice(by, _SAMPLING, "by")
        indices = (ctypes.c_int64 * count)()
        found = ctypes.c_size_t()
        self._decode_interruptibly(
            self._area * len(self) if by == "distinct" else 0,
            lambda handle, error: _lib.zoetrope_sample_indices(
                handle, number, self._delays, count, indices, byref(found), byref(error)))
        return list(indices[: found.value])

    def sample(
        self, n: SupportsIndex, by: Order = "time", *, size: Optional[Size] = None,
        fit: Fit = "fit", filter: Filter = "bilinear", format: Format = "RGBA",
        out: Optional[Output] = None, linear_light: bool = False, no_enlarging: bool = False,
    ) -> Pixels:
        """``n`` frames, 1 to 16777216, as one N×H×W×C array, decoded on all processors.

        ``by="time"`` takes the frames at the middle of ``n`` equal parts of a play, ``"index"``
        those at the middle of ``n`` equal parts of the list; frames repeat if there are fewer.
        ``"distinct"`` takes those that look least alike, in order: it decodes all frames, and gives
        fewer than ``n`` if the others look like ones that it has.
        """
        return self.read(
            self.sample_indices(n, by), size=size, fit=fit, filter=filter, format=format, out=out,
            linear_light=linear_light, no_enlarging=no_enlarging)

    def png(
        self, index: SupportsIndex, *, size: Optional[Size] = None, fit: Fit = "fit",
        filter: Filter = "bilinear", linear_light: bool = False, no_enlarging: bool = False,
    ) -> bytes:
        """Frame ``index`` as the bytes of a PNG. Equal frames give equal bytes. Needs no NumPy."""
        return self.png_with_damage(
            index, size=size, fit=fit, filter=filter, linear_light=linear_light,
            no_enlarging=no_enlarging)[0]

    def png_with_damage(
        self, index: SupportsIndex, *, size: Optional[Size] = None, fit: Fit = "fit",
        filter: Filter = "bilinear", linear_light: bool = False, no_enlarging: bool = False,
    ) -> Tuple[bytes, Optional[Damage]]:
        """:meth:`png`, and the damage found in the frame."""
        place = self._place(index)
        # Deep frames keep their 16 bits: the encoder takes both.
        rendering = self._make_rendering(
            size, fit, filter, "RGBA16" if self._is_deep else "RGBA", linear_light, no_enlarging)
        result, frame = ctypes.c_void_p(), c.Frame()
        self._decode(
            lambda handle, error: _lib.zoetrope_frame_png(
                handle, place, byref(rendering), byref(result), byref(frame), byref(error)))
        try:
            buffer = ctypes.create_string_buffer(_lib.zoetrope_bytes_count(result))
            _lib.zoetrope_bytes_copy(result, buffer, len(buffer))
            return buffer.raw, make_damage(frame.damage) if frame.damage.is_present else None
        finally:
            _lib.zoetrope_bytes_free(result)

    def check(self) -> List[Damage]:
        """All damage: decodes every frame, small, and needs no NumPy.

        :raises ZoetropeError: if a frame cannot be decoded at all.
        """
        found = self.damage
        rendering = c.Rendering(size=sizeof(c.Rendering), fit=2, filter=1, width=1, height=1)
        pixel = (ctypes.c_uint8 * 4)()
        buffer = c.Buffer(ctypes.addressof(pixel), 4, 0, 0)
        frame = c.Frame()
        for index in range(len(self)):
            self._decode(
                lambda handle, error: _lib.zoetrope_frame_at_index(
                    handle, index, byref(rendering), byref(buffer), byref(frame), byref(error)))
            if frame.damage.is_present:
                found.append(make_damage(frame.damage))
        return found

    # ---- Arguments

    def _place(self, index: SupportsIndex) -> int:
        count = self._info.frame_count
        place = operator.index(index)
        if place < 0:
            place += count
        if not 0 <= place < count:
            self._require_open()
            raise IndexError(f"no frame {index}, there are {count}")
        return place

    def _make_rendering(
        self, size: Optional[Size], fit: str, filter: str, format: str, linear_light: bool,
        no_enlarging: bool,
    ) -> c.Rendering:
        width, height = (None, None) if size is None else _sides(size)
        return c.Rendering(
            size=sizeof(c.Rendering), format=_choice(format, _FORMATS, "format"),
            fit=_choice(fit, _FITS, "fit"), filter=_choice(filter, _FILTERS, "filter"),
            width=width or 0, height=height or 0,
            linear_light=1 if linear_light else 0, no_enlarging=1 if no_enlarging else 0)

    def _rendering(
        self, size: Optional[Size], fit: str, filter: str, format: str, linear_light: bool = False,
        no_enlarging: bool = False,
    ) -> Tuple[Any, Tuple[int, ...], Any]:
        """A reference to the struct, the shape of a frame and its type; kept, since most calls repeat them."""
        # Not `size` itself: 32.0 is found as 32.
        sides = None if size is None else _sides(size)
        key = (sides, fit, filter, format, linear_light, no_enlarging)
        try:
            return self._renderings[key]
        except (KeyError, TypeError):
            # Wrong types are told below.
            pass
        rendering = self._make_rendering(sides, fit, filter, format, linear_light, no_enlarging)
        layout = c.Layout(size=sizeof(c.Layout))
        error = c.Error()
        handle = self._begin()
        try:
            self._check(
                _lib.zoetrope_get_layout(handle, byref(rendering), byref(layout), byref(error)),
                error)
        finally:
            self._end()
        shape: Tuple[int, ...] = (layout.height, layout.width)
        if format != "L":
            shape += (_CHANNELS[format],)
        dtype: Any = "uint16" if format == "RGBA16" else "uint8"
        try:
            dtype = _numpy().dtype(dtype)
        except ImportError:
            # A buffer of the caller needs none.
            pass
        # The reference keeps the struct.
        made = (byref(rendering), shape, dtype)
        if len(self._renderings) >= 16:
            self._renderings = {}
        self._renderings[key] = made
        return made

    @staticmethod
    def _out(out: Any, shape: Tuple[int, ...], dtype: Any) -> Any:
        if out is None:
            return _memory.empty(_numpy(), shape, dtype)
        if _np is not None and isinstance(out, _np.ndarray):
            flags = out.flags
            if out.shape != shape or out.dtype != dtype or not flags.c_contiguous or not flags.writeable:
                raise parameter_error(
                    f"out must be a writable C-contiguous {dtype} array of shape {shape}")
            return out
        try:
            view = memoryview(out)
        except TypeError:
            raise TypeError(
                f"out must be a NumPy array or a writable buffer, not {type(out).__name__}") from None
        with view:
            count = math.prod(shape) * (2 if dtype == "uint16" else 1)
            if view.nbytes != count or view.readonly or not view.c_contiguous:
                raise parameter_error(
                    f"out must be a writable contiguous buffer of {count} bytes, for shape {shape}")
        return out


class _Structs:
    """What one call needs, and references to it."""

    __slots__ = ("buffer", "buffer_reference", "error", "error_reference")

    def __init__(self) -> None:
        self.buffer = c.Buffer()
        self.buffer_reference = byref(self.buffer)
        self.error = c.Error()
        self.error_reference = byref(self.error)


_addressof = ctypes.addressof
# NumPy's types do not say that arrays are buffers.
_from_buffer: Any = ctypes.c_char.from_buffer
_view: Any = memoryview


def _set_limits(options: c.Options, limits: Optional[Limits]) -> None:
    if limits is None:
        return
    if isinstance(limits, str):
        options.limits = _choice(limits, _PRESETS, "limits")
        return
    if not isinstance(limits, Mapping):
        raise TypeError(f"limits must be a str or a mapping, not {type(limits).__name__}")
    for name, value in limits.items():
        if name == "preset":
            options.limits = _choice(str(value), _PRESETS, "limits: preset")
            continue
        if name not in _LIMITS:
            raise parameter_error(f"limits: there is no {name!r}, only {', '.join(_LIMITS)}")
        if isinstance(value, str) or not hasattr(value, "__index__"):
            raise TypeError(f"limits: {name} must be an int, not {type(value).__name__}")
        number = operator.index(value)
        if not 0 < number < 1 << 63:
            raise parameter_error(f"limits: {name} is {value}, must be 1 to {(1 << 63) - 1}")
        setattr(options, name, number)


def _int32(value: SupportsIndex, name: str) -> int:
    number = operator.index(value)
    if not -(1 << 31) <= number < 1 << 31:
        raise parameter_error(f"{name} is {value}, which is too large")
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
    # To the library, 0 is what None is here; a caller who computes 0 should hear of it.
    number = operator.index(value)
    if not 0 < number <= _LARGEST_SIDE:
        raise parameter_error(f"size: {value} must be 1 to {_LARGEST_SIDE}, or None")
    return number


def _seconds(nanoseconds: int) -> float:
    """The least time that :func:`_nanoseconds` takes for no less than ``nanoseconds``."""
    seconds = nanoseconds / 1e9
    # Only above 50 days.
    while round(seconds * 1e9) < nanoseconds:
        seconds *= 1 + 2.0**-52
    return seconds


def _nanoseconds(seconds: SupportsFloat) -> int:
    if isinstance(seconds, int):
        return seconds * 10**9
    if not hasattr(seconds, "__float__"):
        raise TypeError(f"seconds must be a number, not {type(seconds).__name__}")
    number = float(seconds)
    if math.isnan(number):
        raise parameter_error("seconds is nan")
    if math.isinf(number):
        return (1 << 64) if number > 0 else -1
    # Products of larger numbers may overflow, and have no fraction.
    return round(number * 1e9) if abs(number) < 2.0**53 else int(number) * 10**9


def _bytes(source: Any, options: c.Options) -> bytes:
    if isinstance(source, bytes):
        return source
    try:
        # Also of a memory map, whose `read` starts wherever it was left.
        return memoryview(source).tobytes()
    except TypeError:
        pass
    read = getattr(source, "read", None)
    if read is None:
        raise TypeError(f"a path, bytes or a binary file object, not {type(source).__name__}")
    limit = options.live_bytes or _LIVE_BYTES[options.limits]
    return read_all(read, limit)


#: `live_bytes` of the presets, in their order.
_LIVE_BYTES = (1 << 30, 256 << 20, (1 << 63) - 1)
