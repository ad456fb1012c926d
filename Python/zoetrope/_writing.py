"""Writing animations from arrays."""

from __future__ import annotations

import io
import itertools
from ctypes import byref, sizeof
from typing import (
    Any, Callable, Dict, Iterable, Iterator, List, Literal, Mapping, Optional, Sequence, Sized, SupportsFloat,
    SupportsIndex, Tuple, Union,
)

from . import _library as c
from ._animation import open
from ._arrays import _numpy
from ._calls import _interruptible, _Owned
from ._destinations import Destination, Written, _Sink
from ._errors import ParameterError, make_error, parameter_error
from ._library import library as _lib
from ._rewriting import rewrite
from ._types import Picture
from ._writer_arguments import (
    ByteCount, Container, Delay, Dithering, Effort, Pin, UploadPreset, _delay, _options, _picture, _plays, _texts,
    check_distinct, exact_rate, frame_count, is_pillow,
)

#: The minimum number of pixels for which a call that encodes is interruptible by Ctrl-C.
_LONG_PICTURE = 1 << 19


class _Comments(Dict[str, str]):
    """Texts that are all comments, as :class:`Writer` stores them in a GIF."""

    def items(self) -> Any:
        return [("Comment", text) for text in self.values()]


class Writer:
    """A writer that writes an animation frame by frame.

    >>> with zoetrope.Writer("party.png") as writer:
    ...     for array in arrays:
    ...         writer.append(array, 1 / 30)

    The file appears when the ``with`` block ends. If the block raises an exception, no file appears. ``append`` encodes
    on all processors, releases the GIL, and waits while too many frames are in progress, so memory does not grow with
    the number of frames. Calls of several threads on one writer run one at a time. Ctrl-C and :meth:`cancel` end such
    calls, even while they wait for another call or for the reader of a pipe. If Ctrl-C ends a call, the writer is
    cancelled, as by :meth:`cancel`. A process that is killed may leave a file ``.zoetrope-*.tmp`` in the directory,
    which the command-line tool removes when it next writes there.

    Unless ``colors`` or ``lossy`` allows colours to change, an APNG stores all pixels exactly, and a GIF stores a frame
    exactly if its changed pixels have at most 256 colours, none of them partly transparent; for other frames, see
    ``colors``, ``dithering`` and ``matte``. Delays are stored exactly in an APNG if they are fractions of two numbers
    of at most 65,535, and are rounded to hundredths of a second in a GIF. Rounding errors do not add up. Browsers show
    a delay of 10 ms or less for 100 ms, in an APNG too; see ``exact_delays``.

    :ivar frame_count: the number of frames that have been appended.
    :ivar written: the description of the written file, or None until the writer is finished.
    """

    def __init__(
        self, destination: Destination, *, plays: Optional[SupportsIndex] = None,
        format: Optional[Container] = None, effort: Effort = "balanced", keep_identical: bool = False,
        exact_delays: bool = False, keep_hidden: bool = False,
        colors: Union[None, SupportsIndex, Literal["exact"]] = None, dithering: Dithering = "auto",
        matte: Optional[Sequence[SupportsIndex]] = None, lossy: SupportsIndex = 0,
        texts: Optional[Mapping[str, str]] = None, threads: SupportsIndex = 0,
    ) -> None:
        """
        :param destination: a path, or a binary file object, which receives all bytes at the end. The file at a path is
            written under a temporary name, and renamed when it is complete.
        :param plays: the total number of plays, or None to play forever.
        :param format: ``"gif"`` or ``"apng"``. None means the format for the extension of the path, or of the file
            object's ``name``: ``.gif``, ``.png`` or ``.apng``. If a file object has no name with such an extension, it
            gets an APNG.
        :param effort: how much time to spend on making the file small: ``"fast"``, ``"balanced"`` or ``"small"``.
        :param keep_identical: whether to store a frame that equals the previous one, instead of adding its delay to
            that frame. No frames are merged then, as with ``exact_delays``.
        :param exact_delays: whether to store delays that browsers do not show as stored: they show a delay of 10 ms or
            less for 100 ms. Otherwise frames of a GIF with delays below 20 ms are merged without changing the total
            duration, and a delay of exactly 0 counts as 100 ms, as in browsers. A writer stores all delays of an APNG
            as they are given, but ``convert`` merges frames that a change would make shorter than 11 ms.
        :param keep_hidden: whether to keep the colours of fully transparent pixels in an APNG. Otherwise they change to
            one colour.
        :param colors: a number from 2 to 256, for palettes of at most this many colours; None, to keep all colours of
            an APNG and reduce the colours of GIF frames that have too many; or ``"exact"``, to raise
            :class:`UnwritableError` for such frames. With a number, an APNG has a single palette, made for the surveyed
            frames if there are any, and otherwise for the first frame.
        :param dithering: how pixels whose colour is not in the palette are drawn: ``"auto"``, ``"none"``, ``"ordered"``
            or ``"diffusion"``.
        :param matte: the colour, (red, green, blue), with which the partly transparent pixels of a GIF are blended.
            Default: pixels with at least half opacity become opaque, and all others transparent.
        :param lossy: how much colours may differ from the original to save bytes, from 0 to 200. The unit is an eighth
            of a step of 8-bit grey. Differences of hue are weighted by their visibility. 40 is hard to see; 120 is
            obvious in gradients. Errors do not add up from frame to frame.
        :param texts: the text chunks of an APNG by keyword, or the comments of a GIF, which are stored without keywords.
        :param threads: the number of encoding threads, including the caller's; 0 means one per processor.
        :raises ParameterError: if there is no ``format``, and the extension of the path is none of the three above.
        """
        #: The handle of the writer, or None once :meth:`finish` was called or the ``with`` block has ended.
        self._held: Optional[_Owned] = None
        self.written: Optional[Written] = None
        self.frame_count = 0
        #: One element for each call in progress, on any thread. Appending and popping are atomic.
        self._calls: List[None] = []
        self._sink = _Sink(destination)
        format = self._sink.format if format is None else format
        options = _options(
            format, effort, threads, keep_identical=keep_identical, exact_delays=exact_delays,
            keep_hidden=keep_hidden, colors=colors, dithering=dithering, matte=matte, lossy=lossy)
        options.plays = _plays(plays)
        self._is_gif = format == "gif"
        held = _Owned(_lib.zoetrope_writer_free)
        error = c.Error()
        self._check(
            _lib.zoetrope_writer_create(
                byref(self._sink.struct), byref(options), byref(held.pointer), byref(error)), error)
        for key, text in _texts(texts):
            if _lib.zoetrope_writer_add_text(held.pointer, key, text, byref(error)):
                failure = make_error(error, self._sink.path, is_writing=True)
                raise parameter_error(f"texts: {key.decode()!r}: {failure.message}") if (
                    isinstance(failure, ParameterError)) else failure
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
        """Call a function of the library. Ctrl-C interrupts the call if it may take long.

        It may if there are many pixels, if writing may block, or if a call on another thread is in progress.
        """
        held = self._use()
        error = c.Error()

        def work() -> int:
            self._calls.append(None)
            try:
                return call(held.pointer, error)
            finally:
                self._calls.pop()

        if pixels < _LONG_PICTURE and not self._sink.may_block and not self._calls:
            status = work()
        else:
            try:
                status = _interruptible(work, lambda: _lib.zoetrope_writer_cancel(held.pointer))
            except BaseException:
                # The call may not have begun, or may have ended just before. The file would lack a frame, or have a
                # frame that `frame_count` does not count.
                _lib.zoetrope_writer_cancel(held.pointer)
                raise
        self._check(status, error)

    def _picture(self, frame: Any) -> Tuple[c.Picture, Any]:
        return _picture(frame, self._is_gif)

    def survey(self, frame: Picture) -> None:
        """Collect the colours of a frame that will be appended later.

        If all frames are surveyed before the first one is appended, the file uses the smallest pixel format that can
        store them. :func:`zoetrope.save` surveys the frames of lists and arrays.
        """
        picture, array = self._picture(frame)

        def call(pointer: Any, error: c.Error, array: Any = array) -> int:
            status: int = _lib.zoetrope_writer_survey(pointer, byref(picture), byref(error))
            return status

        self._call(picture.width * picture.height, call)

    def append(self, frame: Picture, delay: Delay) -> None:
        """Append a frame, which covers the whole canvas and has the size of the first frame.

        :param frame: a uint8 or uint16 array of shape (h, w), (h, w, 1), (h, w, 3) or (h, w, 4), with straight alpha,
            or a Pillow image of any mode except La, and I and F, whose samples have no range. The frame is copied as
            RGBA. The sides of a GIF are at most 65,535 pixels.
        :param delay: the delay in seconds: a number, a Fraction, or a pair of numerator and denominator. A fraction or
            pair in lowest terms is exact if both numbers are below 2**32; otherwise it means the closest such fraction.
            A float means the closest fraction with a denominator up to a million. Only 0 means 0.
        :raises ParameterError: if the frame has another shape, type or size. After a frame of a wrong size, the writer
            cannot be used any more.
        :raises UnwritableError: if the frame is too large for a GIF, or if ``colors`` is ``"exact"`` and a GIF cannot
            store its colours. A later call may raise the error for colours instead.
        :raises LimitError: if the frame has more than 268,435,455 pixels, which is too many for an APNG.
        """
        numerator, denominator = _delay(delay)
        picture, array = self._picture(frame)

        def call(pointer: Any, error: c.Error, array: Any = array) -> int:
            # The default argument keeps the memory alive, because a signal can end the call while the other thread
            # still copies.
            status: int = _lib.zoetrope_writer_append(
                pointer, byref(picture), numerator, denominator, byref(error))
            return status

        self._call(picture.width * picture.height, call)
        self.frame_count += 1

    @property
    def closed(self) -> bool:
        """Whether :meth:`finish` was called or the ``with`` block has ended."""
        return self._held is None

    def finish(self) -> Written:
        """Complete the file, and return its description. The end of the ``with`` block calls this method.

        :raises ParameterError: if no frame was appended.
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
        """End all calls, on all threads, with a :class:`CancelledError`, and discard the file.

        This method does not wait. It does nothing once the writer is finished.
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
            # The file is discarded when the last call that uses the handle drops it.
            self._held = None

    def __reduce__(self) -> Any:
        raise TypeError("a Writer cannot be copied or pickled")


