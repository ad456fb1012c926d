#!/usr/bin/env python3
"""Plays the same animations with zoetrope, chafa and timg in a pty and compares the programs.

  compare_players.py [--groups bytes,time,busy,ends,still] [--only "50 fps 120x40"] [--output FILE] ZOETROPE

A pty measuring tool (MEASURE, ../../shared/tools/term_measure.py) takes the measurements. The animations are made here,
with that tool and ffmpeg. Each row has a gate, which must be met, and a stretch goal. Bytes do not depend on the load
of the machine, but times do: run `time` and `busy` on an idle machine.
"""
import argparse, importlib.util, json, os, shutil, signal, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
MEASURE = os.environ.get("MEASURE", os.path.join(HERE, "../../shared/tools/term_measure.py"))
FFMPEG = ["ffmpeg", "-nostdin", "-v", "error", "-y"]
PALETTE = "split[a][b];[a]palettegen[p];[b][p]paletteuse"


# ------------------------------------------------------------------ animations
def made_by_tool(*arguments):
    return lambda path: run(tool("asset", path, *arguments))


def made_by_ffmpeg(source, filters, *output):
    return lambda path: run(FFMPEG + ["-f", "lavfi", "-i", source, "-filter_complex", filters, *output, path])


DISC = (
    # A still fractal in 254 dithered colours, and a yellow disc that circles over it.
    "[0]trim=end_frame=1,loop=99:1:0,setpts=N/25/TB,geq="
    "r='if(lt(hypot(X-160-96*cos(N/16),Y-144-53*sin(N/16)),14),255,r(X,Y))':"
    "g='if(lt(hypot(X-160-96*cos(N/16),Y-144-53*sin(N/16)),14),220,g(X,Y))':"
    "b='if(lt(hypot(X-160-96*cos(N/16),Y-144-53*sin(N/16)),14),0,b(X,Y))',"
    + PALETTE + "=dither=bayer:diff_mode=rectangle"
)
ASSETS = {
    "bar40.gif": made_by_tool(),
    "bar40.png": made_by_tool(),
    "bar20.gif": made_by_tool("--geom", "640x480", "--frames", "200", "--delays", "20", "--scene", "pan"),
    "baralt.gif": made_by_tool("--frames", "60", "--delays", "20,50,200"),
    "baralt.png": made_by_tool("--frames", "60", "--delays", "20,50,200"),
    # The source has to end, because palettegen waits for its last frame, even if -t limits the output.
    "ts25.gif": made_by_ffmpeg("testsrc=s=320x240:r=25:d=4", PALETTE + "=dither=none"),
    "man25.gif": made_by_ffmpeg("mandelbrot=s=320x240:r=25", "trim=end_frame=100," + PALETTE),
    "spot.gif": made_by_ffmpeg("mandelbrot=s=320x240:r=25:start_scale=0.002", DISC, "-t", "4"),
    "spot-smooth.gif": made_by_ffmpeg("color=s=320x240:r=25,geq=r='X*255/319':g='Y*255/239':b='255-(X+Y)*255/558'",
                                      DISC.split(":diff_mode")[0].replace("bayer", "none"), "-t", "4"),
    "still.png": made_by_ffmpeg("mandelbrot=s=512x512", "null", "-frames:v", "1"),
}


def run(command):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


# foot and xterm report that sixel images have private colours (mode 1070), which the measuring tool does not.
TOOL = """
import os, sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv.pop(1))
import term_measure

os.environ["ZOETROPE_CONFIG"] = ""  # Ignore the user's own options.
for name in ("foot", "xterm-sixel"): term_measure.PROFILES[name]["decrqm"][1070] = 1
sys.exit(term_measure.main())
"""


def tool(*arguments):
    return [sys.executable, "-c", TOOL, os.path.dirname(os.path.abspath(MEASURE)), *arguments]


