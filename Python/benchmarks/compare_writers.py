"""Compares writing GIF and APNG with Pillow and imageio: time and bytes of the same frames, and the frames that come back.

    compare_writers.py [--runs 5] [FILE...]

Each FILE is decoded once, and its composited frames are written by each program in turn, `--runs` times; the median of
the ratios of neighbouring runs is printed. pygifsicle runs gifsicle, if both are installed, on what Pillow has
written. Without FILE, frames are generated.
"""

from __future__ import annotations

import argparse
import io
import os
import statistics
import sys
import tempfile
import time
from typing import Any, Callable, Dict, List, Tuple

import numpy as np

import zoetrope


def generated() -> Dict[str, Tuple[List[np.ndarray], float]]:
    """Pictures with little and much change."""
    random = np.random.default_rng(1)
    ground = np.zeros((240, 320, 3), np.uint8)
    ground[:] = (20, 40, 60)
    for _ in range(40):
        left, top = random.integers(0, 280), random.integers(0, 200)
        ground[top:top + 30, left:left + 40] = random.integers(0, 256, 3)
    moving = []
    for index in range(60):
        frame = ground.copy()
        frame[100:130, 4 * index:4 * index + 30] = (255, 200, 0)
        moving.append(frame)
    rows, columns = np.mgrid[0:240, 0:320]
    smooth = [
        np.stack([(columns + 3 * index) % 256, (rows + 2 * index) % 256, (rows + columns) // 3 % 256], axis=2)
        .astype(np.uint8) for index in range(30)]
    return {"moving square": (moving, 0.04), "gradients": (smooth, 0.04)}


def ways(suffix: str, frames: List[np.ndarray], delay: float) -> Dict[str, Callable[[], bytes]]:
    """Each returns the file."""
    format: Any = "gif" if suffix == ".gif" else "apng"
    found: Dict[str, Callable[[], bytes]] = {}

    def ours(effort: Any) -> bytes:
        file = io.BytesIO()
        zoetrope.save(file, frames, durations=delay, format=format, effort=effort)
        return file.getvalue()

    found["zoetrope"] = lambda: ours("balanced")
    found["zoetrope, fast"] = lambda: ours("fast")
    try:
        from PIL import Image
    except ImportError:
        return found

    def pillow(**options: Any) -> bytes:
        images = [Image.fromarray(frame) for frame in frames]
        file = io.BytesIO()
        images[0].save(
            file, "GIF" if suffix == ".gif" else "PNG", save_all=True, append_images=images[1:],
            duration=delay * 1000, loop=0, **options)
        return file.getvalue()

    found["Pillow"] = pillow
    try:
        import imageio.v3 as iio

        found["imageio"] = lambda: iio.imwrite(
            "<bytes>", frames, extension=suffix, plugin="pillow", duration=delay * 1000, loop=0)
    except ImportError:
        pass
    try:
        import pygifsicle
        import shutil

        if suffix == ".gif" and shutil.which("gifsicle"):
            def optimised() -> bytes:
                with tempfile.TemporaryDirectory() as folder:
                    path = os.path.join(folder, "a.gif")
                    with open(path, "wb") as file:
                        file.write(pillow())
                    pygifsicle.optimize(path)
                    with open(path, "rb") as file:
                        return file.read()

            found["Pillow, pygifsicle"] = optimised
    except ImportError:
        pass
    return found


def error(data: bytes, frames: List[np.ndarray], delay: float) -> Tuple[float, float]:
    """The mean difference of samples at the middle of each frame, and how long a play is off, in ms."""
    animation = zoetrope.open(data, delays="exact")
    differences = [
        np.abs(animation.at((index + 0.5) * delay, format="RGB").astype(int) - frame[..., :3]).mean()
        for index, frame in enumerate(frames)]
    return float(np.mean(differences)), 1000 * (animation.duration - len(frames) * delay)


def compare(name: str, frames: List[np.ndarray], delay: float, runs: int) -> None:
    height, width = frames[0].shape[:2]
    print(f"\n{name}: {len(frames)} frames of {width}x{height}, {delay * 1000:g} ms each")
    for suffix in (".gif", ".png"):
        found = ways(suffix, frames, delay)
        times: Dict[str, List[float]] = {way: [] for way in found}
        files = {way: write() for way, write in found.items()}
        for _ in range(runs):
            for way, write in found.items():
                start = time.perf_counter()
                write()
                times[way].append(time.perf_counter() - start)
        least = len(files["zoetrope"])
        for way, data in files.items():
            ratio = statistics.median(other / own for other, own in zip(times[way], times["zoetrope"]))
            difference, late = error(data, frames, delay)
            print(
                f"  {suffix[1:]}  {way:20} {ratio:7.2f} x the time  {len(data):9} bytes {len(data) / least:6.2f} x"
                f"  error {difference:6.3f}  play {late:+.1f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description="Compares writers of GIF and APNG.")
    parser.add_argument("files", nargs="*", metavar="FILE")
    parser.add_argument("--runs", type=int, default=5)
    chosen = parser.parse_args()
    versions = [f"zoetrope {zoetrope.__version__}"]
    for module in ("PIL", "imageio", "pygifsicle"):
        try:
            versions.append(f"{module} {getattr(__import__(module), '__version__', '')}".strip())
        except ImportError:
            pass
    print(", ".join(versions))
    films = {} if chosen.files else generated()
    for path in chosen.files:
        with zoetrope.open(path) as animation:
            frames = [frame[..., :3].copy() if (frame[..., 3] == 255).all() else frame for frame in animation]
            films[os.path.basename(path)] = (frames, animation.duration / len(frames))
    for name, (frames, delay) in films.items():
        compare(name, frames, delay, chosen.runs)


if __name__ == "__main__":
    sys.exit(main())
