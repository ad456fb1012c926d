"""Animations."""

from __future__ import annotations

import ctypes
import math
import os  # noqa: F401: hints of sources and destinations name it
from ctypes import byref, sizeof
from typing import (
    TYPE_CHECKING, Any, Iterable, Iterator, List, Literal, Optional, Sequence, SupportsFloat, SupportsIndex, Tuple,
    Union, cast, overload,
)

from . import _library as c
from ._arguments import _integer, _nanoseconds
from ._arrays import _addressof, _check_layout, _from_buffer, _is_array, _numpy, _Structs, _Target
from ._calls import _Owned
from ._destinations import Destination, Written
from ._errors import Damage, LimitError, make_damage, make_error, parameter_error
from ._library import library as _lib
from ._opened import _CANCELLED, _LONG_CALL
from ._records import Batch, Frame
from ._rendered import Rendered
from ._rewriting import edits, rewrite
from ._types import (
    _choice, _SAMPLING, DamagePolicy, Delays, Filter, Fit, Format, Format8, Format16, Layout, Limits, Order, Output,
    Pixels, Pixels8, Pixels16, Size, Source,
)
from ._writer_arguments import ByteCount, Container, Delay, Dithering, Effort, Pin, UploadPreset, _options

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._types import OneFrame, SeveralFrames


def open(  # noqa: A001: zoetrope.open
    source: Source, *, limits: Optional[Limits] = "default", damage: DamagePolicy = "salvage",
    delays: Delays = "browser", deep: bool = False, threads: SupportsIndex = 0,
    timeout: Optional[SupportsFloat] = None,
) -> "Animation":
    """Open a GIF, APNG or PNG. This scans the structure of the file and decodes no pixels.

    :param source: a path, the file's bytes, or a binary file object. A regular file that was opened with
        ``open(path, "rb")`` and has not been read from yet is read on demand, like a path, even after you close it. Any
        other file object is read from its current position to its end, up to ``live_bytes``; if it does not start like
        an image, only its first bytes are read. A pipe is read to its end, too: no frame can be decoded while bytes are
        still arriving.
    :param limits: limits on the file: ``"default"``, ``"strict"`` for untrusted files, ``"none"``, or a mapping that
        overrides individual limits of a ``preset`` (default ``"default"``). The keys of the mapping are ``preset``,
        ``canvas_pixels``, ``frame_count``, ``live_bytes``, ``pixels_per_play``, ``metadata_bytes``,
        ``metadata_total_bytes``, ``metadata_count``, and ``output_bytes``, which limits the array that ``read`` or
        ``sample`` creates (16 GiB, or 1 GiB with ``"strict"``). A value of ``None`` removes a limit.
    :param damage: ``"salvage"`` keeps intact frames, and the rows of damaged frames that can be decoded; ``"partial"``
        also keeps the rows of a truncated last frame; ``"strict"`` raises at the first damage that loses data.
    :param delays: how stored delays are interpreted: ``"browser"``, ``"exact"``, ``"ffmpeg"`` or
        ``"imageio"``.
    :param deep: decode a PNG with 16 bits per sample at full depth, for ``format="RGBA16"``. The values of 8-bit
        formats may then differ by 1.
    :param threads: the number of decoding threads, including the caller's; 0 means one per processor.
    :param timeout: the maximum time in seconds for opening the file, and for each later call that decodes; None means
        no limit. The time for reading a file object does not count. In a ``for`` loop, each frame is one call;
        ``sample(by="distinct")`` is two calls.
    :raises TimedOutError: if opening takes longer than ``timeout``.
    :raises ZoetropeError: if the file cannot be used; the error has a code, a frame and a byte offset. If the file
        cannot be read, it is a :class:`ReadError`, which is also an OSError such as FileNotFoundError.
    """
    return Animation(
        source, limits=limits, damage=damage, delays=delays, deep=deep, threads=threads,
        timeout=timeout)


def _sample_count(n: SupportsIndex) -> int:
    count = _integer(n, "n")
    if not 0 < count <= 1 << 24:
        raise parameter_error(f"n is {n}; it must be 1 to {1 << 24}")
    return count


