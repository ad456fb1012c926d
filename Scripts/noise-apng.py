#!/usr/bin/env python3
"""Writes an animated PNG of seeded noise to standard output: Scripts/noise-apng.py FRAMES WIDTH HEIGHT"""
import random, struct, sys, zlib

count, width, height = map(int, sys.argv[1:4])
source = random.Random(1)


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def picture():
    return zlib.compress(b"".join(b"\0" + source.randbytes(4 * width) for _ in range(height)), 1)


parts = [
    b"\x89PNG\r\n\x1a\n",
    chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)),
    chunk(b"acTL", struct.pack(">II", count, 0)),
]
number = 0
for index in range(count):
    parts.append(chunk(b"fcTL", struct.pack(">IIIIIHHBB", number, width, height, 0, 0, 1, 10, 0, 0)))
    number += 1
    if index == 0:
        parts.append(chunk(b"IDAT", picture()))
    else:
        parts.append(chunk(b"fdAT", struct.pack(">I", number) + picture()))
        number += 1
sys.stdout.buffer.write(b"".join(parts) + chunk(b"IEND", b""))
