"""What files may ask for."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

np = pytest.importorskip("numpy")
import zoetrope  # noqa: E402

import hostile  # noqa: E402


def test_arrays_are_bounded(files, monkeypatch):
    animation = zoetrope.open(files["dots"], limits="strict")
    for call in (lambda: animation.read(), lambda: animation[:], lambda: animation.sample(100),
                 lambda: animation.read([0] * 17)):
        with pytest.raises(zoetrope.LimitError, match="output_bytes"):
            call()
    # Listing the indices of so many frames takes seconds.
    with monkeypatch.context() as patch:
        patch.setattr(zoetrope.Animation, "sample_indices", lambda *_: pytest.fail("indices are listed"))
        for by in ("time", "index"):
            with pytest.raises(zoetrope.LimitError, match="output_bytes"):
                animation.sample(1 << 24, by)
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
