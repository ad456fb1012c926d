#!/usr/bin/env python3
"""compare_optimizers.py ZOETROPE FILE...: compares `zoetrope optimize` with `gifsicle -O3`, file by file.

Prints the files that grew, that look different afterwards, or that are more than 1 % larger than gifsicle's; then sums,
medians and seconds of processor time. Pictures are compared as `zoetrope extract` decodes them and, with --giflib,
--ffmpeg and --pillow, also as these do. What counts is which picture is shown when: equal pictures in a row count as
one that is shown for longer. gifsicle's file counts only if it looks the same as the original.

A decoder that shows the original unlike `zoetrope extract` follows other rules. A file that it shows differently
afterwards is printed apart. Exits 1 if a file grew, or is shown differently by a decoder that agreed on the original.

--effort default|small, --gifsicle PROGRAM, --limit BYTES leaves out larger files, --keep DIR keeps the outputs.
Needs numpy; a C compiler and giflib's header for --giflib.
"""
import argparse, hashlib, json, math, os, resource, statistics, subprocess, sys, tempfile
from fractions import Fraction

import numpy

parser = argparse.ArgumentParser()
parser.add_argument("zoetrope")
parser.add_argument("files", nargs="+")
parser.add_argument("--effort", default="small")
parser.add_argument("--gifsicle", default="gifsicle")
parser.add_argument("--limit", type=int, default=1 << 40)
parser.add_argument("--keep")
parser.add_argument("--giflib", action="store_true")
parser.add_argument("--ffmpeg", action="store_true")
parser.add_argument("--pillow", action="store_true")
options = parser.parse_args()
directory = options.keep or tempfile.mkdtemp()
os.makedirs(directory, exist_ok=True)


def run(*arguments):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([str(a) for a in arguments], capture_output=True, timeout=600)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def digest(picture):
    """A hash of RGBA bytes. The colours of transparent pixels do not count."""
    pixels = numpy.frombuffer(picture, dtype="<u4")
    return hashlib.sha256(numpy.where(pixels >> 24, pixels, 0).tobytes()).digest()


def timeline(pictures, delays):
    """Which picture is shown for how long: equal ones in a row are joined."""
    joined = []
    for picture, delay in zip(pictures, delays):
        if joined and joined[-1][0] == picture:
            joined[-1] = picture, joined[-1][1] + delay
        else:
            joined.append((picture, delay))
    return joined


