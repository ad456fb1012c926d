"""Decoded frames on disk, which processes share."""

from __future__ import annotations

import ctypes
import math
import os
import sys
from ctypes import byref, sizeof
from typing import Any, Callable, Iterator, List, NamedTuple, Optional, SupportsIndex, Tuple, Union, overload

from . import _library as c
from ._animation import Animation
from ._arguments import _integer
from ._arrays import _numpy
from ._calls import _Owned
from ._errors import StoreError, make_error, parameter_error
from ._library import library as _lib
from ._types import Filter, Fit, Format, Pixels, Size

#: The name that NumPy gives to 16-bit samples in the byte order of the processor.
_WORDS = "<u2" if sys.byteorder == "little" else ">u2"


class StoreStatistics(NamedTuple):
    """The size of a :class:`FrameStore`, and the counters of the store object.

    :ivar frame_count: the number of frames of all animations, in all sizes and formats.
    :ivar byte_count: the number of bytes on disk.
    :ivar byte_limit: the maximum number of bytes on disk.
    :ivar hits: the number of requested frames that were found. :meth:`StoredFrames.fill` counts none of its frames.
    :ivar misses: the number of requested frames that were not found, and were decoded.
    :ivar insertions: the number of frames stored by this store object.
    """

    frame_count: int
    byte_count: int
    byte_limit: int
    hits: int
    misses: int
    insertions: int


