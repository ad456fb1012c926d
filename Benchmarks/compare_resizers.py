#!/usr/bin/env python3
"""compare_resizers.py ZOETROPE FILE...: compares GIFs scaled by `zoetrope convert --size` and by other programs.

For each file and program, prints bytes, processor seconds, wall-clock seconds, SSIM of luma, and flicker. SSIM (and
SSIMULACRA2 with --ssimulacra2) compares sampled pictures with the source scaled in full colour, at the same moments.
Flicker is the mean change between frames of pixels that do not change in that reference; it should be 0. Programs that
are missing or fail are skipped.

--points adds a curve of palette sizes for zoetrope, gifsicle and libvips, and prints our bytes divided by those of each
program at equal quality (SSIMULACRA2 if it is measured, else SSIM); --plot FILE.svg draws these curves. --bytes
compares only the bytes of `zoetrope convert` with the input. Exits 1 if one of these files is larger than its input.

--size PERCENT (default 50), --samples N pictures for quality (default 12), --only NAME,... beside zoetrope, --reference
pillow takes the pictures scaled by Pillow's bilinear filter for the full colour ones, instead of Zoetrope's.
Needs numpy, Pillow and scikit-image; gifsicle, ffmpeg, ImageMagick and vips where they are compared.
"""
import argparse, os, shutil, sys, tempfile, time

import numpy
from PIL import Image, ImageSequence

from curves import plot, ratio, verdict
from pictures import Film, geometric_mean, mean, run, ssim, ssimulacra2

parser = argparse.ArgumentParser()
parser.add_argument("zoetrope")
parser.add_argument("files", nargs="+")
parser.add_argument("--size", type=int, default=50)
parser.add_argument("--samples", type=int, default=12)
parser.add_argument("--points", action="store_true")
parser.add_argument("--plot")
parser.add_argument("--only")
parser.add_argument("--reference", choices=["zoetrope", "pillow"], default="zoetrope")
parser.add_argument("--bytes", action="store_true")
parser.add_argument("--ssimulacra2", action="store_true")
options = parser.parse_args()
options.points = options.points or bool(options.plot)


def frames(path):
    """All pictures as RGBA arrays, without the colours of transparent pixels."""
    pictures = []
    with Image.open(path) as image:
        for frame in ImageSequence.Iterator(image):
            pixels = numpy.array(frame.convert("RGBA"))
            pixels[pixels[..., 3] == 0] = 0
            pictures.append(pixels)
    return pictures


def pillow(source, target, size):
    """Scales with a few lines of Pillow."""
    image = Image.open(source)
    pictures, delays = [], []
    for frame in ImageSequence.Iterator(image):
        pictures.append(frame.convert("RGBA").resize(size, Image.Resampling.BILINEAR))
        delays.append(frame.info.get("duration", 100))
    pictures[0].save(target, save_all=True, append_images=pictures[1:], duration=delays, loop=0)


def in_vips(source, target, size, directory):
    """`vips resize` takes all pages as one high picture, so the height of a page must be a whole number afterwards."""
    with Image.open(source) as image:
        scale = size[0] / image.width, size[1] / image.height
    script = ('vips resize "$1[n=-1]" "$2" "$3" --vscale "$4" --kernel linear && '
              'vips gifsave "$2" "$5" --page-height "$6"')
    strip = os.path.join(directory, "strip.v")
    return ["sh", "-c", script, "sh", source, strip, repr(scale[0]), repr(scale[1]), target, size[1]]


def programs(source, target, size, directory):
    width, height = size
    box = f"{width}x{height}"
    half = [options.zoetrope, "convert", source, "-o", target, "--size", box, "--fit", "stretch", "--force", "--quiet"]
    convert = shutil.which("convert") or "convert"
    filters = f"scale={width}:{height}:flags=bilinear,split[a][b];[a]palettegen[p];[b][p]paletteuse"
    gifsicle = ["gifsicle", source, "--resize", box, "-o", target]
    thumbnail = ["vipsthumbnail", source + "[n=-1]", "--size", box + "!", "-o"]
    found = {
        "zoetrope": half,
        "gifsicle": gifsicle,
        "gifsicle -O3": gifsicle[:1] + ["-O3"] + gifsicle[1:],
        "gifsicle 256 mix": ["gifsicle", "-O3", "--colors", "256", "--resize-method", "mix", *gifsicle[1:]],
        "ffmpeg": ["ffmpeg", "-v", "error", "-y", "-i", source, "-vf", filters, target],
        "ffmpeg bayer": ["ffmpeg", "-v", "error", "-y", "-i", source, "-vf",
                         filters + "=dither=bayer:bayer_scale=3:diff_mode=rectangle", target],
        "pillow": None,
        "imagemagick": [convert, source, "-coalesce", "-resize", box + "!", "-layers", "optimize", target],
        "libvips": [*thumbnail, target],
        "libvips resize": in_vips(source, target, size, directory),
    }
    if options.points:
        for bits in (7, 6, 5):
            count = 1 << bits
            found[f"zoetrope {count}"] = half + ["--colors", str(count)]
            found[f"gifsicle {count}"] = gifsicle[:1] + ["-O3", "--colors", str(count)] + gifsicle[1:]
            found[f"gifsicle {count} mix"] = [
                "gifsicle", "-O3", "--colors", str(count), "--resize-method", "mix", *gifsicle[1:]]
            found[f"libvips {count}"] = [*thumbnail, f"{target}[bitdepth={bits}]"]
        found["zoetrope none"] = half + ["--dither", "none"]
    if options.only:
        found = {name: line for name, line in found.items() if name in ["zoetrope", *options.only.split(",")]}
    return found


