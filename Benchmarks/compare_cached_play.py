#!/usr/bin/env python3
"""Times the first frame of `zoetrope play`: without a cache, with a new one, and with a full one.

    compare_cached_play.py ZOETROPE FILE... [--rounds N] [--scratch DIR]

Times whole processes that show one frame and end (`--protocol none --no-motion`). Starting the program, parsing its
arguments and starting its threads takes the same time in all of them. The command for a GIF of one pixel measures that
time, and "net" is the time without it. Before a cold run, the file and everything in
the cache are dropped from the system's file cache. The variants take turns in every round, and the
best time of each is printed. Needs a file system that can drop files (not tmpfs): see --scratch.
"""

import argparse
import os
import shutil
import sys
import tempfile
import time

os.environ["ZOETROPE_CONFIG"] = ""  # Ignore the user's own options.


PIXEL = b"GIF89a\1\0\1\0\x80\0\0\0\0\0\xff\xff\xff,\0\0\0\0\1\0\1\0\0\2\2D\1\0;"


def run(arguments):
    """Milliseconds until the process has ended."""
    null = os.open(os.devnull, os.O_WRONLY)
    actions = [(os.POSIX_SPAWN_DUP2, null, 1)]
    began = time.perf_counter_ns()
    child = os.posix_spawn(arguments[0], arguments, os.environ, file_actions=actions)
    _, status = os.waitpid(child, 0)
    ended = time.perf_counter_ns()
    os.close(null)
    if status:
        sys.exit(f"{' '.join(arguments)}: status {status}")
    return (ended - began) / 1e6


def paths(place):
    if os.path.isfile(place):
        return [place]
    return [os.path.join(folder, name) for folder, _, names in os.walk(place) for name in names]


def drop(*places):
    """Drops files from the system's file cache."""
    for path in (path for place in places for path in paths(place)):
        descriptor = os.open(path, os.O_RDONLY)
        os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(descriptor)


def measure(zoetrope, file, pixel, start, rounds, cache):
    play = [zoetrope, "play", file, "--protocol", "none", "--no-motion"]
    if start:
        play += ["--start", str(start)]
    kept = play + ["--cache", cache]
    times = {}

    def note(name, arguments):
        times.setdefault(name, []).append(run(arguments))

    for _ in range(rounds):
        note("pixel", [zoetrope, "play", pixel, "--protocol", "none", "--no-motion"])
        shutil.rmtree(cache, ignore_errors=True)
        drop(file)
        note("cold none", play)
        note("warm none", play)
        drop(file)
        note("cold new", kept)
        shutil.rmtree(cache, ignore_errors=True)
        note("warm new", kept)
        drop(file, cache)
        note("cold full", kept)
        note("warm full", kept)
    shutil.rmtree(cache, ignore_errors=True)
    return {name: min(values) for name, values in times.items()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("zoetrope")
    parser.add_argument("files", nargs="+")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--scratch", default=None, help="where the cache is made")
    options = parser.parse_args()
    cache = os.path.join(tempfile.mkdtemp(dir=options.scratch), "cache")
    pixel = os.path.join(os.path.dirname(cache), "pixel.gif")
    with open(pixel, "wb") as file:
        file.write(PIXEL)
    print("| file | MB | frame | file and cache | no cache, ms | new, ms | full, ms | times | net, times |")
    print("|---|---|---|---|---|---|---|---|---|")
    for file in options.files:
        size = os.path.getsize(file) / 1e6
        if time.time() - os.stat(file).st_ctime < 3:
            time.sleep(3)  # The store does not record a file that was just written, as it may still change.
        for start in (0, -1):
            found = measure(options.zoetrope, file, pixel, start, options.rounds, cache)
            fixed = found["pixel"]
            for state, name in (("cold", "on disk"), ("warm", "in memory")):
                none, new, full = (found[f"{state} {word}"] for word in ("none", "new", "full"))
                print(
                    f"| {os.path.basename(file)} | {size:.0f} | {'last' if start else '0'} | {name} "
                    f"| {none:.1f} | {new:.1f} | {full:.2f} | {none / full:.1f} "
                    f"| {(none - fixed) / (full - fixed):.1f} |")
            first, second = found["cold none"], found["warm full"]
            print(
                f"| {os.path.basename(file)} | {size:.0f} | {'last' if start else '0'} "
                f"| first run from disk, second from memory | {first:.1f} | | {second:.2f} "
                f"| {first / second:.1f} | {(first - fixed) / (second - fixed):.1f} |")
    print(f"\nPlaying one pixel takes {fixed:.2f} ms.")
    os.remove(pixel)
    os.rmdir(os.path.dirname(cache))


main()
