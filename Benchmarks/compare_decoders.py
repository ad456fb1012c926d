#!/usr/bin/env python3
"""Compares the decoding time of our loops with those of giflib and libpng, interleaved, as ratios.

usage: compare_decoders.py BENCH_DECODE FILE...

Each ratio is the median of five pairs of runs; the last column is the spread of those five.
"""
import math, os, re, statistics, subprocess, sys


def milliseconds(command):
    output = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300).stdout
    return float(re.search(r"ms=([0-9.]+)", output).group(1))


def ratios(bench, path, jobs):
    pin = ["taskset", "-c", "0"] if jobs == 1 else []
    base = pin + [bench, path, "--repeat", "5", "--jobs", str(jobs)]
    peer = ["taskset", "-c", "0", bench, path, "--repeat", "5", "--jobs", "1", "--pixels", "reference"]
    return sorted(milliseconds(peer) / milliseconds(base) for _ in range(5))


def main():
    bench, files = sys.argv[1], sys.argv[2:]
    for jobs in (1, os.cpu_count()):
        medians = []
        print(f"{jobs} thread(s) against the reference decoders on one")
        for path in files:
            found = ratios(bench, path, jobs)
            medians.append(statistics.median(found))
            print(f"  {os.path.basename(path):28} {medians[-1]:6.2f}x   {found[0]:.2f} to {found[-1]:.2f}")
        mean = math.exp(sum(map(math.log, medians)) / len(medians))
        print(f"  {'geometric mean':28} {mean:6.2f}x")


if __name__ == "__main__":
    main()
