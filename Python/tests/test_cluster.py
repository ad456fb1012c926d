"""The jobs of Examples/Cluster in one process, where PyArrow is installed."""

import errno
import os
import sys
from pathlib import Path

import pytest

pq = pytest.importorskip("pyarrow.parquet", reason="PyArrow is not installed")
import zoetrope  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "Examples" / "Cluster"))
import job  # noqa: E402
import resize  # noqa: E402


@pytest.mark.parametrize("process", [job.process, resize.process])
def test_a_task_that_lacks_memory_fails_and_writes_nothing(process, delays, tmp_path, monkeypatch):
    def fail(*_, **__):
        raise zoetrope.OutOfMemoryError("outOfMemory", "no memory")

    monkeypatch.setattr(zoetrope._jobs, "open", fail)
    monkeypatch.setattr(zoetrope, "open", fail)
    with pytest.raises(zoetrope.OutOfMemoryError):
        process([str(delays)], str(tmp_path))
    assert list(tmp_path.iterdir()) == []


def outputs(folder):
    """The outputs by name: rows of a table, the animation, or a text."""
    found = {}
    for path in folder.iterdir():
        if path.suffix == ".parquet":
            found[path.name] = pq.read_table(path).to_pylist()
        else:
            found[path.name] = path.read_text(encoding="utf-8") if path.suffix == ".txt" else zoetrope.open(path)
    return found


@pytest.mark.parametrize("name, shown", [
    (b"caf\xe9.gif", r"caf\xe9.gif"), ("\xe9.gif".encode(), "\xe9.gif"), (b"line\nbreak.gif", "line\nbreak.gif")])
def test_names_may_have_any_bytes(delays, tmp_path, name, shown):
    source, folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name)), tmp_path / "out"
    source.write_bytes(delays.read_bytes())
    [table] = job.process([str(source)], str(folder))
    rows = outputs(folder)[table]
    assert len(rows) == len(zoetrope.open(delays)) and all(row["damage"] is None for row in rows)
    # Printable, because a column of strings is UTF-8.
    assert rows[0]["path"] == f"{tmp_path}/{shown}"
    [animation] = resize.process([str(source)], str(folder))
    assert len(outputs(folder)[animation]) > 1
    # Another name gives another output.
    other = tmp_path / "cafe.gif"
    other.write_bytes(delays.read_bytes())
    assert resize.process([str(other)], str(folder)) != [animation]
    source.write_bytes(b"nothing")
    [text] = resize.process([str(source)], str(folder))
    assert "notAnImage" in outputs(folder)[text]


@pytest.mark.parametrize("number, kind", [
    (errno.EIO, OSError), (errno.ESTALE, OSError), (errno.EAGAIN, OSError), (errno.ETIMEDOUT, OSError),
    (errno.EMFILE, OSError), (errno.ENOMEM, OSError), (errno.ENOENT, None), (errno.EACCES, None), (errno.EISDIR, None),
    (errno.ENAMETOOLONG, None), (errno.ELOOP, None), (errno.ENOTDIR, None)])
def test_what_the_file_is_to_blame_for_is_a_row(tmp_path, monkeypatch, number, kind):
    def fail(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(Path, "read_bytes", fail)
    for process in (job.process, resize.process):
        folder = tmp_path / process.__module__
        if kind is not None:
            # The engine repeats the task.
            with pytest.raises(OSError) as caught:
                process(["a.gif"], str(folder))
            assert caught.value.errno == number
            assert not folder.exists() or list(folder.iterdir()) == []
            continue
        [name] = process(["a.gif"], str(folder))
        assert process(["a.gif"], str(folder)) == [name]
        monkeypatch.undo()
        told = outputs(folder)[name]
        if process is job.process:
            assert len(told) == 1 and told[0]["frame"] is None and told[0]["path"] == "a.gif"
            told = told[0]["damage"]
        assert os.strerror(number) in told
        monkeypatch.setattr(Path, "read_bytes", fail)


def test_a_file_without_bytes_is_not_one_that_cannot_be_read(tmp_path):
    (tmp_path / "a.gif").write_bytes(b"")
    names = {path: resize.process([str(tmp_path / path)], str(tmp_path / "out")) for path in ("a.gif", "b.gif")}
    told = outputs(tmp_path / "out")
    assert "the file is empty" in told[names["a.gif"][0]] and os.strerror(errno.ENOENT) in told[names["b.gif"][0]]


def test_files_of_all_extensions_are_found(tmp_path):
    for name in ("a.gif", "b.GIF", "c.png", "d.apng", "e.APNG", "f.txt", "gif"):
        (tmp_path / name).touch()
    (tmp_path / "g.gif").mkdir()
    (tmp_path / "g.gif" / "h.PNG").touch()
    assert [Path(path).name for path in job.files(str(tmp_path))] == ["a.gif", "b.GIF", "c.png", "d.apng", "e.APNG", "h.PNG"]
