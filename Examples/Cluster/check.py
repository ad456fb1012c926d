"""Runs the jobs on engines while a worker is killed, and compares the outputs with those of one process.

check.py [--count N] [--engines dask ray] [--jobs read resize] -- FOLDER: N files are made of those in FOLDER under
other names. Fails if an output is lost, exists twice or differs in a byte, or if a worker's memory grows.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Callable, Dict, List

sys.path.insert(0, str(Path(__file__).parent))

import job  # noqa: E402
import resize  # noqa: E402
import zoetrope  # noqa: E402


Process = Callable[..., List[str]]
JOBS = {"read": job.process, "resize": resize.process}


def make_files(source: str, folder: Path, count: int) -> List[str]:
    """`count` links to the files of `source`, those larger than 300 kB left out, and two hostile ones."""
    folder.mkdir()
    originals = [path for path in map(Path, job.files(source)) if path.stat().st_size < 300_000]
    # A GIF with a canvas of 65535x65535 pixels, and an empty file.
    bomb = folder.parent / "bomb.gif"
    bomb.write_bytes(b"GIF89a\xff\xff\xff\xff\x80\0\0" + bytes(6) + b",\0\0\0\0\xff\xff\xff\xff\0\x02\x02L\x01\0;")
    empty = folder.parent / "empty.gif"
    empty.write_bytes(b"")
    originals += [bomb, empty]
    paths = []
    for number in range(count):
        original = originals[number % len(originals)]
        link = folder / f"{number:06}{original.suffix}"
        os.symlink(original.resolve(), link)
        paths.append(str(link))
    return paths


def outputs(folder: Path) -> Dict[str, str]:
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        # A killed worker leaves hidden files.
        for path in folder.glob("*") if not path.name.startswith(".")
    }


def rss(pid: int) -> int:
    """Resident KiB; 0 for a process that is gone."""
    try:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmRSS"):
                return int(line.split()[1])
    except OSError:
        pass
    return 0


class Watch:
    """Kills one worker after some outputs are there, and measures the others meanwhile."""

    def __init__(self, pids, output: Path, kill_after: int) -> None:
        self.pids, self.output, self.kill_after = pids, output, kill_after
        self.killed = 0
        self.samples: List[tuple] = []
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()

    def work(self) -> None:
        while not self.stopping.wait(0.1):
            # Workers come and go while they are counted.
            try:
                done = sum(not name.startswith(".") for name in os.listdir(self.output)) if self.output.exists() else 0
                pids = self.pids()
                self.samples.append((done, max([rss(pid) for pid in pids], default=0)))
                if not self.killed and done >= self.kill_after and pids:
                    os.kill(pids[0], signal.SIGKILL)
                    self.killed = pids[0]
            except (OSError, RuntimeError):
                continue

    def stop(self) -> str:
        self.stopping.set()
        self.thread.join()
        total = max((done for done, _ in self.samples), default=0)
        quarters = [
            max((kib for done, kib in self.samples if low * total // 4 <= done <= (low + 1) * total // 4),
                default=0) // 1024 for low in range(4)
        ]
        # In a run this short, samples differ by up to a third plus 64 MB.
        grows = quarters[3] > quarters[1] * 4 // 3 + 64
        return (f"killed {'one worker' if self.killed else 'NO worker'}, largest worker by quarter {quarters} MB"
                f"{', which GROWS' if grows else ''}")


def on_dask(paths: List[str], output: Path, kill_after: int, process: Process) -> str:
    import on_dask as engine
    from distributed import Client, LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        with Client(cluster) as client:
            watch = Watch(
                lambda: [worker.pid for worker in list(cluster.workers.values()) if worker.pid],
                output, kill_after)
            names = engine.run(client, paths, str(output), process=process)
            return f"{len(names)} outputs, {len(set(names))} names, {watch.stop()}"


def on_ray(paths: List[str], output: Path, kill_after: int, process: Process) -> str:
    import on_ray as engine
    import ray

    here = str(Path(__file__).resolve().parent)
    variables = {"PYTHONPATH": os.pathsep.join([here, os.environ.get("PYTHONPATH", "")])}
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, runtime_env={"env_vars": variables})

    def workers() -> List[int]:
        # The processes that have loaded the library run the job.
        library = os.path.realpath(zoetrope._library.library._name)
        found = []
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            pid = int(path.parent.name)
            try:
                if path.read_bytes().startswith(b"ray::") and library in (path.parent / "maps").read_text():
                    found.append(pid)
            except OSError:
                pass
        return sorted(found)

    try:
        watch = Watch(workers, output, kill_after)
        names = engine.run(paths, str(output), process=process)
        return f"{len(names)} outputs, {len(set(names))} names, {watch.stop()}"
    finally:
        ray.shutdown()


def check(name: str, paths: List[str], folder: Path, engines: List[str]) -> bool:
    """Runs a job in one process and on the engines, and returns whether all wrote the same."""
    process = JOBS[name]
    start = time.monotonic()
    for batch in job.batches(paths, 50):
        process(batch, str(folder / "one"))
    expected = outputs(folder / "one")
    # Whoever may read other new files may read the outputs.
    (folder / "other").touch()
    mode = (folder / "other").stat().st_mode
    is_right = all(path.stat().st_mode == mode for path in (folder / "one").iterdir())
    size = sum(path.stat().st_size for path in (folder / "one").iterdir())
    print(f"{name} in one process: {len(paths)} files, {len(expected)} outputs, {size >> 20} MB, "
          f"{time.monotonic() - start:.1f} s", flush=True)
    for engine in engines:
        start = time.monotonic()
        run = {"dask": on_dask, "ray": on_ray}[engine]
        told = run(paths, folder / engine, len(expected) // 3, process)
        is_same = outputs(folder / engine) == expected
        is_right = is_right and is_same and "NO worker" not in told and "GROWS" not in told
        print(f"{name} on {engine}: {told}, {time.monotonic() - start:.1f} s: "
              f"{'byte for byte the same' if is_same else 'DIFFERENT'}", flush=True)
    return is_right


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--engines", nargs="+", choices=["dask", "ray"], default=["dask"])
    parser.add_argument("--jobs", nargs="+", choices=list(JOBS), default=list(JOBS))
    parser.add_argument("folder")
    options = parser.parse_args()
    work = Path(tempfile.mkdtemp(prefix="zoetrope-cluster-"))
    failed = False
    try:
        paths = make_files(options.folder, work / "files", options.count)
        for name in options.jobs:
            failed = not check(name, paths, work / name, options.engines) or failed
    finally:
        shutil.rmtree(work)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
