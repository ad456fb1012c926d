#!/usr/bin/env python3
"""Writes the figures of README.md and their plot, figures.svg, from RESULTS.md.

  figures.py [--check]

--check writes nothing, and fails if either differs from what RESULTS.md gives.
"""
import os, re, sys

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


def table(text):
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
    with open(README, encoding="utf-8") as file: readme = file.read()
    before, rest = readme.split(BEGIN, 1)
    after = rest.split(END, 1)[1]
    wanted = {README: before + BEGIN + table(results) + END + after, PLOT: plot(results)}
    stale = []
    for path, text in wanted.items():
        old = open(path, encoding="utf-8").read() if os.path.exists(path) else None
        if old == text: continue
        stale.append(os.path.basename(path))
        if "--check" not in sys.argv[1:]:
            with open(path, "w", encoding="utf-8") as file: file.write(text)
    if "--check" in sys.argv[1:] and stale: sys.exit(f"not as RESULTS.md says: {', '.join(stale)}; make figures")


main()
