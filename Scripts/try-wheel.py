#!/usr/bin/env python3
"""try-wheel.py FOLDER: prints the digest of all frames, times and damage that zoetrope.frames finds in a folder."""
import hashlib, os, sys, zoetrope
digest, counts, folder = hashlib.sha256(), {}, sys.argv[1]
for name in sorted(os.listdir(folder)):
    for row in zoetrope.frames({"path": name, "bytes": open(f"{folder}/{name}", "rb").read()}):
        counts["frames" if row["frame"] else "errors"] = counts.get("frames" if row["frame"] else "errors", 0) + 1
        digest.update(repr((row["path"], row["index"], row["start_ms"], row["duration_ms"], row["damage"], row["tolerated"])).encode())
        digest.update(row["frame"] or b"")
print(zoetrope.__version__, counts, digest.hexdigest())
