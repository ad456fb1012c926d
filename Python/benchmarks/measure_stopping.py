#!/usr/bin/env python3
"""How soon calls end: milliseconds from cancel(), the end of a timeout, or Ctrl-C until the call has ended.

    ZOETROPE_LIBRARY=.build-static/lib/dist/libzoetrope.so.1 PYTHONPATH=Python:Python/tests \\
      python3 Python/benchmarks/measure_stopping.py [TRIES [PART...]]

Every public call of the Python package and of zoetrope.h that may take long, on files that ask for everything
that the strict limits allow: the table has the worst file of each. Then those that cannot be ended, with the
time that they take. The last table is the time of `distinct` on small frames of a large canvas. Parts are
"python", "opening", "c", "facts" and "distinct"; all of them take some ten minutes.
"""

import ctypes
import os
import signal
import statistics
import sys
import tempfile
import threading
import time
from ctypes import byref, sizeof

import numpy as np

import hostile
import zoetrope
from zoetrope import _library as c

#: Seconds until a call is ended; as timeouts have to be longer than opening takes.
WAIT = 0.15
SMALL = (64, 64)

#: When the last call of the library began, and the longest so far, in seconds.
last_call = [0.0]
longest = [0.0]


class Library:
    """The library, noting when it is called."""

    def __getattr__(self, name):
        function = getattr(c.library, name)

        def call(*arguments):
            begun = last_call[0] = time.monotonic()
            result = function(*arguments)
            longest[0] = max(longest[0], time.monotonic() - begun)
            return result

        # Destructors call these: Python loses what a signal handler raises there.
        call = function if name in ("zoetrope_close", "zoetrope_bytes_free") else call
        self.__dict__[name] = call
        return call


# Each module has a name of its own for it.
for module in [module for name, module in sys.modules.items() if name.startswith("zoetrope")]:
    if getattr(module, "_lib", None) is c.library:
        module._lib = Library()


# ---- Calls of Python, of an animation, the array to fill, and the file

def all_of(calls):
    for _ in calls:
        pass


def pillow(data):
    from PIL import ImageFile
    from zoetrope import pillow

    # Some of the files are damaged.
    ImageFile.LOAD_TRUNCATED_IMAGES = True
    with pillow.open(data) as image:
        for index in range(image.n_frames):
            image.seek(index)
            image.load()


def imageio(data):
    import imageio.v3

    from zoetrope.imageio import Plugin

    imageio.v3.imread(data, plugin=Plugin, size=SMALL, fit="stretch")