def tool_module():
    spec = importlib.util.spec_from_file_location("term_measure", MEASURE)
    module = importlib.util.module_from_spec(spec)
    sys.dont_write_bytecode = True
    spec.loader.exec_module(module)
    return module


# ------------------------------------------------------------------ one measurement
class Bench:
    def __init__(self, options):
        self.options = options
        self.folder = options.assets
        self.kept = {}
        os.makedirs(self.folder, exist_ok=True)

    def asset(self, name):
        path = os.path.join(self.folder, name)
        if not os.path.exists(path):
            print("making", name, file=sys.stderr)
            # Written under a temporary name, so that an aborted run leaves no file that looks complete.
            part = os.path.join(self.folder, "part-" + name)
            ASSETS[name](part)
            os.replace(part, path)
        return path

    def measure(self, player, asset, size="80x24", terminal="modern", seconds=None, identify=False, more=()):
        """The tool's report. Each measurement is made only once."""
        key = (tuple(player), asset, size, terminal, seconds, identify, tuple(more))
        if key in self.kept:
            return self.kept[key]
        path = self.asset(asset)
        with tempfile.NamedTemporaryFile(suffix=".json") as file:
            command = tool("run", "--size", size, "--terminal", terminal,
                       "--duration", str(seconds or self.options.seconds), "--schedule", path, "--min-delay", "10:100",
                       "--identify", "bars" if identify else "none", "--json", file.name)
            subprocess.run([*command, *more, "--", *player, path], check=True, stdout=subprocess.DEVNULL)
            self.kept[key] = json.load(open(file.name))
        return self.kept[key]

    def ours(self, *arguments):
        return [self.options.zoetrope, "play", "--no-status", *arguments]


def value(report, path):
    for word in path.split("."):
        report = (report or {}).get(word)
    return report


# ------------------------------------------------------------------ the rows
def rows_of_bytes(bench):
    """The bytes of the median frame, at 80x22, where every player draws a picture of 59x22 cells."""
    half, fine = bench.ours("--exact", "--protocol", "half"), bench.ours("--protocol", "fine")
    kitty, sixel = bench.ours("--protocol", "kitty"), bench.ours("--protocol", "sixel", "--fit", "shrink")
    per_frame = "bytes.per_frame.p50"

    def row(name, player, asset, gate, stretch, peers, terminal="modern"):
        # Some frames of the fractal cost more than others, so every player has to get through all of them.
        seconds = 9 if asset == "man25.gif" else None
        ours = value(bench.measure(player, asset, "80x22", terminal, seconds), per_frame)
        others = {label: value(bench.measure(peer, asset, size, terminal, seconds), per_frame) for label, peer, size in peers}
        first = next(iter(others.values()), None)
        limit = [limit(first) if callable(limit) and first else limit for limit in (gate, stretch)]
        yield name, ours, *limit, others

    timg_half, chafa = ("timg -ph", ["timg", "-ph"], "80x24"), ("chafa", ["chafa", "-f", "symbols"], "80x24")
    for asset in ("bar40", "ts25", "man25", "spot"):
        yield from row(f"half, exact: {asset}, B/frame", half, asset + ".gif", lambda t: 1.05 * t, lambda t: .95 * t,
                       [timg_half, chafa])
    yield from row("half, default threshold: man25, B/frame", bench.ours("--protocol", "half"), "man25.gif", 31000, 26000, [])
    quads = ("timg -pq", ["timg", "-pq"], "80x24")
    for asset, gate, stretch in (("ts25", 9000, 7500), ("spot", 1000, 800)):
        yield from row(f"fine: {asset}, B/frame", fine, asset + ".gif", gate, stretch, [quads, chafa])
    timg_kitty = ("timg -pk", ["timg", "-pk"], "80x24")
    for asset, gate in (("bar40", 1700), ("ts25", 1100), ("man25", 66000)):
        yield from row(f"kitty: {asset}, B/frame", kitty, asset + ".gif", gate, gate * .8,
                       [timg_kitty, ("chafa", ["chafa", "-f", "kitty"], "80x24")], "kitty")
    # The disc over a dithered fractal is harder than the picture for which the gate was set, a disc over a smooth
    # picture: chafa sends 37 KB of cells for that one, 40 KB for spot-smooth and 52 KB for the fractal.
    for asset, gate in (("bar40", 650), ("spot-smooth", 500), ("spot", 500), ("man25", 105000)):
        yield from row(f"sixel, native size: {asset}, B/frame", sixel, asset + ".gif", gate, gate * .8,
                       [("chafa", ["chafa", "-f", "sixel"], "80x24")], "foot")
    report = bench.measure(half, "bar40.gif", "80x22")
    yield "cells repainted that did not change, %", 100 * (1 - value(report, "cells.useful_share")), 2, 0, {}


