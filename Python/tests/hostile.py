"""Small files that ask for everything that the strict limits allow."""

import struct
import zlib

SIDE = 4096


def gif(width, height, frames):
    """A GIF of ``frames``: (left, top, width, height, disposal, data).

    Black, which none of them has, is transparent: a frame depends on those before it.
    """
    palette = bytes([0, 0, 0, 255, 255, 255])
    parts = [b"GIF89a", struct.pack("<HHBBB", width, height, 0x80, 0, 0), palette]
    for left, top, w, h, disposal, data in frames:
        parts.append(b"\x21\xf9\x04" + struct.pack("<BHB", disposal << 2 | 1, 5, 0) + b"\0")
        parts.append(b"\x2c" + struct.pack("<HHHHB", left, top, w, h, 0) + data)
    return b"".join(parts) + b";"


def lzw(count, value=1, code_size=2):
    """``count`` pixels of one colour."""
    clear, end = 1 << code_size, (1 << code_size) + 1
    codes, width, following = [(clear, code_size + 1)], code_size + 1, end + 1
    codes.append((value, width))
    done, length = 1, 2
    # Each code stands for one pixel more than the one before it.
    while done < count:
        take = min(length, count - done)
        if take < length:
            code = value if take == 1 else end + take - 1
        else:
            code = following
        following += 1
        codes.append((code, width))
        done += take
        if following == (1 << width) and width < 12:
            width += 1
        length += 1
        if following == 4095:
            codes.append((clear, width))
            width, following, length = code_size + 1, end + 1, 2
            if done < count:
                codes.append((value, width))
                done += 1
    codes.append((end, width))
    bits = shift = 0
    out = bytearray()
    for code, width in codes:
        bits |= code << shift
        shift += width
        while shift >= 8:
            out.append(bits & 255)
            bits >>= 8
            shift -= 8
    if shift:
        out.append(bits & 255)
    blocks = b"".join(bytes([len(out[i:i + 255])]) + out[i:i + 255] for i in range(0, len(out), 255))
    return bytes([code_size]) + blocks + b"\0"


def large_frames(count=200, cut=False):
    """Frames as large as the strict limits allow, 30 KB each."""
    data = lzw(SIDE * SIDE)
    if cut:
        # Half the data: the frame shows what lies below it.
        data = lzw(SIDE * SIDE // 2)
    return gif(SIDE, SIDE, [(0, 0, SIDE, SIDE, 1, data)] * count)


def dots(count, disposal=1):
    """Frames of one pixel on a large canvas, 23 bytes each."""
    one = lzw(1)
    return gif(SIDE, SIDE, [(i % SIDE, i // SIDE, 1, 1, disposal, one) for i in range(count)])


def hidden(count=200):
    """Large frames of which a canvas of one pixel shows nothing much."""
    # The canvas holds the first frame.
    first = [(0, 0, 1, 1, 1, lzw(1))]
    return gif(1, 1, first + [(0, 0, SIDE, SIDE, 1, lzw(SIDE * SIDE))] * count)


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def interlaced():
    """A PNG of 12 KB that is cut, whose rows are decoded when it is opened."""
    rows = zlib.compress(bytes(SIDE * (SIDE + 1)), 9)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", SIDE, SIDE, 8, 0, 0, 0, 1))
            + chunk(b"IDAT", rows[:12_000])[:-4])


def noise(frames=3, deep=True, cut=True):
    """An APNG of large frames of 16 bits, the slowest to decode: the checksum is wrong, so that it is
    decoded twice."""
    side = SIDE
    depth = 16 if deep else 8
    row = b"\4" + bytes(range(256)) * (side * 4 * (depth // 8) // 256)
    pixels = zlib.compress(row * side, 1)
    if cut:
        pixels = pixels[:-4] + b"\0\0\0\0"
    parts = [b"\x89PNG\r\n\x1a\n", chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, depth, 6, 0, 0, 0)),
             chunk(b"acTL", struct.pack(">II", frames, 0))]
    number = 0
    for index in range(frames):
        parts.append(chunk(b"fcTL", struct.pack(">IIIIIHHBB", number, side, side, 0, 0, 1, 10, 0, 1)))
        number += 1
        if index == 0:
            parts.append(chunk(b"IDAT", pixels))
        else:
            parts.append(chunk(b"fdAT", struct.pack(">I", number) + pixels))
            number += 1
    return b"".join(parts) + chunk(b"IEND", b"")
