"""Frames on disk."""

import gc
import os
import pickle
import subprocess
import sys
import threading

import pytest

np = pytest.importorskip("numpy")
import zoetrope  # noqa: E402
from tracing import breaks_in  # noqa: E402


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "store"


@pytest.fixture
def store(folder):
    with zoetrope.FrameStore(folder) as store:
        yield store


@pytest.mark.parametrize("format", ["RGBA", "RGBa", "BGRA", "BGRa", "RGBX", "RGB", "L", "RGBA16"])
@pytest.mark.parametrize("size", [None, (37, None), (16, 16)])
def test_stored_frames_are_those_of_the_animation(store, delays, format, size):
    with zoetrope.open(delays) as animation:
        frames = store.frames(animation, size=size, format=format, fit="stretch")
        assert len(frames) == len(animation)
        for index in reversed(range(len(frames))):
            expected = animation.frame(index, size=size, format=format, fit="stretch")
            for _ in range(2):
                found = frames[index]
                assert found.dtype == expected.dtype and np.array_equal(found, expected)
                assert not found.flags.writeable
        assert np.array_equal(frames[-1], animation.frame(len(animation) - 1, size=size, format=format, fit="stretch"))
        assert store.statistics.frame_count == store.statistics.insertions == len(animation)
        assert sum(1 for _ in frames) == len(animation)
        with pytest.raises(IndexError):
            frames[len(frames)]


def test_slices_are_lists_of_frames(store, delays):
    with zoetrope.open(delays) as animation:
        frames = store.frames(animation)
        for part in (slice(2, 5), slice(None, None, -3), slice(-2, None), slice(7, 3), slice(5, 1, -2)):
            found, expected = frames[part], animation[part]
            assert isinstance(found, list) and len(found) == len(expected)
            assert all(np.array_equal(*pair) and not pair[0].flags.writeable for pair in zip(found, expected))
        assert store.statistics.frame_count == len({*range(10)[2:5], *range(10)[::-3], *range(10)[-2:], 5, 3})


def test_arrays_are_views_that_cannot_be_written_to(store, delays):
    frame = store.frames(zoetrope.open(delays))[1]
    with pytest.raises(ValueError):
        frame[0, 0] = 0
    with pytest.raises(ValueError):
        frame.flags.writeable = True
    with pytest.raises(TypeError):
        memoryview(frame)[0, 0, 0] = 1
    assert not frame.flags.owndata


def test_an_array_outlives_store_animation_and_frame(folder, delays):
    store = zoetrope.FrameStore(folder)
    animation = zoetrope.open(delays)
    expected = animation[2]
    frames = store.frames(animation)
    frame = frames[2][3:, 4:]
    view = frames.view(2)
    store.remove(animation)
    store.close()
    animation.close()
    del frames, animation, store
    gc.collect()
    for name in os.listdir(folder):
        path = folder / name
        if path.is_file():
            path.unlink()
    assert np.array_equal(frame, expected[3:, 4:])
    assert bytes(view[:expected.shape[1] * 4]) == expected[0].tobytes()


def test_what_is_filled_is_not_decoded_again(folder, store, delays):
    with zoetrope.open(delays) as animation:
        frames = store.frames(animation, size=(20, 20), format="L")
        frames[1]
        assert (store.statistics.hits, store.statistics.misses, store.statistics.insertions) == (0, 1, 1)
        frames[1]
        assert (store.statistics.hits, store.statistics.misses) == (1, 1)
        assert frames.fill() == len(frames) - 1
        assert frames.fill() == 0
        # A cancelled animation decodes nothing; another handle of it still finds its frames.
    with zoetrope.FrameStore(folder) as other, zoetrope.open(delays) as animation:
        for _ in other.frames(animation, size=(20, 20), format="L"):
            pass
        told = other.statistics
        assert (told.hits, told.misses, told.insertions) == (len(animation), 0, 0)
        assert told.byte_limit == 256 << 20 and told.byte_count > 0
        assert not other.is_read_only