TIMED = [("bar40", "80x24", "25 fps"), ("bar40", "120x40", "25 fps"), ("bar20", "80x24", "50 fps"), ("bar20", "120x40", "50 fps")]


def spread(report):
    """How far the latest frames are behind the median; None for a player that showed none in time."""
    late = value(report, "timing.start_lateness")
    return late["p95"] - late["p50"] if late else None


def rows_of_time(bench):
    """Times and costs. Every player gets the same animation on the same terminal."""
    limits = {("bar40", "80x24", "half"): (.05, .02), ("bar40", "80x24", "fine"): (.12, .06),
              ("bar20", "120x40", "half"): (.30, .12), ("bar20", "120x40", "fine"): (.60, .30)}
    peers = {"timg -ph": ["timg", "-ph"], "chafa": ["chafa", "-f", "symbols"]}
    for asset, size, speed in TIMED:
        if bench.options.only not in f"{speed} {size}": continue
        others = {label: bench.measure(peer, asset + ".gif", size) for label, peer in peers.items()}
        for glyphs in ("half", "fine"):
            ours = bench.measure(bench.ours("--protocol", glyphs), asset + ".gif", size, identify=True)

            def row(name, path, gate, stretch):
                return (f"{glyphs}, {speed} {size}: {name}", value(ours, path), gate, stretch,
                        {label: value(other, path) for label, other in others.items()})

            yield row("start lateness p95, ms", "timing.start_lateness.p95", 1, .5)
            yield (f"{glyphs}, {speed} {size}: the same, less the median", spread(ours), 1, .5,
                   {label: spread(other) for label, other in others.items()})
            yield row("start lateness max, ms", "timing.start_lateness.max", 8, 3)
            yield row("drift, ms/s", "timing.drift_ms_per_s", .05, .02)
            yield row("frames dropped", "identified.dropped", 0, 0)
            if (asset, size, glyphs) in limits:
                yield row("processor, cores", "cpu.play_cpu_s_per_s", *limits[asset, size, glyphs])
            yield row("first frame, ms", "start.first_frame_ms", 60, 35)
            gates = (40, 24) if asset == "bar40" else (48, 32)
            yield (f"{glyphs}, {speed} {size}: peak memory, MiB", value(ours, "peak_rss_kib") / 1024, *gates,
                   {label: value(other, "peak_rss_kib") / 1024 for label, other in others.items()})
    if bench.options.only not in "silent terminal": return
    silent = bench.measure(bench.ours(), "bar40.gif", terminal="none", seconds=2)
    yield "first frame, silent terminal, ms", value(silent, "start.first_frame_ms"), 250, 180, {}


def rows_of_busy(bench):
    """Lateness while both processors have other work."""
    spinners = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count())]
    try:
        for asset, size, speed in TIMED:
            if bench.options.only not in f"{speed} {size}": continue
            timg = bench.measure(["timg", "-ph"], asset + ".gif", size)
            ours = bench.measure(bench.ours("--protocol", "fine"), asset + ".gif", size, identify=True)
            path = "timing.start_lateness.p95"
            yield f"busy, fine, {speed} {size}: start lateness p95, ms", value(ours, path), 10, 5, {"timg -ph": value(timg, path)}
    finally:
        for spinner in spinners:
            spinner.send_signal(signal.SIGKILL)
            spinner.wait()


