#!/usr/bin/env python3
"""Times the first frame of a GIF that arrives over a pipe, from the arrival of its last byte.

    first_frame_stream.py ZOETROPE [FILE] [--rate BYTES_PER_SECOND] [--rounds N]

Feeds FILE (default: 50 MB of dithered Mandelbrot, made with ffmpeg in .build/set) at 1 MB/s, in steps of 10 ms,
to each program in turn. The clock starts when the last byte of the first frame has been written to the pipe and
stops when the frame is out: its PNG file exists, all of its raw pixels were read from standard output, or a
player's terminal got its first coloured cell. The rest of the file continues to arrive, for at most ten seconds.
A negative time would be a mistake of this program. Peers that are not installed are skipped.
"""

import argparse
import os
import pty
import select
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

STEP = 0.01

# Passes bytes as they arrive to Pillow's incremental parser, which handles only the first frame.
PILLOW = """
import os, sys
from PIL import Image, ImageFile

os.environ["ZOETROPE_CONFIG"] = ""  # Ignore the user's own options.
parser = ImageFile.Parser()
while not parser.finished:
    parser.feed(os.read(0, 65536))
sys.stdout.buffer.write(parser.close().convert("RGBA").tobytes())
sys.stdout.buffer.flush()
"""


def make(path):
    part = path + ".part.gif"
    subprocess.run(
        ["ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", "mandelbrot=s=800x600:r=25",
         "-vf", "split[a][b];[a]palettegen=stats_mode=single[p];[b][p]paletteuse=new=1:dither=floyd_steinberg",
         "-fs", "50M", part], check=True)
    os.replace(part, path)


def first_frame(data):
    """The size of the canvas, and the offset at which the first frame ends."""
    size = int.from_bytes(data[6:8], "little"), int.from_bytes(data[8:10], "little")
    place = 13 + (3 << (data[10] & 7) + 1 if data[10] & 0x80 else 0)

    def behind_blocks(place):
        while data[place]:
            place += data[place] + 1
        return place + 1

    while data[place] == 0x21:
        place = behind_blocks(place + 2)
    assert data[place] == 0x2C, "no frame"
    flags = data[place + 9]
    place += 10 + (3 << (flags & 7) + 1 if flags & 0x80 else 0)
    return size, behind_blocks(place + 1)


class Feeder(threading.Thread):
    """Writes the file at the given rate, and records when the byte before `mark` was written."""

    def __init__(self, data, mark, rate, descriptor):
        super().__init__(daemon=True)
        self.data, self.mark, self.rate, self.descriptor = data, mark, rate, descriptor
        self.arrived = None
        self.stopped = False

    def write(self, start, end):
        while start < end:
            start += os.write(self.descriptor, self.data[start:end])

    def run(self):
        began, place, step = time.perf_counter(), 0, 0
        try:
            while place < len(self.data) and not self.stopped:
                step += 1
                time.sleep(max(0, began + step * STEP - time.perf_counter()))
                end = min(int(step * STEP * self.rate), len(self.data))
                if place < self.mark <= end:
                    self.write(place, self.mark)
                    self.arrived = time.perf_counter()
                    place = self.mark
                self.write(place, end)
                place = end
        except BrokenPipeError:
            pass
        os.close(self.descriptor)


