#!/usr/bin/env python3
"""compare_compression.py ZOETROPE FILE...: extracts every frame to PNG, with each of our levels, ffmpeg and Pillow.

Prints the milliseconds of whole programs, the best of three rounds in which every program runs once (`small` and Pillow
run only once in total), and the bytes written; then ffmpeg's time and bytes divided by ours. ffmpeg writes each frame
once with its defaults (zlib level 6, no row filters); Pillow uses compress_level=1 and libpng's filters. --rounds N,
--without small,Pillow.

Files are written to memory (/dev/shm) if possible, or to --folder. On ext4, creating a file takes up to ten times as
long if many files, such as those of earlier rounds, were deleted in the last minutes.
"""
import argparse, glob, math, os, shutil, subprocess, sys, tempfile, time

parser = argparse.ArgumentParser()
parser.add_argument("zoetrope")
parser.add_argument("files", nargs="+")
parser.add_argument("--rounds", type=int, default=3)
parser.add_argument("--without", default="")
parser.add_argument("--folder", default="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
options = parser.parse_args()
PILLOW = """import sys
from PIL import Image
image = Image.open(sys.argv[1])
for index in range(image.n_frames):
    image.seek(index)
    image.save(f"{sys.argv[2]}/{index}.png", compress_level=1)
"""
LEVELS = ["fast", "default", "small"]
programs = LEVELS + [each for each in ("ffmpeg", "Pillow") if each != "ffmpeg" or shutil.which(each)]
programs = [each for each in programs if each not in options.without.split(",")]
if "Pillow" in programs and subprocess.run([sys.executable, "-c", "import PIL"], stderr=subprocess.DEVNULL).returncode:
    programs.remove("Pillow")


def command(program, path, folder):
    if program == "ffmpeg":
        return ["ffmpeg", "-nostdin", "-loglevel", "error", "-y", "-i", path, "-fps_mode", "passthrough",
                "-f", "image2", folder + "/%d.png"]
    if program == "Pillow":
        return [sys.executable, "-c", PILLOW, path, folder]
    return [options.zoetrope, "extract", path, "-o", folder, "--effort", program, "--quiet"]


def run(program, path):
    """Milliseconds, and the bytes written."""
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        start = time.perf_counter()
        subprocess.run(command(program, path, folder), check=True, stdout=subprocess.DEVNULL)
        return (time.perf_counter() - start) * 1e3, sum(os.path.getsize(each) for each in glob.glob(folder + "/*"))


def row(cells):
    print("| " + " | ".join(cells) + " |", flush=True)


def mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


print(f"{len(os.sched_getaffinity(0))} processors\n")
row(["file"] + [f"{each} ms, MB" for each in programs])
row(["---"] * (len(programs) + 1))
found = {}
for path in options.files:
    best = {}
    for number in range(options.rounds):
        for program in programs:
            if number == 0 or program not in ("small", "Pillow"):
                time_, count = run(program, path)
                best[program] = (min(time_, best.get(program, (time_,))[0]), count)
    found[os.path.basename(path)] = best
    row([os.path.basename(path)] + [f"{best[each][0]:.0f}, {best[each][1] / 1e6:.2f}" for each in programs])
totals = {each: [sum(best[each][part] for best in found.values()) for part in (0, 1)] for each in programs}
row(["**all**"] + [f"{totals[each][0]:.0f}, {totals[each][1] / 1e6:.2f}" for each in programs])
for peer in ("ffmpeg", "Pillow"):
    if peer not in programs:
        continue
    print(f"\n{peer} in times of ours:\n")
    levels = [each for each in LEVELS if each in programs]
    row(["file"] + [f"{each}: time, bytes" for each in levels])
    row(["---"] * (len(levels) + 1))
    for name, best in found.items():
        row([name] + [f"{best[peer][0] / best[each][0]:.1f}, {best[peer][1] / best[each][1]:.2f}" for each in levels])
    row(["all together"] + [f"{totals[peer][0] / totals[each][0]:.1f}, {totals[peer][1] / totals[each][1]:.2f}" for each in levels])
    row(["geometric mean"] + [", ".join(
        f"{mean([best[peer][part] / best[each][part] for best in found.values()]):.{2 if part else 1}f}" for part in (0, 1))
        for each in levels])