CALLS = {
    "frame": lambda a, out, _: a.frame(-1, size=SMALL, fit="stretch", out=out),
    "decode": lambda a, out, _: a.decode(-1, size=SMALL, fit="stretch", out=out),
    "at": lambda a, out, _: a.at(a.duration, size=SMALL, fit="stretch", out=out),
    "[-1]": lambda a, *_: a[-1],
    "[:12]": lambda a, *_: a[:12],
    "for frame in": lambda a, *_: all_of(frame[0] for frame in a),
    "read, small": lambda a, *_: a.read(size=SMALL, fit="stretch", filter="lanczos"),
    "read, 1 GiB": lambda a, *_: a.read([len(a) - 1] * (2**28 // (a.size[0] * a.size[1]) if a.size[0] > 1 else 1)),
    "sample": lambda a, *_: a.sample(64, size=SMALL, fit="stretch"),
    "sample distinct": lambda a, *_: a.sample(64, "distinct", size=SMALL, fit="stretch"),
    "sample_indices": lambda a, *_: a.sample_indices(5000, "distinct"),
    "png": lambda a, *_: all_of(a.png(-1 - i) for i in range(len(a))),
    "png_with_damage": lambda a, *_: all_of(a.png_with_damage(-1 - i) for i in range(len(a))),
    "check": lambda a, *_: a.check(),
}
#: Those without an animation of the caller's: only Ctrl-C ends them.
OTHERS = {
    "zoetrope.frames": lambda _, __, data: all_of(zoetrope.frames({"bytes": data})),
    "pillow": lambda _, __, data: pillow(data),
    "imageio": lambda _, __, data: imageio(data),
}
#: What is known of a file is told at once, and cannot be ended.
FACTS = {
    name: (lambda a, name=name: getattr(a, name))
    for name in ("frames", "durations", "timestamps", "duration", "damage", "metadata")}
FACTS.update({
    "index_at": lambda a: a.index_at(a.duration), "sample_indices by time": lambda a: a.sample_indices(10_000),
    "close": lambda a: a.close()})


# ---- Ways to end a call: seconds that it took after that

def until_it_ends(call, *arguments):
    """A call may be done before."""
    while True:
        call(*arguments)


def after(act, call, *arguments, error):
    """Seconds from `act`, on another thread, until `call` has raised."""
    begun = []
    has_ended = threading.Event()

    def run():
        time.sleep(WAIT)
        while not has_ended.is_set():
            begun.append(time.monotonic())
            act()
            # Again, if a destructor has swallowed it.
            has_ended.wait(5)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        until_it_ends(call, *arguments)
    except error:
        return time.monotonic() - begun[-1]
    finally:
        has_ended.set()
        thread.join()


def interrupt():
    os.kill(os.getpid(), signal.SIGINT)


def by_cancel(call, data, out):
    animation = zoetrope.open(data, limits="strict")
    return after(animation.cancel, call, animation, out, data, error=zoetrope.CancelledError)


def by_timeout(call, data, out):
    animation = None
    while animation is None:
        try:
            animation = zoetrope.open(data, limits="strict", timeout=WAIT)
        except zoetrope.TimedOutError:
            # On a busy machine.
            pass
    # Those that are many short calls never run out of it: what counts is the longest.
    longest[0] = 0
    timer = threading.Timer(4 * WAIT, animation.cancel)
    timer.start()
    try:
        until_it_ends(call, animation, out, data)
    except zoetrope.TimedOutError:
        return max(time.monotonic() - last_call[0] - WAIT, 0)
    except zoetrope.CancelledError:
        return max(longest[0] - WAIT, 0)
    finally:
        timer.cancel()
        timer.join()


def by_ctrl_c(call, data, out):
    animation = zoetrope.open(data, limits="strict")
    return after(interrupt, call, animation, out, data, error=KeyboardInterrupt)


# ---- Opening

def opening_by_timeout(source):
    begun = time.monotonic()
    try:
        zoetrope.open(source(), limits="strict", timeout=0.02)
    except zoetrope.TimedOutError:
        # Reading a file object does not count.
        begun = last_call[0]
    return max(time.monotonic() - begun - 0.02, 0)


def opening_by_ctrl_c(source):
    return after(interrupt, lambda: zoetrope.open(source(), limits="strict"), error=KeyboardInterrupt)


# ---- Calls of C, through ctypes

lib = c.library
READ = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p, ctypes.c_size_t)
RELEASE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
SHOWN = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p)


class Reader(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("context", ctypes.c_void_p), ("byte_count", ctypes.c_int64),
                ("read", READ), ("release", RELEASE)]


def reader_of(data):
    memory = np.frombuffer(data, np.uint8)

    def read(_, offset, buffer, count):
        count = max(min(count, len(memory) - offset), 0)
        ctypes.memmove(buffer, memory.ctypes.data + offset, count)
        return count

    # Kept by the list: the library calls them until `release`.
    reader = Reader(sizeof(Reader), None, len(memory), READ(read), RELEASE(lambda _: None))
    kept.append((memory, reader))
    return reader


kept = []


class Memory:
    """What calls of C write to."""

    def __init__(self):
        self.pixels = np.zeros((64, *SMALL, 4), np.uint8)
        self.box = c.Rendering(size=sizeof(c.Rendering), fit=2, width=64, height=64)
        self.buffer = c.Buffer(self.pixels.ctypes.data, self.pixels.nbytes, 0, 0)
        self.whole = c.Rendering(size=sizeof(c.Rendering))
        self.indices = (ctypes.c_int64 * 64)()
        self.found = ctypes.c_size_t()
        self.bytes = ctypes.c_void_p()

    def png(self, a, last):
        status = lib.zoetrope_frame_png(a, last, byref(self.whole), byref(self.bytes), None, None)
        lib.zoetrope_bytes_free(self.bytes)
        return status


def last_times(a, m, last):
    m.indices[:] = [last] * 64
    return lib.zoetrope_read_frames(a, m.indices, 64, byref(m.box), byref(m.buffer), None, None)


C_CALLS = {
    "zoetrope_frame_at_index": lambda a, m, last: lib.zoetrope_frame_at_index(
        a, last, byref(m.box), byref(m.buffer), None, None),
    "zoetrope_frame_at_time": lambda a, m, last: lib.zoetrope_frame_at_time(
        a, 0, ctypes.c_int64(2**62), byref(m.box), byref(m.buffer), None, None),
    "zoetrope_read_frames": last_times,
    "zoetrope_sample": lambda a, m, last: lib.zoetrope_sample(
        a, 2, 0, ctypes.c_size_t(64), byref(m.box), byref(m.buffer), None, byref(m.found), None),
    "zoetrope_sample_indices": lambda a, m, last: lib.zoetrope_sample_indices(
        a, 2, 0, 64, m.indices, byref(m.found), None),
    "zoetrope_frame_png": lambda a, m, last: m.png(a, last),
}
for name in "zoetrope_frame_at_time", "zoetrope_sample":
    getattr(lib, name).restype = ctypes.c_int32
