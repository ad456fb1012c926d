"""What a first user of the package tried: times, damage, rows and arguments."""

import array
import copy
import itertools
import math
import mmap
import os

import numpy as np
import pytest

import zoetrope


@pytest.mark.parametrize("delays", ["browser", "exact", "ffmpeg", "imageio"])
def test_every_frame_is_shown_at_its_own_time(fixtures, delays):
    tried = 0
    for path in sorted(p for p in fixtures.glob("*/*") if p.suffix in {".gif", ".png"}):
        try:
            animation = zoetrope.open(path, delays=delays)
        except zoetrope.ZoetropeError:
            continue
        with animation:
            infos = animation.frames
            sums = [0, *itertools.accumulate(info.duration_ns for info in infos)]
            assert [info.start_ns for info in infos] == sums[:-1]
            assert animation.duration == pytest.approx(sums[-1] / 1e9, rel=1e-15)
            assert math.fsum(animation.durations) == pytest.approx(animation.duration, rel=1e-12)
            now = 0.0
            for index, start in enumerate(animation.timestamps):
                if infos[index].duration_ns:
                    tried += 1
                    assert animation.index_at(start) == index, path
                    assert animation.index_at(now) == index, path
                now += animation.durations[index]
    assert tried > 500


def test_twelfths_of_a_second_add_up(fixtures):
    animation = zoetrope.open(fixtures / "Demo" / "spinner.png")
    assert [animation.index_at(t) for t in animation.timestamps] == list(range(len(animation)))
    assert animation.duration == 1.0


def test_large_times_map_back():
    from zoetrope._arguments import _nanoseconds, _seconds

    for start in [1, 3, 10**9 - 1, 2**53 - 1, 2**53 + 1, 2**60 + 7, 2**62 + 12345]:
        assert start <= _nanoseconds(_seconds(start)) <= start + (start >> 50)


def test_times_outside_the_plays(delays, fixtures):
    finite = zoetrope.open(delays)
    assert finite.plays is not None
    for seconds in [1e10, 1e300, math.inf, 10**400]:
        assert finite.index_at(seconds) == len(finite) - 1
    for seconds in [-1e-9, -5, -math.inf, -1e300]:
        assert finite.index_at(seconds) == 0
    endless = zoetrope.open(fixtures / "Demo" / "bouncing-ball.gif")
    assert endless.plays is None
    assert endless.index_at(10**13) == endless.index_at(10**13 % endless.duration)
    with pytest.raises(zoetrope.ParameterError, match="forever"):
        endless.index_at(math.inf)
    for wrong in ["1.5", b"1", None, [1]]:
        with pytest.raises(TypeError):
            finite.index_at(wrong)
    with pytest.raises(zoetrope.ParameterError, match="nan"):
        finite.at(math.nan)


def test_damage_of_a_frame_comes_with_it(fixtures):
    animation = zoetrope.open(fixtures / "Bad" / "gif-cut-in-frame-1.gif", damage="partial")
    every = animation.read()
    found = []
    for index in range(len(animation)):
        decoded = animation.decode(index)
        frame, damage = decoded.pixels, decoded.damage
        assert np.array_equal(frame, every[index])
        found += [] if damage is None else [damage]
    assert found and found == animation.check()[len(animation.damage):]
    damage = animation.decode(0, size=(8, 8), format="RGB").damage
    assert damage is None


def test_rows_tell_losses_and_harmless_deviations_apart(fixtures):
    lost = harmless = 0
    for path in sorted(p for p in fixtures.glob("*/*") if p.suffix in {".gif", ".png"}):
        data = path.read_bytes()
        try:
            with zoetrope.open(data, limits="strict") as animation:
                found = animation.check()
        except zoetrope.ZoetropeError:
            continue
        rows = list(zoetrope.frames({"path": path.name, "bytes": data}, size=(4, 4)))
        assert (any(row["damage"] for row in rows)) == any(not item.is_tolerated for item in found), path
        assert (any(row["tolerated"] for row in rows)) == any(
            item.is_tolerated for item in found), path
        lost += any(row["damage"] for row in rows)
        harmless += any(row["tolerated"] for row in rows)
    assert lost > 3 and harmless > 3


