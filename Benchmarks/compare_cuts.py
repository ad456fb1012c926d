"""Compares cutting the head of files with gifsicle and ffmpeg: time, bytes, and wrong pictures.

    python3 compare_cuts.py ZOETROPE CHECK_EDITS FILE...

Each file is cut in its middle. Time is the best of several runs of a whole process. `check-edits` is built with
`ZOETROPE_PROGRAMS=1 swift build -c release --product check-edits`.
"""

import os
import subprocess
import sys
import tempfile
import time


def best(command, runs):
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        times.append(time.perf_counter() - start)
        if done.returncode != 0:
            return None
    return min(times)


def start_of(path, frame):
    """The start of a frame in seconds, as ffmpeg computes it: delays below 2 cs count as 10 cs."""
    data = subprocess.run(
        ["ffprobe", "-v", "error", "-select_streams", "v", "-show_entries", "packet=pts_time", "-of", "csv=p=0", path],
        stdout=subprocess.PIPE, check=True).stdout.decode().split()
    times = sorted(float(text.strip(",")) for text in data)
    return times[min(frame, len(times) - 1)]


def main():
    zoetrope, tool, paths = sys.argv[1], sys.argv[2], sys.argv[3:]
    print("| file | frame | program | ms | times ours | bytes | pictures |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for path in paths:
            name = os.path.basename(path)
            out = os.path.join(folder, "out.gif")
            count = int(subprocess.run(
                ["ffprobe", "-v", "error", "-count_packets", "-show_entries", "stream=nb_read_packets", "-of",
                 "csv=p=0", path], stdout=subprocess.PIPE, check=True).stdout.split(b",")[0])
            frame = count // 2
            start = start_of(path, frame)
            commands = {
                "zoetrope": [zoetrope, "convert", "--quiet", "--force", path, "--frames", f"{frame}-", "-o", out],
                "gifsicle -U": ["gifsicle", "-w", "-U", path, f"#{frame}-", "-o", out],
                "gifsicle -U -O3": ["gifsicle", "-w", "-U", "-O3", path, f"#{frame}-", "-o", out],
                "ffmpeg -ss": ["ffmpeg", "-v", "error", "-y", "-ss", f"{start + 0.001}", "-i", path, out],
            }
            own = None
            for program, command in commands.items():
                if os.path.exists(out):
                    os.remove(out)
                taken = best(command, 15 if program == "zoetrope" else 3)
                if taken is None or not os.path.exists(out):
                    print(f"| {name} | {frame} | {program} | failed | | | |")
                    continue
                own = own or taken
                same = subprocess.run([tool, "same", path, str(frame), out], stdout=subprocess.PIPE, check=False)
                print(f"| {name} ({os.path.getsize(path)}) | {frame} of {count} | {program} | {taken * 1000:.1f} "
                      f"| {taken / own:.1f} | {os.path.getsize(out)} | {same.stdout.decode().strip()} |", flush=True)


main()
