#!/usr/bin/env python3
"""compare_writers.py BENCH_WRITE check|race FILE...: checks and compares writing animations as APNG.

check: decodes the file that Zoetrope writes with Zoetrope, libpng, Pillow and ffmpeg (8 and 16 bits), and compares
every frame with those decoded from the original; then compares delays and plays. Ignores the colours of transparent
pixels. Prints what differs.

race: compares bytes and processor seconds with apngasm, apngopt (Debian's, with their defaults), ffmpeg and Pillow.
Zoetrope and apngopt read apngasm's file, without metadata and static images that are not frames; the others read PNG
frames. --effort NAME; --limit PIXELS leaves out files with more pixels in all frames; --with NAMES chooses the peers.
"""
import argparse, glob, hashlib, os, resource, shutil, subprocess, sys, tempfile

parser = argparse.ArgumentParser()
parser.add_argument("bench")
parser.add_argument("mode", choices=["check", "race"])
parser.add_argument("files", nargs="+")
parser.add_argument("--effort", default="balanced")
parser.add_argument("--limit", type=int, default=1 << 40)
parser.add_argument("--with", dest="peers", default="apngasm,apngopt,ffmpeg,pillow")
options = parser.parse_args()


def run(*arguments, **more):
    return subprocess.run([str(a) for a in arguments], capture_output=True, check=True, **more).stdout


def facts(path):
    lines = run(options.bench, "facts", path).decode().split("\n")
    plays, width, height = map(int, lines[0].split())
    return plays, width, height, [tuple(map(int, line.split())) for line in lines[1:] if line]


def cleaned(raw, deep):
    import numpy
    pixels = numpy.frombuffer(raw, dtype="<u2" if deep else "u1").reshape(-1, 4).copy()
    pixels[pixels[:, 3] == 0] = 0
    return pixels.tobytes()


def hashes(raw, size, deep):
    size *= 8 if deep else 4
    return [hashlib.md5(cleaned(raw[at:at + size], deep)).hexdigest() for at in range(0, len(raw), size)]


def is_deep(path):
    with open(path, "rb") as file:
        head = file.read(26)
    return len(head) > 24 and head[1:4] == b"PNG" and head[24] == 16


def check(path, folder):
    from PIL import Image
    from fractions import Fraction
    deep = is_deep(path)
    out = os.path.join(folder, "out.png")
    more = ["deep"] if deep else []
    try:
        run(options.bench, "copy", path, out, options.effort, 0, *more)
    except subprocess.CalledProcessError as error:
        global unread
        try:
            run(options.bench, "facts", path)
        except subprocess.CalledProcessError:
            unread += 1
            return []
        return [f"not written: {error.stderr.decode().strip()[-200:]}"]
    plays, width, height, delays = facts(path)
    found = facts(out)
    problems = []
    if found[0] != plays:
        problems.append(f"plays {plays} became {found[0]}")
    if [Fraction(*d) for d in found[3]] != [Fraction(*d) for d in delays]:
        problems.append("delays differ")
    if width * height * len(delays) > options.limit:
        return problems + ["not compared: large"] if problems else []
    expected = hashes(run(options.bench, "dump", path, *more), width * height, deep)
    if hashes(run(options.bench, "dump", out, *more), width * height, deep) != expected:
        problems.append("our pixels differ")
    if hashes(run(options.bench, "dump", out, "libpng", *more), width * height, deep) != expected:
        problems.append("libpng's pixels differ")
    # As ffmpeg shows the file. Equal frames still count as frames.
    # 16-bit samples that fit in 8 bits are stored in 8, and ffmpeg does not widen them exactly.
    wide = is_deep(out)
    if wide != deep:
        expected = hashes(run(options.bench, "dump", path), width * height, False)
    form = "rgba64le" if wide else "rgba"
    try:
        raw = run("ffmpeg", "-v", "error", "-i", out, "-f", "rawvideo", "-pix_fmt", form, "-vsync", "passthrough", "-")
        theirs = hashes(raw, width * height, wide)
        if theirs != expected:
            wrong = sum(a != b for a, b in zip(theirs, expected))
            problems.append(f"ffmpeg: {wrong} of {len(expected)} frames differ, {len(theirs)} decoded")
    except subprocess.CalledProcessError as error:
        problems.append(f"ffmpeg: {error.stderr.decode().strip()[-200:]}")
    if not wide:
        try:
            Image.MAX_IMAGE_PIXELS = None
            image = Image.open(out)
            theirs, times = [], []
            # Pillow counts a static image that is not a frame as the first frame.
            first = 1 if getattr(image, "default_image", False) else 0
            for index in range(first, image.n_frames):
                image.seek(index)
                times.append(image.info.get("duration"))
                theirs.append(hashlib.md5(cleaned(image.convert("RGBA").tobytes(), False)).hexdigest())
            if theirs != expected:
                wrong = sum(a != b for a, b in zip(theirs, expected))
                problems.append(f"Pillow: {wrong} of {len(expected)} frames differ, {len(theirs)} decoded, mode {image.mode}")
            if image.info.get("loop", 0) != plays:
                problems.append(f"Pillow: {image.info.get('loop')} plays for {plays}")
            wanted = [1000 * d[0] / d[1] for d in delays]
            if any(abs((a or 0) - b) > 1e-6 * max(b, 1) for a, b in zip(times, wanted)):
                problems.append("Pillow: delays differ")
        except Exception as error:
            problems.append(f"Pillow: {error!r}")
    return problems


