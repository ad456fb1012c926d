#!/usr/bin/env python3
"""compare_resizers.py ZOETROPE FILE...: compares GIFs scaled by `zoetrope convert --size` and by other programs.

For each file and program, prints bytes, processor seconds, wall-clock seconds, SSIM of luma, and flicker. SSIM (and
SSIMULACRA2 with --ssimulacra2) compares sampled frames with the source scaled in full colour. Flicker is the mean
change between frames of pixels that do not change in that reference; it should be 0. Programs that are missing or fail
are skipped.

--size PERCENT (default 50), --samples N frames for quality (default 12), --points adds a curve of palette sizes for
zoetrope and gifsicle, --only NAME,... , --bytes compares only bytes with the input.
Needs numpy, Pillow and scikit-image; gifsicle, ffmpeg and ImageMagick where they are compared.
"""
import argparse, os, resource, shutil, subprocess, sys, tempfile, time

import numpy
from PIL import Image, ImageSequence

parser = argparse.ArgumentParser()
parser.add_argument("zoetrope")
parser.add_argument("files", nargs="+")
parser.add_argument("--size", type=int, default=50)
parser.add_argument("--samples", type=int, default=12)
parser.add_argument("--points", action="store_true")
parser.add_argument("--only")
parser.add_argument("--bytes", action="store_true")
parser.add_argument("--ssimulacra2", action="store_true")
options = parser.parse_args()
directory = tempfile.mkdtemp()


def run(arguments):
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    try:
        done = subprocess.run([str(a) for a in arguments], capture_output=True, timeout=300)
    except (OSError, subprocess.TimeoutExpired):
        return None
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        return None
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, time.monotonic() - start


def frames(path):
    """All pictures as RGBA arrays, without the colours of transparent pixels."""
    pictures = []
    for frame in ImageSequence.Iterator(Image.open(path)):
        pixels = numpy.array(frame.convert("RGBA"))
        pixels[pixels[..., 3] == 0] = 0
        pictures.append(pixels)
    return pictures


def over_white(pictures):
    """The pictures over white, as RGB arrays."""
    blended = []
    for pixels in pictures:
        rgba = Image.fromarray(pixels)
        white = Image.new("RGBA", rgba.size, "white")
        blended.append(numpy.asarray(Image.alpha_composite(white, rgba).convert("RGB")))
    return blended


def pillow(source, target, size):
    """Scales with a few lines of Pillow."""
    image = Image.open(source)
    pictures, delays = [], []
    for frame in ImageSequence.Iterator(image):
        pictures.append(frame.convert("RGBA").resize(size, Image.Resampling.BILINEAR))
        delays.append(frame.info.get("duration", 100))
    pictures[0].save(target, save_all=True, append_images=pictures[1:], duration=delays, loop=0)


def programs(source, target, size):
    width, height = size
    box = f"{width}x{height}"
    half = [options.zoetrope, "convert", source, "-o", target, "--size", box, "--fit", "stretch", "--force", "--quiet"]
    convert = shutil.which("convert") or "convert"
    filters = f"scale={width}:{height}:flags=bilinear,split[a][b];[a]palettegen[p];[b][p]paletteuse"
    gifsicle = ["gifsicle", source, "--resize", box, "-o", target]
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
    }
    if options.points:
        for count in (128, 64, 32):
            found[f"zoetrope {count}"] = half + ["--colors", str(count)]
            found[f"gifsicle {count}"] = gifsicle[:1] + ["-O3", "--colors", str(count)] + gifsicle[1:]
        found["zoetrope none"] = half + ["--dither", "none"]
    if options.only:
        found = {name: line for name, line in found.items() if name in options.only.split(",")}
    return found


def quality(reference, shown):
    from skimage.metrics import structural_similarity
    count = min(len(reference), len(shown))
    step = max(count // options.samples, 1)
    scores, perceived = [], []
    for index in range(0, count, step):
        one, other = reference[index], shown[index]
        luma = [numpy.asarray(Image.fromarray(p).convert("L")) for p in (one, other)]
        side = min(luma[0].shape)
        if side < 7:
            return None, None
        scores.append(structural_similarity(luma[0], luma[1]))
        if options.ssimulacra2:
            import ssimulacra2
            names = [os.path.join(directory, f"{name}.png") for name in ("one", "other")]
            for name, picture in zip(names, (one, other)):
                Image.fromarray(picture).save(name)
            perceived.append(ssimulacra2.compute_ssimulacra2(*names))
    return sum(scores) / len(scores), sum(perceived) / len(perceived) if perceived else None


def flicker(reference, shown):
    """The mean change of pixels that do not change in the reference."""
    change, count = 0, 0
    for index in range(1, min(len(reference), len(shown))):
        still = (reference[index] == reference[index - 1]).all(axis=2)
        step = numpy.abs(shown[index].astype(int) - shown[index - 1].astype(int)).sum(axis=2)
        change, count = change + int(step[still].sum()), count + int(still.sum())
    return change / count if count else 0.0


larger, totals = [], {}
for source in options.files:
    image = Image.open(source)
    size = tuple(max(1, round(side * options.size / 100)) for side in image.size)
    original = os.path.getsize(source)
    target = os.path.join(directory, "out.gif")
    exact = os.path.join(directory, "exact.png")
    if options.bytes:
        line = programs(source, target, size)["zoetrope"]
        if run(line) is None:
            print(f"{os.path.basename(source)}: failed")
            continue
        count = os.path.getsize(target)
        totals["bytes"] = totals.get("bytes", 0) + count
        if count > original:
            larger.append(source)
            print(f"{os.path.basename(source)}: {original} -> {count}")
        continue
    if run([options.zoetrope, "convert", source, "-o", exact, "--size", f"{size[0]}x{size[1]}", "--fit", "stretch",
            "--force", "--quiet"]) is None:
        print(f"{source}: cannot be scaled", file=sys.stderr)
        continue
    reference = frames(exact)
    print(f"\n{os.path.basename(source)}: {original} bytes, {len(reference)} frames, "
          f"{image.size[0]}x{image.size[1]} -> {size[0]}x{size[1]}")
    print(f"{'program':18} {'bytes':>9} {'cpu s':>7} {'wall s':>7} {'SSIM':>7} {'SSIMU2':>7} {'flicker':>8}")
    for name, line in programs(source, target, size).items():
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
        shown = frames(target)
        ssim, perceived = quality(over_white(reference), over_white(shown))
        print(f"{name:18} {os.path.getsize(target):9} {spent[0]:7.2f} {spent[1]:7.2f} "
              f"{ssim if ssim is not None else 0:7.4f} {perceived if perceived is not None else 0:7.1f} "
              f"{flicker(reference, shown):8.4f}")
if options.bytes:
    print(f"{len(options.files)} files, {len(larger)} larger than the input, {totals.get('bytes', 0)} bytes")