def rows_of_ends(bench):
    """Quitting, resizing, and a link of 60 KB/s."""
    half = bench.ours("--protocol", "half")
    peers = {"timg -ph": ["timg", "-ph"], "chafa": ["chafa", "-f", "symbols"]}
    # Frames are skipped on purpose, so each has to be identified by its number, not by its order.
    slow = ("--drain-rate", "60000", "--end-wait", "12", "--identify", "bars")

    def row(name, path, gate, stretch, ours, *others, asset="bar40.gif", seconds=2, more=()):
        def figure(player, *extra):
            found = bench.measure(player, asset, seconds=seconds, more=(*more, *extra))
            return path(found) if callable(path) else value(found, path)
        return (name, figure(ours, "--end", "key:q"), gate, stretch, {peer: figure(peers[peer], "--end", "ctrl-c") for peer in others})

    yield row("end by a key, ms", "end.latency_ms", 50, 15, half, "timg -ph", "chafa")
    yield row("clean end, 1 is yes", lambda report: float(report["clean_exit"]), -1, -1, half, "timg -ph", "chafa")
    yield row("60 KB/s, bar20: late on the screen, p95 ms", "timing.done_lateness.p95", 400, 250, half, "timg -ph", "chafa",
              asset="bar20.gif", seconds=8, more=slow)
    yield row("60 KB/s, bar20: end by a key, ms", "end.latency_ms", 150, 50, half, "timg -ph", "chafa",
              asset="bar20.gif", seconds=8, more=slow)
    resize = ("--resize", "1:50x15")
    for what, key, gate, stretch in (("first frame after, ms", "first_frame_after_ms", 100, 40), ("lines scrolled", "scrolls_after", 0, 0),
                                     ("lines wrapped", "wraps_after", 0, 0)):
        yield row(f"80x24 becomes 50x15: {what}", lambda report: report["resize"][0][key], gate, stretch, half, "timg -ph", "chafa", seconds=3, more=resize)


