"""What is left of calls that end: closing, destructors, errors, forked processes."""

import _thread
import ctypes
import gc
import os
import signal
import threading
import weakref

import pytest

np = pytest.importorskip("numpy")
import zoetrope  # noqa: E402
from zoetrope import _animation, _arguments, _arrays, _calls, _memory, _opened, _rendered, _sources  # noqa: E402

from signals import descriptors, eventually  # noqa: E402
from tracing import break_off, breaks_in  # noqa: E402


def test_closing_does_not_wait_and_ends_no_call(fixtures, tmp_path):
    path = tmp_path / "a.gif"
    path.write_bytes((fixtures / "Demo" / "bouncing-ball.gif").read_bytes())
    expected = zoetrope.open(path.read_bytes()).read(size=(1000, 1000), format="L", fit="stretch")
    for _ in range(5):
        animation = zoetrope.open(path)
        began, results = threading.Event(), []

        def work():
            began.set()
            try:
                results.append(animation.read(size=(1000, 1000), format="L", fit="stretch"))
            except ValueError:
                # It was closed before.
                results.append(expected)

        thread = threading.Thread(target=work)
        thread.start()
        began.wait()
        try:
            animation.close()
        finally:
            thread.join()
        assert np.array_equal(results[0], expected)
        assert animation.closed and descriptors(path) == 0


@pytest.mark.parametrize("number", range(3))
def test_a_signal_in_a_destructor_is_not_lost(number):
    # `raise` of C, in place of a function that frees.
    send = ctypes.CDLL(None)["raise"]
    send.argtypes, send.restype = [ctypes.c_void_p], None
    owned = _calls._Owned(send)
    owned.pointer.value = signal.SIGINT
    with pytest.raises(KeyboardInterrupt):
        if number == 0:
            del owned
        elif number == 1:
            owned = None
        else:
            owned = [owned]
            owned.append(owned)
            del owned
            gc.collect()
        # Handlers run between two calls.
        for _ in range(1000):
            pass


def test_a_signal_in_the_destructor_of_a_large_array_is_not_lost(monkeypatch):
    monkeypatch.setattr(_memory, "LEAST_BYTES", 1000)
    array = _memory.empty(np, (50, 100), np.dtype(np.uint8))
    send = ctypes.CDLL(None)["raise"]
    send.argtypes, send.restype = [ctypes.c_void_p], None
    owned = _calls._Owned(send)
    owned.pointer.value = signal.SIGINT
    # The last element is freed first, so that the signal is pending in the array's destructor.
    both = [array, owned]
    del array, owned
    with pytest.raises(KeyboardInterrupt):
        del both
        for _ in range(1000):
            pass
    assert len(_memory._kept) == 1 and _memory._kept[0].nbytes >= 5000


def test_what_is_owned_is_freed_once():
    freed = []
    owned = _calls._Owned(lambda pointer: freed.append(pointer.value))
    owned.pointer.value = 7
    again = [owned]
    del owned
    assert not freed
    again.clear()
    assert freed == [7]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_error_of_a_long_call_keeps_nothing_alive(error):
    # A cycle through the traceback would keep files and pixels until the next collection.
    class Thing:
        pass

    is_stopped = threading.Event()

    def work():
        thing = Thing()
        references.append(weakref.ref(thing))
        if error is KeyboardInterrupt:
            _thread.interrupt_main()
            is_stopped.wait(60)
        raise ValueError

    def call():
        thing = Thing()
        references.append(weakref.ref(thing))
        with pytest.raises(error):
            _calls._interruptible(work, is_stopped.set)

    references = []
    gc.collect()
    gc.disable()
    try:
        call()
        # The thread may end a moment later.
        eventually(lambda: [reference() for reference in references] == [None, None])
    finally:
        gc.enable()


@pytest.mark.parametrize("call", [
    lambda path: zoetrope.open(path).convert(path.parent / "none" / "a.gif"),
    lambda path: zoetrope.open(path).convert(path.parent / "b.gif", max_bytes=1),
    lambda path: zoetrope.save(path.parent / "b.gif", [np.zeros((900, 900), np.uint8), np.zeros((2, 2))], fps=1),
    lambda path: zoetrope.open(path, limits={"canvas_pixels": 1}),
    lambda path: zoetrope.open(path, timeout=1e-9).read(),
])
def test_errors_of_calls_leave_no_cycles(delays, tmp_path, call):
    path = tmp_path / "a.gif"
    path.write_bytes(delays.read_bytes() + bytes(20_000))

    def count():
        return sum(type(item) in (zoetrope.Animation, zoetrope.Writer, _calls._Owned) for item in gc.get_objects())

    gc.collect()
    gc.disable()
    before = count()
    try:
        for _ in range(3):
            try:
                call(path)
            except (zoetrope.ZoetropeError, OSError):
                pass
            else:
                pytest.fail("no error")
            eventually(lambda: descriptors(path) == 0 and count() <= before)
    finally:
        gc.enable()


@pytest.mark.parametrize("event", ["raise", "close"])
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("name", [
    "open", "open_head", "frame", "png", "index_at", "frames", "damage", "metadata", "read"])
def test_an_exception_or_a_handler_between_any_two_instructions_leaves_nothing(
        fixtures, tmp_path, name, event):
    path = tmp_path / "a.png"
    path.write_bytes((fixtures / "APNG" / "metadata.png").read_bytes())
    if name == "open_head":
        # A file of this size is read to see whether it is interlaced.
        path.write_bytes((fixtures / "Demo" / "bouncing-ball.gif").read_bytes())
        assert _sources._LONG_INTERLACED <= path.stat().st_size < _sources._LONG_FILE
    calls = {
        "open": lambda: zoetrope.open(path), "open_head": lambda: zoetrope.open(path),
        "frame": lambda: animation.frame(0), "png": lambda: animation.png(0),
        "index_at": lambda: animation.index_at(0), "frames": lambda: animation.frames,
        "damage": lambda: animation.damage, "metadata": lambda: animation.metadata,
        "read": lambda: animation.read([0]),
    }
    files = {module.__file__ for module in (_animation, _arguments, _arrays, _calls, _opened, _rendered, _sources)}
    count = 0
    while True:
        animation = zoetrope.open(path)
        # A signal handler would close it at any moment.
        has_happened = breaks_in(files, count, calls[name], break_off if event == "raise" else animation.close)
        animation.close()
        animation = None
        assert descriptors(path) == 0, count
        if not has_happened:
            break
        count += 1
    assert count > 5


def test_a_child_that_was_forked_in_the_middle_of_calls_ends(delays):
    animation = zoetrope.open(delays)
    is_over = threading.Event()

    def work():
        while not is_over.is_set():
            animation.index_at(0)
            animation.frame(3)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(30):
            child = os.fork()
            if child == 0:
                signal.alarm(60)
                status = 1
                try:
                    animation.frame(0)
                except zoetrope.ForkedError:
                    animation.close()
                    status = 7
                finally:
                    os._exit(status)
            assert os.WEXITSTATUS(os.waitpid(child, 0)[1]) == 7
    finally:
        is_over.set()
        for thread in threads:
            thread.join()