def test_removing_and_pruning(store, delays, fixtures):
    one, other = zoetrope.open(delays), zoetrope.open(fixtures / "Demo" / "bouncing-ball.gif")
    store.frames(one).fill()
    store.frames(one, size=(9, 9)).fill()
    store.frames(other, size=(9, 9)).fill()
    store.remove(one)
    assert store.statistics.frame_count == len(other)
    store.frames(one).fill()
    store.prune(0)
    assert store.statistics.frame_count == 0
    store.frames(one).fill()
    store.remove()
    assert store.statistics.frame_count == 0


def test_frames_of_bytes_and_file_objects_are_found(store, delays):
    store.frames(zoetrope.open(delays)).fill()
    for source in (delays.read_bytes(), open(delays, "rb")):
        store.frames(zoetrope.open(source))[0]
    assert store.statistics.insertions == len(zoetrope.open(delays))


def test_filling_tells_how_many_frames_fit(folder, delays):
    animation = zoetrope.open(delays)
    with zoetrope.FrameStore(folder, byte_limit=100_000) as store:
        frames = store.frames(animation, size=(96, 96), fit="stretch")
        for _ in range(2):
            with pytest.raises(zoetrope.StoreError, match=f"of {len(animation)} frames are still") as caught:
                frames.fill()
            assert caught.value.code == "storeFull"
        assert 0 < store.statistics.frame_count < len(animation)


def test_a_store_without_room_still_gives_frames(folder, delays):
    animation = zoetrope.open(delays)
    with zoetrope.FrameStore(folder, byte_limit=1) as store:
        frames = store.frames(animation)
        assert np.array_equal(frames[2], animation[2])
        assert not frames[2].flags.writeable
        with pytest.raises(zoetrope.StoreError) as caught:
            frames.fill()
        assert caught.value.code == "storeFull" and caught.value.path == str(folder)
        assert str(caught.value).startswith(f"{folder}: storeFull")
        again = pickle.loads(pickle.dumps(caught.value))
        assert (type(again), again.path, str(again)) == (zoetrope.StoreError, str(folder), str(caught.value))
        frame = frames[1]
    assert np.array_equal(frame, animation[1])


def test_stores_of_others_are_refused(folder):
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.raises(zoetrope.StoreError) as caught:
        zoetrope.FrameStore(folder)
    assert caught.value.code == "storeDenied" and caught.value.path == str(folder)


def test_wrong_arguments_are_refused(store, folder, delays):
    for wrong in (0, -1, 1 << 63, 1 << 64, 1 << 70):
        with pytest.raises(
                zoetrope.ParameterError, match=f"byte_limit is {wrong}; it must be 1 to 9223372036854775807"):
            zoetrope.FrameStore(folder, byte_limit=wrong)
    for wrong in ("", "a\0b"):
        with pytest.raises(zoetrope.ParameterError):
            zoetrope.FrameStore(wrong)
    with pytest.raises(zoetrope.ParameterError):
        store.prune(-1)
    with pytest.raises(TypeError):
        zoetrope.FrameStore(3)
    animation = zoetrope.open(delays)
    with pytest.raises(zoetrope.ParameterError):
        store.frames(animation, format="rgb")
    frames = store.frames(animation)
    animation.close()
    with pytest.raises(ValueError):
        frames[0]
    frames = store.frames(zoetrope.open(delays))
    store.close()
    assert store.closed
    for call in (lambda: frames[0], frames.fill, store.remove, lambda: store.statistics, store.__enter__):
        with pytest.raises(ValueError, match="closed"):
            call()


def test_cancelled_animations_decode_nothing(store, delays):
    animation = zoetrope.open(delays)
    frames = store.frames(animation)
    animation.cancel()
    for call in (lambda: frames[0], frames.fill):
        with pytest.raises(zoetrope.CancelledError):
            call()


