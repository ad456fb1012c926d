"""Ending calls: cancelling, time limits, Ctrl-C, closing; on files that ask for everything."""

import _thread
import ctypes
import gc
import io
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import weakref
from pathlib import Path

import pytest

np = pytest.importorskip("numpy")
import zoetrope  # noqa: E402
from zoetrope import (  # noqa: E402
    _animation, _arguments, _arrays, _calls, _destinations, _library, _memory, _opened, _rendered, _sources,
)

import hostile  # noqa: E402
from tracing import break_off, breaks_in  # noqa: E402

FILES = {}


@pytest.fixture(scope="module")
def files():
    """Each takes many seconds to decode, within the strict limits."""
    if not FILES:
        FILES.update(
            large=hostile.large_frames(250), dots=hostile.dots(10_000),
            cleared=hostile.dots(10_000, disposal=2), hidden=hostile.hidden(250),
            cut=hostile.large_frames(250, cut=True), deep=hostile.noise(30))
    return FILES


#: What each kind of call does, to an animation and an array that it would fill.
CALLS = {
    "frame": lambda a, out: a.frame(-1, size=(64, 64), out=out),
    "decode": lambda a, out: a.decode(-1, size=(64, 64), out=out),
    "png": lambda a, out: [a.png(-1 - i) for i in range(len(a))],
    "read": lambda a, out: a.read(range(len(a)), size=(64, 64), fit="stretch", filter="lanczos"),
    "sample": lambda a, out: a.sample(64, size=(64, 64), fit="stretch"),
    "distinct": lambda a, out: a.sample_indices(5000, "distinct"),
    "check": lambda a, out: a.check(),
    "iter": lambda a, out: [frame[0] for frame in a],
    "at": lambda a, out: a.at(a.duration, size=(64, 64), out=out),
    "read_at": lambda a, out: a.read_at(a.timestamps, size=(64, 64), fit="stretch"),
    "batches": lambda a, out: [frames[0] for _, _, frames in a.batches(100, size=(64, 64), fit="stretch")],
    "convert": lambda a, out: a.convert(io.BytesIO(), reverse=True),
    "resize": lambda a, out: a.convert(io.BytesIO(), size=(2000, 2000)),
    "budget": lambda a, out: a.convert(io.BytesIO(), max_bytes=1_000_000),
    "optimize": lambda a, out: a.optimize(io.BytesIO(), effort="small"),
}
PAIRS = [("large", name) for name in CALLS] + [
    ("dots", "png"), ("dots", "distinct"), ("cleared", "distinct"), ("cleared", "iter"),
    ("hidden", "check"), ("cut", "frame"), ("cut", "png"), ("deep", "frame"),
    ("deep", "png"), ("dots", "batches"), ("dots", "convert"), ("hidden", "optimize"), ("cut", "budget"),
    ("deep", "convert"), ("deep", "resize"),
]


def until_it_ends(call, *arguments):
    """Repeat a call, which may be faster than thought, until it raises."""
    while True:
        call(*arguments)


class Sender(threading.Thread):
    """Sends a signal after a while, and again while nobody joins it: Python loses what is raised in a
    destructor."""

    def __init__(self, number, seconds):
        super().__init__()
        self.number, self.seconds, self.sent = number, seconds, []
        self.is_over = threading.Event()

    def run(self):
        wait = self.seconds
        while not self.is_over.wait(wait):
            self.sent.append(time.monotonic())
            os.kill(os.getpid(), self.number)
            wait = 10

    def join(self, timeout=None):
        self.is_over.set()
        super().join(timeout)


@pytest.fixture
def interrupt():
    """Sends Ctrl-C after a while, and tells when."""
    sender = Sender(signal.SIGINT, 0.2)
    yield sender, sender.sent
    if sender.is_alive():
        sender.join()


