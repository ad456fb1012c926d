#!/usr/bin/env python3
"""Makes films with many programs: GIF and APNG by Pillow, imageio, ImageMagick, gifsicle, ffmpeg and apngasm, with few
and many colours, interlaced, in all depths, tiny and huge.

usage: make_writers.py FOLDER

Existing files are kept; programs and packages that are not installed are skipped. PNG layouts that none of these
programs writes (interlaced, few bits, 16 bits, a transparent colour) are written here.
"""
import os, shutil, struct, subprocess, sys, tempfile, zlib
import numpy
from PIL import Image

folder = sys.argv[1]


def cartoon(count=60, width=320, height=240):
    """Flat shapes in eight colours that move."""
    y, x = numpy.mgrid[0:height, 0:width]
    for frame in range(count):
        picture = numpy.full((height, width, 3), (240, 236, 220), numpy.uint8)
        picture[height * 2 // 3:] = (90, 160, 80)
        for index, color in enumerate([(200, 40, 40), (30, 60, 160), (250, 200, 40), (20, 20, 20), (255, 255, 255)]):
            cx = (width * (index + 1) / 6 + 3 * frame * (index % 3 + 1)) % width
            cy = height * (0.3 + 0.1 * index) + 20 * numpy.sin(frame / 5 + index)
            picture[(x - cx) ** 2 + (y - cy) ** 2 < (18 + 6 * index) ** 2] = color
        yield Image.fromarray(picture)


def photograph(count=12, width=400, height=300):
    """Smooth gradients with grain: many colours everywhere."""
    grain = numpy.random.default_rng(3)
    y, x = numpy.mgrid[0:height, 0:width]
    for frame in range(count):
        waves = [127 + 90 * numpy.sin(x / (31 + 9 * c) + frame / 3) * numpy.cos(y / (23 + 7 * c)) for c in range(3)]
        noise = grain.normal(0, 5, (height, width, 3))
        yield Image.fromarray(numpy.clip(numpy.stack(waves, 2) + noise, 0, 255).astype(numpy.uint8))


def sprite(count=40, size=200):
    """A ball with a soft edge on a transparent background, as RGBA."""
    y, x = numpy.mgrid[0:size, 0:size]
    for frame in range(count):
        cx, cy = size / 2 + size / 4 * numpy.cos(frame / 6), size / 2 + size / 4 * numpy.sin(frame / 6)
        near = numpy.sqrt((x - cx) ** 2 + (y - cy) ** 2)
        alpha = numpy.clip((size / 5 - near) * 16, 0, 255)
        yield Image.fromarray(numpy.stack([255 - near % 256, x % 256, y % 256, alpha], 2).astype(numpy.uint8), "RGBA")


def save(name, make):
    """Makes a file under a temporary name first, so that an aborted run leaves no partial file."""
    path = os.path.join(folder, name)
    if os.path.exists(path):
        return
    part = os.path.join(folder, "part-" + name)
    try:
        make(part)
        os.rename(part, path)
    except (OSError, ValueError, ImportError, subprocess.CalledProcessError) as error:
        print(f"left out: {name}: {error}", file=sys.stderr)
        if os.path.exists(part):
            os.remove(part)


def pillow(frames, colors=None, **options):
    def make(path):
        pictures = [frame.quantize(colors) if colors else frame for frame in frames]
        kind = "GIF" if path.endswith("gif") else "PNG"
        pictures[0].save(path, format=kind, save_all=True, append_images=pictures[1:], duration=50, loop=0, **options)
    return make


def with_files(frames, command):
    """Runs a program on the frames as PNG files; `command` takes their paths and the output."""
    def make(path):
        with tempfile.TemporaryDirectory() as temporary:
            paths = [os.path.join(temporary, f"{index:04}.png") for index in range(len(frames))]
            for frame, name in zip(frames, paths):
                frame.save(name)
            subprocess.run(command(paths, os.path.abspath(path)), check=True, capture_output=True, cwd=temporary)
    return make


def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


PASSES = [(0, 8, 0, 8), (4, 8, 0, 8), (0, 4, 4, 8), (2, 4, 0, 4), (0, 2, 2, 4), (1, 2, 0, 2), (0, 1, 1, 2)]


def rows(samples, depth, seed):
    """Filtered rows of samples (height, width, channels): Up, Sub and Paeth in turn."""
    height, width, channels = samples.shape
    if not height or not width:
        return b""
    if depth == 16:
        lines = numpy.ascontiguousarray(samples.astype(">u2")).view(numpy.uint8).reshape(height, -1)
    elif depth == 8:
        lines = samples.astype(numpy.uint8).reshape(height, -1)
    else:
        bits = numpy.unpackbits(samples.astype(numpy.uint8).reshape(height, -1, 1), axis=2)[:, :, 8 - depth:]
        lines = numpy.packbits(bits.reshape(height, -1), axis=1)
    size = max(1, depth * channels // 8)
    lines = lines.astype(int)
    left = numpy.pad(lines, ((0, 0), (size, 0)))[:, :lines.shape[1]]
    above = numpy.pad(lines, ((1, 0), (0, 0)))[:height]
    corner = numpy.pad(above, ((0, 0), (size, 0)))[:, :lines.shape[1]]
    guess = left + above - corner
    a, b, c = abs(guess - left), abs(guess - above), abs(guess - corner)
    paeth = numpy.where((a <= b) & (a <= c), left, numpy.where(b <= c, above, corner))
    out = bytearray()
    for y in range(height):
        kind, predicted = [(4, paeth), (2, above), (1, left), (4, paeth)][(y + seed) % 4]
        out.append(kind)
        out += ((lines[y] - predicted[y]) & 255).astype(numpy.uint8).tobytes()
    return bytes(out)


def apng(frames, color, depth, interlaced=False, transparency=None, palette=None, blend=0):
    """A writer for every layout; `frames` are arrays of samples (height, width, channels)."""
    def make(path):
        height, width, _ = frames[0].shape
        out = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, interlaced))
        out += chunk(b"acTL", struct.pack(">II", len(frames), 0))
        if palette is not None:
            out += chunk(b"PLTE", palette)
        if transparency is not None:
            out += chunk(b"tRNS", transparency)
        sequence = 0
        for index, samples in enumerate(frames):
            out += chunk(b"fcTL", struct.pack(">IIIIIHHBB", sequence, width, height, 0, 0, 1, 20, 0, blend if index else 0))
            sequence += 1
            parts = [samples[y::dy, x::dx] for x, dx, y, dy in PASSES] if interlaced else [samples]
            data = zlib.compress(b"".join(rows(part, depth, index) for part in parts))
            if index:
                out += chunk(b"fdAT", struct.pack(">I", sequence) + data)
                sequence += 1
            else:
                out += chunk(b"IDAT", data)
        with open(path, "wb") as file:
            file.write(out + chunk(b"IEND", b""))
    return make


