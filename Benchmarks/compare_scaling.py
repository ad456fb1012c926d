#!/usr/bin/env python3
"""Compares the speed and quality of scaling with Pillow and libswscale, in one run.

compare_scaling.py BENCH-SCALE SCALE-SWSCALE

Speed: the three programs take turns, pinned to one core; the best time of each counts. Quality: the peak
signal-to-noise ratio (dB) and the maximum difference between each result and a plain double-precision resize with the
same filter, whose values are not rounded. Some 59 dB means that only rounding differs. libswscale's filters are
slightly different functions, and it does not weight colours by alpha, so it is compared for opaque pictures only.
Nearest: where a centre lies exactly on the border of two pixels, Pillow takes the earlier one.
"""
import math
import os
import subprocess
import sys
import tempfile

import numpy
from PIL import Image

OURS, SWSCALE = sys.argv[1:3]
PILLOW = [sys.executable, os.path.join(os.path.dirname(__file__), "peers", "scale_pillow.py")]
ROUNDS = 3
REACH = {"box": 0.5, "bilinear": 1, "bicubic": 2, "lanczos3": 3}
CODES = {
    "nearest": Image.Resampling.NEAREST,
    "box": Image.Resampling.BOX,
    "bilinear": Image.Resampling.BILINEAR,
    "bicubic": Image.Resampling.BICUBIC,
    "lanczos3": Image.Resampling.LANCZOS,
}


def times(command):
    core = min(os.sched_getaffinity(0))
    done = subprocess.run(
        ["taskset", "-c", str(core)] + command, stdout=subprocess.PIPE, text=True, check=True
    )
    words = (line.split() for line in done.stdout.splitlines())
    return {tuple(w[:3]): float(w[3]) for w in words if len(w) == 4}


def speed():
    best = [{}, {}, {}]
    for _ in range(ROUNDS):
        for table, command in zip(best, ([OURS], PILLOW, [SWSCALE])):
            for key, took in times(command).items():
                table[key] = min(took, table.get(key, took))
    ours, pillow, swscale = best
    print("%-10s %-8s %-9s %9s %9s %9s" % ("size", "picture", "filter", "ms", "x Pillow", "x sws"))
    ratios = {}
    for key, took in ours.items():
        if key not in pillow:
            continue
        ratio = pillow[key] / took
        ratios.setdefault((key[1], key[2]), []).append(ratio)
        other = "%9.2f" % (swscale[key] / took) if key in swscale else "%9s" % "-"
        print("%-10s %-8s %-9s %9.3f %9.2f %s" % (*key, took, ratio, other))
    print("\n5 %% of the picture changed, in times of all of it anew\n%-10s %-9s %9s" % (
        "size", "filter", "x anew"))
    for (size, kind, name), took in ours.items():
        if kind == "dirty5" and (size, "opaque", name) in ours:
            print("%-10s %-9s %9.1f" % (size, name, ours[size, "opaque", name] / took))
    print("\n%-8s %-9s %9s %9s   over the sizes" % ("picture", "filter", "mean", "least"))
    for (kind, name), values in ratios.items():
        mean = math.exp(sum(map(math.log, values)) / len(values))
        print("%-8s %-9s %9.2f %9.2f" % (kind, name, mean, min(values)))
    return min(min(values) for values in ratios.values())


def shape(name, x):
    d = numpy.abs(x)
    if name == "box":
        return ((x > -0.5) & (x <= 0.5)).astype(float)
    if name == "bilinear":
        return numpy.clip(1 - d, 0, None)
    if name == "bicubic":
        near = (1.5 * d - 2.5) * d * d + 1
        return numpy.where(d < 1, near, numpy.where(d < 2, ((-0.5 * d + 2.5) * d - 4) * d + 2, 0))
    return numpy.where(d < 3, numpy.sinc(d) * numpy.sinc(d / 3), 0)


def weights(name, source, target):
    ratio = source / target
    middle = (numpy.arange(target) + 0.5) * ratio
    if name == "nearest":
        matrix = numpy.zeros((target, source))
        matrix[numpy.arange(target), middle.astype(int)] = 1
        return matrix
    stretch = max(1.0, ratio)
    reach = REACH[name] * stretch
    matrix = numpy.zeros((target, source))
    for row, m in enumerate(middle):
        first, last = max(0, int(m - reach + 0.5)), min(source, int(m + reach + 0.5))
        values = shape(name, (numpy.arange(first, last) + 0.5 - m) / stretch)
        matrix[row, first:last] = values / values.sum()
    return matrix


def reference(pixels, target, name):
    values = pixels.astype(float) / 255
    alpha = values[..., 3:]
    values = numpy.concatenate([values[..., :3] * alpha, alpha], axis=2)
    down = weights(name, pixels.shape[0], target[1])
    across = weights(name, pixels.shape[1], target[0])
    scaled = numpy.einsum("yj,jic,xi->yxc", down, values, across, optimize=True)
    alpha = scaled[..., 3:]
    color = numpy.divide(scaled[..., :3], alpha, out=numpy.zeros_like(scaled[..., :3]),
                         where=alpha >= 0.5 / 255)
    return numpy.clip(numpy.concatenate([color, alpha], axis=2), 0, 1) * 255


def run(command, pixels, target, name):
    with tempfile.TemporaryDirectory() as folder:
        source, result = os.path.join(folder, "in"), os.path.join(folder, "out")
        pixels.tofile(source)
        sizes = [pixels.shape[1], pixels.shape[0], *target]
        subprocess.run([command, "raw", source, result, *map(str, sizes), name], check=True)
        return numpy.fromfile(result, numpy.uint8).reshape(target[1], target[0], 4)


def compare(result, exact):
    # Ignore the colours of nearly transparent pixels.
    seen = exact[..., 3] >= 1
    error = (result.astype(float) - exact)[seen]
    square = float((error**2).mean())
    return (10 * math.log10(255**2 / square) if square else math.inf), float(abs(error).max())


def pictures(size):
    y, x = numpy.mgrid[0 : size[1], 0 : size[0]]
    waves = [128 + 100 * numpy.sin(x / (5 + 3 * c)) * numpy.cos(y / (9 - 2 * c)) for c in range(3)]
    smooth = numpy.stack(waves + [numpy.full(x.shape, 255)], axis=2).astype(numpy.uint8)
    noise = numpy.random.default_rng(1).integers(0, 256, (size[1], size[0], 4), numpy.uint8)
    alpha = noise.copy()
    noise[..., 3] = 255
    return {"smooth": smooth, "noise": noise, "alpha": alpha}


def quality():
    print("\n%-9s %-7s %-9s %21s %21s %21s" % (
        "size", "picture", "filter", "ours: dB, greatest", "Pillow", "libswscale"))
    worst = 0.0
    for label, source, target in [("shrink", (400, 300), (250, 188)), ("enlarge", (160, 120), (400, 300))]:
        for kind, pixels in pictures(source).items():
            for name, code in CODES.items():
                exact = reference(pixels, target, name)
                pillow = numpy.asarray(Image.fromarray(pixels, "RGBA").resize(target, code))
                results = [run(OURS, pixels, target, name), pillow]
                if kind != "alpha":
                    results.append(run(SWSCALE, pixels, target, name))
                cells = [compare(result, exact) for result in results]
                worst = max(worst, cells[0][1])
                line = " ".join("%13.1f %7.2f" % cell for cell in cells)
                print("%-9s %-7s %-9s %s" % (label, kind, name, line))
    return worst


if __name__ == "__main__":
    print("\nleast: %.2f x Pillow" % speed())
    print("\nours, greatest difference from exact: %.2f" % quality())