class Output:
    """The output of a program, read as it arrives."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen(
            [str(a) for a in arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def pictures(self, byte_count):
        """Hashes of the pictures. An incomplete one is left out."""
        while len(picture := self.process.stdout.read(byte_count)) == byte_count and byte_count:
            yield digest(picture)
        self.process.stdout.read()
        self.process.wait()


def in_zoetrope(path):
    """The size and the plays, and which picture is shown for how long."""
    info, _ = run(options.zoetrope, "info", path, "--json", "--frames")
    if not info.stdout:
        return None
    facts = json.loads(info.stdout.splitlines()[0])
    if not facts.get("width"):
        return None
    loop = facts.get("loop", {})
    output = Output(options.zoetrope, "extract", path, "-o", "-", "--format", "rgba", "--quiet")
    pictures = list(output.pictures(facts["width"] * facts["height"] * 4))
    if output.process.returncode not in (0, 1, 6):
        return None
    delays = [Fraction(frame["delay"]["num"], frame["delay"]["den"] or 100) for frame in facts["frames"]]
    return (facts["width"], facts["height"], loop.get("plays"), loop.get("forever")), timeline(pictures, delays)


def in_giflib(path):
    output = Output(os.path.join(directory, "giflib_frames"), path)
    stream, pictures, delays, facts = output.process.stdout, [], [], {}
    while line := stream.readline().split():
        facts[line[0]] = [int(word) for word in line[1:]]
        if line[0] == b"frame":
            delays += facts.pop(b"frame")
            pictures.append(digest(stream.read(math.prod(facts[b"size"]) * 4)))
    output.process.wait()
    return facts, timeline(pictures, delays)


def in_ffmpeg(path):
    """As ffmpeg shows the file: it raises delays below 20 ms to 100 ms."""
    probe, _ = run("ffprobe", "-v", "quiet", "-select_streams", "v", "-show_entries",
                   "stream=width,height,time_base:packet=pts,duration", "-of", "json", path)
    try:
        facts = json.loads(probe.stdout)
        stream = facts["streams"][0]
        starts = [int(packet["pts"]) for packet in facts["packets"]]
        starts.append(starts[-1] + int(facts["packets"][-1]["duration"]))
    except (ValueError, LookupError):
        return None
    output = Output("ffmpeg", "-v", "quiet", "-i", path, "-fps_mode", "passthrough", "-f", "rawvideo",
                    "-pix_fmt", "rgba", "-")
    pictures = list(output.pictures(stream["width"] * stream["height"] * 4))
    if len(pictures) != len(starts) - 1:
        return ("frames missing", len(pictures), len(starts) - 1), timeline(pictures, [0] * len(pictures))
    base = Fraction(stream["time_base"])
    delays = [(end - start) * base for start, end in zip(starts, starts[1:])]
    return (stream["width"], stream["height"]), timeline(pictures, delays)


def in_pillow(path):
    from PIL import Image, ImageSequence
    try:
        image = Image.open(path)
        pictures, delays = [], []
        for frame in ImageSequence.Iterator(image):
            delays.append(frame.info.get("duration", 0))
            pictures.append(digest(frame.convert("RGBA").tobytes()))
        return (image.size, image.info.get("loop")), timeline(pictures, delays)
    except Exception as error:
        return str(type(error)), []


def pictures(shown):
    return [picture for picture, _ in shown[1]] if shown else None


others = {"giflib": in_giflib, "ffmpeg": in_ffmpeg, "Pillow": in_pillow}
others = {name: reading for name, reading in others.items() if getattr(options, name.lower())}
if "giflib" in others:
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "peers", "giflib_frames.c")
    subprocess.run(["cc", "-O2", "-o", os.path.join(directory, "giflib_frames"), source, "-lgif"], check=True)
rows, grown, above, compared, inexact = [], [], [], 0, 0
different = {name: [] for name in ["zoetrope", *others]}
otherwise = {name: [] for name in others}
agreed = dict.fromkeys(others, 0)
times = [0.0, 0.0]
for path in options.files:
    size = os.path.getsize(path)
    name = os.path.basename(path)
    if size > options.limit:
        continue
    ours, theirs = os.path.join(directory, "z-" + name), os.path.join(directory, "g-" + name)
    for output in (ours, theirs):
        if os.path.exists(output):
            os.remove(output)
    done, seconds = run(
        options.zoetrope, "optimize", path, "-o", ours, "--effort", options.effort, "--force", "--quiet")
    if not os.path.exists(ours):
        continue
    compared += 1
    peer, peer_seconds = run(options.gifsicle, "-O3", "--no-warnings", path, "-o", theirs)
    times[0] += seconds
    times[1] += peer_seconds
    before = in_zoetrope(path)
    if os.path.getsize(ours) > size:
        grown.append(name)
    if before != in_zoetrope(ours):
        different["zoetrope"].append(name)
    for other, reading in others.items():
        original = reading(path)
        agrees = pictures(original) == pictures(before)
        agreed[other] += agrees
        if original != reading(ours):
            (different if agrees else otherwise)[other].append(name)
    if peer.returncode or not os.path.exists(theirs) or pictures(in_zoetrope(theirs)) != pictures(before):
        inexact += 1
        continue
    row = (os.path.getsize(ours) / os.path.getsize(theirs), name, size, os.path.getsize(ours), os.path.getsize(theirs))
    rows.append(row)
    if row[0] > 1.01:
        above.append(row)

for ratio, name, size, own, peer in sorted(above):
    print(f"{ratio:.3f} {name}: {size} bytes, {own}, gifsicle {peer}")
print(f"{len(rows)} files with an exact file of gifsicle, {inexact} without; {len(above)} more than 1 % above it")
if rows:
    print(f"bytes: {sum(r[2] for r in rows)} before, {sum(r[3] for r in rows)}, gifsicle {sum(r[4] for r in rows)}")
    print(f"median ratio {statistics.median(r[0] for r in rows):.4f}")
print(f"processor seconds {times[0]:.1f}, gifsicle {times[1]:.1f}")
print(f"{compared} files optimized, {len(grown)} grew", *grown)
for name, found in different.items():
    print(f"{name} shows {len(found)} differently afterwards", *found)
    if name in others:
        print(f"{name} shows {compared - agreed[name]} originals unlike zoetrope; {len(otherwise[name])} of them "
              "differently afterwards", *otherwise[name])
sys.exit(1 if grown or any(different.values()) else 0)