class Animation(Rendered):
    """An opened animation, which is a sequence of composited frames. Create it with :func:`zoetrope.open`.

    An animation may be used from several threads. Calls that decode run one at a time, and release the GIL. To decode a
    file on two threads at the same time, open it twice.

    :meth:`cancel`, ``timeout`` and Ctrl-C end calls that decode, even in the middle of a frame. Ctrl-C ends only calls
    on the main thread; calls on other threads that decode the same animation start over, except those that write to
    a pipe, which raise :class:`CancelledError`.

    An animation cannot be used in a forked process; see :class:`ForkedError`.
    """

    # ---- Pixels

    @overload
    def frame(
        self, index: SupportsIndex, *, format: Format8 = "RGBA", **rendering: Unpack[OneFrame],
    ) -> Pixels8: ...
    @overload
    def frame(
        self, index: SupportsIndex, *, format: Format16, **rendering: Unpack[OneFrame],
    ) -> Pixels16: ...
    @overload
    def frame(
        self, index: SupportsIndex, *, format: Format, **rendering: Unpack[OneFrame],
    ) -> Pixels: ...

    def frame(
        self, index: SupportsIndex, *, size: Optional[Size] = None, fit: Fit = "fit",
        filter: Filter = "bilinear", format: Format = "RGBA", out: Optional[Output] = None,
        linear_light: bool = False, no_enlarging: bool = False,
    ) -> Pixels:
        """Return frame ``index``, composited, as a new H×W×C array (H×W for ``"L"``), or in ``out``.

        A damaged frame shows its intact parts. To get the damage, call :meth:`decode`.

        :param size: the box to scale into, ``(width, height)``. If width or height is None, it is derived from the
            other. Default: the size of the canvas.
        :param fit: ``"fit"``, ``"fill"``, ``"stretch"`` or ``"integer"``.
        :param filter: ``"bilinear"``, ``"nearest"``, ``"box"``, ``"bicubic"`` or ``"lanczos"``.
        :param format: ``"RGBA"`` (straight alpha), ``"RGBa"`` (premultiplied alpha), ``"BGRA"``, ``"BGRa"`` or
            ``"RGBA16"``; or, blended over black, ``"RGB"``, ``"RGBX"`` or ``"L"``. To use another background, blend
            ``"RGBa"`` over it: ``rgb + background * (1 - alpha / 255)``.
        :param out: the memory to draw into, which is then returned: a writable array with the shape and type of the
            result, or a writable buffer with the same number of bytes, such as a bytearray, which needs no NumPy. An
            array may have gaps between rows and between frames, as a slice of a larger array has, but not within rows.
        :param linear_light: whether to scale in linear light.
        :param no_enlarging: whether canvases that are smaller than ``size`` keep their size (for ``"fit"`` and
            ``"integer"`` only).
        """
        place = self._place(index)
        rendering, shape, dtype = self._rendering(
            size, fit, filter, format, linear_light, no_enlarging)
        array: Pixels
        if out is None:
            try:
                array = _numpy().empty(shape, dtype)
            except MemoryError:
                raise self._out_of_memory(math.prod(shape) * dtype.itemsize) from None
        else:
            array = self._out(out, shape, dtype)
        held = self._use()
        pixels = self._pixels(place) + shape[0] * shape[1]
        is_plain = out is None or _is_array(out) and array.flags.c_contiguous
        if pixels >= _LONG_CALL or self._calls or self._is_cancelled or not is_plain:
            self._draw(place, pixels, rendering, _Target(array), None)
            return array
        memory = _from_buffer(array)
        # Do the same as `_draw`, but reuse the structs of an earlier call: creating them takes a third of the time of a
        # call.
        try:
            structs = self._spare.pop()
        except IndexError:
            structs = _Structs()
        buffer = structs.buffer
        buffer.pixels = _addressof(memory)
        buffer.byte_count = array.nbytes
        while status := _lib.zoetrope_frame_at_index(
            held.pointer, place, rendering, structs.buffer_reference, None, structs.error_reference
        ):
            if status != _CANCELLED:
                raise make_error(structs.error, self._path)
            if self._is_cancelled:
                raise self._cancelled()
            self._allow_again(held)
        self._next = place + 1
        self._spare.append(structs)
        return array

    def _draw(
        self, place: int, pixels: int, rendering: Any, target: "_Target",
        frame: Optional[c.Frame],
    ) -> None:
        """Draw a frame into ``target``, and describe it in ``frame``."""
        told = None if frame is None else byref(frame)

        def call(pointer: Any, error: c.Error, target: "_Target" = target) -> int:
            # The default argument keeps the memory alive, because a signal can end the call while the other thread
            # still writes.
            status: int = _lib.zoetrope_frame_at_index(
                pointer, place, rendering, byref(target.buffer), told, byref(error))
            return status

        self._decode_interruptibly(pixels, call)
        self._next = place + 1

    def decode(
        self, index: SupportsIndex, *, size: Optional[Size] = None, fit: Fit = "fit",
        filter: Filter = "bilinear", format: Format = "RGBA", out: Optional[Output] = None,
        linear_light: bool = False, no_enlarging: bool = False,
    ) -> Frame:
        """Return what :meth:`frame` returns, with the frame's index and times, and the damage found in its own pixels.

        Later frames that still show parts of a damaged frame do not report its damage.
        """
        place = self._place(index)
        rendering, shape, dtype = self._rendering(
            size, fit, filter, format, linear_light, no_enlarging)
        array: Pixels = self._out(out, shape, dtype)
        target = _Target(array)
        frame = c.Frame()
        self._draw(
            place, self._pixels(place) + shape[0] * shape[1], rendering, target, frame)
        return Frame(
            place, array, self.timestamps[place], self.durations[place],
            make_damage(frame.damage) if frame.damage.is_present else None)

    @overload
    def __getitem__(self, index: SupportsIndex) -> Pixels8: ...
    @overload
    def __getitem__(self, index: slice) -> Pixels8: ...

    def __getitem__(self, index: Any) -> Pixels8:
        """Return a frame as an H×W×4 RGBA array, or, for a slice, several frames as an N×H×W×4 array."""
        if isinstance(index, slice):
            return self.read(range(len(self))[index])
        return self.frame(index)

    def __iter__(self) -> Iterator[Pixels8]:
        """Yield all frames in order, each as a new RGBA array."""
        for index in range(len(self)):
            yield self.frame(index)

    @overload
    def at(
        self, seconds: SupportsFloat, *, format: Format8 = "RGBA", **rendering: Unpack[OneFrame],
    ) -> Pixels8: ...
    @overload
    def at(
        self, seconds: SupportsFloat, *, format: Format16, **rendering: Unpack[OneFrame],
    ) -> Pixels16: ...
    @overload
    def at(
        self, seconds: SupportsFloat, *, format: Format, **rendering: Unpack[OneFrame],
    ) -> Pixels: ...

    def at(
        self, seconds: SupportsFloat, *, size: Optional[Size] = None, fit: Fit = "fit",
        filter: Filter = "bilinear", format: Format = "RGBA", out: Optional[Output] = None,
        linear_light: bool = False, no_enlarging: bool = False,
    ) -> Pixels:
        """Return the frame that is shown ``seconds`` after the start; see :meth:`index_at` and :meth:`frame`.

        If times do not ascend from call to call, a call may decode all frames before the one that it returns.
        """
        return self.frame(
            self.index_at(seconds), size=size, fit=fit, filter=filter, format=format, out=out,
            linear_light=linear_light, no_enlarging=no_enlarging)

    def index_at(self, seconds: SupportsFloat) -> int:
        """Return the index of the frame that is shown ``seconds`` after the start.

        Plays follow one another without a gap. A negative time gives frame 0. A time past the last play, even an
        infinite time, gives the last frame. If the animation plays forever, an infinite time raises
        :class:`ParameterError`.
        """
        return self._index_at(seconds)

    def _index_at(self, seconds: SupportsFloat) -> int:
        nanoseconds = _nanoseconds(seconds)
        if nanoseconds >= 1 << 63 and self.plays is None:
            if seconds == math.inf:
                raise parameter_error("seconds is inf, but the animation plays forever")
            nanoseconds %= self._duration_ns() or 1
        nanoseconds = max(min(nanoseconds, (1 << 63) - 1), -1)
        held = self._use()
        index = ctypes.c_int64()
        error = c.Error()
        self._check(
            _lib.zoetrope_frame_index_at(
                held.pointer, self._delays, nanoseconds, byref(index), byref(error)), error)
        return index.value

    @overload
    def read(
        self, indices: Optional[Iterable[SupportsIndex]] = None, *, format: Format8 = "RGBA", **rendering: Unpack[SeveralFrames],
    ) -> Pixels8: ...
    @overload
    def read(
        self, indices: Optional[Iterable[SupportsIndex]] = None, *, format: Format16, **rendering: Unpack[SeveralFrames],
    ) -> Pixels16: ...
    @overload
    def read(
        self, indices: Optional[Iterable[SupportsIndex]] = None, *, format: Format, **rendering: Unpack[SeveralFrames],
    ) -> Pixels: ...

    def read(
        self, indices: Optional[Iterable[SupportsIndex]] = None, *, size: Optional[Size] = None,
        fit: Fit = "fit", filter: Filter = "bilinear", format: Format = "RGBA",
        out: Optional[Output] = None, linear_light: bool = False, no_enlarging: bool = False,
        layout: Layout = "NHWC",
    ) -> Pixels:
        """Return several frames as one N×H×W×C array. They are decoded on all processors.

        When an array of 16 to 128 MiB is freed, its memory is kept and reused for the next array.

        :param indices: the indices of the frames, in any order; None means all frames.
        :param layout: ``"NHWC"``, or ``"NCHW"`` for an N×C×H×W view of the same memory, which takes no copy. With
            ``"NCHW"``, ``out`` must have that shape, and the channels of a pixel must be adjacent in its memory.
        :raises LimitError: if there is no ``out`` and the array would be larger than the limit ``output_bytes``.
        """
        self._use()
        chosen = None if indices is None else [self._place(index) for index in indices]
        count = len(self) if chosen is None else len(chosen)
        rendering, shape, dtype = self._rendering(
            size, fit, filter, format, linear_light, no_enlarging)
        _check_layout(layout, format)
        if out is None:
            self._allow(math.prod(shape) * count * (2 if format == "RGBA16" else 1))
        array: Pixels = self._out(out, (count, *shape), dtype, layout, is_several=True)
        result: Pixels = array
        if layout == "NCHW" and out is None:
            result = array.transpose(0, 3, 1, 2)
        elif out is not None:
            result = cast(Pixels, out)
        if count == 0:
            return result
        places = None if chosen is None else (ctypes.c_int64 * count)(*chosen)
        target = _Target(array, is_several=True)

        def call(pointer: Any, error: c.Error, target: _Target = target) -> int:
            # The default argument keeps the memory alive, because a signal can end `read` while the other thread still
            # writes.
            status: int = _lib.zoetrope_read_frames(
                pointer, places, count, rendering, byref(target.buffer), None, byref(error))
            return status

        # The frames before the chosen ones are decoded as well.
        last = count if chosen is None else max(chosen) + 1
        self._decode_interruptibly(self._area * last + count * shape[0] * shape[1], call)
        return result

    @overload
    def read_at(
        self, seconds: Iterable[SupportsFloat], *, format: Format8 = "RGBA", **rendering: Unpack[SeveralFrames],
    ) -> Pixels8: ...
    @overload
    def read_at(
        self, seconds: Iterable[SupportsFloat], *, format: Format16, **rendering: Unpack[SeveralFrames],
    ) -> Pixels16: ...
    @overload
    def read_at(
        self, seconds: Iterable[SupportsFloat], *, format: Format, **rendering: Unpack[SeveralFrames],
    ) -> Pixels: ...

    def read_at(
        self, seconds: Iterable[SupportsFloat], *, size: Optional[Size] = None, fit: Fit = "fit",
        filter: Filter = "bilinear", format: Format = "RGBA", out: Optional[Output] = None,
        linear_light: bool = False, no_enlarging: bool = False, layout: Layout = "NHWC",
    ) -> Pixels:
        """Return the frames that are shown at ``seconds``, in the order of ``seconds``, as :meth:`read` does.

        For a constant frame rate, pass ``numpy.arange(0, animation.duration, 1 / fps)``. For times outside the
        animation, see :meth:`index_at`.
        """
        return self.read(
            [self._index_at(time) for time in seconds], size=size, fit=fit, filter=filter, format=format,
            out=out, linear_light=linear_light, no_enlarging=no_enlarging, layout=layout)

    def batches(
        self, n: SupportsIndex, indices: Optional[Iterable[SupportsIndex]] = None, *,
        size: Optional[Size] = None, fit: Fit = "fit", filter: Filter = "bilinear",
        format: Format = "RGBA", linear_light: bool = False, no_enlarging: bool = False,
        layout: Layout = "NHWC",
    ) -> Iterator[Batch]:
        """Yield frames in batches of up to ``n``, each in a new array: ``for indices, times, frames in ...``.

        If the indices ascend, each frame is decoded once. The last batch may be shorter. ``timeout`` applies to each
        frame. Only the caller keeps batches: if the loop's body ends with ``del frames``, memory holds one batch at a
        time, and otherwise two while the next one is made.

        :param indices: the indices of the frames, in any order; ascending order is fastest. None means all frames.
        :raises LimitError: if a batch would be larger than the limit ``output_bytes``.
        """
        self._use()
        count = _integer(n, "n")
        if count < 1:
            raise parameter_error(f"n is {n}; it must be 1 or more")
        places = (
            list(range(len(self))) if indices is None else [self._place(index) for index in indices])
        numpy = _numpy()
        rendering, shape, dtype = self._rendering(
            size, fit, filter, format, linear_light, no_enlarging)
        _check_layout(layout, format)
        self._allow(math.prod(shape) * min(count, len(places)) * dtype.itemsize)

        def batch(part: List[int]) -> Batch:
            # Draw the frames one by one, because only such calls continue from the last frame.
            array = self._out(None, (len(part), *shape), dtype)
            for row, place in enumerate(part):
                self._draw(
                    place, self._pixels(place) + shape[0] * shape[1], rendering, _Target(array[row]), None)
            timestamps = self.timestamps
            return Batch(
                numpy.array(part, numpy.int64),
                numpy.array([timestamps[place] for place in part], numpy.float64),
                array if layout == "NHWC" else array.transpose(0, 3, 1, 2))

        def made() -> Iterator[Batch]:
            for start in range(0, len(places), count):
                # Keep no reference to the batch, so that the caller can free it before the next one is made.
                yield batch(places[start:start + count])

        # The method itself is not a generator, so that it reports wrong arguments when it is called.
        return made()

    def sample_indices(self, n: SupportsIndex, by: Order = "time") -> List[int]:
        """Return the indices of the frames that :meth:`sample` would return. ``n`` is 1 to 16,777,216."""
        count = _sample_count(n)
        number = _choice(by, _SAMPLING, "by")
        indices = (ctypes.c_int64 * count)()
        found = ctypes.c_size_t()
        # Small pictures of all frames are compared with one another, which can take as long as decoding large frames.
        self._decode_interruptibly(
            (self._area + 256 * count) * len(self) if by == "distinct" else 16 * count,
            lambda pointer, error: _lib.zoetrope_sample_indices(
                pointer, number, self._delays, count, indices, byref(found), byref(error)))
        return list(indices[: found.value])

    @overload
    def sample(
        self, n: SupportsIndex, by: Order = "time", *, format: Format8 = "RGBA", **rendering: Unpack[SeveralFrames],
    ) -> Pixels8: ...
    @overload
    def sample(
        self, n: SupportsIndex, by: Order = "time", *, format: Format16, **rendering: Unpack[SeveralFrames],
    ) -> Pixels16: ...
    @overload
    def sample(
        self, n: SupportsIndex, by: Order = "time", *, format: Format, **rendering: Unpack[SeveralFrames],
    ) -> Pixels: ...

    def sample(
        self, n: SupportsIndex, by: Order = "time", *, size: Optional[Size] = None,
        fit: Fit = "fit", filter: Filter = "bilinear", format: Format = "RGBA",
        out: Optional[Output] = None, linear_light: bool = False, no_enlarging: bool = False,
        layout: Layout = "NHWC",
    ) -> Pixels:
        """Choose ``n`` frames, 1 to 16,777,216, and return them as one N×H×W×C array, decoded on all processors.

        ``by="time"`` divides a play into ``n`` equal parts, and takes the frame in the middle of each. ``by="index"``
        divides the list of frames in the same way. If there are fewer than ``n`` frames, some are repeated.

        ``by="distinct"`` takes the first frame and those that look least like it and like each other, in ascending
        order. It decodes all frames, and returns fewer than ``n`` if all others are duplicates. To use ``out`` with it,
        call :meth:`sample_indices` first, and :meth:`read` those frames.
        """
        if out is None and by != "distinct":
            # Choosing and listing millions of indices takes seconds, so check the limit first.
            shape = self._rendering(size, fit, filter, format, linear_light, no_enlarging)[1]
            self._allow(math.prod(shape) * _sample_count(n) * (2 if format == "RGBA16" else 1))
        return self.read(
            self.sample_indices(n, by), size=size, fit=fit, filter=filter, format=format, out=out,
            linear_light=linear_light, no_enlarging=no_enlarging, layout=layout)

    def png(
        self, index: SupportsIndex, *, size: Optional[Size] = None, fit: Fit = "fit",
        filter: Filter = "bilinear", linear_light: bool = False, no_enlarging: bool = False,
    ) -> bytes:
        """Return frame ``index`` as the bytes of a PNG file. Equal frames give equal bytes. This needs no NumPy."""
        return self.png_with_damage(
            index, size=size, fit=fit, filter=filter, linear_light=linear_light,
            no_enlarging=no_enlarging)[0]

    def png_with_damage(
        self, index: SupportsIndex, *, size: Optional[Size] = None, fit: Fit = "fit",
        filter: Filter = "bilinear", linear_light: bool = False, no_enlarging: bool = False,
    ) -> Tuple[bytes, Optional[Damage]]:
        """Return what :meth:`png` returns, and the damage found in the frame's own pixels, or None."""
        place = self._place(index)
        # The encoder accepts both depths, so deep frames keep their 16 bits.
        rendering, shape, _ = self._rendering(
            size, fit, filter, "RGBA16" if self._is_deep else "RGBA", linear_light, no_enlarging)
        result, frame = _Owned(_lib.zoetrope_bytes_free), c.Frame()
        # Encoding a pixel takes about eight times as long as decoding a pixel.
        self._decode_interruptibly(
            self._pixels(place) + 8 * shape[0] * shape[1],
            lambda pointer, error: _lib.zoetrope_frame_png(
                pointer, place, rendering, byref(result.pointer), byref(frame), byref(error)))
        self._next = place + 1
        count = _lib.zoetrope_bytes_count(result.pointer)
        try:
            buffer = ctypes.create_string_buffer(count)
            _lib.zoetrope_bytes_copy(result.pointer, buffer, count)
            png = buffer.raw
        except MemoryError:
            raise self._out_of_memory(count) from None
        return png, make_damage(frame.damage) if frame.damage.is_present else None

    def check(self) -> List[Damage]:
        """Decode every frame, and return all damage that is found. This needs little memory and no NumPy.

        :raises ZoetropeError: if a frame cannot be decoded at all.
        """
        found = list(self.damage)
        count = len(self)
        rendering = c.Rendering(size=sizeof(c.Rendering), fit=2, filter=1, width=1, height=1)
        try:
            frames = (c.Frame * count)()
            pixels = (ctypes.c_uint8 * (4 * count))()
        except MemoryError:
            raise self._out_of_memory(count * (sizeof(c.Frame) + 4)) from None
        buffer = c.Buffer(_addressof(pixels), sizeof(pixels), 0, 0)

        # Decode all frames with one call, so that `timeout` applies to all of them together.
        def call(pointer: Any, error: c.Error, memory: Any = (frames, pixels)) -> int:
            # The default argument keeps the memory alive, as in `read`.
            status: int = _lib.zoetrope_read_frames(
                pointer, None, count, byref(rendering), byref(buffer), frames, byref(error))
            return status

        self._decode_interruptibly(self._area * count, call)
        found += [make_damage(frame.damage) for frame in frames if frame.damage.is_present]
        return found

    # ---- Writing

    def convert(
        self, destination: Destination, *, frames: Union[None, slice, Iterable[SupportsIndex]] = None,
        time: Optional[Sequence[Optional[SupportsFloat]]] = None, reverse: bool = False,
        back_and_forth: bool = False, speed: Optional[SupportsFloat] = None,
        duration: Optional[SupportsFloat] = None, delay: Optional[Delay] = None,
        fps: Optional[SupportsFloat] = None, crop: Optional[Sequence[SupportsIndex]] = None,
        size: Optional[Size] = None, fit: Fit = "fit", filter: Filter = "bilinear", linear_light: bool = False,
        no_enlarging: bool = False, plays: Union[None, SupportsIndex, Literal["keep"]] = "keep",
        format: Optional[Container] = None, effort: Effort = "balanced", exact_delays: bool = False,
        colors: Union[None, SupportsIndex, Literal["exact"]] = None, dithering: Dithering = "auto",
        matte: Optional[Sequence[SupportsIndex]] = None, lossy: SupportsIndex = 0,
        max_bytes: Optional[ByteCount] = None, preset: Optional[UploadPreset] = None,
        pin: Union[Pin, Iterable[Pin]] = (), threads: SupportsIndex = 0,
    ) -> Written:
        """Write the animation to another file with the given changes, applied in the order of the parameters below.

        Without ``size``, an APNG, or a file in the animation's own format, is written without loss, unless ``colors``,
        ``lossy``, ``max_bytes`` or ``preset`` allows a loss. In the animation's own format, a compressed frame is
        copied if the canvas on which it is drawn is unchanged. If a GIF is scaled, or made from an APNG, its colours
        are reduced as ``colors``, ``dithering`` and ``matte`` specify. If ``colors`` is a number, an APNG gets one
        palette. Of the metadata, a GIF keeps only comments, the XMP packet and the colour profile.

        :param destination: a path, which may be that of this animation, or a binary file object, which receives all
            bytes at the end. The file at a path is written under a temporary name, and renamed when it is complete.
        :param frames: the frames to keep: a slice, or indices in any order. All other frames are removed together with
            their time.
        :param time: the part of one play to keep: ``(start, end)`` in seconds; the end is exclusive. None for ``start``
            or ``end`` means the start or the end of the animation.
        :param reverse: whether to play the animation backwards.
        :param back_and_forth: whether to play the animation forwards, then backwards; the first and the last frame are
            then shown once per play. There may be at most 262,144 frames, or as many as in this animation, and one play
            may take at most 10**9 seconds; otherwise :class:`LimitError` is raised.
        :param speed: how many times as fast to play the animation, 0.001 to 1000.
        :param duration: the duration of one play in seconds, to which all delays are scaled.
        :param delay: the delay of every frame in seconds; see :meth:`Writer.append`.
        :param fps: the maximum number of frames per second. If any frame is shorter than 1 / ``fps`` seconds, frames
            are dropped, and the others begin at multiples of that time. The duration does not change.
        :param crop: ``(left, top, width, height)`` of the part of the canvas that is kept. ``left`` and ``top`` are 0
            or more. The rectangle may reach beyond the canvas, but must contain a pixel of it.
        :param size: the box to scale frames into. ``size``, ``fit``, ``filter``, ``linear_light`` and ``no_enlarging``
            are as for :meth:`frame`.
        :param plays: the total number of plays, or None to play forever. Default: the number does not change.
        :param format: ``"gif"`` or ``"apng"``. None means the format for the extension of the path, or of the file
            object's ``name``. If a file object has no name with such an extension, the format does not change.
        :param max_bytes: the maximum size of the file: a number of bytes, or a text such as ``"256K"`` or ``"1.5MB"``
            (K, M and G are powers of 1024; KB, MB and GB are powers of 1000). The library searches for the mildest
            change with which the file fits: it estimates sizes from samples, and encodes up to six whole files. It
            takes these measures, in this order: it drops metadata; spends more time on compression; allows similar
            colours; uses fewer colours; drops frames, down to 10 per second, without changing the duration; scales
            pictures, down to a fifth. Colours stay as they are if ``colors`` is ``"exact"``. Finally it adds the
            metadata back if there is room for it. :class:`Written` tells what was given up.
        :param preset: the purpose of the file, such as ``"discord-emoji"``; see :data:`UploadPreset`. A preset scales
            pictures, drops frames and sets the number of plays as the site requires, and lowers ``max_bytes``. It
            neither crops pictures nor cuts time.
        :param pin: what ``max_bytes`` and ``preset`` must not change: ``"size"``, ``"fps"``, or both in a sequence. If
            the preset requires just that, :class:`BudgetError` is raised.

        Browsers show a delay of 10 ms or less for 100 ms. Unless ``exact_delays`` is true, frames to which a
        change would give a delay below 20 ms in a GIF, or below 11 ms in an APNG, are therefore dropped, and their time
        is added to other frames: ``merged_count`` is their number. Delays that no change affects are stored
        unchanged.

        Frames that are copied are not decoded, so damage to their pixels is copied, too, and neither found nor
        reported: use :meth:`check` to look for it. With ``damage="strict"``, all frames up to the last one that is
        copied are decoded, and a damaged animation is rejected.

        All other parameters are as for :class:`Writer`. If Ctrl-C, :meth:`cancel` or ``timeout`` ends the call, the
        file is discarded.

        :raises UnwritableError: if a GIF cannot hold the result.
        :raises BudgetError: if no result that was tried meets ``max_bytes`` or ``preset``.
        :raises WriteError: if the file cannot be written, for example because the disk is full. The error is also an
            OSError.
        """
        changes = edits(
            self, frames=frames, time=time, reverse=reverse, back_and_forth=back_and_forth, speed=speed,
            duration=duration, delay=delay, fps=fps, crop=crop, size=size, fit=fit, filter=filter,
            linear_light=linear_light, no_enlarging=no_enlarging, plays=plays)
        options = _options(
            format, effort, threads, exact_delays=exact_delays, colors=colors, dithering=dithering, matte=matte,
            lossy=lossy, max_bytes=max_bytes, preset=preset, pin=pin)
        return rewrite(self, destination, options, changes)

    def optimize(
        self, destination: Destination, *, effort: Effort = "balanced", strip: bool = False,
        lossy: SupportsIndex = 0, max_bytes: Optional[ByteCount] = None, threads: SupportsIndex = 0,
    ) -> Written:
        """Write the same animation, frame for frame, in fewer bytes. If it cannot be made smaller, the file is copied.

        Pictures do not change, unless ``lossy`` or ``max_bytes`` allows it. A damaged animation is copied with its
        damage, and rejected with ``damage="strict"``. A still PNG is copied; its pixels are decoded only with
        ``damage="strict"``.

        :param destination: as for :meth:`convert`. The format does not change, so a path or file object with the
            extension of another format is rejected.
        :param effort: as for :class:`Writer`. ``"small"`` tries all ways of storing each frame.
        :param strip: whether to leave out comments, profiles and other metadata.
        :param lossy: as for :class:`Writer`. The file is never larger than it would be without ``lossy``.
        :param max_bytes: as for :meth:`convert`, except that frames are not dropped and pictures are not scaled.
        :raises ParameterError: if the path has the extension of another format.
        :raises BudgetError: if no result that was tried meets ``max_bytes``.
        """
        options = _options(None, effort, threads, lossy=lossy, max_bytes=max_bytes)
        options.strip = bool(strip)
        return rewrite(self, destination, options, None)
