#!/usr/bin/env python3
"""Runs Zoetrope and its peers on one bench set, interleaved, and prints ratios as a Markdown page.

usage: bench.py BENCH_DECODE ZOETROPE PEERS SET STAGES [one|all|sweep|info|extract|memory|stages ...]

A ratio is the time of a peer divided by ours: 10 means that Zoetrope takes a tenth. Each ratio is the median of three
rounds, with the smallest and the largest in brackets. In each round every program runs once and takes the best of a few
repeats. The column "spread" has our slowest round divided by our fastest. "1 core" means pinned to one core. In the
parts that decode to RGBA, libavcodec may use as many cores as Zoetrope, and the other peers are always pinned to one
core. The sweep takes every file of the set, of its folder `writers`, of the fixtures, and of the folder CORPUS, if it
exists.
"""
import glob, importlib.util, math, os, platform, re, shutil, statistics, subprocess, sys, tempfile, time

ROUNDS = 3
bench, zoetrope, peers, films, stages = sys.argv[1:6]
cores = len(os.sched_getaffinity(0))
PIN = ["taskset", "-c", str(min(os.sched_getaffinity(0)))]
pillow = [sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), "peers/pillow_peer.py")]
has_pillow = importlib.util.find_spec("PIL") is not None


def run(command):
    """Runs a program; returns its output and the seconds it took."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    output = process.stdout.read()
    if process.wait() != 0:
        raise SystemExit(f"bench: {' '.join(command)} failed")
    return output, time.perf_counter() - start


def idle():
    """The time that processors have been idle so far, and the total time."""
    fields = [int(word) for word in open("/proc/stat").readline().split()[1:]]
    return fields[3] + fields[4], sum(fields[:8])


def settle():
    """Waits until other programs leave the processors idle, because they would distort the measurement."""
    for _ in range(60):
        before = idle()
        time.sleep(0.06)
        after = idle()
        if (after[0] - before[0]) >= 0.9 * max(after[1] - before[1], 1):
            return
    global disturbed
    disturbed += 1


disturbed = 0


def inner(command):
    """Milliseconds as the program itself measured them, and its peak memory in MB."""
    settle()
    output = run(command)[0]
    memory = re.search(r"peakMB=([0-9.]+)", output)
    return float(re.search(r"ms=([0-9.]+)", output).group(1)), float(memory.group(1)) if memory else 0


def mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def cell(ratios):
    return f"{statistics.median(ratios):.1f} ({min(ratios):.1f}–{max(ratios):.1f})"


def table(title, head, rows):
    print(f"\n## {title}\n")
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    sys.stdout.flush()


def decoding(jobs):
    for kind, library in (("gif", "giflib"), ("png", "libpng")):
        rows, means, slowest = [], {}, []
        for path in sorted(glob.glob(f"{films}/*.{kind}")):
            name = os.path.basename(path)
            if name.startswith(("frames_", "scan_")):
                continue
            ours = (PIN if jobs == 1 else []) + [bench, path, "--repeat", "5", "--jobs", str(jobs)]
            others = {library: PIN + [f"{peers}/{library}_peer", path, "2"]}
            if os.path.exists(f"{peers}/av_peer"):
                others["libavcodec"] = (PIN if jobs == 1 else []) + [f"{peers}/av_peer", path, "2", str(jobs)]
            times, ratios, memory = [], {other: [] for other in others}, 0
            for _ in range(ROUNDS):
                own, used = inner(ours)
                memory = max(memory, used)
                times.append(own)
                for other, command in others.items():
                    ratios[other].append(inner(command)[0] / own)
            if jobs == 1 and has_pillow:
                ratios["Pillow"] = [inner(PIN + pillow + ["decode", path])[0] / statistics.median(times)]
            for other, found in ratios.items():
                means.setdefault(other, []).append(statistics.median(found))
            slowest.append((min(statistics.median(found) for found in ratios.values()), name))
            rows.append([name, f"{min(times):.2f}", f"{max(times) / min(times):.2f}"]
                        + [cell(ratios[other]) for other in ratios] + [f"{memory:.0f}"])
        if not rows:
            continue
        rows.append(["geometric mean", "", ""] + [f"**{mean(found):.1f}**" for found in means.values()] + [""])
        table(f"{kind.upper().replace('PNG', 'APNG')}, every frame to RGBA, {jobs} core" + "s" * (jobs > 1),
              ["file", "our ms, best", "spread"] + [f"× {other}" for other in means] + ["peak MB"], rows)
        print(f"\nThe smallest ratio of any peer is {min(slowest)[0]:.1f}, for {min(slowest)[1]}.")


SLOW = 0.3  # milliseconds: below that, opening the file is what takes the time


def attempt(command):
    """The frames and milliseconds of a decoder; None if it fails or does not end."""
    try:
        output = subprocess.run(PIN + command, capture_output=True, text=True, timeout=10)
    except subprocess.TimeoutExpired:
        return None
    found = re.search(r"frames=(\d+) ms=([0-9.]+)", output.stdout)
    return (int(found.group(1)), float(found.group(2))) if output.returncode == 0 and found else None


def sweeping():
    here = os.path.dirname(os.path.abspath(__file__))
    folders = [films, f"{films}/writers"] + [f"{here}/../Fixtures/{name}" for name in ("GIF", "APNG", "Demo")]
    corpus = os.environ.get("CORPUS", "")
    folders += [folder for folder in (f"{corpus}/files", f"{corpus}/large") if corpus and os.path.isdir(folder)]
    paths = [path for folder in folders for path in sorted(glob.glob(f"{folder}/*"))
             if os.path.isfile(path) and not os.path.basename(path).startswith(("frames_", "scan_", "part"))]
    found, unlike = {"gif": [], "png": []}, 0
    for path in paths:
        start = open(path, "rb").read(8)
        kind = {b"GIF8": "gif", b"\x89PNG": "png"}.get(start[:4])
        if not kind:
            continue
        def ours(repeats):
            return attempt([bench, path, "--repeat", str(repeats), "--jobs", "1"])
        def theirs(who, repeats):
            program = f"{peers}/{who}_peer"
            return attempt([program, path, str(repeats)] + (["1"] if who == "av" else [])) if os.path.exists(program) else None
        library = {"gif": "giflib", "png": "libpng"}[kind]
        own, other = ours(2), theirs(library, 2)
        if not own or not other or own[0] != other[0]:
            # In broken files, decoders show different parts.
            unlike += 1
            continue
        if max(own[1], other[1]) < SLOW:
            continue
        repeats = max(3, min(200, int(30 / max(own[1], other[1]))))
        ratios, times = {library: [], "av": []}, []
        for _ in range(ROUNDS):
            settle()
            own = ours(repeats)
            for who in ratios:
                other = theirs(who, repeats)
                if own and other and other[0] == own[0] and own[1]:
                    ratios[who].append(other[1] / own[1])
                    if who == library: times.append(max(own[1], other[1]))
        # The first run, on a file that is not cached yet, can take far too long.
        if own and ratios[library] and statistics.median(times) >= SLOW:
            av = f"{statistics.median(ratios['av']):.1f}" if ratios["av"] else ""
            found[kind].append((statistics.median(ratios[library]), os.path.relpath(path, corpus or here), own[1], av))
    for kind, library in (("gif", "giflib"), ("png", "libpng")):
        files = sorted(found[kind])
        if not files:
            continue
        rows = [[name, f"{took:.2f}", f"{ratio:.2f}", av] for ratio, name, took, av in files[:11]]
        table(f"Every {kind.upper()} of the set, the fixtures and the corpus over {SLOW} ms, 1 core: the slowest",
              ["file", "our ms", f"× {library}", "× libavcodec"], rows)
        print(f"\nThe smallest ratio of {len(files)} files is {files[0][0]:.2f}, the geometric mean is "
              f"{mean([file[0] for file in files]):.1f}.")
    print(f"\n{unlike} files were left out: a decoder failed, or gave another number of frames.")


def whole(ours, others, rounds):
    """The ratios of whole processes to ours, and our milliseconds; the best of several runs."""
    times, ratios = [], {name: [] for name in others}
    for _ in range(rounds):
        settle()
        own = run(ours)[1]
        times.append(own)
        for name, command in others.items():
            ratios[name].append(run(command)[1] / own)
    return min(times) * 1e3, ratios


def size(folder):
    return sum(os.path.getsize(path) for path in glob.glob(f"{folder}/*.png"))


def extracting():
    rows, means = [], {}
    magick = shutil.which("magick") or shutil.which("convert")
    for name in ("flat.gif", "deltas.gif", "noisy.gif", "partial_alpha.png"):
        path = f"{films}/{name}"
        with tempfile.TemporaryDirectory() as folder:
            into = {who: os.path.join(folder, who) for who in ("zoetrope", "ffmpeg", "Pillow", "ImageMagick")}
            for each in into.values():
                os.mkdir(each)
            others = {"Pillow": pillow + ["png", path, into["Pillow"]]} if has_pillow else {}
            if shutil.which("ffmpeg"):
                others["ffmpeg"] = ["ffmpeg", "-nostdin", "-loglevel", "error", "-y", "-i", path,
                                    "-fps_mode", "passthrough", into["ffmpeg"] + "/%05d.png"]
            if magick and name.endswith("gif"):
                others["ImageMagick"] = [magick, path, "-coalesce", into["ImageMagick"] + "/%05d.png"]
            ours = [zoetrope, "extract", path, "--output", into["zoetrope"], "--force"]
            best, ratios = whole(ours, others, 1)
            bytes_ = {who: size(folder) for who, folder in into.items() if size(folder)}
            for who, found in ratios.items():
                means.setdefault(who, []).append(found[0])
            rows.append([name, f"{best:.0f}"]
                        + [f"{ratios[who][0]:.1f}" if who in ratios else "" for who in ("ffmpeg", "Pillow", "ImageMagick")]
                        + [", ".join(f"{who} {count / 1e6:.2f}" for who, count in bytes_.items())])
    rows.append(["geometric mean", ""] + [f"**{mean(means[who]):.1f}**" if who in means else ""
                                          for who in ("ffmpeg", "Pillow", "ImageMagick")] + [""])
    table(f"Every frame to PNG files, {cores} cores, whole programs",
          ["file", "our ms", "× ffmpeg", "× Pillow", "× ImageMagick", "MB written"], rows)


def scanning():
    rows = []
    small = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../Fixtures/Demo/bouncing-ball.gif")
    for path, rounds in ((f"{films}/scan_100mb.gif", 7), (f"{films}/frames_10000.gif", 5),
                         (f"{films}/flat.gif", 15), (small, 15)):
        count = pillow + ["count", path]
        others = {"Pillow": count} if has_pillow else {}
        if shutil.which("gifsicle"):
            others["gifsicle"] = ["gifsicle", "--info", path]
        best, ratios = whole([zoetrope, "info", path], others, rounds)
        alone = f"{statistics.median(inner(count)[0] for _ in range(3)) / best:.1f}" if has_pillow else ""
        rows.append([os.path.basename(path), f"{os.path.getsize(path) / 1e6:.3g}", f"{best:.2f}",
                     *(cell(ratios[who]) if who in ratios else "" for who in ("gifsicle", "Pillow")), alone])
    table("`zoetrope info`, whole programs", ["file", "MB", "our ms, best", "× gifsicle --info",
          "× Pillow n_frames", "× Pillow without Python's start"], rows)


def memory():
    rows = []
    canvas = 640 * 360 * 4 / 1e6
    for jobs in sorted({1, cores}):
        def peak(name):
            return inner([bench, f"{films}/{name}", "--repeat", "1", "--jobs", str(jobs)])[1]
        least = peak("tiny.gif")
        for frames, name in ((100, "flat.gif"), (1000, "frames_1000.gif"), (10000, "frames_10000.gif"),
                             (100, "frames_100.png"), (1000, "frames_1000.png")):
            used = peak(name)
            rows.append([str(jobs), f"{frames} {name[-3:].replace('png', 'apng, RGBA')}", f"{os.path.getsize(f'{films}/{name}') / 1e6:.1f}", f"{used:.1f}",
                         f"{(used - least) / canvas:.1f}"])
    table("Peak memory of decoding without output, canvas of 640 × 360 (0.92 MB)",
          ["threads", "frames", "file MB", "peak MB", "canvases in addition to the peak of a film of 64 × 64"], rows)


def version(command, pattern=r"\d[\w.]*"):
    try:
        return re.search(pattern, subprocess.run(command, capture_output=True, text=True).stdout).group(0)
    except (OSError, AttributeError):
        return "none"


def timing():
    lines = run(PIN + [stages])[0].splitlines()
    rows = [list(re.match(r"(\S+) ms=(\S+) ratio=(\S+) ns=(\S+)", line).groups()) for line in lines]
    table("Stages, 1 core", ["stage", "ms", "× a loop that counts clock cycles", "ns"], rows)


def heading():
    model = re.search(r"model name\s*: (.*)", open("/proc/cpuinfo").read())
    print(f"# Measured on {time.strftime('%Y-%m-%d')}\n")
    print(f"{model.group(1) if model else platform.machine()}, {cores} cores, Linux {platform.release()}. "
          f"ffmpeg {version(['ffmpeg', '-version'])}, gifsicle {version(['gifsicle', '--version'])}, "
          f"Pillow {version([sys.executable, '-c', 'import PIL; print(PIL.__version__)'])}, "
          f"libpng {version(['pkg-config', '--modversion', 'libpng'])}, "
          f"libavcodec {version(['pkg-config', '--modversion', 'libavcodec'])}, "
          f"ImageMagick {version(['convert', '--version'], r'[0-9]+[.][0-9.-]+')}.")
    print("\n" + __doc__.split("\n\n", 2)[2].strip())


def main():
    start = time.time()
    parts = {"one": lambda: decoding(1), "all": lambda: decoding(cores), "sweep": sweeping, "info": scanning,
             "extract": extracting, "memory": memory, "stages": timing}
    wanted = sys.argv[6:] or [part for part in parts if part != "all" or cores > 1]
    heading()
    for part in wanted:
        parts[part]()
    print(f"\nAll measurements took {time.time() - start:.0f} s; {disturbed} runs began while other programs were busy.")


main()
