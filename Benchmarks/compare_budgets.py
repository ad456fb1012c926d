#!/usr/bin/env python3
"""compare_budgets.py ZOETROPE FILE...: compares `zoetrope convert --max-bytes` with sticker-convert at equal limits.

The limits are percentages of each file's size: --shares 60,40,25. The score of an output is the mean SSIMULACRA2 of the
pictures shown at --samples times (default 8) of one play, over white and scaled to the size of the source, compared
with what the source shows at the same times. So fewer pixels, frames and colours all cost. A picture counts as at least
-100, because lower values only say that it is another one. Prints bytes, score, elapsed seconds, size and frames for
each case; then in how many cases our score is higher, our file is over the limit, or there is none. Exits with status 1
if one of our files is over its limit.

sticker-convert starts at the size and frame rate of the source, and reduces as in its preset `custom`, at least to half
the size; if that does not suffice, to an eighth, as in its preset `signal`. It rounds both lengths and adds a margin.
The margin is opaque if the source is, so that it costs no bytes, and is cut off before scoring. SSIMULACRA2 takes some
2 s for a million pixels. Needs numpy, Pillow and the package ssimulacra2.
"""
import argparse, math, os, shutil, signal, subprocess, sys, tempfile, time

import numpy
from PIL import Image, ImageSequence

from pictures import Film, mean, ssimulacra2

parser = argparse.ArgumentParser()
parser.add_argument("zoetrope")
parser.add_argument("files", nargs="+")
parser.add_argument("--shares", default="60,40,25")
parser.add_argument("--samples", type=int, default=8)
parser.add_argument("--sticker-convert", default="sticker-convert")
parser.add_argument("--timeout", type=float, default=120, help="seconds per run")
parser.add_argument("--keep", help="a directory for the outputs")
options = parser.parse_args()


def wait(line):
    """Whether a program ends in time. Its processes are ended with it."""
    process = subprocess.Popen([str(part) for part in line], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        process.wait(options.timeout)
        return True
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return False


def zoetrope(path, film, limit, directory, extension):
    target = os.path.join(directory, "zoetrope" + extension)
    done = wait([options.zoetrope, "convert", path, "-o", target, "--max-bytes", limit, "--force", "--quiet"])
    return target, done


def sticker_convert(path, film, limit, directory, extension):
    source, results = os.path.join(directory, "source"), os.path.join(directory, "results")
    for name in source, results:
        os.makedirs(name)
    shutil.copy(path, source)
    target = os.path.join(results, os.path.splitext(os.path.basename(path))[0] + extension)
    shortest = min(end - start for start, end in zip([0] + film.ends, film.ends))
    for part in 2, 8:
        width, height = (max(length // part, 1) for length in film.size)
        done = wait([options.sticker_convert, "--no-confirm", "--no-progress", "--preset", "custom",
                     "--input-dir", source, "--output-dir", results, "--cache-dir", directory,
                     "--vid-size-max", limit, "--vid-format", extension, "--fps-max", math.ceil(1000 / shortest),
                     "--duration-max", math.ceil(film.ends[-1]) + 1000, "--res-w-min", width, "--res-h-min", height,
                     "--res-w-max", film.size[0], "--res-h-max", film.size[1]]
                    + (["--bg-color", "ffffffff"] if is_opaque(path) else []))
        if os.path.exists(target) or not done:
            break
    return target, done


def is_opaque(path):
    with Image.open(path) as image:
        return all(frame.convert("RGBA").getextrema()[3][0] == 255 for frame in ImageSequence.Iterator(image))


def inside(size, proportions):
    """The part of a picture of sticker-convert that is not margin."""
    (width, height), (across, down) = size, proportions
    if across * height > down * width:
        inner = width, max(down * width // across, 1)
    else:
        inner = max(across * height // down, 1), height
    left, top = (width - inner[0]) // 2, (height - inner[1]) // 2
    return left, top, left + inner[0], top + inner[1]


def score(path, film, shares, reference, margin):
    output = Film(path)
    box = inside(output.size, film.size) if margin else (0, 0, *output.size)
    shown = [Image.fromarray(picture).resize(film.size, Image.Resampling.BICUBIC, box)
             for picture in output.pictures(shares)]
    return mean([max(ssimulacra2(one, numpy.asarray(other)), -100) for one, other in zip(reference, shown)])


def compare(path, limit, film, shares, reference):
    """Bytes and score of each program's output, or None."""
    extension = ".gif" if path.endswith(".gif") else ".apng"
    found = []
    for program in zoetrope, sticker_convert:
        with tempfile.TemporaryDirectory() as directory:
            start = time.monotonic()
            target, done = program(path, film, limit, directory, extension)
            seconds = time.monotonic() - start
            if not os.path.exists(target):
                print(f"{limit:8} {program.__name__:15} {'no file' if done else 'timeout':>8} {'':7} {seconds:7.1f}")
                found.append(None)
                continue
            output, count = Film(target), os.path.getsize(target)
            found.append((count, score(target, film, shares, reference, program is sticker_convert)))
            print(f"{limit:8} {program.__name__:15} {count:8} {found[-1][1]:7.2f} {seconds:7.1f} "
                  f"{output.size[0]:5}x{output.size[1]:<5} {len(output.ends):6}", flush=True)
            if options.keep:
                name = f"{os.path.basename(path)}-{limit}-{program.__name__}{extension}"
                shutil.copy(target, os.path.join(options.keep, name))
    return found


cases = []
for path in options.files:
    film, size = Film(path), os.path.getsize(path)
    starts = [0] + film.ends
    # Steps of the golden ratio, because even steps may hit just the frames that are kept when every other is dropped.
    indexes = [film.index(number * 0.618034 % 1) for number in range(1, options.samples + 1)]
    shares = [(starts[index] + starts[index + 1]) / 2 / film.ends[-1] for index in indexes]
    reference = film.pictures(shares)
    print(f"\n{os.path.basename(path)}: {size} bytes, {len(film.ends)} frames, {film.size[0]}x{film.size[1]}")
    print(f"{'limit':>8} {'program':15} {'bytes':>8} {'score':>7} {'seconds':>7} {'size':^11} {'frames':>6}")
    for share in map(int, options.shares.split(",")):
        limit = size * share // 100
        cases.append((limit, *compare(path, limit, film, shares, reference)))

both = [(ours[1], theirs[1]) for _, ours, theirs in cases if ours and theirs]
print(f"\n{len(cases)} cases; both have a file in {len(both)}, and our score is higher in "
      f"{sum(ours > theirs for ours, theirs in both)}")
if both:
    print("mean score there: zoetrope {:.1f}, sticker-convert {:.1f}".format(*map(mean, zip(*both))))
for name, place in ("zoetrope", 1), ("sticker-convert", 2):
    over = sum(bool(case[place]) and case[place][0] > case[0] for case in cases)
    print(f"{name}: {over} over the limit, {sum(not case[place] for case in cases)} without a file")
sys.exit(any(ours and ours[0] > limit for limit, ours, _ in cases))
