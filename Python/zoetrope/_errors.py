"""Exceptions and damage."""

from __future__ import annotations

import errno as errors
import os
import re
from typing import Any, Dict, NamedTuple, Optional, Tuple, Type

from . import _library as c


class ZoetropeError(Exception):
    """The base class of the package's exceptions.

    ``code`` is one of ``"notAnImage"``, ``"unsupported"``, ``"noFrames"``, ``"truncated"``, ``"malformed"``,
    ``"limitExceeded"``, ``"io"``, ``"parameter"``, ``"cancelled"``, ``"timedOut"``, ``"outOfMemory"``, ``"forked"``,
    ``"unwritable"``, ``"overBudget"``, the codes of :class:`StoreError`, and ``"other"``. ``frame`` and ``byte_offset``
    locate the error in the file, and are None where they do not apply. ``path`` is the path that was opened or written,
    or None.
    """

    def __init__(
        self, code: str, message: str, frame: Optional[int] = None,
        byte_offset: Optional[int] = None, path: Optional[str] = None,
    ) -> None:
        super().__init__(code, message, frame, byte_offset, path)
        self.code = code
        self.message = message
        self.frame = frame
        self.byte_offset = byte_offset
        self.path = path

    def __str__(self) -> str:
        text = f"{self.code}: {self.message}"
        if self.frame is not None:
            text += f", frame {self.frame}"
        if self.byte_offset is not None:
            text += f", byte {self.byte_offset}"
        return f"{printable(self.path)}: {text}" if self.path is not None else text


class NotAnImageError(ZoetropeError, ValueError):
    """The bytes are neither a GIF nor a PNG."""


class MalformedError(ZoetropeError, ValueError):
    """The data is malformed, truncated or unsupported, or has no frame."""


class LimitError(ZoetropeError, ValueError):
    """The file, or the requested result, exceeds a limit, which ``message`` describes.

    :ivar found: the value that exceeds the limit, or the one at which reading stopped, or None if it is not known.
    :ivar allowed: the greatest allowed value, or None if it is not known.
    """

    def __init__(
        self, code: str, message: str, frame: Optional[int] = None, byte_offset: Optional[int] = None,
        path: Optional[str] = None, found: Optional[int] = None, allowed: Optional[int] = None,
    ) -> None:
        super().__init__(code, message, frame, byte_offset, path)
        self.found = found
        self.allowed = allowed

    def __reduce__(self) -> Tuple[Any, ...]:
        return type(self), (
            self.code, self.message, self.frame, self.byte_offset, self.path, self.found, self.allowed)


class OutOfMemoryError(ZoetropeError, MemoryError):
    """The system cannot provide memory or a thread. A later attempt may succeed."""


class UnwritableError(ZoetropeError, ValueError):
    """The format cannot store the animation. For example, a GIF cannot store partly transparent pixels."""


class BudgetError(ZoetropeError, ValueError):
    """No result that was tried meets ``max_bytes`` or ``preset``. No file is written.

    :ivar limit: the limit that cannot be met: ``"bytes"``, the size of the file; ``"frames"``, the number of frames;
        ``"duration"``, that of one play in seconds; or ``"sides"``, the longer side of the pictures.
    :ivar found: for ``"bytes"``, the size of the smallest file that was found, or None if no file was completed. For
        other limits, the value of the animation.
    :ivar allowed: the allowed value. If it is more than ``found``, it is a minimum; otherwise it is a maximum.
    """

    def __init__(
        self, code: str, message: str, frame: Optional[int] = None, byte_offset: Optional[int] = None,
        path: Optional[str] = None, limit: str = "bytes", found: Optional[float] = None, allowed: float = 0,
    ) -> None:
        super().__init__(code, message, frame, byte_offset, path)
        self.limit = limit
        self.found = found
        self.allowed = allowed

    def __reduce__(self) -> Tuple[Any, ...]:
        return type(self), (
            self.code, self.message, self.frame, self.byte_offset, self.path, self.limit, self.found, self.allowed)