@pytest.mark.parametrize("file, name", PAIRS)
def test_cancelling_ends_a_call(files, file, name):
    animation = zoetrope.open(files[file], limits="strict")
    out = np.full((64, 64, 4), 7, np.uint8)
    timer = threading.Timer(0.1, animation.cancel)
    timer.start()
    with pytest.raises(zoetrope.CancelledError) as caught:
        until_it_ends(CALLS[name], animation, out)
    timer.join()
    assert caught.value.code == "cancelled"
    if name.startswith("frame"):
        # It was not the last frame that ended it.
        assert (out == 7).all()
    # For good, but for facts.
    for again in ("frame", "check"):
        with pytest.raises(zoetrope.CancelledError):
            CALLS[again](animation, out)
    assert len(animation.durations) == len(animation)
    animation.close()


@pytest.mark.parametrize("file, name", PAIRS)
def test_a_call_ends_with_its_time(files, file, name):
    # Of many calls, each has the time for itself: less than any of them takes, and opening, too.
    timeout = 0.0001 if name in ("png", "iter", "batches") else 0.1
    out = np.full((64, 64, 4), 7, np.uint8)
    with pytest.raises(zoetrope.TimedOutError) as caught:
        until_it_ends(CALLS[name], zoetrope.open(files[file], limits="strict", timeout=timeout), out)
    assert isinstance(caught.value, TimeoutError) and isinstance(caught.value, zoetrope.CancelledError)
    assert caught.value.code == "timedOut" and "timeout" in str(caught.value)
    if name.startswith("frame"):
        assert (out == 7).all()


def test_the_frames_of_a_check_share_its_time(fixtures):
    data = hostile.large_frames(1000)
    begun = time.monotonic()
    assert zoetrope.open(data).check() == []
    taken = time.monotonic() - begun
    # Ample for each frame, too little for all. Less still, if the first check took longer than it should.
    for divisor in (5, 25, 125, 625):
        animation = zoetrope.open(data, timeout=taken / divisor)
        try:
            animation.check()
        except zoetrope.TimedOutError:
            break
    else:
        pytest.fail("1000 frames were checked in the time of two")
    # The animation can still be used: each call has the time anew, which a busy machine may need for itself.
    for _ in range(20):
        try:
            assert animation.frame(0, size=(8, 8)).shape == (8, 8, 4)
            break
        except zoetrope.TimedOutError:
            continue
    else:
        pytest.fail("no frame of twenty was in time")
    assert zoetrope.open(fixtures / "Demo" / "bouncing-ball.gif", timeout=60).check() == []


@pytest.mark.parametrize("file, name", PAIRS)
def test_ctrl_c_ends_a_call(files, file, name, interrupt):
    animation = zoetrope.open(files[file], limits="strict")
    out = np.full((64, 64, 4), 7, np.uint8)
    timer, sent = interrupt
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        until_it_ends(CALLS[name], animation, out)
    assert time.monotonic() - sent[-1] < 60
    timer.join()
    if name.startswith("frame"):
        assert (out == 7).all()
    # The animation is as good as before.
    assert animation.frame(0, size=(8, 8)).shape == (8, 8, 4)


def test_a_signal_at_any_moment_of_its_start_ends_a_call(files):
    # A signal that came just before the wait for the call's thread was noticed only when the call ended.
    class Alarm(Exception):
        pass

    rung = []

    def ring(number, frame):
        # Python loses what is raised in a destructor. Set in here, the next alarm hides none that went unnoticed.
        rung.append(time.monotonic())
        signal.setitimer(signal.ITIMER_REAL, 10)
        raise Alarm

    animation = zoetrope.open(files["dots"], limits="strict")
    before = signal.signal(signal.SIGALRM, ring)
    try:
        for number in range(200):
            rung.clear()
            begun = time.monotonic()
            with pytest.raises(Alarm):
                signal.setitimer(signal.ITIMER_REAL, 1e-5 + number * 5e-6)
                # It takes more than a minute.
                animation.convert(io.BytesIO(), reverse=True)
            signal.setitimer(signal.ITIMER_REAL, 0)
            assert rung[0] - begun < 60 and time.monotonic() - rung[-1] < 60, number
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert animation.frame(0, size=(8, 8)).shape == (8, 8, 4)