def test_cancelling_ends_filling(store):
    file = __import__("io").BytesIO()
    zoetrope.save(file, np.random.default_rng(1).integers(0, 256, (40, 300, 300, 3), np.uint8), fps=9, effort="fast")
    animation = zoetrope.open(file.getvalue())
    frames = store.frames(animation, size=(2000, 2000), filter="lanczos")
    timer = threading.Timer(0.1, animation.cancel)
    timer.start()
    with pytest.raises(zoetrope.CancelledError):
        frames.fill()
    timer.join()


def test_many_threads_use_a_store(store, delays):
    animations = [zoetrope.open(delays), zoetrope.open(delays)]
    expected = list(animations[0])
    failures = []

    def work(number):
        frames = store.frames(animations[number % 2])
        for turn in range(60):
            index = (turn * 7 + number) % len(expected)
            if not np.array_equal(frames[index], expected[index]):
                failures.append(index)
            if turn == 30 and number == 0:
                store.remove(animations[0])

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


WORKER = """
import hashlib, sys, zoetrope
with zoetrope.FrameStore(sys.argv[1]) as store, zoetrope.open(sys.argv[2]) as animation:
    frames = store.frames(animation, size=(64, 64), format="RGBX")
    for turn in range(int(sys.argv[3])):
        total = hashlib.sha256(b"".join(frame.tobytes() for frame in frames))
        if turn % 5 == 2:
            store.remove(animation)
    print(total.hexdigest(), store.statistics.insertions)
"""


def run(folder, path, turns):
    return subprocess.Popen(
        [sys.executable, "-c", WORKER, str(folder), str(path), str(turns)], stdout=subprocess.PIPE, text=True)


def test_processes_share_a_store(folder, delays):
    # While two fill it and remove its frames, each sees the same pixels.
    workers = [run(folder, delays, 20) for _ in range(2)]
    sums = {worker.communicate()[0].split()[0] for worker in workers}
    assert len(sums) == 1 and all(worker.returncode == 0 for worker in workers)
    with zoetrope.FrameStore(folder) as store, zoetrope.open(delays) as animation:
        frames = store.frames(animation, size=(64, 64), format="RGBX")
        frames.fill()
        held = frames[0]
        # What one process has stored, another finds.
        worker = run(folder, delays, 1)
        found, insertions = worker.communicate()[0].split()
        assert found in sums and insertions == "0"
        assert np.array_equal(held, animation.frame(0, size=(64, 64), format="RGBX"))


def test_views_need_no_numpy(folder, delays):
    script = """
import sys
sys.modules["numpy"] = None
import zoetrope
with zoetrope.FrameStore(sys.argv[1]) as store, zoetrope.open(sys.argv[2]) as animation:
    frames = store.frames(animation, size=(8, 8), fit="stretch")
    view = frames.view(1)
    out = bytearray(8 * 8 * 4)
    animation.frame(1, size=(8, 8), fit="stretch", out=out)
    step = len(view) // 8
    assert view.readonly and b"".join(bytes(view[y * step:y * step + 32]) for y in range(8)) == bytes(out)
"""
    assert subprocess.run([sys.executable, "-c", script, str(folder), str(delays)]).returncode == 0


def test_an_exception_between_any_two_instructions_keeps_no_frame(folder, delays):
    animation = zoetrope.open(delays)
    files = {sys.modules[f"zoetrope.{name}"].__file__ for name in ("_store", "_opened", "_rendered", "_calls")}
    store = zoetrope.FrameStore(folder)
    frames = store.frames(animation)
    frames.fill()
    count = 0
    while breaks_in(files, count, lambda: frames[count % len(frames)]):
        count += 1
    assert count > 50
    store.close()
    # The map of a table goes with its last lease.
    with open("/proc/self/maps") as maps:
        assert str(folder) not in maps.read()