class FrameStore:
    """A directory of decoded frames, which any number of processes may use at the same time.

    >>> with zoetrope.FrameStore("frames", byte_limit=1 << 30) as store, zoetrope.open("party.gif") as animation:
    ...     frames = store.frames(animation, size=(224, 224), fit="fill", format="RGBX")
    ...     frames.fill()          # decodes what is missing, once
    ...     print(frames[3].mean())

    A stored frame is returned without decoding or copying it: the array is a read-only view of the pages of a file,
    which all processes share. The frame is not replaced while its array exists, even if the store or the animation is
    closed. The least recently used frames are evicted to make room for others. Frames are found by the content of the
    animation's file, so the old frames of a changed file are never returned.

    A store may be used from several threads. While a store is open, a SIGBUS handler keeps the process alive if another
    program truncates a file of the store; the handler passes other faults on to the previous handler. A store cannot be
    used in a forked process, nor pickled: open the directory in each process.
    """

    def __init__(
        self, path: Union[None, str, "os.PathLike[str]", "os.PathLike[bytes]"] = None, *,
        byte_limit: Optional[SupportsIndex] = None,
    ) -> None:
        """
        :param path: the directory. If it or its parents are missing, they are created with access for this user only.
            None means the directory that the command-line tool uses: ``zoetrope/frames`` in ``$XDG_CACHE_HOME`` or
            ``~/.cache``.
        :param byte_limit: the maximum number of bytes on disk; None means 256 MiB. Use the same limit in all processes,
            because a process with a smaller limit evicts frames down to its own limit.
        :raises StoreError: if other users may read or write the directory, if you may not create it, or if the disk is
            full.
        :raises ReadError: if another system call fails, for example because a part of the path is not a directory.
        """
        #: The handle of the store, or None once the store is closed.
        self._held: Optional[_Owned] = None
        self._path = None if path is None else os.fsdecode(path)
        options = c.StoreOptions(size=sizeof(c.StoreOptions))
        if byte_limit is not None:
            number = _integer(byte_limit, "byte_limit")
            if not 0 < number < 1 << 63:
                raise parameter_error(f"byte_limit is {byte_limit}; it must be 1 to {(1 << 63) - 1}")
            options.byte_limit = number
        name = None if path is None else os.fsencode(path)
        if name is not None and b"\0" in name:
            raise parameter_error(f"the path {self._path!r} contains a null byte")
        held = _Owned(_lib.zoetrope_store_close)
        self._call(lambda error: _lib.zoetrope_store_open(name, byref(options), byref(held.pointer), error))
        self._held = held

    def _use(self) -> _Owned:
        held = self._held
        if held is None:
            raise ValueError("the store is closed")
        return held

    def _call(self, call: Any) -> None:
        error = c.Error()
        if call(byref(error)):
            raise make_error(error, self._path)

    def _call_with(
        self, animation: Animation, call: Callable[[Any, Any, Any], int], pixels: int = 0,
    ) -> None:
        """Call a function for ``animation``, and let Ctrl-C interrupt the call if it may take long.

        :param pixels: the maximum number of pixels to decode or bytes to read.
        """
        held = self._use()
        try:
            animation._decode_interruptibly(
                pixels, lambda pointer, error: call(held.pointer, pointer, byref(error)))
        except StoreError as error:
            # Replace the path in the error, which is that of the animation.
            raise StoreError(error.code, error.message, error.frame, error.byte_offset, self._path) from None

    def close(self) -> None:
        """Close the store. Arrays that it has returned stay valid."""
        self._held = None

    @property
    def closed(self) -> bool:
        """Whether :meth:`close` was called."""
        return self._held is None

    def __enter__(self) -> "FrameStore":
        self._use()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> Any:
        raise TypeError("a FrameStore cannot be copied or pickled; open the directory where it is used")

    def frames(
        self, animation: Animation, *, size: Optional[Size] = None, fit: Fit = "fit",
        filter: Filter = "bilinear", format: Format = "RGBA", linear_light: bool = False,
        no_enlarging: bool = False,
    ) -> "StoredFrames":
        """Return the frames of ``animation``, rendered as by :meth:`Animation.frame`. Nothing is decoded yet.

        :param format: as for :meth:`Animation.frame`. Frames with ``"RGB"`` are stored as ``"RGBX"``, and the returned
            arrays leave out every fourth byte.
        """
        self._use()
        return StoredFrames(
            self, animation, "RGBX" if format == "RGB" else format, format == "RGB",
            (size, fit, filter, linear_light, no_enlarging))

    def remove(self, animation: Optional[Animation] = None) -> None:
        """Remove the frames of ``animation``, or of all animations if it is None, in every size and format.

        Arrays in use stay valid.

        :raises StoreError: if this user may not write to the directory.
        """
        held = self._use()
        if animation is None:
            return self._call(lambda error: _lib.zoetrope_store_remove(held.pointer, None, error))
        self._call_with(animation, _lib.zoetrope_store_remove, animation.byte_count)

    def prune(self, byte_count: SupportsIndex) -> None:
        """Evict the least recently used frames until at most ``byte_count`` bytes remain.

        :raises StoreError: if this user may not write to the directory.
        """
        held, count = self._use(), _integer(byte_count, "byte_count")
        if not 0 <= count < 1 << 63:
            raise parameter_error(f"byte_count is {byte_count}, which is out of range")
        self._call(lambda error: _lib.zoetrope_store_prune(held.pointer, count, error))

    def _statistics(self) -> c.StoreStatistics:
        held, found = self._use(), c.StoreStatistics(size=sizeof(c.StoreStatistics))
        self._call(lambda error: _lib.zoetrope_store_get_statistics(held.pointer, byref(found), error))
        return found

    @property
    def statistics(self) -> StoreStatistics:
        """The size and the counters of the store. Getting them reads a little of every file of the store."""
        found = self._statistics()
        return StoreStatistics(*(getattr(found, name) for name in StoreStatistics._fields))

    @property
    def is_read_only(self) -> bool:
        """Whether this user may not write to the directory. If so, frames are found, but none is stored or removed."""
        return bool(self._statistics().is_read_only)


class _Interface:
    """Pixels that have NumPy's array interface and are not a buffer, so that their arrays cannot be made writable."""

    __slots__ = ("__array_interface__", "_lease")

    def __init__(self, lease: _Owned, frame: c.StoredFrame, shape: Tuple[int, ...], sample_bytes: int) -> None:
        self._lease = lease
        strides = (frame.bytes_per_row, sample_bytes * math.prod(shape[2:]), sample_bytes)
        self.__array_interface__ = {
            "version": 3, "shape": shape, "typestr": "|u1" if sample_bytes == 1 else _WORDS,
            "strides": strides[:len(shape)], "data": (frame.pixels, True),
        }


