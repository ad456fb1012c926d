"""Files to tables of frames: the work of one task, without an engine.

``process`` turns a list of files into one Parquet file with the rows of :func:`zoetrope.frames`: path,
index, start_ms, duration_ms, frame (a PNG), damage (null if nothing was lost), tolerated (a harmless
deviation from the format, or null). Its name is a digest of what was read, and it is renamed when it is
complete: a task that is repeated, or run twice, writes the same file again.
"""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
from pathlib import Path
from typing import Iterable, List, Sequence, Tuple, Union

import pyarrow as pa
import pyarrow.parquet as pq

import zoetrope

SCHEMA = pa.schema(zoetrope.FRAMES_SCHEMA)
#: Rows are written in groups of this many bytes, so that memory does not grow with the file.
GROUP_BYTES = 8 << 20
#: The files of one task have at most this many bytes, unless there is only one.
BATCH_BYTES = 256 << 20


#: Errors that a retry cannot fix. Others fail the task, which then runs again.
PERMANENT = {
    errno.ENOENT, errno.EACCES, errno.EPERM, errno.EISDIR, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG}
#: The contents of a file, or why it cannot be read.
Contents = Union[bytes, OSError]


def files(folder: str) -> List[str]:
    """The paths of all GIF and PNG files in ``folder`` and its subdirectories, in order."""
    return sorted(
        str(path) for path in Path(folder).rglob("*")
        if path.suffix.lower() in {".gif", ".png", ".apng"} and not os.path.isdir(path))


def digest(files: Iterable[Tuple[str, Contents]]) -> str:
    """The name of the output of ``files``: it depends on their paths and contents alone."""
    total = hashlib.sha256()
    for path, data in files:
        name = os.fsencode(path)
        total.update(len(name).to_bytes(8, "little") + name)
        is_read = isinstance(data, bytes)
        total.update(bytes([is_read]) + hashlib.sha256(data if is_read else str(data.errno).encode()).digest())
    return total.hexdigest()[:32]


def read(path: str) -> Contents:
    """The file's bytes, or the error, which its row then tells.

    :raises OSError: if another attempt may succeed.
    """
    try:
        return Path(path).read_bytes()
    except OSError as error:
        if error.errno not in PERMANENT:
            raise
        return OSError(error.errno, os.strerror(error.errno))


def shown(path: str) -> str:
    """``path`` as text: a name may have bytes that are not UTF-8, which neither Arrow nor a text file takes."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def rows(path: str, data: Contents) -> Iterable[dict]:
    """The rows of one file."""
    if isinstance(data, bytes):
        return zoetrope.frames({"path": shown(path), "bytes": data}, size=(96, 96))
    row = dict.fromkeys(SCHEMA.names)
    row.update(path=shown(path), start_ms=0.0, duration_ms=0.0, damage=f"io: {data.strerror}")
    return [row]


def write(files: Sequence[Tuple[str, Contents]], folder: str) -> str:
    """Writes the table of ``files`` and returns its name."""
    name = f"{digest(files)}.parquet"
    Path(folder).mkdir(parents=True, exist_ok=True)
    temporary = temporary_file(folder)
    try:
        with pq.ParquetWriter(temporary, SCHEMA, compression="NONE") as table:
            group: List[dict] = []
            held = 0
            for path, data in files:
                for row in rows(path, data):
                    group.append(row)
                    held += len(row["frame"] or b"")
                    if held > GROUP_BYTES:
                        table.write_table(pa.Table.from_pylist(group, schema=SCHEMA))
                        group, held = [], 0
            if group:
                table.write_table(pa.Table.from_pylist(group, schema=SCHEMA))
        os.replace(temporary, Path(folder) / name)
    except BaseException:
        os.unlink(temporary)
        raise
    return name


def temporary_file(folder: Union[str, Path]) -> str:
    """A new file in ``folder`` with the permissions of any other output, unlike those that ``tempfile`` makes."""
    path = os.path.join(folder, f".new-{secrets.token_hex(8)}")
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    return path


def process(paths: Sequence[str], folder: str) -> List[str]:
    """Reads ``paths``, writes their table, and returns its name in a list."""
    return [write([(path, read(path)) for path in paths], folder)]


def batches(paths: Sequence[str], count: int, byte_count: int = BATCH_BYTES) -> List[List[str]]:
    """``paths`` in lists of at most ``count``, in order: the same on every run, as long as the files are.

    A task reads all files of its list, so a list has at most ``byte_count`` bytes, or a single file.
    """
    found: List[List[str]] = []
    held = 0
    for path in paths:
        try:
            size = os.stat(path).st_size
        except OSError:
            size = 0
        if not found or len(found[-1]) == count or held + size > byte_count:
            found.append([])
            held = 0
        found[-1].append(path)
        held += size
    return found