def layouts():
    """The PNG layouts, plain and interlaced, with and without transparency."""
    source = [numpy.asarray(frame.convert("RGB")) for frame in list(cartoon(8))]
    smooth = [numpy.asarray(frame) for frame in photograph(4, 320, 240)]
    soft = [numpy.asarray(frame) for frame in sprite(8, 240)]
    greys = [frame[:, :, :1].astype(numpy.uint16) for frame in source]
    for interlaced in (False, True):
        way = "_interlaced" if interlaced else ""
        for depth in (1, 2, 4, 8, 16):
            few = [(grey >> (8 - depth)) if depth < 9 else grey * 257 for grey in greys]
            save(f"grey{depth}{way}.png", apng(few, 0, depth, interlaced))
            key = struct.pack(">H", int(few[0][0, 0, 0]))
            save(f"grey{depth}_key{way}.png", apng(few, 0, depth, interlaced, key, blend=1))
            if depth < 16:
                colors = bytes((37 * index * (channel + 3)) % 256 for index in range(2 ** depth) for channel in range(3))
                most = colors[:3 * max(2, 2 ** depth * 3 // 4)]
                save(f"palette{depth}{way}.png", apng(few, 3, depth, interlaced, palette=colors))
                save(f"palette{depth}_few{way}.png", apng(
                    [numpy.minimum(grey, len(most) // 3 - 1) for grey in few], 3, depth, interlaced, palette=most))
                alphas = bytes((50 * index) % 256 for index in range(2 ** depth))
                save(f"palette{depth}_alpha{way}.png", apng(few, 3, depth, interlaced, alphas, colors, blend=1))
        key = struct.pack(">HHH", *map(int, source[0][0, 0]))
        save(f"rgb8_key{way}.png", apng(source, 2, 8, interlaced, key, blend=1))
        save(f"rgb8{way}.png", apng(smooth, 2, 8, interlaced))
        deep = [frame.astype(numpy.uint16) * 257 for frame in smooth]
        save(f"rgb16{way}.png", apng(deep, 2, 16, interlaced))
        save(f"rgb16_key{way}.png", apng(deep, 2, 16, interlaced, struct.pack(">HHH", *map(int, deep[0][0, 0])), blend=1))
        for depth, scale in ((8, 1), (16, 257)):
            with_alpha = [frame.astype(numpy.uint16) * scale for frame in soft]
            save(f"rgba{depth}{way}.png", apng(with_alpha, 6, depth, interlaced, blend=1))
            save(f"greyalpha{depth}{way}.png", apng([frame[:, :, [0, 3]] for frame in with_alpha], 4, depth, interlaced, blend=1))
    tiny = [numpy.asarray(frame) for frame in sprite(200, 24)]
    save("rgba8_tiny.png", apng(tiny, 6, 8, blend=1))
    save("palette8_tiny.png", apng([frame[:, :, :1] >> 4 for frame in tiny], 3, 8, palette=bytes(range(48))))
    big = [numpy.kron(frame, numpy.ones((9, 9, 1), numpy.uint8)) for frame in smooth[:1]]
    save("rgb8_huge.png", apng(big, 2, 8))
    save("rgb8_huge_interlaced.png", apng(big, 2, 8, True))


def main():
    flat, rich, soft = list(cartoon()), list(photograph()), list(sprite())
    tiny = list(cartoon(300, 32, 24))
    save("pillow_few.gif", pillow(flat))
    save("pillow_few_optimized.gif", pillow(flat, optimize=True))
    save("pillow_8.gif", pillow(flat, 8))
    for colors in (2, 3, 5, 12, 40, 100, 200):
        save(f"pillow_{colors}_of_many.gif", pillow(rich, colors))
    save("pillow_many.gif", pillow(rich))
    save("pillow_many_optimized.gif", pillow(rich, optimize=True))
    save("pillow_interlaced.gif", pillow(rich, interlace=True))
    save("pillow_disposed.gif", pillow(soft, disposal=2))
    save("pillow_tiny.gif", pillow(tiny))
    save("pillow_huge.gif", pillow([rich[0].resize((4000, 3000))]))
    save("pillow_few.png", pillow(flat))
    save("pillow_palette.png", pillow(flat, 8))
    save("pillow_many.png", pillow(rich))
    save("pillow_alpha.png", pillow(soft, disposal=1, blend=1))
    save("pillow_tiny.png", pillow(tiny))

    def imageio(path):
        import imageio.v2
        imageio.v2.mimsave(path, [numpy.asarray(frame) for frame in flat], format="GIF")
    save("imageio.gif", imageio)

    magick = shutil.which("magick") or shutil.which("convert")
    if magick:
        for name, frames in (("few", flat[:30]), ("many", rich), ("alpha", soft)):
            start = [magick, "-delay", "5", "-dispose", "background" if name == "alpha" else "none"]
            save(f"magick_{name}.gif", with_files(frames, lambda paths, out: start + paths + [out]))
            save(f"magick_{name}_optimized.gif", with_files(
                frames, lambda paths, out: start + paths + ["-layers", "optimize", out]))
        save("magick_interlaced.gif", with_files(flat[:10], lambda paths, out: [magick] + paths + ["-interlace", "GIF", out]))
    if shutil.which("apngasm"):
        for name, frames in (("few", flat), ("many", rich), ("alpha", soft)):
            save(f"apngasm_{name}.png", with_files(frames, lambda paths, out: ["apngasm", out] + paths))
    if shutil.which("ffmpeg"):
        for name, frames in (("few", flat), ("many", rich)):
            read = ["ffmpeg", "-nostdin", "-loglevel", "error", "-y", "-i", "%04d.png"]
            save(f"ffmpeg_{name}.gif", with_files(frames, lambda paths, out: read + ["-f", "gif", out]))
            save(f"ffmpeg_{name}_global.gif", with_files(frames, lambda paths, out: read + [
                "-lavfi", "split[a][b];[a]palettegen[p];[b][p]paletteuse", "-f", "gif", out]))
            save(f"ffmpeg_{name}.png", with_files(frames, lambda paths, out: read + ["-plays", "0", "-f", "apng", out]))
            save(f"ffmpeg_{name}_palette.png", with_files(frames, lambda paths, out: read + [
                "-lavfi", "split[a][b];[a]palettegen=max_colors=20[p];[b][p]paletteuse", "-plays", "0", "-f", "apng", out]))
    if shutil.which("gifsicle"):
        def gifsicle(*options):
            return lambda source: lambda path: subprocess.run(
                ["gifsicle", *options, os.path.join(folder, source), "-o", path], check=True, capture_output=True)
        for source in ("pillow_few", "pillow_many"):
            for level in ("-O1", "-O2", "-O3"):
                save(f"gifsicle_{source}_{level[1:]}.gif", gifsicle(level)(source + ".gif"))
            save(f"gifsicle_{source}_lossy.gif", gifsicle("-O3", "--lossy=80")(source + ".gif"))
            save(f"gifsicle_{source}_interlaced.gif", gifsicle("--interlace")(source + ".gif"))
            save(f"gifsicle_{source}_colors16.gif", gifsicle("--colors", "16")(source + ".gif"))
    layouts()


main()
