"""Opening, closing and cancelling an animation, and the properties that need no decoding."""

from __future__ import annotations

import ctypes
import io
import os
import threading
from ctypes import byref, sizeof
from typing import Any, Callable, Dict, List, Optional, SupportsFloat, SupportsIndex, Tuple, TypeVar

from . import _library as c
from ._arguments import _PIXELS_PER_PLAY, _seconds, _set_limits, _threads, _timeout
from ._arrays import _addressof, _from_buffer, _Structs
from ._calls import _interruptible, _Owned
from ._errors import (
    CancelledError, Damage, NotAnImageError, OutOfMemoryError, is_of_destination, make_damage, make_error,
    parameter_error,
)
from ._library import library as _lib
from ._records import _DISPOSALS, _KINDS, FrameInfo, MetadataItem
from ._sources import _bytes, _descriptor, _HEAD, _is_long, _position, _takes_long
from ._types import _choice, _CONTAINERS, _DAMAGE, _DELAYS, DamagePolicy, Delays, Limits, Source

#: The minimum number of pixels for which a call that decodes is interruptible by Ctrl-C.
_LONG_CALL = 1 << 22
#: The status ``ZOETROPE_CANCELLED``.
_CANCELLED = 9


def _never() -> bool:
    return False


_Self = TypeVar("_Self", bound="Opened")


