"""Files to tables of frames: the work of one task, without an engine.

``process`` turns a list of files into one Parquet file with the rows of :func:`zoetrope.frames`: path,
index, start_ms, duration_ms, frame (a PNG), damage (null if nothing was lost), tolerated (a harmless
deviation from the format, or null). Its name is a digest of what was read, and it is renamed when it is
complete: a task that is repeated, or run twice, writes the same file again.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path
from typing import Iterable, List, Sequence, Tuple

import pyarrow as pa
import pyarrow.parquet as pq

import zoetrope

SCHEMA = pa.schema(zoetrope.FRAMES_SCHEMA)
#: Rows are written in groups of this many bytes, so that memory does not grow with the file.
GROUP_BYTES = 8 << 20


def digest(files: Iterable[Tuple[str, bytes]]) -> str:
    """The name of the output of ``files``: it depends on their paths and contents alone."""
    total = hashlib.sha256()
    for path, data in files:
        name = path.encode()
        total.update(len(name).to_bytes(8, "little") + name)
        total.update(hashlib.sha256(data).digest())
    return total.hexdigest()[:32]


def read(path: str) -> bytes:
    """The file's bytes; none if it cannot be read, which its row then says."""
    try:
        return Path(path).read_bytes()
    except OSError:
        return b""


def write(files: Sequence[Tuple[str, bytes]], folder: str) -> str:
    """Writes the table of ``files`` and returns its name."""
    name = f"{digest(files)}.parquet"
    Path(folder).mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(prefix=".new-", dir=folder)
    os.close(descriptor)
    try:
        with pq.ParquetWriter(temporary, SCHEMA, compression="NONE") as table:
            rows: List[dict] = []
            held = 0
            for path, data in files:
                for row in zoetrope.frames({"path": path, "bytes": data}, size=(96, 96)):
                    rows.append(row)
                    held += len(row["frame"] or b"")
                    if held > GROUP_BYTES:
                        table.write_table(pa.Table.from_pylist(rows, schema=SCHEMA))
                        rows, held = [], 0
            if rows:
                table.write_table(pa.Table.from_pylist(rows, schema=SCHEMA))
        os.replace(temporary, Path(folder) / name)
    except BaseException:
        os.unlink(temporary)
        raise
    return name


def process(paths: Sequence[str], folder: str) -> List[str]:
    """Reads ``paths``, writes their table, and returns its name in a list."""
    return [write([(path, read(path)) for path in paths], folder)]


def batches(paths: Sequence[str], count: int) -> List[List[str]]:
    """``paths`` in lists of ``count``, in order: the same on every run."""
    return [list(paths[start:start + count]) for start in range(0, len(paths), count)]