class StoreError(ZoetropeError):
    """A :class:`FrameStore` cannot be used. ``code`` is the reason.

    ``"storeFull"``: the disk is full, or all of ``byte_limit`` is in use; ``"storeBusy"``: all slots for frames are in
    use; ``"storeDenied"``: the directory is not writable, or is accessible to other users; ``"storeDamaged"``: another
    program truncates or removes files of the store; ``"storeUnsupported"``: the file system has no locks. ``path`` is
    the directory that was passed to the store.
    """


class CancelledError(ZoetropeError):
    """:meth:`Animation.cancel` or :meth:`Writer.cancel` was called."""


class _SystemError(ZoetropeError, OSError):
    """An error that is also an OSError."""

    def __init__(
        self, code: str, message: str, frame: Optional[int] = None,
        byte_offset: Optional[int] = None, path: Optional[str] = None, errno: Optional[int] = None,
    ) -> None:
        ZoetropeError.__init__(self, code, message, frame, byte_offset, path)
        # Set these here, because OSError interprets its arguments differently.
        self.errno, self.strerror, self.filename = errno, message, path
        self.filename2 = None
        if errno is not None:
            self.args = (errno, message)

    def __reduce__(self) -> Tuple[Any, ...]:
        return type(self), (
            self.code, self.message, self.frame, self.byte_offset, self.path, self.errno)

    def __str__(self) -> str:
        return ZoetropeError.__str__(self)


class ReadError(_SystemError):
    """The file cannot be opened or read.

    Depending on ``errno``, the exception is also a FileNotFoundError, PermissionError, IsADirectoryError or
    NotADirectoryError. ``strerror`` and ``filename`` are set.
    """


class WriteError(_SystemError):
    """The file cannot be written, for example because the disk is full.

    Depending on ``errno``, the exception is also a FileNotFoundError, PermissionError, IsADirectoryError or
    NotADirectoryError. ``strerror`` and ``filename`` are set.
    """


class TimedOutError(CancelledError, _SystemError, TimeoutError):
    """A call took longer than the ``timeout`` given to :func:`zoetrope.open`."""


class NotFoundError(ReadError, FileNotFoundError):
    pass


class NotPermittedError(ReadError, PermissionError):
    pass


class DirectoryError(ReadError, IsADirectoryError):
    pass


class NoDirectoryError(ReadError, NotADirectoryError):
    pass


class NoDestinationError(WriteError, FileNotFoundError):
    pass


class ProtectedDestinationError(WriteError, PermissionError):
    pass


class DestinationDirectoryError(WriteError, IsADirectoryError):
    pass


class NoDestinationDirectoryError(WriteError, NotADirectoryError):
    pass


class ParameterError(ZoetropeError, ValueError):
    """An argument is invalid."""


class ForkedError(ZoetropeError, RuntimeError):
    """The process was forked after the library was used.

    Use the start method *spawn* or *forkserver*. For PyTorch, use ``DataLoader(..., multiprocessing_context="spawn")``.
    """


_TYPES: Dict[int, Type[ZoetropeError]] = {
    1: NotAnImageError, 2: MalformedError, 3: MalformedError, 4: MalformedError, 5: MalformedError,
    6: LimitError, 7: ReadError, 8: ParameterError, 9: CancelledError,
    10: ForkedError, 12: TimedOutError, 13: OutOfMemoryError, 14: UnwritableError,
    15: BudgetError, 16: StoreError,
}
#: The names of the numbers ``ZOETROPE_LIMIT_...``.
_LIMITS = {1: "bytes", 2: "frames", 3: "duration", 4: "sides"}
_READ_ERRORS: Dict[int, Type[ReadError]] = {
    errors.ENOENT: NotFoundError, errors.EACCES: NotPermittedError, errors.EPERM: NotPermittedError,
    errors.EISDIR: DirectoryError, errors.ENOTDIR: NoDirectoryError,
}
_WRITE_ERRORS: Dict[int, Type[WriteError]] = {
    errors.ENOENT: NoDestinationError, errors.EACCES: ProtectedDestinationError,
    errors.EPERM: ProtectedDestinationError, errors.EISDIR: DestinationDirectoryError,
    errors.ENOTDIR: NoDestinationDirectoryError,
}


