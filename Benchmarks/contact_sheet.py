#!/usr/bin/env python3
"""contact_sheet.py ZOETROPE SHEET.png FILE...: one picture of each GIF before and after scaling, for people to look at.

Each row has the source scaled in full colour, and the same moment of the GIFs of `zoetrope convert --size`, of
`gifsicle -O3 --resize`, and of gifsicle with 256 new colours. Prints their bytes, which are also in the captions. Exits
1 if Zoetrope writes no file, or one that is larger than the original.

--size PERCENT (default 50), --at SHARE of one play (default 0.5), --zoom N enlarges pixels (default 2), --crop PIXELS
keeps at most a square of this side from the middle (default 320).
Needs numpy, Pillow and gifsicle.
"""
import argparse, os, sys, tempfile

from PIL import Image, ImageDraw

from pictures import Film, run

parser = argparse.ArgumentParser()
parser.add_argument("zoetrope")
parser.add_argument("sheet")
parser.add_argument("files", nargs="+")
parser.add_argument("--size", type=int, default=50)
parser.add_argument("--at", type=float, default=0.5)
parser.add_argument("--zoom", type=int, default=2)
parser.add_argument("--crop", type=int, default=320)
options = parser.parse_args()
GAP, CAPTION = 12, 18


def lines(source, size, directory):
    """The command of each column, after its name and output."""
    box = f"{size[0]}x{size[1]}"
    scaled = [options.zoetrope, "convert", source, "--size", box, "--fit", "stretch", "--force", "--quiet", "-o"]
    def theirs(*more): return ["gifsicle", "-O3", *more, source, "--no-warnings", "--resize", box, "-o"]
    targets = [os.path.join(directory, name) for name in ("exact.png", "z.gif", "g.gif", "mix.gif")]
    return [("full colour", targets[0], scaled), ("zoetrope", targets[1], scaled),
            ("gifsicle -O3", targets[2], theirs()),
            ("gifsicle -O3 mix 256", targets[3], theirs("--resize-method", "mix", "--colors", "256"))]


def cell(path, caption):
    """A picture with its caption."""
    image = Image.fromarray(Film(path).pictures([options.at])[0])
    box = [max(length - options.crop, 0) // 2 for length in image.size]
    image = image.crop((*box, *(start + min(length, options.crop) for start, length in zip(box, image.size))))
    image = image.resize([side * options.zoom for side in image.size], Image.Resampling.NEAREST)
    whole = Image.new("RGB", (image.width, image.height + CAPTION), "white")
    whole.paste(image, (0, CAPTION))
    ImageDraw.Draw(whole).text((0, 3), caption, fill="black")
    return whole


rows, wrong = [], []
with tempfile.TemporaryDirectory() as directory:
    for source in options.files:
        name, original = os.path.basename(source), os.path.getsize(source)
        with Image.open(source) as image:
            size = [max(1, round(side * options.size / 100)) for side in image.size]
        cells = []
        for program, target, line in lines(source, size, directory):
            if os.path.exists(target):
                os.remove(target)
            if run([*line, target]) is None or not os.path.exists(target):
                wrong += [f"{name}: no {program}"] if "gifsicle" not in program else []
                continue
            count = os.path.getsize(target)
            wrong += [f"{name}: {original} became {count}"] if program == "zoetrope" and count > original else []
            caption = f"{name}, {original:,} bytes" if program == "full colour" else f"{program}, {count:,} bytes"
            cells.append(cell(target, caption))
            print(f"{name}: {original} -> {count} {program}", flush=True)
        rows.append(cells)
rows = [cells for cells in rows if cells]
if rows:
    width = max(sum(each.width + GAP for each in cells) for cells in rows) + GAP
    sheet = Image.new("RGB", (width, sum(max(each.height for each in cells) + GAP for cells in rows) + GAP), "white")
    top = GAP
    for cells in rows:
        left = GAP
        for each in cells:
            sheet.paste(each, (left, top))
            left += each.width + GAP
        top += max(each.height for each in cells) + GAP
    sheet.save(options.sheet)
print(*wrong, sep="\n", end="\n" if wrong else "")
sys.exit(1 if wrong else 0)