def test_rows_end_with_ctrl_c(files, interrupt):
    timer, _ = interrupt
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        while True:
            for _ in zoetrope.frames({"bytes": files["large"]}):
                pass
    timer.join()


def test_opening_a_pipe_ends_with_ctrl_c_and_with_its_time(tmp_path, interrupt):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    timer, _ = interrupt
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        zoetrope.open(pipe)
    with pytest.raises(zoetrope.TimedOutError):
        zoetrope.open(pipe, timeout=0.05)
    # The library stops waiting for a writer, and closes it.
    eventually(lambda: descriptors(pipe) == 0)


def eventually(condition):
    end = time.monotonic() + 60
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    assert condition()


def threads():
    return len(os.listdir("/proc/self/task"))


@pytest.fixture(scope="module")
def slow_files(tmp_path_factory):
    """Files that take some hundred milliseconds to open."""
    folder = tmp_path_factory.mktemp("slow")
    # Its only frame is decoded while it opens.
    deep = hostile.noise(1)
    (folder / "cut").write_bytes(deep[:-2000])
    (folder / "interlaced").write_bytes(hostile.interlaced())
    # Blocks of one byte.
    head = hostile.gif(1, 1, [(0, 0, 1, 1, 1, b"\2")])[:-1]
    (folder / "long").write_bytes(head + b"\1\0" * (100 << 20))
    return folder


@pytest.mark.parametrize("name, way", [
    ("cut", "path"), ("cut", "bytes"), ("cut", "bytearray"), ("cut", "file"), ("long", "path"), ("long", "bytes"),
    ("interlaced", "path"), ("interlaced", "bytes")])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGALRM])
def test_opening_ends_with_a_signal(slow_files, monkeypatch, name, way, number):
    class Alarm(Exception):
        pass

    def handle(*_):
        raise Alarm

    statuses = []

    class Library:
        """The library, and what it returned last."""
        def __getattr__(self, name):
            function = getattr(_library.library, name)

            def call(*arguments):
                statuses.append(function(*arguments))
                return statuses[-1]

            return call if name.startswith("zoetrope_open") else function

    path = slow_files / name
    data = path.read_bytes() if way in ("bytes", "bytearray") else None
    data = bytearray(data) if way == "bytearray" else data
    monkeypatch.setattr(_opened, "_lib", Library())
    before = threads()
    old = signal.signal(signal.SIGALRM, handle)
    try:
        # It may come between two calls of the library.
        for _ in range(20):
            timer = Sender(number, 0.15)
            timer.start()
            with pytest.raises(Alarm if number == signal.SIGALRM else KeyboardInterrupt):
                while True:
                    if way == "file":
                        with open(path, "rb") as file:
                            zoetrope.open(file)
                    else:
                        zoetrope.open(path if way == "path" else data)
            timer.join()
            if statuses and statuses[-1] == _opened._CANCELLED:
                break
        else:
            pytest.fail(f"the library was not told: {statuses}")
    finally:
        signal.signal(signal.SIGALRM, old)
    eventually(lambda: descriptors(path) == 0 and threads() <= before + 4)


def test_a_handler_that_returns_does_not_end_opening(slow_files, delays):
    calls = []
    old = signal.signal(signal.SIGALRM, lambda *_: calls.append(1))
    signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
    try:
        assert len(zoetrope.open(slow_files / "cut")) == 1
        assert len(zoetrope.open((slow_files / "cut").read_bytes())) == 1
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    assert calls


@pytest.mark.parametrize("name", ["cut", "long"])
def test_opening_ends_with_its_time(slow_files, name):
    path = slow_files / name
    for source in path, path.read_bytes():
        with pytest.raises(zoetrope.TimedOutError):
            zoetrope.open(source, timeout=0.02)
    eventually(lambda: descriptors(path) == 0)


def test_opening_on_another_thread_waits_for_nobody(slow_files):
    lengths = []
    thread = threading.Thread(target=lambda: lengths.append(len(zoetrope.open(slow_files / "cut"))))
    thread.start()
    thread.join()
    assert lengths == [1]


