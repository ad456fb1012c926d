#!/usr/bin/env python3
"""compare_quantizers.py ZOETROPE FILE...: compares pictures of 256 colours with those of pngquant.

The pictures are the first frames of FILE..., over white: at their own size if they have more than 256 colours, and
scaled up to --pixels (default 600,000) with Lanczos; and a mosaic of all of them. `zoetrope convert --colors 256`
writes a GIF and a PNG, `pngquant 256` a PNG. Prints bytes, SSIMULACRA2 (or SSIM), PSNR, and milliseconds of whole
programs, the best of --repeat runs; then the mean difference of the quality and the geometric mean of the times.
Starting a program and writing the file count, so only large pictures compare the quantizers; the first line has the
time of a start.

Exits 1 if one of our pictures has more than --colors colours, another size, or is not written.

--colors N, --speed N of pngquant (default 3), --dither NAME,... of ours (default auto), --metric ssimulacra2|ssim,
--keep DIR keeps the pictures.
Needs numpy, Pillow and pngquant; and the package ssimulacra2 or scikit-image.
"""
import argparse, math, os, sys, tempfile

import numpy
from PIL import Image

from pictures import METRICS, geometric_mean, mean, opaque, run

parser = argparse.ArgumentParser()
parser.add_argument("zoetrope")
parser.add_argument("files", nargs="+")
parser.add_argument("--colors", type=int, default=256)
parser.add_argument("--pixels", type=int, default=600_000)
parser.add_argument("--speed", type=int, default=3)
parser.add_argument("--dither", default="auto")
parser.add_argument("--metric", choices=METRICS, default="ssimulacra2")
parser.add_argument("--repeat", type=int, default=3)
parser.add_argument("--keep")
options = parser.parse_args()


def colors(picture):
    """The number of colours of an RGB array."""
    return len(numpy.unique(picture.astype("u4") @ numpy.array([1, 1 << 8, 1 << 16], "u4")))