def rows_of_stills(bench):
    """How well block characters reproduce a picture: PSNR with 8 x 24 pixels per cell, in 62 x 23 cells."""
    try:
        import numpy
        from PIL import Image
    except ImportError:
        print("still: needs numpy and Pillow", file=sys.stderr)
        return
    emulation = tool_module()
    small = Image.open(bench.options.still or bench.asset("still.png")).convert("RGB")
    small = small.resize((62 * 8, 23 * 24), Image.Resampling.LANCZOS)
    picture = numpy.asarray(small, float)
    # Players get every pixel four times, so that every part of a cell covers whole pixels.
    path = os.path.join(bench.folder, "raster.png")
    small.resize((62 * 16, 23 * 48), Image.Resampling.NEAREST).save(path)

    def decibel(shown):
        return float(10 * numpy.log10(255 ** 2 / ((shown - picture) ** 2).mean()))

    def ratio(player, rows=23):
        with tempfile.NamedTemporaryFile() as raw:
            run(tool("run", "--size", f"62x{rows}", "--cell", "8x24", "--duration", "1", "--terminal", "modern",
                     "--end", "sigterm", "--raw", raw.name, "--", *player, path))
            grid = screen_after(emulation, open(raw.name, "rb").read(), 62, rows)
        shown = numpy.zeros_like(picture)
        for y, line in enumerate(grid[:23]):
            for x, (character, ink, paper) in enumerate(line):
                mask = numpy.array(glyph_mask(ord(character)), bool)[:, :, None]
                shown[y * 24:y * 24 + 24, x * 8:x * 8 + 8] = numpy.where(mask, ink or (204, 204, 204), paper or (0, 0, 0))
        return decibel(shown)

    def optimum(codes):
        """The result with the best of all glyphs and the best two colours, of any precision, in every cell."""
        cells = picture.reshape(23, 24, 62, 8, 3).transpose(0, 2, 1, 3, 4).reshape(-1, 192, 3)
        masks = numpy.array([numpy.array(glyph_mask(code), float).ravel() for code in codes])
        inks = masks.sum(1)
        sums = numpy.einsum("mp,cpk->cmk", masks, cells)
        rest = cells.sum(1)[:, None, :] - sums
        explained = (sums ** 2 / numpy.maximum(inks, 1)[None, :, None]
                     + rest ** 2 / numpy.maximum(192 - inks, 1)[None, :, None]).sum(2).max(1)
        squares = ((cells ** 2).sum((1, 2)) - explained).sum()
        return float(10 * numpy.log10(255 ** 2 / (squares / picture.size)))

    # The terminal has one more row, because chafa ends with a line feed.
    chafa = ["chafa", "-f", "symbols", "-s", "62x23", "--stretch", "-w", "9", "--symbols"]
    half = [0x20, 0x2584]
    fine = half + [*range(0x2581, 0x2590), 0x2590, 0x2594, 0x2595, *range(0x2596, 0x25A0)]
    sextants = fine + list(range(0x1FB00, 0x1FB3C))
    octants = sextants + [*range(0x1CD00, 0x1CDE6), 0x1CEA8, 0x1CEAB, 0x1CEA3, 0x1CEA0, 0x1FBE6, 0x1FBE7]
    for glyphs, codes, symbols in (("half", half, "vhalf+solid+space"), ("fine", fine, "block"),
                                   ("sextants", sextants, "block+sextant"), ("octants", octants, None)):
        best = optimum(codes)
        ours = ratio(bench.ours("--exact", "--protocol", glyphs, "--fit", "stretch", "--duration", "0.8"))
        others = {f"chafa {symbols}": ratio([*chafa, symbols], 24)} if symbols else {}
        yield f"{glyphs}: PSNR of a still, dB (of at most {best:.2f})", ours, -(best - .06), -(best - .03), others


def screen_after(tool, data, columns, rows):
    """The cells just before the player restored the screen."""
    # Python's tables count newer block characters as two columns.
    tool.unicodedata = type("Narrow", (), {"east_asian_width": lambda _: "N", "combining": lambda _: 0})
    emulator = tool.Emu(columns, rows)
    for _, _, kind, text in tool.tokenize(data):
        if kind == "text":
            emulator.put(text.decode(errors="replace"))
        elif kind == "csi":
            if text in (b"?25h", b"?1049l"):
                break
            emulator.csi(text.decode("latin1"))
        elif kind == "esc":
            emulator.esc(text.decode("latin1"))
        elif kind == "ctl":
            emulator.ctl(text[0])
    return emulator.grid


