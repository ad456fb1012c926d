"""A client that must pass `mypy --strict`; lines that must not are marked. Never run."""

from __future__ import annotations

import gzip
import io
import mmap
import os
from fractions import Fraction
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

import numpy as np
from numpy.typing import NDArray

import zoetrope
from zoetrope import Damage, LimitError


def sources(path: Path, raw: "os.PathLike[bytes]", data: bytearray, mapped: mmap.mmap) -> None:
    for source in (path, raw, data, mapped, "a.gif", b"GIF", memoryview(data)):
        zoetrope.open(source)
    zoetrope.open(io.BytesIO())
    zoetrope.open(gzip.open("a.gz"))
    zoetrope.open(gzip.GzipFile("a.gz"))
    with open("a.gif", "rb") as file:
        zoetrope.open(file)
    zoetrope.open(np.fromfile("a.gif", np.uint8))
    zoetrope.open("a", limits={"canvas_pixels": 4, "preset": "strict"})
    zoetrope.open("a", limits=None)
    zoetrope.open(3)  # type: ignore[arg-type]
    zoetrope.open("a", limits="lax")  # type: ignore[arg-type]
    zoetrope.open("a", delays="chrome")  # type: ignore[arg-type]


def pixels(path: Path) -> NDArray[np.uint8]:
    with zoetrope.open(path, limits="strict", threads=np.int64(2)) as animation:
        batch: NDArray[np.uint8] = animation.sample(8, size=(224, 224), fit="fill", format="RGB")
        frame = animation.at(1.5, size=(128, None), filter="lanczos")
        animation.frame(0, size=np.array([64, 64]))
        animation.frame(0, size=(np.int64(64), None))
        animation.frame(np.int64(3), size=[64, 64], out=np.empty((1, 1, 4), np.uint8))
        animation.read(np.array([1, 2]))
        animation.read(range(2), out=bytearray(2 * 4))
        animation.read(range(3))
        animation.read(index for index in (1, 2))
        animation.sample(3, "distinct", linear_light=True, no_enlarging=True, out=batch)
        decoded: zoetrope.Frame = animation.decode(0)
        for one, duration in zip(animation, animation.durations):
            print(one.shape, duration + 1.0, decoded.damage, frame.dtype)
        for indices, times, frames in animation.batches(32, size=(4, 4), layout="NCHW"):
            whole: List[int] = indices.tolist()
            print(whole, times.mean(), frames.shape)
        animation.batches(3, layout="HWC")  # type: ignore[arg-type]
        many: NDArray[Any] = animation.read_at([0, 1.5, np.float32(2)], layout="NCHW")
        print(many, decoded.timestamp, decoded.pixels)
        rect: Tuple[int, int, int, int] = animation.frames[0].rect
        slices: NDArray[Any] = animation[1:3]
        print(rect, slices, animation[np.int64(1)], animation.closed)
        animation.at(1.0, sise=(3, 3))  # type: ignore[call-overload]
        animation.frame(0, format="rgb")  # type: ignore[call-overload]
        animation.frame(0, size=64)  # type: ignore[call-overload]
        animation.sample(3, by="luck")  # type: ignore[call-overload]
        return batch


def depths(animation: zoetrope.Animation, format: zoetrope.Format) -> None:
    narrow: List[NDArray[np.uint8]] = [
        animation[0], animation[1:], animation.frame(0), animation.at(1), animation.read(), animation.read_at([0]),
        animation.sample(3, size=(4, 4), layout="NCHW"), next(iter(animation)), animation.frame(0, format="L"),
        animation.read([0], format="RGBa", no_enlarging=True), animation.frame(0, out=np.empty((1, 1, 4), np.uint8))]
    deep: List[NDArray[np.uint16]] = [
        animation.frame(0, format="RGBA16"), animation.at(1, format="RGBA16"), animation.read(format="RGBA16"),
        animation.read_at([0], format="RGBA16", size=(4, None)), animation.sample(3, format="RGBA16", fit="fill")]
    either: zoetrope.Pixels = animation.frame(0, format=format)
    several: zoetrope.Pixels = animation.sample(3, "index", format=format, layout="NCHW")
    print(narrow, deep, either, several)
    wrong: NDArray[np.float32] = animation[0]  # type: ignore[assignment]
    wrong = animation.frame(0, format="RGBA16")  # type: ignore[assignment]
    shallow: NDArray[np.uint8] = animation.read(format="RGBA16")  # type: ignore[assignment]
    print(wrong, shallow)


