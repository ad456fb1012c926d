"""Ending calls: cancelling, time limits and Ctrl-C, on files that ask for everything."""

import io
import os
import pickle
import signal
import threading
import time

import pytest

np = pytest.importorskip("numpy")
import zoetrope  # noqa: E402
from zoetrope import _library, _opened  # noqa: E402

import hostile  # noqa: E402
from signals import until_it_ends  # noqa: E402


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
        # Ctrl-C may also arrive between two calls of the library, and then cancels nothing.
        while not animation._was_interrupted:
            with pytest.raises(KeyboardInterrupt):
                until_it_ends(lambda: animation.read(size=(500, 500), format="L", filter="lanczos"))
    timer.join()
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