def test_tables_of_rows_can_be_read_again(fixtures, tmp_path):
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    import pyarrow.dataset
    import pyarrow.parquet

    schema = pyarrow.schema(zoetrope.FRAMES_SCHEMA)
    paths = [fixtures / "Demo" / "variable-delay.gif", fixtures / "Bad" / "apng-cut-in-frame-2.png",
             fixtures / "README.md"]
    rows = []
    for path in paths:
        # A block each: of intact frames, of damage, and of no frame at all.
        block = list(zoetrope.frames({"path": path.name, "bytes": path.read_bytes()}, size=(8, 8)))
        assert all(list(row) == schema.names for row in block)
        rows += block
        # As Ray's `map_batches` gets it and `write_parquet` writes it.
        table = pyarrow.Table.from_pylist(block).cast(schema)
        pyarrow.parquet.write_table(table, tmp_path / f"{path.name}.parquet")
    read = pyarrow.parquet.read_table(tmp_path)
    assert sorted(read.to_pylist(), key=str) == sorted(rows, key=str)
    assert pyarrow.dataset.dataset(tmp_path).to_table(columns=["path", "damage"]).num_rows == len(rows)


def test_facts_are_made_once(delays, fixtures):
    animation = zoetrope.open(delays)
    assert animation.durations is animation.durations and animation.timestamps is animation.timestamps
    bad = zoetrope.open(fixtures / "Bad" / "apng-cut-in-frame-2.png")
    assert bad.damage is bad.damage and bad.damage


@pytest.mark.parametrize("name", [
    "FrameInfo", "MetadataItem", "Frame", "Batch", "Written", "Damage", "StoreStatistics"])
def test_help_shows_every_field(name):
    kind = getattr(zoetrope, name)
    fields = getattr(kind, "_fields", None) or kind.__dataclass_fields__
    for field in fields:
        assert f":ivar {field}: " in kind.__doc__


def test_an_animation_contains_no_arrays(delays):
    animation = zoetrope.open(delays)
    with pytest.raises(TypeError, match="Animation"):
        animation[0] in animation


def test_rows_take_bytes_only(delays):
    for wrong in [str(delays), delays, None, open(os.devnull, "rb")]:
        with pytest.raises(TypeError, match="bytes"):
            zoetrope.frames({"bytes": wrong})
    assert len(list(zoetrope.frames({"bytes": memoryview(delays.read_bytes())}))) == 10
    with pytest.raises(zoetrope.ParameterError, match='row has no "bytes"'):
        zoetrope.frames({})
    for wrong in [None, b"GIF89a", 3]:
        with pytest.raises(TypeError, match=f"row must be a mapping.*not {type(wrong).__name__}"):
            zoetrope.frames(wrong)


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda a: a.frame(0, size=64), "pair"), (lambda a: a.frame(0, size="64"), "pair"),
        (lambda a: a.frame(0, size=(64.0, 64)), "integer"), (lambda a: a.frame(0, out=[1]), "NumPy"),
        (lambda a: a.read(out=3), "NumPy"), (lambda a: a.frame(0, out="x" * 11904), "buffer"),
        (lambda a: zoetrope.open(b"", limits={"frame_count": 24.9}), "frame_count must be an int"),
        (lambda a: zoetrope.open(b"", limits={"frame_count": "30"}), "frame_count must be an int"),
        (lambda a: zoetrope.open(b"", limits=7), "limits must be a str or a mapping, not int"),
        (lambda a: copy.copy(a), "copied"), (lambda a: a.at(0, sise=(3, 3)), "sise"),
    ],
)
def test_wrong_types_are_type_errors_with_words(delays, call, words):
    with pytest.raises(TypeError, match=words):
        call(zoetrope.open(delays))


