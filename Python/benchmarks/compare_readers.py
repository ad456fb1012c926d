"""Zoetrope beside other Python readers, in one run: compare_readers.py [--threads N] FILE...

Three jobs: all frames as RGB arrays, eight frames by time, and one thumbnail of 128 pixels. Readers take
turns, and the best of several rounds counts. A reader that gives another number of frames, or fails, is
said so and left out of the mean. Imports are not counted. Processor time, in brackets, counts all threads and
suffers less from other programs.
"""

import argparse
import math
import os
import sys
import time
import warnings
from pathlib import Path

import numpy as np

import zoetrope

try:
    from PIL import Image, ImageSequence
except ImportError:
    Image = None
try:
    import imageio.v3 as imageio
except ImportError:
    imageio = None
try:
    import cv2
except ImportError:
    cv2 = None
try:
    import av
except ImportError:
    av = None

try:
    import torch
    from torchcodec.decoders import VideoDecoder
except (ImportError, OSError, RuntimeError):
    # It needs shared libraries of FFmpeg.
    VideoDecoder = None


def zoetrope_all(path, threads):
    with zoetrope.open(path, threads=threads) as animation:
        return animation.read(format="RGB")


def pillow_all(path, threads):
    with Image.open(path) as image:
        return [np.asarray(frame.convert("RGB")) for frame in ImageSequence.Iterator(image)]


def imageio_all(path, threads):
    return imageio.imread(path, index=..., plugin="pillow", mode="RGB")


def opencv_all(path, threads):
    cv2.setNumThreads(threads)
    done, animation = cv2.imreadanimation(path)
    if not done:
        raise ValueError("not read")
    return [cv2.cvtColor(f, cv2.COLOR_BGRA2RGB if f.shape[2] == 4 else cv2.COLOR_BGR2RGB)
            for f in animation.frames]


def av_frames(path, threads):
    with av.open(path) as container:
        stream = container.streams.video[0]
        stream.thread_count = threads
        yield from container.decode(stream)


def av_all(path, threads):
    return [frame.to_ndarray(format="rgb24") for frame in av_frames(path, threads)]


def torchcodec_all(path, threads):
    decoder = VideoDecoder(path, dimension_order="NHWC", num_ffmpeg_threads=threads)
    return decoder.get_frames_in_range(0, len(decoder)).data.numpy()


