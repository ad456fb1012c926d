#!/usr/bin/env python3
"""try-wheel.py FOLDER: prints the digest of all frames, times and damage that zoetrope.frames finds in a folder.

Also converts the first file that can be read, and checks the number of frames."""
import hashlib, io, os, sys, zoetrope
digest, counts, folder = hashlib.sha256(), {}, sys.argv[1]
for name in sorted(os.listdir(folder)):
    for row in zoetrope.frames({"path": name, "bytes": open(f"{folder}/{name}", "rb").read()}):
        counts["frames" if row["frame"] else "errors"] = counts.get("frames" if row["frame"] else "errors", 0) + 1
        digest.update(repr((row["path"], row["index"], row["start_ms"], row["duration_ms"], row["damage"], row["tolerated"])).encode())
        digest.update(row["frame"] or b"")
for name in sorted(os.listdir(folder)):
    try:
        animation = zoetrope.open(f"{folder}/{name}")
    except zoetrope.ZoetropeError:
        continue
    with animation:
        written = io.BytesIO()
        made = animation.convert(written, format="apng")
        with zoetrope.open(written.getvalue(), damage="strict") as reopened:
            assert len(reopened) == made.frame_count, f"{name}: {len(reopened)} of {made.frame_count} frames"
            counts["converted"] = len(reopened)
    break
print(zoetrope.__version__, counts, digest.hexdigest())