CANCELLED, TIMED_OUT = 9, 12


def opened(data, seconds=0.0):
    handle = ctypes.c_void_p()
    options = c.Options(size=sizeof(c.Options), limits=1, timeout_ns=int(seconds * 1e9))
    while lib.zoetrope_open_bytes(data, len(data), byref(options), byref(handle), None) != 0:
        # On a busy machine, opening may have no time.
        pass
    info = c.Info(size=sizeof(c.Info))
    lib.zoetrope_get_info(handle, byref(info), None)
    return handle, info.frame_count - 1


def c_by_cancel(call, data):
    handle, last = opened(data)
    memory = Memory()
    begun = []

    def cancel():
        begun.append(time.monotonic())
        lib.zoetrope_cancel(handle)

    timer = threading.Timer(WAIT, cancel)
    timer.start()
    while call(handle, memory, last) != CANCELLED:
        pass
    taken = time.monotonic() - begun[0]
    timer.join()
    lib.zoetrope_close(handle)
    return taken


def c_by_timeout(call, data):
    handle, last = opened(data, WAIT)
    memory = Memory()
    end = time.monotonic() + 4 * WAIT
    status = worst = 0
    while time.monotonic() < end and status != TIMED_OUT:
        begun = time.monotonic()
        status = call(handle, memory, last)
        worst = max(worst, time.monotonic() - begun - WAIT)
    lib.zoetrope_close(handle)
    return worst


def c_opening(function, data, seconds, is_cancelled):
    """Seconds that opening takes after the end of its time, or after it was cancelled."""
    flag, handle = ctypes.c_int32(), ctypes.c_void_p()
    options = c.Options(
        size=sizeof(c.Options), limits=1, timeout_ns=0 if is_cancelled else int(seconds * 1e9),
        cancel_opening=ctypes.addressof(flag))
    begun = [time.monotonic()]

    def cancel():
        begun.append(time.monotonic() - seconds)
        flag.value = 1

    timer = threading.Timer(seconds, cancel if is_cancelled else lambda: None)
    timer.start()
    if function == "zoetrope_open_reader":
        reader = reader_of(data)
        lib.zoetrope_open_reader.restype = ctypes.c_int32
        lib.zoetrope_open_reader(byref(reader), byref(options), byref(handle), None)
    elif isinstance(data, str):
        lib.zoetrope_open_file(data.encode(), byref(options), byref(handle), None)
    else:
        lib.zoetrope_open_bytes(data, len(data), byref(options), byref(handle), None)
    taken = time.monotonic() - begun[-1] - seconds
    timer.join()
    lib.zoetrope_close(handle)
    return max(taken, 0)


def player(data):
    """Seconds that stopping and waiting for a player takes while it decodes."""
    handle, _ = opened(data)
    made = ctypes.c_void_p()
    shown = SHOWN(lambda *_: 0)
    lib.zoetrope_play.restype = ctypes.c_int32
    rendering = c.Rendering(size=sizeof(c.Rendering))
    assert lib.zoetrope_play(
        handle, byref(rendering), None, shown, None, None, byref(made), None) == 0
    time.sleep(WAIT)
    begun = time.monotonic()
    lib.zoetrope_player_stop(made)
    lib.zoetrope_player_wait(made, None)
    taken = time.monotonic() - begun
    lib.zoetrope_player_free(made)
    lib.zoetrope_close(handle)
    return taken


# ---- The tables

def lateness(data):
    """Seconds by which the system itself ends a plain wait too late while a file is decoded."""
    animation = zoetrope.open(data, limits="strict")

    def work():
        try:
            animation.read(size=SMALL, fit="stretch")
        except zoetrope.CancelledError:
            pass

    thread = threading.Thread(target=work)
    thread.start()
    begun = time.monotonic()
    time.sleep(WAIT)
    taken = time.monotonic() - begun - WAIT
    animation.cancel()
    thread.join()
    return taken


def settle():
    """Wait until no thread works: the library finishes the frame of an ended call, and then frees its memory."""
    for _ in range(200):
        begun = time.process_time()
        time.sleep(0.05)
        if time.process_time() - begun < 0.005:
            return
    raise RuntimeError("a thread does not end")


worst_of_all = [0.0]


def row(name, way, measure, sources, tries):
    results = {}
    for source, value in sources.items():
        results[source] = []
        for _ in range(tries):
            settle()
            results[source].append(measure(value) * 1000)
    source = max(results, key=lambda source: max(results[source]))
    worst_of_all[0] = max(worst_of_all[0], max(results[source]))
    print(
        f"| {name} | {way} | {source} | {statistics.median(results[source]):.1f} | {max(results[source]):.1f} |",
        flush=True)


