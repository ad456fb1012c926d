#!/usr/bin/env python3
"""compare_optimizers.py ZOETROPE FILE...: compares `zoetrope optimize` with `gifsicle -O3`, file by file.

Prints the files that grew, that look different afterwards, or that are more than 1 % larger than gifsicle's; then sums,
medians and seconds of processor time. Pictures are compared as `zoetrope extract` decodes them and, with --pillow, also
as Pillow does. gifsicle's file counts only if it looks the same as the original.

--effort default|small, --gifsicle PROGRAM, --limit BYTES leaves out larger files, --keep DIR keeps the outputs.
"""
import argparse, hashlib, json, os, resource, statistics, subprocess, tempfile

parser = argparse.ArgumentParser()
parser.add_argument("zoetrope")
parser.add_argument("files", nargs="+")
parser.add_argument("--effort", default="small")
parser.add_argument("--gifsicle", default="gifsicle")
parser.add_argument("--limit", type=int, default=1 << 40)
parser.add_argument("--keep")
parser.add_argument("--pillow", action="store_true")
options = parser.parse_args()
directory = options.keep or tempfile.mkdtemp()
os.makedirs(directory, exist_ok=True)


def run(*arguments):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([str(a) for a in arguments], capture_output=True, timeout=600)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def shown(path):
    """Pictures, delays and plays, as our decoder shows them."""
    pixels, _ = run(options.zoetrope, "extract", path, "-o", "-", "--format", "rgba", "--quiet")
    info, _ = run(options.zoetrope, "info", path, "--json", "--frames")
    if pixels.returncode not in (0, 2, 3) or not info.stdout:
        return None
    facts = json.loads(info.stdout.splitlines()[0])
    loop = facts.get("loop", {})
    delays = [frame.get("delay") for frame in facts.get("frames", [])]
    return hashlib.sha256(pixels.stdout).hexdigest(), json.dumps(
        [delays, loop.get("plays"), loop.get("forever"), facts.get("width"), facts.get("height")])


def in_pillow(path):
    from PIL import Image, ImageSequence
    try:
        image = Image.open(path)
        frames = []
        for frame in ImageSequence.Iterator(image):
            picture = frame.convert("RGBA")
            # The colours of transparent pixels do not count.
            clear = Image.new("RGBA", picture.size)
            clear.paste(picture, mask=picture.getchannel("A").point(lambda alpha: 255 if alpha else 0))
            frames.append(hashlib.sha256(clear.tobytes()).digest())
        return frames, [image.info.get("loop")]
    except Exception as error:
        return str(type(error))


rows, grown, different, above, inexact = [], [], [], [], 0
times = [0.0, 0.0]
for path in options.files:
    size = os.path.getsize(path)
    name = os.path.basename(path)
    if size > options.limit:
        continue
    ours, theirs = os.path.join(directory, "z-" + name), os.path.join(directory, "g-" + name)
    done, seconds = run(
        options.zoetrope, "optimize", path, "-o", ours, "--effort", options.effort, "--force", "--quiet")
    if not os.path.exists(ours):
        continue
    peer, peer_seconds = run(options.gifsicle, "-O3", "--no-warnings", path, "-o", theirs)
    times[0] += seconds
    times[1] += peer_seconds
    before = shown(path)
    if os.path.getsize(ours) > size:
        grown.append(name)
    if before != shown(ours):
        different.append(name)
    if options.pillow and in_pillow(path) != in_pillow(ours):
        different.append(name + " (Pillow)")
    if peer.returncode or not os.path.exists(theirs) or (shown(theirs) or [0])[0] != (before or [1])[0]:
        inexact += 1
        continue
    row = (os.path.getsize(ours) / os.path.getsize(theirs), name, size, os.path.getsize(ours), os.path.getsize(theirs))
    rows.append(row)
    if row[0] > 1.01:
        above.append(row)

print("grown:", grown)
print("shows something else:", different)
for ratio, name, size, own, peer in sorted(above):
    print(f"{ratio:.3f} {name}: {size} bytes, {own}, gifsicle {peer}")
print(f"{len(rows)} files with an exact file of gifsicle, {inexact} without; {len(above)} more than 1 % above it")
if rows:
    print(f"bytes: {sum(r[2] for r in rows)} before, {sum(r[3] for r in rows)}, gifsicle {sum(r[4] for r in rows)}")
    print(f"median ratio {statistics.median(r[0] for r in rows):.4f}")
print(f"processor seconds {times[0]:.1f}, gifsicle {times[1]:.1f}")
