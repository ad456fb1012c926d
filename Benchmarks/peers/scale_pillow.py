#!/usr/bin/env python3
"""Times Pillow's resize on the pictures of ScaleBench: `CASE KIND FILTER ms`, best of several.

The work is the same: opaque pictures are resized as RGBX, without weighting by alpha; pictures with alpha go
RGBA -> RGBa (premultiplied) -> resize -> RGBA, as in Image.resize for RGBA.
"""
import time

import numpy
from PIL import Image

CASES = {
    "thumbnail": ((1920, 1080), (320, 180)),
    "shrink": ((800, 600), (500, 375)),
    "terminal": ((480, 360), (128, 96)),
    "enlarge": ((320, 240), (800, 600)),
}
FILTERS = {
    "nearest": Image.Resampling.NEAREST,
    "box": Image.Resampling.BOX,
    "bilinear": Image.Resampling.BILINEAR,
    "bicubic": Image.Resampling.BICUBIC,
    "lanczos3": Image.Resampling.LANCZOS,
}


def random_picture(size):
    count = size[0] * size[1]
    words = numpy.random.default_rng(1).integers(0, 2**32, count, dtype=numpy.uint32)
    return words.view(numpy.uint8).reshape(size[1], size[0], 4).copy()


def sprite(size):
    pixels = random_picture(size)
    y, x = numpy.mgrid[0 : size[1], 0 : size[0]]
    d = numpy.hypot(x / size[0] - 0.5, y / size[1] - 0.5)
    pixels[..., 3][d < 0.40] = 255
    pixels[..., 3][d > 0.41] = 0
    return pixels


def best(work):
    least, spent, runs = 1e9, 0.0, 0
    while spent < 0.12 or runs < 3:
        start = time.perf_counter()
        work()
        took = time.perf_counter() - start
        least, spent, runs = min(least, took), spent + took, runs + 1
    return least * 1000


for case, (source, target) in CASES.items():
    opaque = random_picture(source)
    opaque[..., 3] = 255
    images = {
        "opaque": Image.fromarray(opaque, "RGBA").convert("RGB").convert("RGBX"),
        "sprite": Image.fromarray(sprite(source), "RGBA"),
        "alpha": Image.fromarray(random_picture(source), "RGBA"),
    }
    # RGBA with every alpha 255: the case of a caller who does not know that the picture is opaque.
    images["opaque-rgba"] = Image.fromarray(opaque, "RGBA")
    for name, code in FILTERS.items():
        for kind, image in images.items():
            if name == "nearest" and kind != "opaque":
                continue
            print(case, kind, name, "%.3f" % best(lambda: image.resize(target, code)))
