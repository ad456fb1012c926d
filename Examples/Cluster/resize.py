"""Animations to small animations: the work of one task that writes, without an engine.

``process`` writes each of a list of files again, scaled into a square and with fewer frames per second. The name of an
output is a digest of the input's path and contents, and it appears when it is complete: a task that is repeated, or run
twice, writes the same files again. A file that cannot be read becomes a text with the reason.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import List, Sequence

import zoetrope

import job

SIZE = (64, 64)
FPS = 10


def write(path: str, data: job.Contents, folder: str) -> str:
    """Writes the output of the file ``path``, which contains ``data``, and returns its name."""
    name = job.digest([(path, data)])
    text = Path(folder) / f"{name}.txt"
    if isinstance(data, OSError):
        return write_text(f"{job.shown(path)}: {data.strerror}\n", text)
    try:
        # One thread, because the engine already runs one task per processor.
        with zoetrope.open(data, limits="strict", threads=1) as animation:
            name += ".gif" if animation.format == "gif" else ".png"
            animation.convert(Path(folder) / name, size=SIZE, fps=FPS, threads=1)
        return name
    except (zoetrope.ParameterError, zoetrope.ForkedError, zoetrope.OutOfMemoryError, zoetrope.WriteError):
        # The file is not the cause.
        raise
    except zoetrope.ZoetropeError as error:
        return write_text(f"{job.shown(path)}: {error}\n", text)


def write_text(text: str, path: Path) -> str:
    temporary = job.temporary_file(path.parent)
    try:
        Path(temporary).write_text(text, encoding="utf-8")
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
    return path.name


def process(paths: Sequence[str], folder: str) -> List[str]:
    """Writes an output for each of ``paths``, and returns their names."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    return [write(path, job.read(path), folder) for path in paths]
