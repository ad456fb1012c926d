"""A job on Dask: on_dask.py [--resize] OUTPUT FOLDER [SCHEDULER]. Without a scheduler, two workers on this machine.

It reads frames into tables (job.py); with --resize, it writes small animations (resize.py).
"""

from __future__ import annotations

import sys
from typing import Callable, List, Sequence

from distributed import Client, LocalCluster

import job
import resize


def run(
    client: Client, paths: Sequence[str], folder: str, count: int = 50,
    process: Callable[..., List[str]] = job.process,
) -> List[str]:
    """Processes `paths` and returns the names of the outputs. A task of a lost worker runs again."""
    tasks = client.map(process, job.batches(paths, count), folder=folder, pure=False, retries=5)
    return [name for names in client.gather(tasks) for name in names]


def main(output: str, folder: str, scheduler: str = "", *, process: Callable[..., List[str]] = job.process) -> None:
    paths = job.files(folder)
    if scheduler:
        with Client(scheduler) as client:
            for module in (job, resize):
                client.upload_file(module.__file__)
            names = run(client, paths, output, process=process)
    else:
        with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
            with Client(cluster) as client:
                names = run(client, paths, output, process=process)
    print(f"{len(paths)} files in, {len(names)} out")


if __name__ == "__main__":
    arguments = [argument for argument in sys.argv[1:] if argument != "--resize"]
    main(*arguments, process=resize.process if len(arguments) < len(sys.argv) - 1 else job.process)
