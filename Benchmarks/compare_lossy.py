#!/usr/bin/env python3
"""compare_lossy.py ZOETROPE FILE...: compares `zoetrope optimize --lossy N` with `gifsicle -O3 --lossy=N`.

For each GIF and N, prints bytes, processor seconds, and the quality of sampled pictures compared with the original. N
has another meaning in each program, so only bytes at equal quality can be compared: for each file, prints our bytes
divided by gifsicle's, as a mean over the qualities that both reach; then the geometric mean over the files. --plot
FILE.svg draws the curves. Exits 1 if one of our files is larger than its original.

--points N,... (default 10,20,40,80,120,200), --samples N pictures per file (default 4), --metric ssimulacra2|ssim,
--effort default|small, --gifsicle PROGRAM. SSIMULACRA2 takes some 2 s for a million pixels.
Needs numpy and Pillow, and the package ssimulacra2 or scikit-image.
"""
import argparse, os, sys, tempfile

from curves import plot, ratio, verdict
from pictures import Film, METRICS, geometric_mean, mean, run

parser = argparse.ArgumentParser()
parser.add_argument("zoetrope")
parser.add_argument("files", nargs="+")
parser.add_argument("--points", default="10,20,40,80,120,200")
parser.add_argument("--samples", type=int, default=4)
parser.add_argument("--metric", choices=METRICS, default="ssimulacra2")
parser.add_argument("--effort", default="default")
parser.add_argument("--gifsicle", default="gifsicle")
parser.add_argument("--plot")
options = parser.parse_args()


def measure(line, target, shares, reference):
    """Bytes, quality, the lowest quality and processor seconds, or None."""
    if os.path.exists(target):
        os.remove(target)
    spent = run(line)
    if spent is None or not os.path.exists(target):
        return None
    scores = [METRICS[options.metric](*pair) for pair in zip(reference, Film(target).pictures(shares))]
    if None in scores:
        return None
    return os.path.getsize(target), mean(scores), min(scores), spent[0]


def compare(path, target):
    """The curves of both programs, and the N at which our file is larger than the original."""
    film, size, grown = Film(path), os.path.getsize(path), []
    shares = film.middles(options.samples)
    reference = film.pictures(shares)
    curves = {"zoetrope": [], "gifsicle": []}
    print(f"\n{os.path.basename(path)}: {size} bytes, {len(film.ends)} frames, {film.size[0]}x{film.size[1]}")
    print(f"{'program':10} {'N':>4} {'bytes':>9} {'share':>6} {options.metric:>11} {'lowest':>7} {'cpu s':>6}")
    for level in options.points.split(","):
        lines = {
            "zoetrope": [options.zoetrope, "optimize", path, "-o", target, "--lossy", level,
                         "--effort", options.effort, "--force", "--quiet"],
            "gifsicle": [options.gifsicle, "-O3", f"--lossy={level}", "--no-warnings", path, "-o", target],
        }
        for name, line in lines.items():
            found = measure(line, target, shares, reference)
            if found is None:
                print(f"{name:10} {level:>4} -")
                continue
            count, quality, lowest, seconds = found
            curves[name].append((count, quality))
            print(f"{name:10} {level:>4} {count:9} {count / size:6.3f} {quality:11.4f} {lowest:7.2f} {seconds:6.2f}",
                  flush=True)
            if name == "zoetrope" and count > size:
                grown.append(f"{os.path.basename(path)} at {level}")
    print("bytes at equal quality, zoetrope / gifsicle:", verdict(curves["zoetrope"], curves["gifsicle"]))
    return curves, grown


with tempfile.TemporaryDirectory() as directory:
    charts, grown, ratios = {}, [], []
    for path in options.files:
        curves, larger = compare(path, os.path.join(directory, "out.gif"))
        grown += larger
        if all(curves.values()):
            charts[os.path.basename(path)] = curves
            ratios.append((ratio(curves["zoetrope"], curves["gifsicle"]), os.path.basename(path)))
print("\n| file | bytes at equal quality, zoetrope / gifsicle |\n|---|---|")
for found, name in sorted((pair for pair in ratios if pair[0]), key=lambda pair: pair[0]):
    print(f"| {name} | {found:.3f} |")
found = [pair[0] for pair in ratios if pair[0]]
if found:
    print(f"| geometric mean of {len(found)} | **{geometric_mean(found):.3f}** |")
print(f"\n{len(options.files) - len(found)} files without a common quality")
print(f"{len(grown)} outputs larger than the original", *grown)
if options.plot and charts:
    plot(options.plot, charts, options.metric)
sys.exit(1 if grown else 0)
