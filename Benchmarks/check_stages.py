#!/usr/bin/env python3
"""check_stages.py BENCH_STAGES STORED [--store]: fails if a stage became more than a tenth slower.

Compares ratios: a stage's time divided by that of a loop that depends only on the processor's clock, measured in the
same run. The ratios are only valid for one model of processor: on another one nothing is compared. --store writes the
ratios of this processor. A stage that seems slower is measured again, because a busy machine can make it look slower.
"""
import json, os, re, subprocess, sys

program, stored = sys.argv[1:3]
PIN = ["taskset", "-c", str(min(os.sched_getaffinity(0)))]
ALLOWED = 1.10
model = re.search(r"model name\s*: (.*)", open("/proc/cpuinfo").read())
model = model.group(1).strip() if model else "unknown"


def measure(names=()):
    output = subprocess.run(PIN + [program, *names], capture_output=True, text=True, check=True, timeout=120).stdout
    return {m.group(1): float(m.group(2)) for m in re.finditer(r"(\S+) ms=\S+ ratio=(\S+)", output)}


found = measure()
known = json.load(open(stored)) if os.path.exists(stored) else {}
if "--store" in sys.argv:
    for _ in range(4):
        for name, ratio in measure().items():
            found[name] = min(found[name], ratio)
    known[model] = found
    json.dump(known, open(stored, "w"), indent=2, sort_keys=True)
    print(open(stored).read())
    sys.exit()
if model not in known:
    print(f"no stored ratios for {model}; --store writes them")
    sys.exit()
limits = {name: ratio * ALLOWED for name, ratio in known[model].items()}
for _ in range(5):
    slow = [name for name, limit in limits.items() if found.get(name, limit + 1) > limit]
    if not slow:
        break
    for name, ratio in measure(slow).items():
        found[name] = min(found.get(name, ratio), ratio)
for name, limit in sorted(limits.items()):
    print(f"{name:10} {found.get(name, float('nan')):8.3f}  stored {limit / ALLOWED:8.3f}  {'LOST' if name in slow else 'ok'}")
sys.exit(1 if slow else 0)
