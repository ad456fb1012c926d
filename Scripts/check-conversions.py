#!/usr/bin/env python3
"""Converts every file of a corpus to APNG, also by extracting its frames and joining them, and compares the results.

  check-conversions.py CORPUS ZOETROPE [--only PART_OF_NAME] [--up-to BYTES]

For each file: `convert` to APNG, and `extract` followed by `make`. The results must have the pixels (8 and 16 bits),
delays, plays and static image of the input, as Zoetrope decodes them; Pillow and ffmpeg must read the same pixels and
delays from the APNG. The same holds for `convert` back to GIF, unless it reports what differs. Files without a decodable
frame must be refused, with nothing written. Needs NumPy; Pillow and ffmpeg are skipped if they are not installed.
"""
import argparse, collections, fractions, glob, json, os, shutil, subprocess, sys, tempfile
import numpy
try:
    import PIL.Image
    PIL.Image.MAX_IMAGE_PIXELS = None
except ImportError:
    PIL = None


def visible(pixels, depth):
    """The RGBA pixels, without the colours of transparent ones."""
    values = numpy.frombuffer(pixels, numpy.uint16 if depth == "16" else numpy.uint8).reshape(-1, 4).copy()
    values[values[:, 3] == 0] = 0
    return values.tobytes()


class Check:
    def __init__(self, tool, folder):
        self.tool, self.folder, self.counts, self.problems = tool, folder, collections.Counter(), []

    def run(self, *words):
        return subprocess.run([self.tool, *words], capture_output=True, cwd=self.folder, stdin=subprocess.DEVNULL)

    def film(self, path, depth):
        """The size, plays, delays, pixels and static image of a file; None if nothing can be decoded."""
        info = self.run("info", "--json", path)
        pixels = self.run("extract", path, "--format", "rgba", "--depth", depth, "-o", "-", "--static", "include", "-q")
        if info.returncode not in (0, 1) or pixels.returncode not in (0, 1): return None
        info = json.loads(info.stdout)
        seconds = [fractions.Fraction(f["delay"]["num"], f["delay"]["den"] or 100) for f in info["frames"]]
        return ((info["width"], info["height"]), info["loop"]["plays"], seconds, visible(pixels.stdout, depth))

    def compare(self, name, kind, first, second, isTimed=True):
        words = ["size", "plays", "delays", "pixels"]
        if second is None: return self.fail(name, kind, "the result cannot be decoded")
        found = [w for w, a, b in zip(words, first, second) if a != b and (isTimed or w not in ("plays", "delays"))]
        if found: return self.fail(name, kind, "other " + ", ".join(found))
        self.counts[kind + " equal"] += 1

    def fail(self, name, kind, text):
        self.counts[kind + " WRONG"] += 1
        self.problems.append(f"{name}: {kind}: {text}")

    def file(self, path):
        name = os.path.basename(path)
        for old in os.listdir(self.folder):
            old = os.path.join(self.folder, old)
            shutil.rmtree(old) if os.path.isdir(old) else os.remove(old)
        with open(path, "rb") as file: start = file.read(29)
        isPNG = start[:8] == b"\x89PNG\r\n\x1a\n"
        depth = "16" if isPNG and start[24:25] == b"\x10" else "8"
        before = self.film(path, depth)
        isAnimated = before is not None and len(before[2]) > 1
        result = self.run("convert", path, "-o", "a.png")
        if result.returncode > 1:
            if os.listdir(self.folder): self.fail(name, "convert", f"left {os.listdir(self.folder)}")
            if before and before[3]: self.fail(name, "convert", result.stderr.decode().strip())
            else: self.counts["refused as nothing can be decoded"] += 1
            return
        if before is None: return self.fail(name, "convert", "wrote what cannot be decoded")
        self.counts["converted with damage" if result.returncode else "converted"] += 1
        after = self.film("a.png", depth)
        self.compare(name, "to APNG", before, after)
        back = self.run("convert", "a.png", "-o", "b.gif", "--exact-delays", "--json")
        if back.returncode == 0:
            report = json.loads(back.stdout)
            departures = set(report["departures"])
            if departures & {"rounded", "dropped", "staticImage"}:
                self.counts["back to GIF, other delays or static image"] += 1
            elif departures & {"colors", "transparency"}: self.counts["back to GIF, other colours, as reported"] += 1
            else: self.compare(name, "back to GIF", before, self.film("b.gif", depth), isAnimated)
        else:
            self.counts["back to GIF refused: " + back.stdout.decode().split('"message":"')[-1].split(";")[0][:60]] += 1
        if after:
            self.peer(name, "Pillow", self.pillow, path, after, depth)
            self.peer(name, "ffmpeg", self.ffmpeg, path, after, depth)
        taken = self.run("extract", path, "-o", "f/", "--static", "include", "--manifest", "m.json", "--depth", depth, "-q")
        made = self.run("make", "m.json", "-o", "c.png", "--format", "apng")
        if made.returncode:
            if taken.returncode: self.counts["make refused, extraction incomplete"] += 1
            else: self.fail(name, "make", made.stderr.decode().strip())
            return
        self.compare(name, "extract and make", before, self.film("c.png", depth))

    def peer(self, name, kind, read, path, film, depth):
        """Compares what another program reads with `film`. Frames of an APNG are copied, so a difference that the
        program also has for the input is not the writer's fault."""
        found = read("a.png", film, depth)
        if found is None: return
        if found == "": self.counts[kind + " equal"] += 1
        elif path.endswith("png") and read(path, film, depth): self.counts[kind + " reads the input in the same wrong way"] += 1
        else: self.fail(name, kind, found)

    def pillow(self, path, film, depth):
        """How Pillow reads the file differently; "" if it does not. It reduces 16 bits to 8, and has no delay for one
        frame."""
        if not PIL or depth == "16": return None
        size, plays, seconds, pixels = film
        try:
            image = PIL.Image.open(os.path.join(self.folder, path))
            frames = numpy.frombuffer(pixels, numpy.uint8).reshape(-1, size[0] * size[1] * 4)
            total = getattr(image, "n_frames", 1)
            if total != len(frames): return f"{total} frames, not {len(frames)}"
            times = []
            for index in range(total):
                image.seek(index)
                found = visible(image.convert("RGBA").tobytes(), depth)
                if found != frames[index].tobytes(): return f"pixels of frame {index}"
                times.append(image.info.get("duration"))
            times = times[len(frames) - len(seconds):]
            if total == 1: return ""
            if any(abs(t / 1000 - float(s)) > 1e-6 for t, s in zip(times, seconds)): return f"delays {times[:4]}"
            return "" if image.info.get("loop") == (plays or 0) else "plays"
        except Exception as error: return repr(error)

    def ffmpeg(self, path, film, depth):
        """How ffmpeg reads the file differently; "" if it does not."""
        if not shutil.which("ffmpeg"): return None
        size, plays, seconds, pixels = film
        form, count = ("rgba64le", 8) if depth == "16" else ("rgba", 4)
        count *= size[0] * size[1]
        result = subprocess.run(["ffmpeg", "-v", "error", "-f", "apng", "-i", path, "-vsync", "passthrough", "-f", "rawvideo",
            "-pix_fmt", form, "-"], capture_output=True, cwd=self.folder, stdin=subprocess.DEVNULL)
        wanted = pixels[len(pixels) - count * len(seconds):]
        if len(result.stdout) % count == 0 and visible(result.stdout, depth) == wanted: return ""
        return f"{len(result.stdout) / count:g} frames of {len(seconds)}, " + (result.stderr.decode()[:100].strip() or "other pixels")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus")
    parser.add_argument("zoetrope")
    parser.add_argument("--only", default="", metavar="PART_OF_NAME")
    parser.add_argument("--up-to", type=int, default=1 << 40, metavar="BYTES", help="leave larger files out")
    options = parser.parse_args()
    files = sorted(p for p in glob.glob(options.corpus + "/**/*.*", recursive=True)
                   if p.endswith((".gif", ".png", ".apng")) and options.only in p and os.path.getsize(p) <= options.up_to)
    if not files: parser.error("no .gif or .png files there")
    with tempfile.TemporaryDirectory() as folder:
        check = Check(os.path.abspath(options.zoetrope), folder)
        for path in files: check.file(os.path.abspath(path))
    for kind, count in sorted(check.counts.items()): print(f"{count:6} {kind}")
    for problem in check.problems: print(problem)
    print(f"{len(files)} files, {len(check.problems)} problems")
    sys.exit(bool(check.problems))


if __name__ == "__main__":
    main()
