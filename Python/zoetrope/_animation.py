"""Animations."""

from __future__ import annotations

import ctypes
import operator
import os
import threading
from ctypes import byref, sizeof
from typing import (
    IO, TYPE_CHECKING, Any, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple,
    Union, overload,
)

from . import _library as c, _memory
from ._errors import Damage, ParameterError, ZoetropeError, make_damage, make_error
from ._library import library as _lib

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Pixels = NDArray[Any]

Source = Union[str, "os.PathLike[str]", bytes, bytearray, memoryview, IO[bytes]]

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

Limits = Union[str, Mapping[str, int]]


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
        raise ParameterError("parameter", f"{name} {value!r}, not one of {words}") from None


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
    source: Source, *, limits: Limits = "default", damage: str = "salvage",
    delays: str = "browser", deep: bool = False, threads: int = 0,
) -> "Animation":
    """Open a GIF, APNG or PNG. Scans its structure and decodes no pixels.

    :param source: a path, the file's bytes, or a binary file object, which is read to its end.
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
    :raises ZoetropeError: with code, frame and byte offset.
    """
    return Animation(
        source, limits=limits, damage=damage, delays=delays, deep=deep, threads=threads)


class Animation:
    """An opened animation: a sequence of composited frames. Create it with :func:`zoetrope.open`.

    May be used from several threads; calls that decode wait for each other, and release the GIL.
    Open a file twice to decode it on two threads. After a fork, open again in a process that was
    started by *spawn*: see :class:`ForkedError`.
    """

    def __init__(
        self, source: Source, *, limits: Limits = "default", damage: str = "salvage",
        delays: str = "browser", deep: bool = False, threads: int = 0,
    ) -> None:
        self._handle: Optional[int] = None
        # Calls in flight, so that closing waits for them. See `_use`.
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
        handle = ctypes.c_void_p()
        error = c.Error()
        if isinstance(source, (str, os.PathLike)):
            path = os.fspath(source)
            if not isinstance(path, (str, bytes)):
                raise TypeError(f"a path, not {type(path).__name__}")
            name = os.fsencode(path)
            self._path = os.fsdecode(name)
            if b"\0" in name:
                raise ParameterError("parameter", "the path has a zero byte", path=self._path)
            status = _lib.zoetrope_open_file(name, byref(options), byref(handle), byref(error))
        else:
            data = _bytes(source)
            status = _lib.zoetrope_open_bytes(
                data, len(data), byref(options), byref(handle), byref(error))
        if status:
            raise make_error(error, self._path)
        self._handle = handle.value
        info = c.Info(size=sizeof(c.Info))
        self._check(_lib.zoetrope_get_info(handle, byref(info), byref(error)), error)
        self._info = info
        self._frames: Optional[Tuple[FrameInfo, ...]] = None
        self._renderings: Dict[Any, Tuple[Any, Tuple[int, ...], Any]] = {}
        # Popped and appended, which is atomic.
        self._spare: List[_Structs] = []

    # ---- Lifetime

    def close(self) -> None:
        """Close the file. Further calls raise ValueError; calls of other threads finish first."""
        with self._lock:
            self._is_closing = True
            handle = self._handle if self._users == 0 else None
            if handle is not None:
                self._handle = None
        if handle is not None:
            _lib.zoetrope_close(handle)

    def __enter__(self) -> "Animation":
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
        raise TypeError("an Animation cannot be pickled: open it where it is used")

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
        """How often it plays in total; None until it is stopped."""
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
        """How long each frame is shown, in seconds, as the delay policy says."""
        return [frame.duration_ns / 1e9 for frame in self.frames]

    @property
    def timestamps(self) -> List[float]:
        """When each frame is first shown, in seconds."""
        return [frame.start_ns / 1e9 for frame in self.frames]

    @property
    def duration(self) -> float:
        """The length of one play in seconds."""
        last = self.frames[-1]
        return (last.start_ns + last.duration_ns) / 1e9

    @property
    def damage(self) -> List[Damage]:
        """Damage in the structure of the file. Damage of pixels is found by decoding: see
        :meth:`check`."""
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
        self, index: int, *, size: Optional[Tuple[int, int]] = None, fit: str = "fit",
        filter: str = "bilinear", format: str = "RGBA", out: Optional[Pixels] = None,
    ) -> "Pixels":
        """Frame ``index``, composited, as a new H×W×C array, or in ``out``.

        :param size: the box that it is scaled into.
        :param fit: ``"fit"``, ``"fill"``, ``"stretch"`` or ``"integer"``.
        :param filter: ``"bilinear"``, ``"nearest"``, ``"box"``, ``"bicubic"`` or ``"lanczos"``.
        :param format: ``"RGBA"`` (straight alpha), ``"RGBa"`` (premultiplied), ``"BGRA"``,
            ``"BGRa"``, ``"RGBA16"``, or, blended over black, ``"RGB"``, ``"RGBX"`` and ``"L"``.
        :param out: a C-contiguous, writable array of that shape and type.
        """
        index = self._place(index)
        rendering, shape, dtype = self._rendering(size, fit, filter, format)
        array: Pixels = _np.empty(shape, dtype) if out is None else self._out(out, shape, dtype)
        # Structs of an earlier call, if there are any: making them takes a third of a call.
        try:
            structs = self._spare.pop()
        except IndexError:
            structs = _Structs()
        buffer = structs.buffer
        # `_address`, in place.
        buffer.pixels = _addressof(_from_buffer(array))
        buffer.byte_count = array.nbytes
        handle = self._begin()
        try:
            if _lib.zoetrope_frame_at_index(
                handle, index, rendering, structs.buffer_reference, None, structs.error_reference
            ):
                raise make_error(structs.error, self._path)
        finally:
            self._end()
            self._spare.append(structs)
        return array

    @overload
    def __getitem__(self, index: int) -> "Pixels": ...
    @overload
    def __getitem__(self, index: slice) -> "Pixels": ...

    def __getitem__(self, index: Any) -> "Pixels":
        """A frame as an H×W×4 RGBA array; several, by a slice, as an N×H×W×4 array."""
        if isinstance(index, slice):
            return self.read(range(len(self))[index])
        return self.frame(index)

    def __iter__(self) -> Iterator["Pixels"]:
        """Every frame in order, each a new RGBA array."""
        for index in range(len(self)):
            yield self.frame(index)

    def at(self, seconds: float, **rendering: Any) -> "Pixels":
        """The frame shown ``seconds`` after the start; past the last play, the last frame.

        :param rendering: as for :meth:`frame`.
        """
        return self.frame(self.index_at(seconds), **rendering)

    def index_at(self, seconds: float) -> int:
        """The index of the frame shown ``seconds`` after the start."""
        exact = float(seconds) * 1e9
        # Also false for NaN.
        if not -(2.0**63) <= exact < 2.0**63:
            raise ParameterError("parameter", f"a time of {seconds} s")
        nanoseconds = round(exact)
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
        self, indices: Optional[Sequence[int]] = None, *, size: Optional[Tuple[int, int]] = None,
        fit: str = "fit", filter: str = "bilinear", format: str = "RGBA",
        out: Optional[Pixels] = None,
    ) -> "Pixels":
        """Several frames as one N×H×W×C array, decoded on all processors.

        The memory of an array of 16 to 128 MiB is kept for the next one when the array is gone.

        :param indices: the frames, in any order; None for all.
        """
        count = len(self) if indices is None else len(indices)
        rendering, shape, dtype = self._rendering(size, fit, filter, format)
        array: Pixels = self._out(out, (count, *shape), dtype)
        if count == 0:
            return array
        places = None
        if indices is not None:
            places = (ctypes.c_int64 * count)(*[self._place(index) for index in indices])
        handle = self._begin()
        try:
            error = c.Error()
            buffer = c.Buffer(_address(array), array.nbytes, 0, 0)
            self._check(
                _lib.zoetrope_read_frames(
                    handle, places, count, rendering, byref(buffer), None, byref(error)),
                error)
        finally:
            self._end()
        return array

    def sample_indices(self, n: int, by: str = "time") -> List[int]:
        """The indices of the frames that :meth:`sample` gives."""
        count = _int32(n, "n")
        if not 0 < count <= 1 << 24:
            raise ParameterError("parameter", f"a sample of {n} frames")
        number = _choice(by, _SAMPLING, "by")
        indices = (ctypes.c_int64 * count)()
        found = ctypes.c_size_t()
        handle = self._begin()
        try:
            error = c.Error()
            self._check(
                _lib.zoetrope_sample_indices(
                    handle, number, self._delays, count, indices, byref(found), byref(error)),
                error)
        finally:
            self._end()
        return list(indices[: found.value])

    def sample(
        self, n: int, by: str = "time", *, size: Optional[Tuple[int, int]] = None,
        fit: str = "fit", filter: str = "bilinear", format: str = "RGBA",
    ) -> "Pixels":
        """``n`` frames as one N×H×W×C array, decoded on all processors.

        ``by="time"`` takes the frames at the middle of ``n`` equal parts of a play, ``"index"``
        those at the middle of ``n`` equal parts of the list; frames repeat if there are fewer.
        ``"distinct"`` takes those that look least alike, in order: it decodes all frames, and gives
        fewer than ``n`` if the others look like ones that it has.
        """
        return self.read(
            self.sample_indices(n, by), size=size, fit=fit, filter=filter, format=format)

    def png(
        self, index: int, *, size: Optional[Tuple[int, int]] = None, fit: str = "fit",
        filter: str = "bilinear",
    ) -> bytes:
        """Frame ``index`` as the bytes of a PNG. Equal frames give equal bytes. Needs no NumPy."""
        return self._png(index, size, fit, filter)[0]

    def png_with_damage(
        self, index: int, *, size: Optional[Tuple[int, int]] = None, fit: str = "fit",
        filter: str = "bilinear",
    ) -> Tuple[bytes, Optional[Damage]]:
        """:meth:`png`, and the damage found in the frame."""
        return self._png(index, size, fit, filter)

    def _png(
        self, index: int, size: Optional[Tuple[int, int]], fit: str, filter: str
    ) -> Tuple[bytes, Optional[Damage]]:
        index = self._place(index)
        # Deep frames keep their 16 bits: the encoder takes both.
        rendering = self._make_rendering(size, fit, filter, "RGBA16" if self._is_deep else "RGBA")
        handle = self._begin()
        try:
            result, frame, error = ctypes.c_void_p(), c.Frame(), c.Error()
            self._check(
                _lib.zoetrope_frame_png(
                    handle, index, byref(rendering), byref(result), byref(frame), byref(error)),
                error)
        finally:
            self._end()
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
        handle = self._begin()
        try:
            frame, error = c.Frame(), c.Error()
            for index in range(len(self)):
                self._check(
                    _lib.zoetrope_frame_at_index(
                        handle, index, byref(rendering), byref(buffer), byref(frame), byref(error)),
                    error)
                if frame.damage.is_present:
                    found.append(make_damage(frame.damage))
            return found
        finally:
            self._end()

    # ---- Arguments

    def _place(self, index: int) -> int:
        count = self._info.frame_count
        place = operator.index(index)
        if place < 0:
            place += count
        if not 0 <= place < count:
            raise IndexError(f"no frame {index}, there are {count}")
        return place

    def _make_rendering(
        self, size: Optional[Tuple[int, int]], fit: str, filter: str, format: str
    ) -> c.Rendering:
        width, height = (0, 0) if size is None else size
        return c.Rendering(
            size=sizeof(c.Rendering), format=_choice(format, _FORMATS, "format"),
            fit=_choice(fit, _FITS, "fit"), filter=_choice(filter, _FILTERS, "filter"),
            width=_int32(width or 0, "size"), height=_int32(height or 0, "size"))

    def _rendering(
        self, size: Optional[Tuple[int, int]], fit: str, filter: str, format: str
    ) -> Tuple[Any, Tuple[int, ...], Any]:
        """A reference to the struct, the shape of a frame and its type; kept, since most calls repeat them."""
        key = (None if size is None else tuple(size), fit, filter, format)
        try:
            return self._renderings[key]
        except KeyError:
            pass
        rendering = self._make_rendering(size, fit, filter, format)
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
        numpy = _numpy()
        dtype = numpy.dtype("uint16" if format == "RGBA16" else "uint8")
        # The reference keeps the struct.
        made = (byref(rendering), shape, dtype)
        if len(self._renderings) >= 16:
            self._renderings = {}
        self._renderings[key] = made
        return made

    @staticmethod
    def _out(out: Any, shape: Tuple[int, ...], dtype: Any) -> Any:
        if out is None:
            return _memory.empty(_np, shape, dtype)
        flags = out.flags
        if out.shape != shape or out.dtype != dtype or not flags.c_contiguous or not flags.writeable:
            raise ParameterError(
                "parameter", f"out must be a writable C-contiguous {dtype} array of shape {shape}")
        return out