@pytest.mark.parametrize("make", [
    bytearray, memoryview, lambda data: memoryview(bytes(len(data)) + data)[len(data):],
    lambda data: np.frombuffer(data, np.uint8), lambda data: np.repeat(np.frombuffer(data, np.uint8), 2)[::2],
    io.BytesIO])
def test_large_buffers_are_read_in_pieces(monkeypatch, fixtures, make):
    monkeypatch.setattr(_sources, "_PIECE", 1000)
    data = (fixtures / "Demo" / "bouncing-ball.gif").read_bytes()
    assert len(data) > 3000
    expected = zoetrope.open(data)
    animation = zoetrope.open(make(data))
    assert animation.byte_count == len(data)
    assert np.array_equal(animation.read(), expected.read())


@pytest.mark.parametrize("count", [500, 10_000])
@pytest.mark.parametrize("disposal", [1, 2])
def test_distinct_frames_of_a_large_canvas_take_their_own_time(count, disposal):
    # 11.5 and 230 KB. Comparing whole canvases would take 50 ms for each frame; measure_stopping.py has the time.
    data = hostile.dots(count, disposal)
    assert len(data) < 24 * count
    begun = time.monotonic()
    animation = zoetrope.open(data, limits="strict", threads=1)
    found = animation.sample_indices(8, "distinct")
    assert time.monotonic() - begun < 60
    assert 1 <= len(found) <= 8 and found == sorted(set(found)) and found[-1] < count


@pytest.mark.parametrize("timeout", [0, -1, float("nan")])
def test_a_time_limit_is_a_time(delays, timeout):
    with pytest.raises(zoetrope.ParameterError):
        zoetrope.open(delays, timeout=timeout)


def test_ample_time_changes_nothing(delays):
    expected = zoetrope.open(delays).read()
    for timeout in (60, 1e12, float("inf"), None):
        assert np.array_equal(zoetrope.open(delays, timeout=timeout).read(), expected)


def test_errors_of_stopped_calls_can_be_pickled():
    for error in (zoetrope.CancelledError("cancelled", "words", path="a"),
                  zoetrope.TimedOutError("timedOut", "words", path="a")):
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), str(again), again.path) == (type(error), str(error), "a")


# ---- Closing


def descriptors(path):
    found = 0
    for entry in os.listdir("/proc/self/fd"):
        try:
            found += os.readlink(f"/proc/self/fd/{entry}") == str(path)
        except OSError:
            pass
    return found


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


def test_a_second_ctrl_c_does_not_cancel_an_animation_for_good(fixtures, monkeypatch, interrupt):
    class Library:
        """The library; a second Ctrl-C arrives before each call that lets calls decode again."""
        def __getattr__(self, name):
            if name == "zoetrope_clear_cancel":
                raise KeyboardInterrupt
            return getattr(_library.library, name)

    animation = zoetrope.open(fixtures / "Demo" / "bouncing-ball.gif")
    area, animation._area = animation._area, 1 << 30
    timer, _ = interrupt
    with monkeypatch.context() as patch:
        patch.setattr(_opened, "_lib", Library())
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            until_it_ends(lambda: animation.read(size=(500, 500), format="L", filter="lanczos"))
    timer.join()
    assert animation._was_interrupted
    animation._area = area
    # A call that writes to a device is not repeated.
    assert animation.convert(os.devnull, format="gif").frame_count == len(animation)
    assert animation[3].shape == (120, 160, 4)
    animation.cancel()
    for call in (animation.check, lambda: animation[3]):
        with pytest.raises(zoetrope.CancelledError):
            call()


def test_calls_are_allowed_only_until_cancelled(delays, monkeypatch):
    class Library:
        """The library; another thread cancels the animation while calls are allowed again."""
        def __getattr__(self, name):
            function = getattr(_library.library, name)
            if name != "zoetrope_clear_cancel":
                return function

            def clear(pointer):
                animation.cancel()
                function(pointer)

            return clear

    animation = zoetrope.open(delays)
    monkeypatch.setattr(_opened, "_lib", Library())
    animation._was_interrupted = True
    with pytest.raises(zoetrope.CancelledError):
        animation.check()


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