def wrapper(
    source: zoetrope.Source, size: zoetrope.Size, format: zoetrope.Format = "RGB", fit: zoetrope.Fit = "fill",
    limits: zoetrope.Limits = "strict", order: zoetrope.Order = "time", layout: zoetrope.Layout = "NHWC",
    filter: zoetrope.Filter = "box", delays: zoetrope.Delays = "exact", out: Optional[zoetrope.Output] = None,
    damage: zoetrope.DamagePolicy = "strict",
) -> zoetrope.Pixels:
    opened = zoetrope.open(source, limits=limits, delays=delays, damage=damage)
    return opened.sample(8, order, size=size, format=format, fit=fit, filter=filter, layout=layout, out=out)


class PillowImage:
    """What mypy sees of Pillow's class that writers need."""

    info: Dict[Any, Any]

    @property
    def mode(self) -> str:
        return "RGB"

    @property
    def size(self) -> Tuple[int, int]:
        return (1, 1)

    def convert(self, mode: Optional[str] = None, matrix: Optional[Tuple[float, ...]] = None) -> "PillowImage":
        return self


def writing(
    path: Path, frames: List[NDArray[np.uint8]], deep: NDArray[np.uint16], image: PillowImage,
) -> zoetrope.Written:
    zoetrope.save(path, frames, fps=29.97, plays=3, colors=64, dithering="none", matte=(255, 255, 255))
    zoetrope.save(io.BytesIO(), deep, durations=[0.1, Fraction(1, 30), (1, 25), np.float32(3)], format="gif")
    zoetrope.save("a.png", (frame for frame in frames), durations=1, texts={"Title": "a"}, threads=2)
    zoetrope.save("a.png", [image, frames[0], image], fps=3)
    zoetrope.save("a.png", ["a.gif"], fps=3)  # type: ignore[list-item]
    zoetrope.save("a.png", frames, fps=3, format="webp")  # type: ignore[arg-type]
    zoetrope.save("a.png", frames, fps=3, effort="most")  # type: ignore[arg-type]
    zoetrope.save(3, frames, fps=3)  # type: ignore[arg-type]
    with zoetrope.Writer("a.gif", effort="small", keep_identical=True, colors="exact") as writer:
        writer.survey(deep)
        writer.append(frames[0], Fraction(1, 30))
        writer.survey(image)
        writer.append(image, 1)
        writer.append(3, 1)  # type: ignore[arg-type]
        writer.append(frames[0], "1")  # type: ignore[arg-type]
    told: Optional[zoetrope.Written] = writer.written
    print(told.merged_count if told else writer.closed)
    with zoetrope.open(path) as animation:
        animation.convert("b.gif", frames=slice(3), speed=2, plays=None, crop=(0, 0, 9, 9))
        animation.convert(io.BytesIO(), time=(0.5, None), size=(240, None), filter="box", plays=np.int64(3))
        animation.convert("b.gif", frames=[1, 2], delay=Fraction(1, 30), reverse=True, format="apng")
        animation.convert("b.gif", plays="all")  # type: ignore[arg-type]
        animation.convert("b.gif", preset="discord-emoji", max_bytes=9, pin=("size", "fps"), lossy=40)
        animation.convert("b.gif", preset="myspace")  # type: ignore[arg-type]
        animation.convert("b.gif", max_bytes="9K")
        animation.convert("b.gif", max_bytes=9.5)  # type: ignore[arg-type]
        animation.convert("b.gif", max_bytes=9, pin="colors")  # type: ignore[arg-type]
        count: int = animation.optimize("c.gif", strip=True, effort="small", lossy=3, max_bytes=9).byte_count
        print(count)
    fps: Optional[int] = zoetrope.save(path, frames, fps=3, lossy=9, preset="line-sticker", pin="size").fps
    print(fps)
    return zoetrope.save(path, frames, fps=3)


def storing(path: Path, animation: zoetrope.Animation) -> zoetrope.StoredFrames:
    with zoetrope.FrameStore(path, byte_limit=np.int64(1 << 30)) as store:
        frames = store.frames(animation, size=(224, None), format="RGB")
        count: int = frames.fill()
        view: memoryview = frames.view(0)
        print(count, view.nbytes, frames[np.int64(1)].shape, len(frames), store.statistics.hits, store.is_read_only)
        for frame in frames:
            print(frame.mean())
        store.remove(animation)
        store.prune(1 << 20)
        store.frames(path)  # type: ignore[arg-type]
        store.frames(animation, format="rgb")  # type: ignore[arg-type]
    zoetrope.FrameStore().close()
    return frames


def errors() -> List[Dict[str, Any]]:
    try:
        zoetrope.open("x")
    except LimitError as error:
        code: str = error.code
        offset: Optional[int] = error.byte_offset
        print(code, offset)
    except zoetrope.BudgetError as error:
        found: Optional[float] = error.found
        print(error.limit, found, error.allowed)
    except zoetrope.ReadError as error:
        print(error.errno, error.filename)
    return list(zoetrope.frames({"path": "a", "bytes": b""}, size=(96, 96)))