def run(command, data, mark, rate, is_out, on_terminal=False):
    """The milliseconds from the arrival of the frame until `is_out` is true of the output; None without a frame."""
    reader, writer = os.pipe()
    output, other = pty.openpty() if on_terminal else os.pipe()
    environment = dict(os.environ, TERM="xterm-256color", COLORTERM="truecolor", COLUMNS="80", LINES="24")
    child = subprocess.Popen(command, stdin=reader, stdout=other, stderr=subprocess.DEVNULL, env=environment,
                             start_new_session=True)
    os.close(reader)
    os.close(other)
    feeder = Feeder(data, mark, rate, writer)
    feeder.start()
    found, text = None, bytearray()
    limit = time.perf_counter() + mark / rate + 10
    while time.perf_counter() < limit:
        ready, _, _ = select.select([output], [], [], 0.0005)
        if ready:
            try:
                piece = os.read(output, 1 << 20)
            except OSError:
                piece = b""
            text += piece
            # Answer with the attributes of a plain terminal.
            if on_terminal and b"\x1b[c" in piece:
                os.write(output, b"\x1b[?62c")
        if is_out(text):
            found = time.perf_counter()
            break
        if ready and not piece:
            break
    feeder.stopped = True
    child.kill()
    child.wait()
    feeder.join()
    os.close(output)
    if found is None or feeder.arrived is None:
        return None if found is None else float("-inf")
    return (found - feeder.arrived) * 1000


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("zoetrope")
    parser.add_argument("file", nargs="?")
    parser.add_argument("--rate", type=float, default=1e6)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    file = options.file
    if not file:
        folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), ".build", "set")
        os.makedirs(folder, exist_ok=True)
        file = os.path.join(folder, "stream_50mb.gif")
        if not os.path.exists(file):
            make(file)
    with open(file, "rb") as source:
        data = source.read()
    (width, height), mark = first_frame(data)
    pixels = width * height * 4
    scratch = tempfile.mkdtemp()
    zoetrope = os.path.abspath(options.zoetrope)

    def raw(text):
        return len(text) >= pixels

    def drawn(text):
        # Look for half blocks, because colours alone may be a query of the terminal's capabilities.
        return b"\xe2\x96\x80" in text or b"\xe2\x96\x84" in text

    def written(_):
        return os.path.exists(os.path.join(scratch, "o", "stdin-0000.png"))

    ffmpeg = ["ffmpeg", "-v", "quiet", "-nostdin"]
    raw_video = ["-f", "gif", "-i", "pipe:0", "-f", "rawvideo", "-pix_fmt", "rgba", "-flush_packets", "1", "pipe:1"]
    quick = ["-probesize", "32", "-analyzeduration", "0", "-fflags", "nobuffer"]
    programs = [
        ("zoetrope extract - -o DIR, first PNG", [zoetrope, "extract", "-", "-o", os.path.join(scratch, "o")],
         written, False),
        ("zoetrope extract - --format rgba -o -", [zoetrope, "extract", "-", "--format", "rgba", "-o", "-"], raw,
         False),
        ("zoetrope play - (half blocks)",
         [zoetrope, "play", "-", "--protocol", "half", "--colors", "full", "--no-status"], drawn, True),
        ("Pillow, ImageFile.Parser to RGBA", [sys.executable, "-c", PILLOW], raw, False),
        ("ffmpeg -i pipe:0 to RGBA", [*ffmpeg, *raw_video], raw, False),
        ("ffmpeg, least probing and buffering", [*ffmpeg, *quick, *raw_video], raw, False),
        ("chafa -", ["chafa", "-f", "symbols", "--symbols", "vhalf", "-c", "full", "-"], drawn, True),
        ("timg -", ["timg", "-ph", "-"], drawn, True),
    ]
    print(f"{len(data) / 1e6:.1f} MB, {width}x{height}; the first frame ends at byte {mark}; "
          f"{options.rate / 1e6:g} MB/s; {options.rounds} rounds")
    print("\n| program | median, ms | least | most |\n|---|---|---|---|")
    for name, command, is_out, on_terminal in programs:
        if not shutil.which(command[0]):
            print(f"| {name} | not installed | | |")
            continue
        times = []
        for _ in range(options.rounds):
            shutil.rmtree(os.path.join(scratch, "o"), ignore_errors=True)
            times.append(run(command, data, mark, options.rate, is_out, on_terminal))
        if None in times:
            print(f"| {name} | no frame within 10 s | | |")
        else:
            print(f"| {name} | {statistics.median(times):.1f} | {min(times):.1f} | {max(times):.1f} |")
        sys.stdout.flush()
    shutil.rmtree(scratch)


main()