# ---- What files may ask for


def test_arrays_are_bounded(files):
    animation = zoetrope.open(files["dots"], limits="strict")
    for call in (lambda: animation.read(), lambda: animation[:], lambda: animation.sample(100),
                 lambda: animation.read([0] * 17)):
        with pytest.raises(zoetrope.LimitError, match="output_bytes"):
            call()
    assert animation.read(size=(8, 8), indices=range(50)).shape == (50, 8, 8, 4)
    # Memory of the caller's is the caller's.
    loose = zoetrope.open(files["dots"], limits={"preset": "strict", "output_bytes": 1000})
    with pytest.raises(zoetrope.LimitError, match="16384 bytes, but output_bytes allows 1000"):
        loose.read(range(64), size=(8, 8))
    out = np.empty((64, 8, 8, 4), np.uint8)
    assert loose.read(range(64), size=(8, 8), out=out) is out
    free = zoetrope.open(files["dots"], limits={"preset": "strict", "output_bytes": None})
    assert free.read(range(2), size=(8, 8)).shape == (2, 8, 8, 4)
    assert free._output_bytes == zoetrope.open(files["dots"], limits="none")._output_bytes


def test_a_limit_of_none_is_none(delays):
    with pytest.raises(zoetrope.LimitError, match="see limits="):
        zoetrope.open(delays, limits={"frame_count": 2})
    assert len(zoetrope.open(delays, limits={"preset": "strict", "frame_count": None})) == 10
    with pytest.raises(TypeError):
        zoetrope.open(delays, limits={"output_bytes": "1"})
    with pytest.raises(zoetrope.ParameterError, match="output_bytes"):
        zoetrope.open(delays, limits={"output": 1})


def test_rows_are_bounded(files):
    rows = list(zoetrope.frames({"path": "dots", "bytes": files["dots"]}))
    assert len(rows) == 1 and rows[0]["frame"] is None
    assert rows[0]["damage"].startswith("limitExceeded") and "pixels_per_play" in rows[0]["damage"]
    small = zoetrope.frames({"bytes": files["dots"]}, size=(16, 16))
    assert next(small)["damage"] is None
    some = list(zoetrope.frames({"bytes": hostile.dots(3)}))
    assert len(some) == 3 and all(row["damage"] is None for row in some)


#: All kinds of calls on files, then the most memory that they took, in MiB.
BOUNDED = """
import sys, zoetrope
for path in sys.argv[1:]:
    data = open(path, "rb").read()
    a = zoetrope.open(data, limits="strict", threads=2)
    out = bytearray(64 * 64 * 4)
    a.frame(len(a) - 1, size=(64, 64), fit="stretch", out=out)
    a.at(0.1, size=(64, 64), fit="stretch", out=out)
    a.read([len(a) - 1, 0], size=(64, 64), fit="stretch", out=bytearray(2 * 64 * 64 * 4))
    a.sample_indices(4, "distinct")
    a.png(len(a) - 1, size=(64, 64))
    a.check()
    for row in zoetrope.frames({"bytes": data}, size=(64, 64)): pass
    a.close()
# ru_maxrss would begin with the peak of the process that started this one.
print(next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM")) // 1024)
"""


def test_every_call_keeps_to_its_memory(tmp_path):
    files = {
        "dots": hostile.dots(20), "cleared": hostile.dots(20, 2), "large": hostile.large_frames(3),
        "hidden": hostile.hidden(3), "deep": hostile.noise(2), "cut": hostile.large_frames(2, cut=True)}
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    run = subprocess.run(
        [sys.executable, "-c", BOUNDED, *(str(tmp_path / name) for name in files)],
        capture_output=True, text=True, timeout=280,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])})
    assert run.returncode == 0, run.stderr
    # `live_bytes` is 256 MiB for each reader, of which an animation has two; the rest is checkpoints, which
    # the memory budget bounds, and what is kept for reuse. All frames of a file would take 10 GiB.
    assert int(run.stdout) < 1536, run.stdout


# ---- Destinations that wait for a reader


