#!/usr/bin/env python3
"""pillow_peer.py decode|png|count FILE [DIR]: every frame to RGBA, to PNG files, or only counted."""
import sys, time
from PIL import Image

word, path = sys.argv[1], sys.argv[2]
start = time.perf_counter()
image = Image.open(path)
frames = image.n_frames
if word != "count":
    for index in range(frames):
        image.seek(index)
        frame = image.convert("RGBA")
        if word == "png":
            frame.save(f"{sys.argv[3]}/{index:05}.png")
print(f"frames={frames} ms={(time.perf_counter() - start) * 1e3:.3f}")
