"""Handles of the library, and calls that Ctrl-C interrupts."""

from __future__ import annotations

import _thread
import ctypes
import functools
import threading
from typing import Any, Callable, List, Optional


#: The longest time in seconds for which a signal can go unnoticed.
_SLICE = 0.05


class _Owned:
    """A handle of the library, which is freed when the last reference to this object is dropped.

    A call holds a reference while it uses the handle. So closing needs no lock, and an exception or signal handler
    between any two instructions neither leaks the handle nor frees it while it is in use.
    """

    # Python discards an exception that a signal handler raises in a destructor. Signal handlers run only in Python
    # functions, so `__del__` is a C function that is stored in each object.
    __slots__ = ("pointer", "__del__")

    #: The address of the handle, which a function of the library sets.
    pointer: Any

    def __init__(self, free: Any) -> None:
        self.pointer = ctypes.c_void_p()
        # `free` ignores NULL.
        self.__del__ = functools.partial(free, self.pointer)


def _interruptible(work: Callable[[], Any], stop: Optional[Callable[[], None]] = None) -> Any:
    """Call ``work`` so that Ctrl-C can interrupt it, and return its result or raise its exception.

    Python runs signal handlers only on the main thread, between Python instructions. So another thread does the work
    while the main thread waits.

    :param stop: a function that makes ``work`` end soon. After an interruption, ``stop`` is called, and the end of
        ``work`` is awaited. With None, ``work`` is left to run.
    """
    if threading.current_thread() is not threading.main_thread():
        return work()
    results: List[Any] = []
    errors: List[BaseException] = []
    has_begun = is_stopped = is_done = False
    # Use a lock that is implemented in C, because an exception while waiting for an `Event` or starting a `Thread`
    # would leave these in a broken state.
    done = _thread.allocate_lock()
    done.acquire()

    def run() -> None:
        nonlocal has_begun, is_done
        has_begun = True
        try:
            if not is_stopped:
                results.append(work())
        except BaseException as error:
            errors.append(error)
        is_done = True
        done.release()

    try:
        try:
            _thread.start_new_thread(run, ())
        except RuntimeError:
            # The error means that there are too many threads, or that the interpreter is shutting down.
            return work()
        # Wait in slices, because a signal that arrives just before the system call does not interrupt it.
        while not done.acquire(timeout=_SLICE):
            pass
    except BaseException:
        # From here on, a thread that has not begun will do nothing.
        is_stopped = True
        while stop is not None and has_begun and not is_done:
            try:
                # Repeat this, because the thread may not have entered the library yet.
                stop()
                done.acquire(timeout=0.01)
            except BaseException:
                # The exception that ended the wait is raised below.
                continue
        # The traceback of an error refers to this frame; see below.
        errors.clear()
        raise
    if errors:
        error = errors.pop()
        try:
            raise error
        finally:
            # The traceback refers to this frame. A cycle would keep files and pixels until the next collection.
            del error
    return results[0]