class StoredFrames:
    """The frames of an animation in a :class:`FrameStore`, in one size and format: a sequence of read-only arrays."""

    def __init__(
        self, store: FrameStore, animation: Animation, format: Format, is_cut: bool, rendering: Tuple[Any, ...]
    ) -> None:
        self._store, self._animation, self._is_cut = store, animation, is_cut
        size, fit, filter, linear_light, no_enlarging = rendering
        self._rendering, self._shape, _ = animation._rendering(
            size, fit, filter, format, linear_light, no_enlarging)
        self._sample_bytes = 2 if format == "RGBA16" else 1
        #: Whether the file's bytes have been hashed.
        self._is_known = False

    #: ``in`` is not supported, because comparing arrays gives no single truth value.
    __contains__ = None

    def __len__(self) -> int:
        return len(self._animation)

    def __iter__(self) -> Iterator[Pixels]:
        for index in range(len(self)):
            yield self[index]

    @overload
    def __getitem__(self, index: SupportsIndex) -> Pixels: ...
    @overload
    def __getitem__(self, index: slice) -> List[Pixels]: ...

    def __getitem__(self, index: Any) -> Union[Pixels, List[Pixels]]:
        """Return frame ``index`` as a read-only array. If the store does not have the frame, it is decoded and stored.

        For a slice, return a list of such arrays.

        If the frame cannot be stored, because the disk or the store is full or all slots are in use, the array has its
        own memory.

        :raises ValueError: if the store or the animation is closed.
        """
        if isinstance(index, slice):
            return [self[place] for place in range(len(self))[index]]
        numpy = _numpy()
        array: Pixels = numpy.asarray(_Interface(*self._lend(index), self._shape, self._sample_bytes))
        return array[..., :3] if self._is_cut else array

    def view(self, index: SupportsIndex) -> memoryview:
        """Return the bytes of frame ``index``, row by row. This needs no NumPy.

        Rows are ``len(view) // height`` bytes apart, which is a multiple of 64. The bytes after the last pixel of a row
        are unspecified.
        """
        lease, frame = self._lend(index)
        memory: Any = (ctypes.c_uint8 * (frame.bytes_per_row * frame.height)).from_address(frame.pixels)
        # Views keep the memory alive, and the memory keeps the lease of the pixels.
        memory.lease = lease
        return memoryview(memory).cast("B").toreadonly()

    def _lend(self, index: SupportsIndex) -> Tuple[_Owned, c.StoredFrame]:
        """Return a lease, which owns the pixels of frame ``index``, and the description of the frame."""
        place = self._animation._place(index)
        animation = self._animation
        lease, frame = _Owned(_lib.zoetrope_lease_free), c.StoredFrame(size=sizeof(c.StoredFrame))
        arguments = place, self._rendering, byref(frame), byref(lease.pointer)

        def call(function: Any) -> Callable[[Any, Any, Any], int]:
            return lambda store, pointer, error: int(function(store, pointer, *arguments, error))

        # Try this first, because most frames are stored. Finding a frame is so quick that Ctrl-C need not interrupt it,
        # except the first one, for which all bytes of the file are hashed.
        self._store._call_with(
            animation, call(_lib.zoetrope_store_find), 0 if self._is_known else animation.byte_count)
        self._is_known = True
        if not lease.pointer:
            self._store._call_with(
                animation, call(_lib.zoetrope_store_frame), animation._pixels(place) + math.prod(self._shape))
            animation._next = place + 1
        return lease, frame

    def fill(self) -> int:
        """Decode and store all frames that are missing, and return their number.

        :raises StoreError: if the frames do not fit, or if there are more than 8,192. Frames that have been stored by
            then remain.
        """
        count = ctypes.c_int64()
        self._store._call_with(
            self._animation,
            lambda store, pointer, error: int(
                _lib.zoetrope_store_fill(store, pointer, self._rendering, byref(count), error)),
            1 << 62)
        return count.value