#: What is added to messages about limits that ``limits=`` can raise. The library names these limits.
LIMITS_HINT = "; see limits= of zoetrope.open"
_RAISABLE = re.compile(r"\b(canvas_?[pP]ixels|frame_count|live_bytes|pixels_per_play)\b")


def is_of_destination(error: c.Error) -> bool:
    """Return whether an error of a call that reads one file and writes another is about the file that is written."""
    return bool(error.of_destination) or _TYPES.get(error.code) in (UnwritableError, BudgetError)


def make_error(error: c.Error, path: Optional[str] = None, *, is_writing: bool = False) -> ZoetropeError:
    """Return the exception for a failed call.

    :param is_writing: whether the error occurred while writing a file. The library has the same code for errors of
        reading and writing.
    """
    kind = _TYPES.get(error.code, ZoetropeError)
    if kind is ReadError and is_writing:
        kind = WriteError
    place = (
        error.frame if error.frame >= 0 else None,
        error.byte_offset if error.byte_offset >= 0 else None, path)
    code = error.name.decode("utf-8", "replace")
    if issubclass(kind, (ReadError, WriteError)) and error.system_error:
        number = error.system_error
        specific = _WRITE_ERRORS if is_writing else _READ_ERRORS
        # The exception has an attribute for the path, so leave it out of the message.
        return specific.get(number, kind)(code, os.strerror(number), *place, number)
    message = error.message.decode("utf-8", "replace")
    if kind is TimedOutError:
        message = "the call took longer than the timeout"
    if kind is BudgetError:
        limit, found, allowed = _LIMITS.get(error.limit, "other"), error.limit_found, error.limit_allowed
        if limit == "duration":
            found, allowed = found / 1e9, allowed / 1e9
        return BudgetError(code, message, *place, limit, None if found < 0 else found, allowed)
    if kind is LimitError:
        if not is_writing and _RAISABLE.search(message):
            message += LIMITS_HINT
        # Neither number is set if the error is not about a limit that has a number.
        is_known = error.limit_found != 0 or error.limit_allowed != 0
        found = error.limit_found if is_known and error.limit_found >= 0 else None
        return LimitError(code, message, *place, found, error.limit_allowed if is_known else None)
    if kind is ForkedError:
        message += '; use spawn or forkserver, and for PyTorch DataLoader(..., multiprocessing_context="spawn")'
    return kind(code, message, *place)


def parameter_error(message: str) -> ParameterError:
    return ParameterError("parameter", message)


def printable(text: str) -> str:
    """Return ``text`` with control characters and undecodable bytes escaped."""
    return "".join(
        character if character.isprintable()
        else f"\\x{ord(character) - 0xDC00:02x}" if "\udc80" <= character <= "\udcff"
        else character.encode("unicode_escape").decode()
        for character in text)


class Damage(NamedTuple):
    """A deviation from the file format, and how it was handled.

    :ivar kind: the kind of damage, such as ``"gif.lzw.truncated"``.
    :ivar detail: a short description of the damage.
    :ivar frame: the index of the damaged frame, or None if the damage is in no frame.
    :ivar byte_offset: the file offset at which the damage was detected, in bytes.
    :ivar is_tolerated: whether the damage loses nothing.
    :ivar valid_rows: the number of complete rows of a damaged frame, or None if all are complete or the number is
        unknown.
    """

    kind: str
    detail: str
    frame: Optional[int]
    byte_offset: int
    is_tolerated: bool
    valid_rows: Optional[int]


def make_damage(damage: c.Damage) -> Damage:
    return Damage(
        damage.kind.decode("utf-8", "replace"), damage.detail.decode("utf-8", "replace"),
        damage.frame if damage.frame >= 0 else None, damage.byte_offset,
        bool(damage.is_tolerated), damage.valid_rows if damage.valid_rows >= 0 else None)
