#!/usr/bin/env python3
"""Prints the lines reached, by folder, from an lcov report on standard input. Exits with status 1 if a folder of code
that decodes is below GOAL.

    llvm-cov export -format=lcov ... | Scripts/coverage.py [--list]
"""
import collections, os, re, sys

GOAL, JUDGED = 95.0, (
    "Bytes", "Threads", "Scanning", "GIF", "PNG", "Pixels", "Decoding", "Compositing")

counts = collections.defaultdict(dict)
path = ""
for line in sys.stdin:
    line = line.rstrip("\n")
    if line.startswith("SF:"):
        path = os.path.relpath(line[3:])
    elif match := re.match(r"DA:(\d+),(\d+)", line):
        number, count = int(match[1]), int(match[2])
        counts[path][number] = max(counts[path].get(number, 0), count)
if not counts:
    sys.exit("no lines in the report")

folders = collections.defaultdict(lambda: [0, 0])
for path, lines in counts.items():
    parts = path.split("/")
    folder = parts[2] if len(parts) > 3 and parts[1].startswith("Zoetrope") else parts[1]
    folders[folder][0] += sum(count > 0 for count in lines.values())
    folders[folder][1] += len(lines)
judged = [sum(folders[name][index] for name in JUDGED) for index in (0, 1)]
for name, (reached, total) in sorted(folders.items()) + [(" + ".join(JUDGED), judged)]:
    print(f"{name:43}{reached:6} of {total:6} lines  {100 * reached / total:6.2f} %")

if "--list" in sys.argv:
    for path, lines in sorted(counts.items()):
        missed = sorted(number for number, count in lines.items() if count == 0)
        runs = []
        for number in missed:
            if runs and runs[-1][1] == number - 1:
                runs[-1][1] = number
            else:
                runs.append([number, number])
        if runs:
            print(f"{path}: " + ", ".join(f"{a}" if a == b else f"{a}-{b}" for a, b in runs))
sys.exit(100 * judged[0] / judged[1] < GOAL)