def save(
    destination: Destination, frames: Iterable[Picture], *,
    durations: Union[None, Delay, Iterable[Delay]] = None, fps: Optional[SupportsFloat] = None,
    plays: Optional[SupportsIndex] = None, format: Optional[Container] = None, effort: Effort = "balanced",
    keep_identical: bool = False, exact_delays: bool = False, keep_hidden: bool = False,
    colors: Union[None, SupportsIndex, Literal["exact"]] = None, dithering: Dithering = "auto",
    matte: Optional[Sequence[SupportsIndex]] = None, lossy: SupportsIndex = 0,
    max_bytes: Optional[ByteCount] = None, preset: Optional[UploadPreset] = None,
    pin: Union[Pin, Iterable[Pin]] = (), texts: Optional[Mapping[str, str]] = None, threads: SupportsIndex = 0,
) -> Written:
    """Write an animation of ``frames``. For what each format can store, see :class:`Writer`.

    >>> zoetrope.save("party.png", frames, fps=30)
    >>> zoetrope.save("party.gif", frames, durations=[0.1, 0.1, 2], plays=1)

    :param frames: arrays or Pillow images as for :meth:`Writer.append`, in an N×H×W×C or N×H×W array or tensor, a list,
        or any other iterable. An array with three axes is rejected if the last axis has length 1 to 4: pass
        ``frames[None]`` if the array is one picture, or ``frames[..., None]`` if it is several grey pictures. The
        colours of arrays and lists are collected first, so that the file can use a palette, grey or RGB. The frames of
        other iterables are written one by one, as RGBA. For all frames of a Pillow image, pass
        ``ImageSequence.Iterator(image)``, but not in a list, whose elements would all be the same image.
    :param durations: how long frames are shown, in seconds: one value for all frames, or one for each. Each value is a
        delay as for :meth:`Writer.append`, except that a pair means two durations.
    :param fps: the number of frames per second, to be passed instead of ``durations``. Browsers show a delay of 10 ms
        or less for 100 ms. So with 100 or more frames per second, an APNG plays too slowly there. With more than 50, a
        GIF loses frames, but keeps its duration, unless ``exact_delays`` or ``keep_identical`` is true.
    :param max_bytes: the maximum size of the file, such as ``"256K"``. ``max_bytes``, ``preset`` and ``pin`` are as for
        :meth:`Animation.convert`. With ``max_bytes`` or ``preset``, all frames are compressed in memory before the file
        is written.

    All other parameters are as for :class:`Writer`.

    :raises WriteError: if the file cannot be written, for example because the disk is full. The error is also an
        OSError.
    :raises ParameterError: if neither or both of ``durations`` and ``fps`` are given, or if the number of durations
        differs from the number of frames.
    :raises BudgetError: if no result that was tried meets ``max_bytes`` or ``preset``.
    """
    if max_bytes is not None or preset is not None:
        # The search for a file that fits encodes the same frames several times, so compress them in memory first.
        options = _options(
            format, effort, threads, exact_delays=exact_delays, keep_hidden=keep_hidden, colors=colors,
            dithering=dithering, matte=matte, lossy=lossy, max_bytes=max_bytes, preset=preset, pin=pin)
        is_gif = (_Sink(destination).format if format is None else format) == "gif"
        if is_gif and isinstance(texts, Mapping):
            texts = _Comments(texts)
        whole = io.BytesIO()
        first = save(
            whole, frames, durations=durations, fps=fps, plays=plays, format="apng", effort="fast",
            keep_identical=keep_identical, keep_hidden=keep_hidden, texts=texts, threads=threads)
        # A GIF keeps delays of its source that no edit has changed, even short ones. These two edits cancel each other
        # out, so that delays are stored as `Writer` stores them.
        speeds = (2, 0.5) if is_gif and not exact_delays else ()
        changes = [c.Edit(kind=3, number=speed) for speed in speeds]
        if plays is not None:
            # An edit, so that a preset that allows fewer plays is an error rather than a change.
            changes.append(c.Edit(kind=9, end=_plays(plays)))
        with open(whole.getvalue(), limits="none", delays="exact", threads=threads) as animation:
            written = rewrite(
                animation, destination, options, ((c.Edit * len(changes))(*changes), len(changes), None))
        # Equal frames were merged in the first step.
        return written._replace(merged_count=first.merged_count + written.merged_count)
    if is_pillow(frames):
        count = frame_count(frames)
        raise parameter_error(
            "frames is one picture; pass [image]" if count < 2
            else f"frames is a Pillow image with {count} frames; pass PIL.ImageSequence.Iterator(image) for all of "
            "them, or [image] for the current one")
    if isinstance(frames, (list, tuple)):
        check_distinct(frames)
    # Tensors have only `__array__`. They are not converted as a whole, because they may be larger than the memory.
    is_array = hasattr(frames, "__array__") or hasattr(frames, "__array_interface__")
    if is_array and not hasattr(frames, "shape"):
        frames = _numpy().asarray(frames)
    if pin:
        raise parameter_error("pin= can be used only with max_bytes= or preset=")
    if (durations is None) == (fps is None):
        raise parameter_error(
            "pass durations= or fps=" if durations is None else "pass either durations= or fps=, but not both")
    delays: Optional[Iterator[Tuple[int, int]]] = None
    delay = (0, 1)
    if fps is not None:
        delay = _delay(1 / exact_rate(fps), "1 / fps")
    elif isinstance(durations, Iterable) and getattr(durations, "ndim", 1) != 0:
        delays = (_delay(value, "durations") for value in durations)
        if isinstance(frames, Sized):
            # One too many is enough for the error, even if there is no end to them.
            known = list(itertools.islice(delays, len(frames) + 1))
            if len(known) != len(frames):
                number = f"more than {len(frames)}" if len(known) > len(frames) else str(len(known))
                raise parameter_error(f"there are {number} durations, but {len(frames)} frames")
            delays = iter(known)
        elif isinstance(durations, Sized):
            # Check them before anything is written.
            delays = iter(list(delays))
    else:
        delay = _delay(durations, "durations")
    shape: Tuple[int, ...] = tuple(getattr(frames, "shape", ()))
    if len(shape) == 2 and is_array:
        raise parameter_error(f"frames of shape {shape} is one picture in grey; pass frames[None]")
    if len(shape) == 3 and 1 <= shape[2] <= 4 and is_array:
        kind = ("", "in grey", "in grey and alpha", "in colour", "in colour")[shape[2]]
        one = "convert it to RGBA" if shape[2] == 2 else "pass frames[None]"
        raise parameter_error(
            f"frames of shape {shape} may be one picture {kind} or {shape[0]} pictures in grey, {shape[2]} pixels "
            f"wide: for one picture, {one}; for pictures in grey, pass frames[..., None]")
    with Writer(
        destination, plays=plays, format=format, effort=effort, keep_identical=keep_identical,
        exact_delays=exact_delays, keep_hidden=keep_hidden, colors=colors, dithering=dithering, matte=matte,
        lossy=lossy, texts=texts, threads=threads,
    ) as writer:
        if is_array or isinstance(frames, Sequence):
            for frame in frames:
                writer.survey(frame)
        count = 0
        for frame in frames:
            if delays is not None:
                following = next(delays, None)
                if following is None:
                    raise parameter_error(f"there are {count} durations, but more frames")
                delay = following
            writer.append(frame, delay)
            count += 1
        if delays is not None and next(delays, None) is not None:
            raise parameter_error(f"there are more than {count} durations, but {count} frames")
        return writer.finish()
