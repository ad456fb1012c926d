"""A job on Ray Data: on_ray.py [--resize] OUTPUT FOLDER.

It reads frames into tables (job.py); with --resize, it writes small animations (resize.py). With Ray's own writer, the
first is one expression, but its file names differ from run to run:

    schema = pyarrow.schema(zoetrope.FRAMES_SCHEMA)
    (ray.data.read_binary_files(folder, include_paths=True)
        .flat_map(zoetrope.frames)
        .map_batches(lambda rows: rows.cast(schema), batch_format="pyarrow")
        .write_parquet(output))
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Callable, List, Sequence

import numpy as np
import ray

import job
import resize


class Process:
    """One batch of paths to its outputs."""

    def __init__(self, folder: str, process: Callable[..., List[str]]) -> None:
        self.folder, self.process = folder, process

    def __call__(self, row):
        return {"names": np.array(self.process(list(row["paths"]), self.folder), dtype=object)}


def run(
    paths: Sequence[str], folder: str, count: int = 50, process: Callable[..., List[str]] = job.process,
) -> List[str]:
    """Processes `paths` and returns the names of the outputs. A task that fails or loses its worker runs again."""
    batches = [{"paths": np.array(batch, dtype=object)} for batch in job.batches(paths, count)]
    data = ray.data.from_items(batches, override_num_blocks=len(batches))
    # Ray retries the task of a lost worker by default, but a failed task only on request.
    rows = data.map(Process(folder, process).__call__, max_retries=5, retry_exceptions=True).take_all()
    return [str(name) for row in rows for name in row["names"]]


def main(output: str, folder: str, process: Callable[..., List[str]] = job.process) -> None:
    paths = job.files(folder)
    ray.init(runtime_env={"env_vars": {"PYTHONPATH": str(Path(__file__).parent)}})
    names = run(paths, output, process=process)
    print(f"{len(paths)} files in, {len(names)} out")


if __name__ == "__main__":
    arguments = [argument for argument in sys.argv[1:] if argument != "--resize"]
    main(*arguments, process=resize.process if len(arguments) < len(sys.argv) - 1 else job.process)