class _Structs:
    """What one call needs, and references to it."""

    __slots__ = ("buffer", "buffer_reference", "error", "error_reference")

    def __init__(self) -> None:
        self.buffer = c.Buffer()
        self.buffer_reference = byref(self.buffer)
        self.error = c.Error()
        self.error_reference = byref(self.error)


def _address(array: Any) -> int:
    """Where the array's elements begin; three times as fast as ``array.ctypes.data``."""
    return _addressof(_from_buffer(array))


_addressof = ctypes.addressof
# NumPy's types do not say that arrays are buffers.
_from_buffer: Any = ctypes.c_char.from_buffer


def _set_limits(options: c.Options, limits: Limits) -> None:
    if isinstance(limits, str):
        options.limits = _choice(limits, _PRESETS, "limits")
        return
    for name, value in limits.items():
        if name == "preset":
            options.limits = _choice(str(value), _PRESETS, "limits")
        elif name not in _LIMITS:
            raise ParameterError("parameter", f"no limit {name!r}, there are {', '.join(_LIMITS)}")
        elif not 0 < int(value) < 1 << 63:
            raise ParameterError("parameter", f"limit {name} {value}")
        else:
            setattr(options, name, int(value))


def _int32(value: int, name: str) -> int:
    number = operator.index(value)
    if not -(1 << 31) <= number < 1 << 31:
        raise ParameterError("parameter", f"{name} {value}")
    return number


def _bytes(source: Any) -> bytes:
    if isinstance(source, bytes):
        return source
    if isinstance(source, (bytearray, memoryview)):
        return bytes(source)
    read = getattr(source, "read", None)
    if read is None:
        raise TypeError(f"a path, bytes or a binary file object, not {type(source).__name__}")
    data = read()
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise TypeError("the file object is not binary")
    return bytes(data)
