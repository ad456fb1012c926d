#!/usr/bin/env python3
"""Checks with independent emulators that deltas show exactly what full repaints show.

  check_screens.py [--frames 40] ZOETROPE

Plays a random animation with --exact in a pty, in every cell mode, and shows each of its frames alone. After every
frame the cells of both must be equal, in the measuring tool's emulator and, if installed, in pyte.
"""
import argparse, functools, os, random, sys, tempfile
from compare_players import glyph_mask, tool_module

os.environ["ZOETROPE_CONFIG"] = ""  # Ignore the user's own options.

MODES = [("half", "full"), ("half", "256"), ("half", "16"), ("fine", "full"), ("fine", "256"), ("fine", "16"),
         ("sextants", "full"), ("octants", "full"), ("ascii", "full"), ("ascii", "none"), ("quadrants", "none"), ("braille", "none")]
SIZE = (34, 11)


def write_animation(tool, path, count):
    """Writes rectangles and noise. A corner changes in every frame, so that each is written separately."""
    random.seed(5)
    width, height, palette = 60, 40, bytes(random.randrange(256) for _ in range(762)) + bytes([0] * 3 + [255] * 3)
    pixels, frames = bytearray(width * height), []
    for index in range(count):
        for _ in range(random.randrange(1, 4)):
            x, y = random.randrange(width), random.randrange(height)
            color = random.randrange(256)
            for line in range(y, min(height, y + random.randrange(1, 15))):
                for column in range(x, min(width, x + random.randrange(1, 20))):
                    pixels[line * width + column] = color if index % 3 else random.randrange(256)
        for line in range(12):
            pixels[line * width:line * width + 10] = bytes([254 + index % 2]) * 10
        frames.append(bytes(pixels))
    with open(path, "wb") as file:
        file.write(b"GIF89a" + width.to_bytes(2, "little") + height.to_bytes(2, "little") + b"\xf7\0\0" + palette)
        for frame in frames:
            file.write(b"\x21\xf9\x04\x04\x03\0\0\0\x2c\0\0\0\0" + width.to_bytes(2, "little") + height.to_bytes(2, "little") + b"\0\x08")
            data = tool.gif_lzw(frame)
            for start in range(0, len(data), 255):
                block = data[start:start + 255]
                file.write(bytes([len(block)]) + block)
            file.write(b"\0")
        file.write(b"\x3b")


def played(tool, options, path, seconds):
    arguments = tool.parser().parse_args(["run", "--size", "%dx%d" % SIZE, "--duration", str(seconds), "--end", "none", "--end-wait", "3", "--", "x"])
    tool.finish(arguments)
    return tool.capture(arguments, [*options, path])["data"]


def first_write(tool, options, path):
    """Everything up to the end of the first frame. On a busy machine it may take more than one attempt."""
    for seconds in "0.1", "0.5", "2":
        data, mark, _ = played(tool, options + ["--duration", seconds], path, 4).partition(b"\x1b[?2026l")
        if mark: return data + mark
    sys.exit("no frame within 2 s")


class Ours:
    """The measuring tool's emulator."""
    name = "the measuring tool"

    def __init__(self, tool):
        self.tool, self.screen = tool, tool.Emu(*SIZE)

    def feed(self, data):
        for _, _, kind, text in self.tool.tokenize(data):
            if kind == "text": self.screen.put(text.decode())
            elif kind == "csi": self.screen.csi(text.decode("latin1"))
            elif kind == "esc": self.screen.esc(text.decode("latin1"))
            elif kind == "ctl": self.screen.ctl(text[0])

    def cells(self):
        return [row[:] for row in self.screen.grid], self.screen.scrolls, self.screen.wraps


class Pyte:
    name = "pyte"

    def __init__(self, tool):
        import pyte
        # Strip device control strings, because pyte would print them.
        self.screen, self.strip = pyte.Screen(*SIZE), __import__("re").compile(rb"\x1b[P_].*?\x1b\\", 16)
        self.stream = pyte.ByteStream(self.screen)

    def feed(self, data):
        self.stream.feed(self.strip.sub(b"", data))

    def cells(self):
        rows = [[self.screen.buffer[y][x] for x in range(SIZE[0])] for y in range(SIZE[1])]
        return [[(cell.data, cell.fg if cell.data != " " else None, cell.bg) for cell in row] for row in rows]


def looks(cells):
    """What is visible: a block and its complement in swapped colours are the same picture."""
    if isinstance(cells, tuple):
        return looks(cells[0]), *cells[1:]
    return [[look(*cell) for cell in row] for row in cells]


@functools.cache
def look(character, ink, paper):
    code = ord(character)
    if code != 0x20 and not 0x2580 <= code <= 0x259F and not 0x1CD00 <= code <= 0x1FBE7:
        return character, ink, paper
    mask = tuple(bool(bit) for row in glyph_mask(code) for bit in row)
    if not any(mask) or ink == paper: return paper
    if all(mask): return ink
    return (mask, ink, paper) if mask[0] else (tuple(not bit for bit in mask), paper, ink)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("zoetrope")
    parser.add_argument("--frames", type=int, default=40)
    options = parser.parse_args()
    tool = tool_module()
    tool.unicodedata = type("Narrow", (), {"east_asian_width": lambda _: "N", "combining": lambda _: 0})
    emulators = [Ours]
    try:
        import pyte
        emulators.append(Pyte)
    except ImportError:
        print("pyte is not installed: one emulator only", file=sys.stderr)
    failures = pairs = 0
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "random.gif")
        write_animation(tool, path, options.frames)
        for glyphs, colors in MODES:
            player = [options.zoetrope, "play", "--no-status", "--exact", "--protocol", glyphs, "--colors", colors]
            whole = played(tool, player + ["--once", "--delay", "40", "--late", "stretch"], path, options.frames * .04 + 2)
            # The last piece restores the screen.
            deltas = whole.split(b"\x1b[?2026l")[:-1]
            alone = [first_write(tool, player + ["--no-motion", "--start", str(k)], path) for k in range(options.frames)]
            wrong = 0
            for kind in emulators:
                running = kind(tool)
                for k, delta in enumerate(deltas[:options.frames]):
                    running.feed(delta + b"\x1b[?2026l")
                    fresh = kind(tool)
                    fresh.feed(alone[k])
                    wrong += looks(running.cells()) != looks(fresh.cells())
                    pairs += 1
            failures += wrong + (len(deltas) < options.frames)
            print(f"{glyphs:9} {colors:5} frames {min(len(deltas), options.frames):3}  differences {wrong}", flush=True)
    print(f"{pairs} pairs in {', '.join(kind.name for kind in emulators)}: {failures} failures")
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