def files():
    return {
        "large": hostile.large_frames(250), "hidden": hostile.hidden(250), "deep": hostile.noise(30),
        "cut": hostile.large_frames(250, cut=True), "dots": hostile.dots(10_000),
        "cleared": hostile.dots(10_000, disposal=2)}


def python_calls(tries):
    out = np.zeros((64, 64, 4), np.uint8)
    for name, call in CALLS.items():
        for way in by_cancel, by_timeout, by_ctrl_c:
            row(name, way.__name__[3:], lambda data: way(call, data, out), files(), tries)
    for name, call in OTHERS.items():
        row(name, "ctrl_c", lambda data: by_ctrl_c(call, data, out), files(), tries)


def opening(tries):
    with tempfile.TemporaryDirectory() as folder:
        def path(name):
            return os.path.join(folder, name)

        cut = hostile.noise(1)[:-2000]
        # 100 MiB of blocks of one byte, nearly what the strict `live_bytes` allow.
        long = hostile.gif(1, 1, [(0, 0, 1, 1, 1, b"\2")])[:-1] + b"\1\0" * (50 << 20)
        for name, data in ("cut", cut), ("long", long), ("interlaced", hostile.interlaced()):
            with open(path(name), "wb") as file:
                file.write(data)
        os.mkfifo(path("pipe"))
        buffer = bytearray(long)
        sources = {
            "path, cut frame": lambda: path("cut"), "path, 12 KB interlaced": lambda: path("interlaced"),
            "path, 100 MiB": lambda: path("long"), "silent pipe": lambda: path("pipe"),
            "bytes, cut frame": lambda: cut, "bytes, 100 MiB": lambda: long,
            "bytearray, 100 MiB": lambda: buffer, "file object, 100 MiB": lambda: open(path("long"), "rb")}
        for name, source in sources.items():
            for way in opening_by_timeout, opening_by_ctrl_c:
                row("open", way.__name__[11:], way, {name: source}, tries)
        for function, data in (
                ("zoetrope_open_file", {"cut frame": path("cut"), "100 MiB": path("long"), "silent pipe": path("pipe")}),
                ("zoetrope_open_bytes", {"cut frame": cut, "100 MiB": long}),
                ("zoetrope_open_reader", {"cut frame": cut, "100 MiB": long})):
            for way in "cancel_opening", "timeout_ns":
                row(function, way, lambda source: c_opening(function, source, 0.02, way[0] == "c"), data, tries)


def c_calls(tries):
    for name, call in C_CALLS.items():
        row(name, "zoetrope_cancel", lambda data: c_by_cancel(call, data), files(), tries)
        row(name, "timeout_ns", lambda data: c_by_timeout(call, data), files(), tries)
    row("zoetrope_play", "zoetrope_player_stop", player, files(), tries)


def facts(tries):
    print("\n| fact | worst file | ms |\n|---|---|---|")
    for name, call in FACTS.items():
        times = {}
        for file, data in files().items():
            for _ in range(tries):
                animation = zoetrope.open(data, limits="strict")
                begun = time.monotonic()
                call(animation)
                times[file] = max(times.get(file, 0), time.monotonic() - begun)
        file = max(times, key=lambda file: times[file])
        print(f"| {name} | {file} | {times[file] * 1000:.1f} |", flush=True)


def distinct(tries):
    print("\n| small frames on 4096x4096, distinct | bytes | ms |\n|---|---|---|")
    for count in 500, 2000, 10_000:
        for disposal in 1, 2:
            data = hostile.dots(count, disposal)
            times = []
            for _ in range(tries):
                begun = time.monotonic()
                zoetrope.open(data, limits="strict", threads=1).sample_indices(8, "distinct")
                times.append(time.monotonic() - begun)
            print(f"| {count}, disposal {disposal} | {len(data)} | {min(times) * 1000:.0f} |", flush=True)


def main():
    tries = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    parts = sys.argv[2:] or ["python", "opening", "c", "facts", "distinct"]
    # A shell starts programs in the background without it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    print("| call | ended by | worst file | median | worst, ms |\n|---|---|---|---|---|")
    # What of it is the system's.
    row("time.sleep", "itself", lateness, files(), 4 * tries)
    worst_of_all[0] = 0
    for name, part in ("python", python_calls), ("opening", opening), ("c", c_calls):
        if name in parts:
            part(tries)
    print(f"\nworst of all: {worst_of_all[0]:.1f} ms")
    for name, part in ("facts", facts), ("distinct", distinct):
        if name in parts:
            part(tries)


if __name__ == "__main__":
    main()