def mosaic(pictures):
    """All pictures beside one another, each of them cut to a square of 256 pixels."""
    columns = math.ceil(math.sqrt(len(pictures)))
    whole = Image.new("RGB", (256 * columns, 256 * math.ceil(len(pictures) / columns)), "white")
    for index, picture in enumerate(pictures):
        image = Image.fromarray(picture)
        side = min(image.size)
        box = [(length - side) // 2 for length in image.size]
        square = image.crop((*box, box[0] + side, box[1] + side)).resize((256, 256), Image.Resampling.LANCZOS)
        whole.paste(square, (index % columns * 256, index // columns * 256))
    return numpy.asarray(whole)


def subjects():
    """The pictures to compare, by name."""
    found, firsts = {}, []
    for path in options.files:
        name = os.path.splitext(os.path.basename(path))[0]
        with Image.open(path) as image:
            picture = opaque(image)
        firsts.append(picture)
        if colors(picture) > options.colors:
            found[name] = picture
        count = picture.shape[0] * picture.shape[1]
        if count < options.pixels:
            factor = math.sqrt(options.pixels / count)
            size = [math.ceil(side * factor) for side in reversed(picture.shape[:2])]
            larger = numpy.asarray(Image.fromarray(picture).resize(size, Image.Resampling.LANCZOS))
            if colors(larger) > options.colors:
                found[name + " scaled"] = larger
    if len(firsts) > 1 and colors(mosaic(firsts)) > options.colors:
        found["mosaic"] = mosaic(firsts)
    return found


def commands(source, directory):
    """Lines by program, with their outputs."""
    found = {}
    for dither in options.dither.split(","):
        for kind in ("gif", "png"):
            target = os.path.join(directory, f"z-{dither}.{kind}")
            found[f"zoetrope {kind}" + ("" if dither == "auto" else f" {dither}")] = target, [
                options.zoetrope, "convert", source, "-o", target, "--colors", options.colors, "--dither", dither,
                "--force", "--quiet"]
    target = os.path.join(directory, "p.png")
    found["pngquant"] = target, ["pngquant", options.colors, "--speed", options.speed, "--force", "-o", target, source]
    return found


def fastest(line):
    runs = [run(line) for _ in range(options.repeat)]
    return None if None in runs else [min(each[i] for each in runs) * 1e3 for i in (0, 1)]


def psnr(one, other):
    error = float(numpy.mean((one.astype(float) - other.astype(float)) ** 2))
    return 10 * math.log10(255 ** 2 / error) if error else math.inf


def measure(name, picture, directory):
    """A row for each program. Returns them, and what is wrong with our pictures."""
    source = os.path.join(directory, "source.png")
    Image.fromarray(picture).save(source)
    print(f"\n{name}: {picture.shape[1]}x{picture.shape[0]}, {colors(picture)} colours")
    print(f"{'program':22} {'colours':>7} {'bytes':>8} {options.metric:>11} {'PSNR':>6} {'cpu ms':>7} {'ms':>7}")
    rows, wrong = {}, []
    for program, (target, line) in commands(source, directory).items():
        if os.path.exists(target):
            os.remove(target)
        spent = fastest(line)
        if spent is None or not os.path.exists(target):
            print(f"{program:22} -")
            wrong += [f"{name}: no {program}"] if program.startswith("zoetrope") else []
            continue
        with Image.open(target) as image:
            shown = opaque(image)
        if program.startswith("zoetrope") and (shown.shape != picture.shape or colors(shown) > options.colors):
            wrong.append(f"{name}: {program} has {colors(shown)} colours, {shown.shape[1]}x{shown.shape[0]}")
            continue
        quality = METRICS[options.metric](picture, shown)
        rows[program] = quality, psnr(picture, shown), *spent, os.path.getsize(target)
        print(f"{program:22} {colors(shown):7} {rows[program][4]:8} {quality or 0:11.4f} {rows[program][1]:6.2f} "
              f"{spent[0]:7.1f} {spent[1]:7.1f}", flush=True)
    return rows, wrong


with tempfile.TemporaryDirectory() as scratch:
    directory = options.keep or scratch
    os.makedirs(directory, exist_ok=True)
    starts = [fastest([program, "--version"]) for program in (options.zoetrope, "pngquant")]
    if None in starts:
        sys.exit("zoetrope or pngquant does not start")
    print("start, ms: zoetrope {:.1f}, pngquant {:.1f}".format(*(start[1] for start in starts)))
    results, wrong = [], []
    for name, picture in subjects().items():
        folder = os.path.join(directory, name.replace(" ", "-"))
        os.makedirs(folder, exist_ok=True)
        rows, problems = measure(name, picture, folder)
        wrong += problems
        if "pngquant" in rows:
            results.append((picture.shape[0] * picture.shape[1], rows))
print()
for program in sorted({name for _, rows in results for name in rows} - {"pngquant"}):
    for least, words in ((0, "all pictures"), (500_000, "those of half a million pixels or more")):
        pairs = [(rows[program], rows["pngquant"]) for count, rows in results if count >= least and program in rows]
        if not pairs:
            continue
        gain = mean([a[0] - b[0] for a, b in pairs if a[0] is not None])
        lower = sum((a[0] or 0) < (b[0] or 0) for a, b in pairs)
        cpu, wall, size = (geometric_mean([a[i] / b[i] for a, b in pairs]) for i in (2, 3, 4))
        error = mean([a[1] - b[1] for a, b in pairs])
        print(f"{program} / pngquant, {len(pairs)} pictures, {words}: {options.metric} {gain or 0:+.3f} (lower in {lower}), "
              f"PSNR {error:+.2f} dB; time x {wall:.2f}, processor time x {cpu:.2f}, bytes x {size:.2f}")
print(f"{len(wrong)} of our pictures are wrong", *wrong, sep="\n")
sys.exit(1 if wrong else 0)