class Opened:
    """The part of :class:`zoetrope.Animation` that needs no pixels."""

    def __init__(
        self, source: Source, *, limits: Optional[Limits] = "default",
        damage: DamagePolicy = "salvage", delays: Delays = "browser", deep: bool = False,
        threads: SupportsIndex = 0, timeout: Optional[SupportsFloat] = None,
    ) -> None:
        #: The handle of the animation, or None once the animation is closed.
        self._held: Optional[_Owned] = None
        self._is_cancelled = False
        #: Whether Ctrl-C has ever cancelled calls.
        self._was_interrupted = False
        self._path: Optional[str] = None
        self._delays = _choice(delays, _DELAYS, "delays")
        options = c.Options(size=sizeof(c.Options), damage=_choice(damage, _DAMAGE, "damage"))
        self._output_bytes = _set_limits(options, limits)
        #: The limit ``pixels_per_play``, which :func:`zoetrope.frames` needs.
        self._pixels_per_play = options.pixels_per_play or _PIXELS_PER_PLAY[options.limits]
        options.timeout_ns = _timeout(timeout)
        options.deep = 1 if deep else 0
        self._is_deep = deep
        options.parallelism = _threads(threads)
        held = _Owned(_lib.zoetrope_close)
        error = c.Error()
        call: Callable[[], int]
        descriptor: Optional[int] = None
        position = 0
        if isinstance(source, (str, os.PathLike)):
            path = os.fspath(source)
            if not isinstance(path, (str, bytes)):
                raise TypeError(f"the path must be str or bytes, not {type(path).__name__}")
            name = os.fsencode(path)
            self._path = os.fsdecode(name)
            if b"\0" in name:
                raise parameter_error(f"the path {self._path!r} contains a null byte")

            takes_long = _takes_long(name)

            def call() -> int:
                status: int = _lib.zoetrope_open_file(
                    name, byref(options), byref(held.pointer), byref(error))
                return status
        elif (descriptor := _descriptor(source)) is not None:
            takes_long = True

            # The reference keeps the descriptor open until the library has duplicated it.
            def call(source: Any = source) -> int:
                status: int = _lib.zoetrope_open_descriptor(
                    descriptor, byref(options), byref(held.pointer), byref(error))
                return status
        else:
            position = _position(source)
            try:
                data = _bytes(source, options)
            except MemoryError as cause:
                raise OutOfMemoryError("outOfMemory", "not enough memory for the input") from cause
            count = len(data)
            takes_long = _is_long(count, bytes(data[:_HEAD]))
            # The reference keeps the memory of a bytearray alive.
            start: Any = byref(_from_buffer(data)) if isinstance(data, bytearray) else data

            def call() -> int:
                status: int = _lib.zoetrope_open_bytes(
                    start, count, byref(options), byref(held.pointer), byref(error))
                return status
        try:
            if takes_long and threading.current_thread() is threading.main_thread():
                flag = ctypes.c_int32()
                options.cancel_opening = _addressof(flag)
                self._check(_interruptible(call, lambda: setattr(flag, "value", 1)), error)
            else:
                self._check(call(), error)
        except NotAnImageError as failure:
            if not position:
                raise
            # Files may begin at any position, but more often the file object has been read before.
            raise NotAnImageError(
                failure.code,
                f"{failure.message} at the position of the file object, {position}; call seek(0) first") from None
        if descriptor is not None:
            # Leave the file position at the end, as reading the file would.
            source.seek(0, io.SEEK_END)  # type: ignore[union-attr]
        info = c.Info(size=sizeof(c.Info))
        self._check(_lib.zoetrope_get_info(held.pointer, byref(info), byref(error)), error)
        self._info = info
        #: The maximum number of pixels that decoding one frame draws.
        self._area = int(info.largest_frame_work)
        #: The index of the frame after the last decoded frame. Any other frame may need a replay from the first frame.
        self._next = 0
        self._frames: Optional[Tuple[FrameInfo, ...]] = None
        self._renderings: Dict[Any, Tuple[Any, Tuple[int, ...], Any]] = {}
        self._durations: Optional[Tuple[float, ...]] = None
        self._timestamps: Optional[Tuple[float, ...]] = None
        self._damage: Optional[Tuple[Damage, ...]] = None
        self._metadata: Optional[Tuple[MetadataItem, ...]] = None
        # Structs for reuse. They are popped and appended, which is atomic.
        self._spare: List[_Structs] = []
        #: One element for each call in progress, on any thread. Appending and popping are atomic, too.
        self._calls: List[None] = []
        self._held = held

    # ---- Lifetime

    def close(self) -> None:
        """Close the animation.

        This method does not wait: calls in progress on other threads continue, and the file is closed after the last of
        them. To end such calls, use :meth:`cancel`.

        ``len`` and the properties ``size``, ``format``, ``plays``, ``stored_loop_count``, ``byte_count`` and ``path``
        remain available. Everything else raises ValueError.
        """
        self._held = None

    @property
    def closed(self) -> bool:
        """Whether :meth:`close` was called."""
        return self._held is None

    def cancel(self) -> None:
        """End all calls that decode, on all threads, permanently.

        These calls raise :class:`CancelledError`, and so does every later call that decodes. To continue, open the file
        again. This method does not wait, and may be called on any thread.
        """
        self._is_cancelled = True
        held = self._held
        if held is not None:
            _lib.zoetrope_cancel(held.pointer)

    def __enter__(self: _Self) -> _Self:
        self._use()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> Any:
        raise TypeError(
            "an Animation cannot be copied or pickled; open the file where it is used")

    def _use(self) -> _Owned:
        """Return the library's handle, which stays open while the caller refers to it."""
        held = self._held
        if held is None:
            raise ValueError("the animation is closed")
        return held

    def _check(self, status: int, error: c.Error) -> None:
        if status:
            raise make_error(error, self._path)

    def _decode(
        self, call: Callable[[Any, c.Error], int], is_interrupted: Callable[[], bool] = _never,
        path: Optional[str] = None, is_repeatable: bool = True,
    ) -> None:
        """Call a function of the library that decodes, and raise its error.

        After Ctrl-C, the library cancels the calls of all threads that decode the animation. A call that was not
        interrupted itself is repeated, so that Ctrl-C ends only calls on the main thread.

        :param is_repeatable: whether the call leaves nothing behind when it is cancelled. A call that has written to a
            pipe does, and raises :class:`CancelledError`.
        """
        error = c.Error()
        held = self._use()
        self._calls.append(None)
        try:
            while not self._is_cancelled:
                self._allow_again(held)
                status = call(held.pointer, error)
                if status and path is not None and is_of_destination(error):
                    raise make_error(error, path, is_writing=True)
                if status != _CANCELLED or is_interrupted() or not is_repeatable:
                    return self._check(status, error)
        finally:
            self._calls.pop()
        raise self._cancelled()

    def _allow_again(self, held: _Owned) -> None:
        """After Ctrl-C has cancelled calls, allow later calls to decode.

        Each call does this before it decodes, because a second Ctrl-C may have ended :meth:`_decode_interruptibly`
        between the cancellation and this.
        """
        if self._was_interrupted and not self._is_cancelled:
            _lib.zoetrope_clear_cancel(held.pointer)
            if self._is_cancelled:
                # `cancel` was called meanwhile, and is permanent.
                _lib.zoetrope_cancel(held.pointer)

    def _cancelled(self) -> CancelledError:
        return CancelledError("cancelled", "stopped by cancel()", path=self._path)

    def _decode_interruptibly(
        self, pixels: int, call: Callable[[Any, c.Error], int], path: Optional[str] = None,
        is_repeatable: bool = True,
    ) -> None:
        """Do the same as :meth:`_decode`, but let Ctrl-C interrupt the call if it may take long.

        It may if there are many pixels, or if a call on another thread is in progress, because calls take turns.

        :param path: the path of the file that is written, if any, for the errors of writing it.
        """
        if pixels < _LONG_CALL and not self._calls:
            return self._decode(call, is_repeatable=is_repeatable)
        held = self._use()
        is_interrupted = False

        def stop() -> None:
            nonlocal is_interrupted
            is_interrupted = self._was_interrupted = True
            _lib.zoetrope_cancel(held.pointer)
            self._allow_again(held)

        _interruptible(lambda: self._decode(call, lambda: is_interrupted, path, is_repeatable), stop)

    def _pixels(self, place: int) -> int:
        """Return the maximum number of pixels that decoding frame ``place`` draws."""
        return self._area if place == self._next else self._area * (place + 1)

    # ---- Properties

    @property
    def path(self) -> Optional[str]:
        """The path that was opened, or None if the source was not a path."""
        return self._path

    @property
    def format(self) -> str:
        """``"gif"``, ``"apng"``, or ``"png"`` for a still PNG."""
        return _CONTAINERS.get(self._info.format, "unknown")

    @property
    def size(self) -> Tuple[int, int]:
        """The width and height of every frame."""
        return (self._info.width, self._info.height)

    @property
    def plays(self) -> Optional[int]:
        """The total number of plays, or None if the animation plays forever."""
        return self._info.plays or None

    @property
    def stored_loop_count(self) -> Optional[int]:
        """The loop count as stored in the file, or None if there is none."""
        return self._info.stored_loop_count if self._info.stored_loop_count >= 0 else None

    @property
    def byte_count(self) -> int:
        """The size of the file in bytes."""
        return int(self._info.byte_count)

    @property
    def frames(self) -> Tuple[FrameInfo, ...]:
        """The stored properties of each frame."""
        held = self._use()
        if self._frames is None:
            count = self._info.frame_count
            structs = (c.FrameInfo * count)()
            error = c.Error()
            self._check(
                _lib.zoetrope_get_frames(
                    held.pointer, self._delays, 0, count, structs, sizeof(c.FrameInfo), byref(error)),
                error)
            self._frames = tuple(
                FrameInfo(
                    (f.x, f.y, f.width, f.height), (f.delay_numerator, f.delay_denominator),
                    f.start_ns, f.duration_ns, _DISPOSALS[f.disposal],
                    "over" if f.blend else "source", bool(f.is_independent),
                    (f.byte_offset, f.byte_count))
                for f in structs)
        return self._frames

    @property
    def durations(self) -> Tuple[float, ...]:
        """How long each frame is shown, in seconds, under the animation's delay policy.

        If rounded to nanoseconds, the values add up to :attr:`duration`; see :attr:`FrameInfo.duration_ns`.
        """
        frames = self.frames
        if self._durations is None:
            self._durations = tuple(_seconds(frame.duration_ns) for frame in frames)
        return self._durations

    @property
    def timestamps(self) -> Tuple[float, ...]:
        """When each frame is first shown, in seconds.

        For a frame's timestamp, :meth:`at` returns that frame, unless its delay is 0 under ``delays="exact"``, so that
        it is never shown.
        """
        frames = self.frames
        if self._timestamps is None:
            self._timestamps = tuple(_seconds(frame.start_ns) for frame in frames)
        return self._timestamps

    @property
    def duration(self) -> float:
        """The length of one play in seconds."""
        return _seconds(self._duration_ns())

    def _duration_ns(self) -> int:
        held = self._use()
        duration, error = ctypes.c_int64(), c.Error()
        self._check(
            _lib.zoetrope_get_duration(held.pointer, self._delays, byref(duration), byref(error)),
            error)
        return duration.value

    @property
    def damage(self) -> Tuple[Damage, ...]:
        """The damage found in the structure of the file.

        Damage to pixels is found only by decoding. Use :meth:`decode` for one frame, and :meth:`check` for all frames.
        """
        held = self._use()
        if self._damage is None:
            found = []
            error = c.Error()
            for index in range(self._info.damage_count):
                damage = c.Damage()
                self._check(
                    _lib.zoetrope_get_damage(held.pointer, index, byref(damage), byref(error)), error)
                found.append(make_damage(damage))
            self._damage = tuple(found)
        return self._damage

    @property
    def metadata(self) -> Tuple[MetadataItem, ...]:
        """The metadata as stored in the file: comments, text, profiles and colour information."""
        held = self._use()
        if self._metadata is not None:
            return self._metadata
        items = []
        error = c.Error()
        for index in range(self._info.metadata_count):
            item = c.Metadata()
            self._check(
                _lib.zoetrope_get_metadata(held.pointer, index, byref(item), None, 0, byref(error)),
                error)
            value = ctypes.create_string_buffer(max(item.byte_count, 1))
            self._check(
                _lib.zoetrope_get_metadata(
                    held.pointer, index, byref(item), value, item.byte_count, byref(error)), error)
            items.append(
                MetadataItem(
                    _KINDS.get(item.kind, "unknown"), item.key.decode("utf-8", "replace"),
                    value.raw[: item.byte_count]))
        self._metadata = tuple(items)
        return self._metadata

    #: ``in`` is not supported, because frames are arrays, and comparing arrays gives no single truth value.
    __contains__ = None

    def __len__(self) -> int:
        return int(self._info.frame_count)

    def __repr__(self) -> str:
        width, height = self.size
        name = f" {self._path!r}" if self._path else ""
        state = ", closed" if self.closed else ""
        return f"<zoetrope.Animation{name} {self.format} {width}x{height}, {len(self)} frames{state}>"
