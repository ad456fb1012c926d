#!/usr/bin/env python3
"""check_writers.py BENCH_WRITE memory|endings|kills [COUNT]: measures a writer's memory, and what it leaves behind.

memory: the peak memory for COUNT frames of 640x360 (default 10,000), and for a tenth of them.
endings: COUNT writers (default 10,000) that finish, are cancelled, are dropped or whose sink fails.
kills: a writer is killed COUNT times (default 100) at random moments; the final file must be missing or complete.
"""
import os, random, resource, subprocess, sys, tempfile, time

bench, mode = sys.argv[1:3]
count = int(sys.argv[3]) if len(sys.argv) > 3 else 100 if mode == "kills" else 10_000
folder = tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
out = os.path.join(folder.name, "out.png")


def long(frames):
    start = time.monotonic()
    subprocess.run([bench, "long", out, str(frames), "640", "360"], check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - start


if mode == "memory":
    for frames in (count // 10, count):
        seconds = long(frames)
        # This is the peak of all children so far, which a later run can only raise.
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        print(f"{frames} frames: peak {peak / 1024:.1f} MiB, {os.path.getsize(out)} bytes, {seconds:.1f} s")
elif mode == "endings":
    sys.exit(subprocess.run([bench, "endings", folder.name, str(count)]).returncode)
else:
    frames = 60
    span = long(frames)
    whole = open(out, "rb").read()
    os.remove(out)
    killed = wrong = finished = 0
    for _ in range(count):
        process = subprocess.Popen([bench, "long", out, str(frames), "640", "360"], stdout=subprocess.DEVNULL)
        time.sleep(random.random() * span)
        killed += process.poll() is None
        process.kill()
        process.wait()
        if os.path.exists(out):
            finished += 1
            wrong += open(out, "rb").read() != whole
            os.remove(out)
        for name in os.listdir(folder.name):
            os.remove(os.path.join(folder.name, name))
    print(f"{killed} of {count} killed while writing: {finished} files under the final name, {wrong} of them not whole")
    sys.exit(wrong > 0)