def quality(reference, shown):
    """SSIM, and SSIMULACRA2 if it is asked for: means over pairs of pictures."""
    pairs = list(zip(reference, shown))
    return (mean([ssim(*pair) for pair in pairs]),
            mean([ssimulacra2(*pair) for pair in pairs]) if options.ssimulacra2 else None)


def flicker(reference, shown, path):
    """The mean change of pixels that do not change in the reference."""
    change, count = 0, 0
    pictures = frames(path)
    starts = [0] + reference[0].ends
    at = [shown.index((a + b) / 2 / starts[-1]) for a, b in zip(starts, starts[1:])]
    for index, (before, after) in enumerate(zip(reference[1], reference[1][1:])):
        still = (before == after).all(axis=2)
        step = numpy.abs(pictures[at[index + 1]].astype(int) - pictures[at[index]].astype(int)).sum(axis=2)
        change, count = change + int(step[still].sum()), count + int(still.sum())
    return change / count if count else 0.0


def check_bytes(source, target, size, directory):
    """The bytes of our file, also if frames of a damaged original are missing in it; or None."""
    if os.path.exists(target):
        os.remove(target)
    line = programs(source, target, size, directory)["zoetrope"]
    return os.path.getsize(target) if run(line, (0, 1)) is not None and os.path.exists(target) else None


def compare(source, target, size, directory):
    """Points of bytes and quality by program, and the bytes of our file."""
    exact = os.path.join(directory, "exact.png")
    if options.reference == "pillow":
        pillow(source, exact, size)
    elif run([options.zoetrope, "convert", source, "-o", exact, "--size", f"{size[0]}x{size[1]}", "--fit", "stretch",
              "--force", "--quiet"]) is None:
        print(f"{source}: cannot be scaled", file=sys.stderr)
        return {}, None
    reference = Film(exact), frames(exact)
    shares = reference[0].middles(options.samples)
    samples = reference[0].pictures(shares)
    with Image.open(source) as image:
        print(f"\n{os.path.basename(source)}: {os.path.getsize(source)} bytes, {len(reference[1])} frames, "
              f"{image.size[0]}x{image.size[1]} -> {size[0]}x{size[1]}")
    print(f"{'program':18} {'bytes':>9} {'cpu s':>7} {'wall s':>7} {'SSIM':>7} {'SSIMU2':>7} {'flicker':>8}")
    curves, own = {}, None
    for name, line in programs(source, target, size, directory).items():
        if os.path.exists(target):
            os.remove(target)
        if line is None:
            before, start = time.process_time(), time.monotonic()
            try:
                pillow(source, target, size)
            except Exception:
                continue
            spent = time.process_time() - before, time.monotonic() - start
        else:
            spent = run(line)
        if spent is None or not os.path.exists(target):
            print(f"{name:18} -")
            continue
        shown, count = Film(target), os.path.getsize(target)
        if shown.size != tuple(size):
            print(f"{name:18} - another size: {shown.size[0]}x{shown.size[1]}")
            continue
        own = count if name == "zoetrope" else own
        score, perceived = quality(samples, shown.pictures(shares))
        print(f"{name:18} {count:9} {spent[0]:7.2f} {spent[1]:7.2f} "
              f"{score if score is not None else 0:7.4f} {perceived if perceived is not None else 0:7.1f} "
              f"{flicker(reference, shown, target):8.4f}", flush=True)
        best = perceived if options.ssimulacra2 else score
        if best is not None:
            curves.setdefault(name.split()[0], []).append((count, best))
    if options.points and "zoetrope" in curves:
        print("bytes at equal quality, zoetrope /", "; ".join(
            f"{name} {verdict(curves['zoetrope'], curve)}" for name, curve in curves.items() if name != "zoetrope"))
    return curves, own


larger, failed, charts, total = [], [], {}, 0
with tempfile.TemporaryDirectory() as directory:
    target = os.path.join(directory, "out.gif")
    for source in options.files:
        name = os.path.basename(source)
        try:
            with Image.open(source) as image:
                size = tuple(max(1, round(side * options.size / 100)) for side in image.size)
        except Exception:
            failed.append(name)
            continue
        if options.bytes:
            count = check_bytes(source, target, size, directory)
        else:
            charts[name], count = compare(source, target, size, directory)
        if count is None:
            failed.append(name)
            continue
        total += count
        if count > os.path.getsize(source):
            larger.append(name)
            print(f"{name}: {os.path.getsize(source)} -> {count}")
charts = {name: curves for name, curves in charts.items() if "zoetrope" in curves}
if options.points and charts:
    print("\n| zoetrope / | files | bytes at equal quality | always better | always worse |\n|---|---|---|---|---|")
    for program in dict.fromkeys(name for curves in charts.values() for name in curves if name != "zoetrope"):
        pairs = [(curves["zoetrope"], curves[program]) for curves in charts.values() if program in curves]
        found = [each for each in (ratio(*pair) for pair in pairs) if each]
        words = [verdict(*pair) for pair in pairs]
        print(f"| {program} | {len(found)} | {f'{geometric_mean(found):.3f}' if found else ''} | "
              f"{sum('better' in each for each in words)} | {sum('worse' in each for each in words)} |")
if options.plot and charts:
    plot(options.plot, charts, "SSIMULACRA2" if options.ssimulacra2 else "SSIM")
print(f"\n{len(failed)} of {len(options.files)} files not scaled", *failed)
print(f"{len(options.files) - len(failed)} files, {total} bytes; {len(larger)} larger than the input", *larger)
sys.exit(1 if larger else 0)