def test_a_size_is_refused_whatever_was_asked_for_before(delays):
    animation = zoetrope.open(delays)
    for call in [animation.frame, animation.png, animation.decode]:
        call(0, size=(32, 32))
        call(0, size=(np.int32(32), 32))
        for size in [(32.0, 32), (32, 32.0), (np.float32(32), None)]:
            with pytest.raises(TypeError, match="integer"):
                call(0, size=size)


@pytest.mark.parametrize(
    "call",
    [
        lambda a: a.frame(0, out=bytearray(9)), lambda a: a.frame(0, out=bytes(11904)),
        lambda a: a.read(out=bytearray(11904)), lambda a: a.frame(0, out=memoryview(bytearray(23808))[::2]),
        lambda a: a.frame(0, size=(0, 0)), lambda a: a.frame(0, size=(0, 4)), lambda a: a.png(0, size=(4, -1)),
        lambda a: a.frame(0, size=(10**30, 4)), lambda a: a.frame(0, size=(1, 2, 3)),
        lambda a: a.sample(10**30), lambda a: zoetrope.open(b"", threads=10**30),
        lambda a: zoetrope.open(b"", limits={"frame_count": 10**30}),
    ],
)
def test_numbers_out_of_range_are_value_errors(delays, call):
    with pytest.raises(zoetrope.ParameterError):
        call(zoetrope.open(delays))


def test_what_works_is_accepted(delays):
    animation = zoetrope.open(delays, limits=None)
    every = animation.read()
    assert np.array_equal(animation[np.int64(3)], every[3])
    for indices in [np.array([1, 2]), {1, 2}, (i for i in (1, 2)), range(1, 3)]:
        assert np.array_equal(animation.read(indices), every[1:3])
    assert animation.frame(0, size=[62, None]).shape == (12, 62, 4)
    assert animation.frame(0, size=(500, 500), no_enlarging=True).shape == (24, 124, 4)
    half = {"size": (50, 9), "filter": "lanczos", "fit": "stretch"}
    assert any(
        not np.array_equal(animation.frame(i, **half), animation.frame(i, linear_light=True, **half))
        for i in range(10))
    out = np.empty((3, 24, 124, 4), np.uint8)
    assert animation.sample(3, out=out) is out
    assert np.array_equal(out, every[animation.sample_indices(3)])


def test_buffers_are_filled_as_arrays_are(delays):
    animation = zoetrope.open(delays)
    with mmap.mmap(-1, 11904) as mapped:
        for out in [bytearray(11904), memoryview(bytearray(11904)), array.array("H", bytes(11904)), mapped]:
            for index in [3, 7]:
                assert animation.frame(index, out=out) is out
                assert bytes(memoryview(out).cast("B")) == animation[index].tobytes()
    out = bytearray(3 * 11904)
    assert animation.read([1, 2, 3], out=out) is out
    assert bytes(out) == animation.read([1, 2, 3]).tobytes()
    # Released again: it can be resized.
    out.clear()


def test_after_closing_only_what_was_known_is_known(delays):
    animation = zoetrope.open(delays)
    assert not animation.closed and len(animation.frames) == 10
    animation.close()
    assert animation.closed
    known = (len(animation), animation.size, animation.format, animation.plays, animation.byte_count)
    assert known[:3] == (10, (124, 24), "gif")
    calls = [
        lambda: animation.frames, lambda: animation.durations, lambda: animation.timestamps,
        lambda: animation.duration, lambda: animation.damage, lambda: animation.metadata,
        lambda: animation[0], lambda: animation[99], lambda: animation[0:0], lambda: animation.read([]),
        lambda: list(animation), lambda: animation.at(0), lambda: animation.png(0),
        lambda: animation.check(), lambda: animation.sample(2), lambda: animation.__enter__(),
        lambda: animation.decode(0),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="closed"):
            call()
