#!/usr/bin/env python3
"""Compares the decoding time of bench-decode and wuffs on one core, file by file: the best of several interleaved runs.

usage: compare_wuffs.py BENCH_DECODE WUFFS_PEER FILE...

Prints the files that are slowest beside wuffs, and a summary. Files whose frames wuffs does not decode, or that take
less than 0.5 ms, are left out. A file that seems slow is measured again.
"""
import math, os, re, subprocess, sys


def run(command):
    """Return the number of frames and the milliseconds of a decoder, or None if it failed."""
    output = subprocess.run(["taskset", "-c", "1", *command], capture_output=True, text=True, timeout=300).stdout
    found = re.search(r"frames=(\d+) ms=([0-9.]+)", output)
    return (int(found.group(1)), float(found.group(2))) if found else None


def compare(bench, peer, path):
    """Return wuffs' milliseconds and ours, or None if the two cannot be compared."""
    commands = [peer, path, "3"], [bench, path, "--repeat", "3", "--jobs", "1"]
    runs = [run(command) for command in commands]
    if None in runs or runs[0][0] != runs[1][0] or max(ms for _, ms in runs) < 0.5:
        return None
    best = [ms for _, ms in runs]
    if best[1] > 0.9 * best[0]:
        for _ in range(4):
            again = [run(command) for command in commands]
            best = [min(old, new[1]) if new else old for old, new in zip(best, again)]
    return best


def main():
    bench, peer, *paths = sys.argv[1:]
    rows = []
    for path in paths:
        if times := compare(bench, peer, path):
            rows.append((times[0] / times[1], os.path.basename(path), *times))
    rows.sort()
    print("| file | wuffs, ms | Zoetrope, ms | times as fast |\n|---|---|---|---|")
    for ratio, name, wuffs, ours in rows[:8]:
        print(f"| {name} | {wuffs:.2f} | {ours:.2f} | {ratio:.2f} |")
    mean = math.exp(sum(math.log(row[0]) for row in rows) / len(rows)) if rows else 0
    print(f"\n{len(rows)} files; {mean:.2f} times as fast in the geometric mean")


if __name__ == "__main__":
    main()