#: Writes to a pipe until one signal comes, and tells how it ended.
TO_A_PIPE = """
import io, os, signal, sys, threading, time
import numpy as np, zoetrope
path, way = sys.argv[1:]
pictures = np.random.default_rng(1).integers(0, 255, (60, 50, 50, 3), np.uint8)
file = io.BytesIO()
zoetrope.save(file, pictures, fps=5, effort="fast")
animation = zoetrope.open(file.getvalue())
has_begun = threading.Event()

def interrupt():
    # One signal, whether the call waits by then or has yet to begin.
    has_begun.wait()
    time.sleep(0.5)
    os.kill(os.getpid(), signal.SIGINT)

def write():
    if way == "save":
        zoetrope.save(path, pictures, fps=5)
    elif way == "budget":
        zoetrope.save(path, pictures, fps=5, max_bytes=1 << 30)
    elif way == "append":
        with zoetrope.Writer(path) as writer:
            try:
                for picture in pictures:
                    writer.append(picture, 1)
                writer.finish()
            except KeyboardInterrupt:
                try:
                    writer.append(pictures[0], 1)
                except (ValueError, zoetrope.CancelledError):
                    raise KeyboardInterrupt from None
    elif way == "convert":
        animation.convert(path)
    else:
        animation.optimize(path)

threading.Thread(target=interrupt, daemon=True).start()
try:
    has_begun.set()
    write()
except KeyboardInterrupt:
    # The animation can still be used.
    animation[3]
    print("interrupted")
"""


@pytest.mark.parametrize("way", ["save", "budget", "append", "convert", "optimize"])
@pytest.mark.parametrize("has_reader", [False, True])
def test_ctrl_c_ends_writing_to_a_pipe_that_nobody_reads(tmp_path, way, has_reader):
    pipe = tmp_path / "a.png"
    os.mkfifo(pipe)
    # A reader that reads nothing: the pipe gets full.
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK) if has_reader else None
    try:
        run = subprocess.run(
            [sys.executable, "-c", TO_A_PIPE, str(pipe), way], capture_output=True, text=True, timeout=300)
        assert (run.returncode, run.stdout) == (0, "interrupted\n"), run.stderr
    finally:
        if reader is not None:
            os.close(reader)


@pytest.mark.parametrize("has_reader", [False, True])
def test_a_timeout_ends_writing_to_a_pipe_that_nobody_reads(tmp_path, has_reader):
    pipe = tmp_path / "a.png"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK) if has_reader else None
    pictures = np.random.default_rng(1).integers(0, 255, (60, 50, 50, 3), np.uint8)
    file = io.BytesIO()
    zoetrope.save(file, pictures, fps=5, effort="fast")
    try:
        with zoetrope.open(file.getvalue(), timeout=2) as animation, pytest.raises(zoetrope.TimedOutError):
            animation.convert(pipe)
    finally:
        if reader is not None:
            os.close(reader)


@pytest.mark.parametrize("kind", ["pipe", "missing", "regular", "link", "device", "file object"])
def test_what_may_block_is_what_is_not_a_regular_file(tmp_path, kind):
    path = tmp_path / "a.gif"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind in ("regular", "link"):
        (tmp_path / "b.gif").touch()
        path.symlink_to("b.gif")
        path = path if kind == "link" else tmp_path / "b.gif"
    destination = {"device": "/dev/null", "file object": io.BytesIO()}.get(kind, path)
    assert _destinations._Sink(destination).may_block == (kind in ("pipe", "device"))


def test_a_pipe_with_a_reader_gets_the_whole_file(tmp_path):
    pipe, received = tmp_path / "a.gif", []
    os.mkfifo(pipe)
    pictures = np.random.default_rng(1).integers(0, 255, (60, 50, 50, 3), np.uint8)
    thread = threading.Thread(target=lambda: received.append(pipe.read_bytes()))
    thread.start()
    told = zoetrope.save(pipe, pictures, fps=5)
    thread.join()
    assert told.byte_count == len(received[0]) and len(zoetrope.open(received[0])) == 60
