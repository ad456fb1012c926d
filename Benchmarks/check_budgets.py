#!/usr/bin/env python3
"""check_budgets.py ZOETROPE FILE...: runs `zoetrope convert --max-bytes` on files with several limits.

The limits are percentages of each file's size: --shares 90,60,40,25,10. Prints the outputs that are over the limit,
that use less than 90 % of it without being lossless, and the cases without an output; then their numbers and medians.
Exits with status 1 if an output is over the limit.
"""
import argparse, json, os, statistics, subprocess, tempfile, time

parser = argparse.ArgumentParser()
parser.add_argument("zoetrope")
parser.add_argument("files", nargs="+")
parser.add_argument("--shares", default="90,60,40,25,10")
parser.add_argument("--pin")
parser.add_argument("--timeout", type=float, default=600)
options = parser.parse_args()

directory = tempfile.mkdtemp()
over, under, failed, used, seconds = [], [], [], [], []
for path in options.files:
    name, size = os.path.basename(path), os.path.getsize(path)
    for share in map(int, options.shares.split(",")):
        limit = size * share // 100
        output = os.path.join(directory, "output" + os.path.splitext(name)[1].replace(".apng", ".png"))
        command = [options.zoetrope, "convert", path, "-o", output, "--force", "--json", "--progress", "none",
                   "--max-bytes", str(limit)] + (["--pin", options.pin] if options.pin else [])
        start = time.monotonic()
        done = subprocess.run(command, capture_output=True, timeout=options.timeout)
        seconds.append(time.monotonic() - start)
        if done.returncode != 0:
            failed.append(done.returncode)
            print(f"{name} {share} %: status {done.returncode}", flush=True)
            continue
        count = os.path.getsize(output)
        facts = json.loads(done.stdout.splitlines()[0])
        lossless = not set(facts["departures"]) & {"lossy", "colors", "scaled", "rate"}
        part = count / max(limit, 1)
        if count > limit:
            over.append(name)
            print(f"{name} {share} %: OVER, {count} of {limit}", flush=True)
        elif part < 0.9 and not lossless:
            under.append(part)
            print(f"{name} {share} %: {part:.3f} used, {facts['departures']}", flush=True)
        if not lossless:
            used.append(part)
print(f"{len(seconds)} cases: {len(over)} over, {len(under)} below 90 %, "
      f"{failed.count(8)} without a file, {len(failed) - failed.count(8)} failed otherwise; "
      f"used {statistics.median(used) if used else 0:.3f} in the median")
raise SystemExit(1 if over else 0)