def race(path, folder):
    _, width, height, delays = facts(path)
    if len(delays) < 2 or width * height * len(delays) > options.limit:
        return None
    frames = os.path.join(folder, "frames")
    shutil.rmtree(frames, ignore_errors=True)
    os.mkdir(frames)
    run(options.bench, "frames", path, frames)
    source = os.path.realpath(path)
    results = {}

    def entry(name, output, *command):
        """The lowest processor time of a few runs, which depends least on other work on the machine."""
        seconds = min(cpu(folder, *command) for _ in range(3 if name == "ours" else 1))
        results[name] = (os.path.getsize(os.path.join(folder, output)), seconds)

    if "apngasm" in options.peers:
        run("apngasm", "asm.png", "frames/f000000.png", "-z0", cwd=folder)
        source = "asm.png"
    entry("ours", "ours.png", options.bench, "copy", source, "ours.png", options.effort, 0, "merge")
    # Paths are relative, because apngopt takes an argument that begins with a slash as an option.
    commands = {
        "apngasm": ("asm.png", "apngasm", "asm.png", "frames/f000000.png"),
        "apngopt": ("opt.png", "apngopt", "asm.png" if "apngasm" in options.peers else "ours.png", "opt.png"),
        "ffmpeg": ("ff.png", "ffmpeg", "-v", "error", "-y", "-framerate", "25", "-i", "frames/f%06d.png", "-f", "apng", "ff.png"),
        "pillow": ("pil.png", sys.executable, "-c", PILLOW, "pil.png", *sorted(glob.glob(frames + "/*.png"))),
    }
    for name, (output, *command) in commands.items():
        if name in options.peers:
            entry(name, output, *command)
    return results


PILLOW = """import sys
from PIL import Image
pictures = [Image.open(name) for name in sys.argv[2:]]
pictures[0].save(sys.argv[1], save_all=True, append_images=pictures[1:], duration=40)"""


def cpu(folder, *command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run(*command, cwd=folder)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
    sums, bad, unread = {}, 0, 0
    for path in options.files:
        if options.mode == "check":
            problems = check(path, folder)
            bad += bool(problems)
            for problem in problems:
                print(f"{os.path.basename(path)}: {problem}", flush=True)
            continue
        try:
            results = race(path, folder)
        except subprocess.CalledProcessError as error:
            print(f"{os.path.basename(path)}: {error.cmd[0]} failed", flush=True)
            continue
        if not results:
            continue
        for name, (size, seconds) in results.items():
            total = sums.setdefault(name, [0, 0.0, 0])
            sums[name] = [total[0] + size, total[1] + seconds, total[2] + (size < results["ours"][0])]
        losses = [n for n, (s, _) in results.items() if s < results["ours"][0]]
        print(os.path.basename(path), *(f"{n} {s} {t:.3f}" for n, (s, t) in results.items()),
              *(["LARGER than", *losses] if losses else []), flush=True)
    if options.mode == "check":
        print(f"{len(options.files)} files, {unread} of them not decodable; {bad} with a difference")
    for name, (size, seconds, smaller) in sums.items():
        print(f"{name}: {size} bytes, {seconds:.2f} s, smaller than ours in {smaller} files")
