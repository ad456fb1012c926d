"""The job on Ray Data: on_ray.py OUTPUT FOLDER.

With Ray's own writer, the same is one expression, but its file names differ from run to run:

    schema = pyarrow.schema(zoetrope.FRAMES_SCHEMA)
    (ray.data.read_binary_files(folder, include_paths=True)
        .flat_map(zoetrope.frames)
        .map_batches(lambda rows: rows.cast(schema), batch_format="pyarrow")
        .write_parquet(output))
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import List, Sequence

import numpy as np
import ray

import job


class Process:
    """One batch of paths to one table."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __call__(self, row):
        return {"table": job.process(list(row["paths"]), self.folder)}


def run(paths: Sequence[str], folder: str, count: int = 50) -> List[str]:
    """Processes `paths` and returns the names of the tables. A task of a lost worker runs again."""
    batches = [{"paths": np.array(batch, dtype=object)} for batch in job.batches(paths, count)]
    data = ray.data.from_items(batches, override_num_blocks=len(batches))
    return [row["table"] for row in data.map(Process(folder).__call__).take_all()]


def main(output: str, folder: str) -> None:
    paths = sorted(str(p) for p in Path(folder).rglob("*") if p.suffix in {".gif", ".png"})
    ray.init(runtime_env={"env_vars": {"PYTHONPATH": str(Path(__file__).parent)}})
    names = run(paths, output)
    print(f"{len(paths)} files in {len(names)} tables")


if __name__ == "__main__":
    main(*sys.argv[1:])