def wanted(count):
    return [(2 * part + 1) * count // 16 for part in range(8)]


def zoetrope_eight(path, threads):
    with zoetrope.open(path, threads=threads) as animation:
        return animation.sample(8, format="RGB")


def pillow_eight(path, threads):
    with Image.open(path) as image:
        frames = []
        for index in wanted(image.n_frames):
            image.seek(index)
            frames.append(np.asarray(image.convert("RGB")))
        return frames


def imageio_eight(path, threads):
    with imageio.imopen(path, "r", plugin="pillow") as file:
        count = file.properties(index=...).n_images
        return [file.read(index=index, mode="RGB") for index in wanted(count)]


def opencv_eight(path, threads):
    frames = opencv_all(path, threads)
    return [frames[index] for index in wanted(len(frames))]


def av_eight(path, threads):
    # The container does not say how many frames there are.
    frames = list(av_frames(path, threads))
    return [frames[index].to_ndarray(format="rgb24") for index in wanted(len(frames))]


def torchcodec_eight(path, threads):
    decoder = VideoDecoder(path, dimension_order="NHWC", num_ffmpeg_threads=threads)
    return decoder.get_frames_at(wanted(len(decoder))).data.numpy()


def zoetrope_thumbnail(path, threads):
    with zoetrope.open(path, threads=threads) as animation:
        return [animation.frame(0, size=(128, 128), format="RGB")]


def pillow_thumbnail(path, threads):
    with Image.open(path) as image:
        frame = image.convert("RGB")
        frame.thumbnail((128, 128), Image.Resampling.BILINEAR)
        return [np.asarray(frame)]


def imageio_thumbnail(path, threads):
    frame = Image.fromarray(imageio.imread(path, index=0, plugin="pillow", mode="RGB"))
    frame.thumbnail((128, 128), Image.Resampling.BILINEAR)
    return [np.asarray(frame)]


def opencv_thumbnail(path, threads):
    cv2.setNumThreads(threads)
    frame = cv2.imread(path)
    if frame is None:
        raise ValueError("not read")
    scale = 128 / max(frame.shape[:2])
    size = (max(round(frame.shape[1] * scale), 1), max(round(frame.shape[0] * scale), 1))
    return [cv2.cvtColor(cv2.resize(frame, size, interpolation=cv2.INTER_AREA), cv2.COLOR_BGR2RGB)]


def av_thumbnail(path, threads):
    frame = next(av_frames(path, threads))
    scale = 128 / max(frame.width, frame.height)
    return [frame.to_ndarray(
        width=max(round(frame.width * scale), 1), height=max(round(frame.height * scale), 1),
        format="rgb24", interpolation="BILINEAR")]


def torchcodec_thumbnail(path, threads):
    torch.set_num_threads(threads)
    frame = VideoDecoder(path, num_ffmpeg_threads=threads)[0]
    scale = 128 / max(frame.shape[1:])
    size = [max(round(side * scale), 1) for side in frame.shape[1:]]
    small = torch.nn.functional.interpolate(frame[None], size, mode="bilinear", antialias=True)
    return [small[0].permute(1, 2, 0).contiguous().numpy()]


JOBS = {
    "all frames": [zoetrope_all, pillow_all, imageio_all, opencv_all, av_all, torchcodec_all],
    "8 by time": [zoetrope_eight, pillow_eight, imageio_eight, opencv_eight, av_eight, torchcodec_eight],
    "thumbnail": [
        zoetrope_thumbnail, pillow_thumbnail, imageio_thumbnail, opencv_thumbnail, av_thumbnail,
        torchcodec_thumbnail],
}
PRESENT = {"zoetrope": zoetrope, "pillow": Image, "imageio": imageio, "opencv": cv2, "av": av,
           "torchcodec": VideoDecoder}


def measure(readers, path, threads, interleaved, seconds, least):
    """The best times of each reader in ms, by the clock and of the processors, and its number of frames;
    a text for a failure. Nothing for a file that takes us less than `least`."""
    best, busy, frames = {}, {}, {}

    def once(name):
        start, used = time.perf_counter(), time.process_time()
        try:
            result = readers[name](path, threads)
        except Exception as error:
            frames[name] = f"fails ({type(error).__name__})"
            return False
        best[name] = min(best.get(name, math.inf), 1000 * (time.perf_counter() - start))
        busy[name] = min(busy.get(name, math.inf), 1000 * (time.process_time() - used))
        frames[name] = len(result)
        return True

    for _ in range(2):
        if not once("zoetrope") or best["zoetrope"] < least:
            return {}, {}, {}
    groups = [list(readers)] if interleaved else [[name] for name in readers]
    for group in groups:
        deadline = time.perf_counter() + seconds * len(group)
        for turn in range(7):
            if turn >= 2 and time.perf_counter() > deadline:
                break
            group = [name for name in group if once(name)]
    return best, busy, frames


def main():
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--least", type=float, default=0, help="ms below which a file is left out")
    parser.add_argument(
        "--consecutive", action="store_true",
        help="one reader after the other: memory is warm, and processor times are comparable on a busy machine")
    parser.add_argument("--jobs", nargs="+", choices=list(JOBS), default=list(JOBS))
    parser.add_argument(
        "--seconds", type=float, default=0.5, help="for each reader and file; two rounds at least")
    parser.add_argument("--quiet", action="store_true")
    parser.add_argument("files", nargs="+")
    options = parser.parse_args()
    for job in options.jobs:
        functions = JOBS[job]
        readers = {f.__name__.split("_")[0]: f for f in functions}
        readers = {name: f for name, f in readers.items() if PRESENT[name] is not None}
        ratios = {name: [] for name in readers if name != "zoetrope"}
        busies = {name: [] for name in ratios}
        behind, measured, other = [], 0, {name: 0 for name in ratios}
        for path in options.files:
            best, busy, frames = measure(
                readers, path, options.threads, not options.consecutive, options.seconds, options.least)
            if not best or best["zoetrope"] < options.least:
                continue
            measured += 1
            cells = []
            for name in ratios:
                if name in best and frames[name] == frames["zoetrope"]:
                    ratio = best[name] / best["zoetrope"]
                    ratios[name].append(ratio)
                    busies[name].append(busy[name] / max(busy["zoetrope"], 0.001))
                    cells.append(f"{name} {ratio:.1f} ({busies[name][-1]:.1f})")
                    if ratio < 1:
                        behind.append(f"{name} {ratio:.2f} {Path(path).name}")
                else:
                    other[name] += 1
                    cells.append(f"{name} {frames[name]}{'' if isinstance(frames[name], str) else ' frames'}")
            if not options.quiet:
                print(f"{job:10} {Path(path).name:32} {best['zoetrope']:9.2f} ms  " + "  ".join(cells), flush=True)
        print(f"== {job}, {options.threads} threads, {measured} files: their time / ours "
              "(geometric mean, least; the same of processor time):")
        for name, values in ratios.items():
            if values:
                mean, busy_mean = (
                    math.exp(sum(map(math.log, each)) / len(each)) for each in (values, busies[name]))
                print(f"   {name:10} {mean:6.1f} {min(values):6.2f}; {busy_mean:6.1f} {min(busies[name]):6.2f}  over {len(values)} files, {other[name]} others fail or differ")
        if behind:
            print("   behind: " + "; ".join(behind))
        sys.stdout.flush()


if __name__ == "__main__":
    main()
