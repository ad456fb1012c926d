"""The job on Dask: on_dask.py OUTPUT FOLDER [SCHEDULER]. Without a scheduler, two workers on this machine."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import List, Sequence

from distributed import Client, LocalCluster

import job


def run(client: Client, paths: Sequence[str], folder: str, count: int = 50) -> List[str]:
    """Processes `paths` and returns the names of the tables. A task of a lost worker runs again."""
    tasks = client.map(
        job.process, job.batches(paths, count), folder=folder, pure=False, retries=5)
    return client.gather(tasks)


def main(output: str, folder: str, scheduler: str = "") -> None:
    paths = sorted(str(p) for p in Path(folder).rglob("*") if p.suffix in {".gif", ".png"})
    if scheduler:
        with Client(scheduler) as client:
            client.upload_file(job.__file__)
            names = run(client, paths, output)
    else:
        with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
            with Client(cluster) as client:
                names = run(client, paths, output)
    print(f"{len(paths)} files in {len(names)} tables")


if __name__ == "__main__":
    main(*sys.argv[1:])