def glyph_mask(code):
    """24 rows of 8: what the glyph covers in terminals that draw block characters themselves."""
    def parts(rows, bits):
        return [[bits >> (2 * (y * rows // 24) + x // 4) & 1 for x in range(8)] for y in range(24)]

    if code == 0x20: return parts(1, 0)
    if code == 0x2588: return parts(1, 3)
    if code == 0x2580: return parts(2, 3)
    if code == 0x2590: return parts(1, 2)
    if code == 0x2594: return [[y < 3] * 8 for y in range(24)]
    if code == 0x2595: return [[x == 7 for x in range(8)]] * 24
    if 0x2581 <= code <= 0x2587: return [[y >= 24 - 3 * (code - 0x2580)] * 8 for y in range(24)]
    if 0x2589 <= code <= 0x258F: return [[x < 0x2590 - code for x in range(8)]] * 24
    if 0x2596 <= code <= 0x259F: return parts(2, [4, 8, 1, 13, 9, 7, 11, 2, 6, 14][code - 0x2596])
    if 0x1FB00 <= code <= 0x1FB3B:
        bits = code - 0x1FB00 + 1
        bits += bits >= 21
        return parts(3, bits + (bits >= 42))
    octants = {0x1CEA8: 1, 0x1CEAB: 2, 0x1CEA3: 64, 0x1CEA0: 128, 0x1FBE6: 20, 0x1FBE7: 40}
    if code in octants: return parts(4, octants[code])
    if 0x1CD00 <= code <= 0x1CDE5:
        known = set(octants.values()) | {3, 63, 192, 252}
        for quads in range(16):
            known.add(sum(0b101 << ((p >> 1) * 4 + (p & 1)) for p in range(4) if quads >> p & 1))
        return parts(4, [bits for bits in range(256) if bits not in known][code - 0x1CD00])
    return parts(1, 3)


GROUPS = {"bytes": rows_of_bytes, "time": rows_of_time, "busy": rows_of_busy, "ends": rows_of_ends, "still": rows_of_stills}


def shown(number):
    if number is None: return "-"
    return f"{number + 0:,.2f}" if abs(number) < 100 else f"{number:,.0f}"


def keep(path, heading, lines):
    """Writes the lines into the table of a file, each replacing the line with the same name."""
    before, table, after = "", {}, ""
    if os.path.exists(path):
        before, found, rest = open(path).read().partition(heading + "\n")
        rows = rest.split("\n")
        count = next((k for k, row in enumerate(rows) if not row.startswith("|")), len(rows))
        table = {row.split(" | ")[0].removeprefix("| "): row for row in rows[:count]} if found else {}
        after = "\n".join(rows[count:])
    table.update(lines)
    with open(path, "w") as file:
        file.write(before + heading + "\n" + "\n".join(table.values()) + "\n" + after)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("zoetrope")
    parser.add_argument("--groups", default=",".join(GROUPS))
    parser.add_argument("--seconds", type=float, default=6)
    parser.add_argument("--only", default="", help="one size and speed of the timed rows")
    parser.add_argument("--assets", default=os.path.join(tempfile.gettempdir(), "zoetrope-terminal-bench"))
    parser.add_argument("--output", help="a Markdown file whose table gets the rows")
    parser.add_argument("--still", help="another picture for PSNR")
    options = parser.parse_args()
    for needed in ("chafa", "timg", "ffmpeg"):
        if not shutil.which(needed): sys.exit(f"{needed} is not installed")
    if not os.path.exists(MEASURE): sys.exit(f"no measuring tool at {MEASURE}: set MEASURE")
    bench = Bench(options)
    heading = "| what | zoetrope | gate | stretch | met | others |\n|---|---|---|---|---|---|"
    lines = {}
    print(heading, flush=True)
    missed = 0
    for group in options.groups.split(","):
        # Measurements on a busy machine say nothing about an idle one.
        bench.kept.clear()
        for name, ours, gate, stretch, others in GROUPS[group](bench):
            # A negative gate is a minimum.
            good = [limit is None or ours is not None and (ours >= -limit if limit < 0 else abs(ours) <= limit if "drift" in name else ours <= limit)
                    for limit in (gate, stretch)]
            word = "-" if gate is None else "stretch" if good[1] and good[0] else "gate" if good[0] else "**no**"
            missed += word == "**no**"
            peers = ", ".join(f"{label} {shown(number)}" for label, number in others.items())
            limits = [shown(abs(limit) if limit is not None else None) for limit in (gate, stretch)]
            lines[name] = f"| {name} | {shown(ours)} | {limits[0]} | {limits[1]} | {word} | {peers} |"
            print(lines[name], flush=True)
    if options.output: keep(options.output, heading, lines)
    print(f"\n{missed} gates missed", file=sys.stderr)


if __name__ == "__main__":
    main()
