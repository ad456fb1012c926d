"""Compares every frame and every time from Python with those of the command-line tool.

check_corpus.py TOOL CORPUS: the tool extracts raw RGBA to a pipe and reports times as JSON.
"""

import json
import subprocess
import sys
from pathlib import Path

import zoetrope


def main(tool, corpus):
    folder = Path(corpus)
    paths = sorted(p for p in folder.rglob("*") if p.suffix in {".gif", ".png", ".apng"})
    equal = refused = frames = 0
    wrong = []
    for path in paths:
        info = json.loads(
            subprocess.run([tool, "info", "--json", path], capture_output=True).stdout or b"{}")
        try:
            animation = zoetrope.open(path)
        except zoetrope.ZoetropeError as error:
            if (info.get("error") or {}).get("code") == error.code:
                refused += 1
            else:
                wrong.append(f"{path}: {error}, the tool: {info.get('error')}")
            continue
        if "error" in info and info["error"]:
            wrong.append(f"{path}: the tool refuses it: {info['error']}")
            continue
        times = [(f["start_ms"], f["shown_ms"], f["delay"]["num"], f["delay"]["den"])
                 for f in info["frames"]]
        ours = [(f.start_ns / 1e6, f.duration_ns / 1e6, *f.delay) for f in animation.frames]
        # The tool prints thousandths of a millisecond.
        same_times = len(times) == len(ours) and all(
            abs(a[0] - b[0]) < 0.002 * (1 + i) and abs(a[1] - b[1]) < 0.002 and a[2:] == b[2:]
            for i, (a, b) in enumerate(zip(times, ours)))
        run = subprocess.Popen(
            [tool, "extract", path, "--format", "rgba", "-o", "-"], stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL)
        width, height = animation.size
        same = same_times
        count = 0
        try:
            for frame in animation:
                count += 1
                if run.stdout.read(4 * width * height) != frame.tobytes():
                    same = False
                    break
            same = same and not run.stdout.read(1)
        except zoetrope.ZoetropeError as error:
            same = False
            wrong.append(f"{path}: {error}")
        run.stdout.close()
        run.wait()
        frames += count
        if same:
            equal += 1
        else:
            wrong.append(f"{path}: {'pixels' if same_times else 'times'} differ")
    print(f"{equal} files equal in {frames} frames and their times, "
          f"{refused} refused with the same code, {len(wrong)} wrong")
    for line in wrong:
        print(line)
    return 1 if wrong or not equal else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
