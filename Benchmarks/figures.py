#!/usr/bin/env python3
"""Writes the figures of README.md from RESULTS.md and WRITING.md, and their plot, figures.svg, from RESULTS.md.

  figures.py [--check]

--check writes nothing, and fails if README.md or figures.svg differs from what the results give.
"""
import math, os, re, sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
README = os.path.join(FOLDER, "..", "README.md")
PLOT = os.path.join(FOLDER, "figures.svg")
BEGIN, END = "<!-- figures: `make figures` writes them -->\n", "<!-- end of figures -->\n"

# The heading in RESULTS.md, its label for README, and its label in the plot.
RATIOS = [
    ("GIF, every frame to RGBA, 1 core", "every frame of %d GIFs to RGBA, one core", "GIF to RGBA, one core"),
    ("APNG, every frame to RGBA, 1 core", "every frame of %d APNGs to RGBA, one core", "APNG to RGBA, one core"),
    ("Every frame to PNG files, 2 cores, whole programs", "every frame of %d files to PNG files, two cores", "to PNG files, two cores"),
]


def section(text, heading):
    start = text.index("## " + heading + "\n")
    return text[start:].split("\n## ", 1)[0].splitlines()


def cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def ratios(text, heading):
    """The number of files of a table, and the mean ratio of each peer."""
    lines = [cells(line) for line in section(text, heading) if line.startswith("|")]
    mean = next(line for line in lines if line[0] == "geometric mean")
    files = len(lines) - lines.index(next(line for line in lines if line[0].startswith("---"))) - 2
    peers = [(name[2:], mean[index].strip("*")) for index, name in enumerate(lines[0])
             if name.startswith("× ") and mean[index]]
    return files, peers


def memory(text):
    """Peak megabytes of the longest GIF, decoded on one thread, and the file's megabytes."""
    rows = [cells(line) for line in text.splitlines() if re.match(r"\| 1 \| \d+ gif \|", line)]
    longest = max(rows, key=lambda row: int(row[1].split()[0]))
    return int(longest[1].split()[0]), float(longest[2]), float(longest[3])


def lateness(text):
    """Median and 99th percentile in microseconds on an idle machine: ours, and the system call's."""
    def row(name):
        line = next(line for line in text.splitlines() if line.startswith("| " + name))
        return cells(line)[1].split(" / ")[:2]
    return row("frames handed over: late by"), row("`clock_nanosleep`, same run: late by")


def geometric_mean(values):
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values))


def optimizing(text):
    """The number of optimized files, and gifsicle's time, processor time and bytes in times of ours."""
    rows = [cells(line) for line in section(text, "`optimize` beside `gifsicle -O3`") if line.startswith("|")]
    mean = next(row for row in rows if row[0] == "geometric mean")
    files = [row for row in rows[2:] if row is not mean]
    # The table has the ratios of bytes the other way round.
    return len(files), mean[3].strip("*"), mean[4].strip("*"), 1 / geometric_mean(float(row[5]) for row in files)


def scaling(text):
    """The number of files scaled, and the geometric means of each peer's seconds and bytes in times of ours."""
    rows = [cells(line) for line in section(text, "Scaling to half") if line.startswith("|")][2:]
    programs, file = {}, None
    for row in rows:
        file = row[0] or file
        programs.setdefault(row[1], {})[file] = float(row[4]), int(row[2].replace(",", ""))
    ours = programs.pop("zoetrope")
    # The peers as they scale by default.
    programs.pop("ffmpeg bayer")

    def mean(of, index):
        return geometric_mean(of[file][index] / ours[file][index] for file in ours)
    return len(ours), [(name, mean(of, 0), mean(of, 1)) for name, of in programs.items()]


def writing(text):
    """The lines of README about writing."""
    files, time, processor, size = optimizing(text)
    yield (f"| `optimize`, {files} GIFs, two cores | 1 | gifsicle -O3 {time} × the time, {processor} × the processor time, "
           f"{size:.2f} × the bytes | `Benchmarks/compare_optimizers.py` |")
    files, peers = scaling(text)
    for index, unit in [(1, "time"), (2, "bytes")]:
        others = ", ".join(f"{peer[0]} {peer[index]:.1f} ×" for peer in peers)
        yield (f"| `convert --size 50%`, {files} GIFs, two cores: {unit} | 1 | {others} the {unit} "
               "| `Benchmarks/compare_resizers.py` |")


def table(text, written):
    lines = ["| measured | zoetrope | others | repeat it |", "|---|---|---|---|"]
    for heading, words, _ in RATIOS:
        files, peers = ratios(text, heading)
        others = ", ".join(f"{name} {value} ×" for name, value in peers)
        lines.append(f"| {words % files} | 1 | {others} the time | `make bench` |")
    frames, megabytes, peak = memory(text)
    lines.append(f"| peak memory, {frames:,} frames of 640 × 360 in a GIF of {megabytes:.0f} MB | {peak} MB | | `make bench` |")
    ours, call = lateness(text)
    lines.append(f"| frames late by, median and 99 %, 60 s at 50 a second | {ours[0]} and {ours[1]} µs "
                 f"| `clock_nanosleep` {call[0]} and {call[1]} µs | `make -C Benchmarks playback` |")
    lines += writing(written)
    return "\n".join(lines) + "\n"


def plot(text):
    """Plots the time of each program divided by ours, as bars."""
    scale, left, bar, lines, top = 20, 110, 18, [], 34
    for heading, _, title in RATIOS:
        lines.append(f'<text class="title" x="10" y="{top + 12}">{title}</text>')
        top += 20
        for name, value in [("zoetrope", "1")] + ratios(text, heading)[1]:
            kind = "ours" if name == "zoetrope" else "peer"
            width = f"{float(value) * scale:.1f}"
            lines.append(f'<text x="{left - 8}" y="{top + 13}" text-anchor="end">{name}</text>')
            lines.append(f'<rect class="{kind}" x="{left}" y="{top}" width="{width}" height="{bar - 3}"/>')
            lines.append(f'<text x="{left + float(width) + 6:.1f}" y="{top + 13}">{value} ×</text>')
            top += bar
        top += 12
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="620" height="{top}" viewBox="0 0 620 {top}" role="img">',
        "<title>How many times as long as zoetrope other programs take</title>",
        "<style>text { font: 13px sans-serif; fill: #24292f } .title { font-weight: bold }"
        " .ours { fill: #d2452d } .peer { fill: #8ba3bf }</style>",
        f'<rect width="620" height="{top}" rx="6" fill="#ffffff"/>',
        '<text x="10" y="22">Time for the same work, in times of zoetrope: shorter is better</text>',
    ] + lines + ["</svg>"]) + "\n"


def main():
    with open(os.path.join(FOLDER, "RESULTS.md"), encoding="utf-8") as file: results = file.read()
    with open(os.path.join(FOLDER, "WRITING.md"), encoding="utf-8") as file: written = file.read()
    with open(README, encoding="utf-8") as file: readme = file.read()
    before, rest = readme.split(BEGIN, 1)
    after = rest.split(END, 1)[1]
    wanted = {README: before + BEGIN + table(results, written) + END + after, PLOT: plot(results)}
    stale = []
    for path, text in wanted.items():
        old = open(path, encoding="utf-8").read() if os.path.exists(path) else None
        if old == text: continue
        stale.append(os.path.basename(path))
        if "--check" not in sys.argv[1:]:
            with open(path, "w", encoding="utf-8") as file: file.write(text)
    if "--check" in sys.argv[1:] and stale: sys.exit(f"not as the results say: {', '.join(stale)}; make figures")


main()
