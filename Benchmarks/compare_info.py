#!/usr/bin/env python3
"""compare_info.py ZOETROPE FLOOR SET [FILE.gif ...]: compares `zoetrope info` with gifsicle and Pillow.

Makes GIFs of 105 MB in SET/info by joining frames of the bench set (and one more GIF of FILEs). Runs the programs in
turn, each thirteen times in a row. Prints the times of whole programs, and the peers' times divided by ours: best over
best and median over median. The first three runs are left out, like hyperfine's warm-up, and compared separately,
because they find another program's bytes in the processor's cache. "Pillow's call" is Image.open and n_frames alone,
without the start of Python. "Floor" is the best time of a C program that only looks at every 256th byte of a mapping
with two threads (FLOOR), plus the start of a C program that does nothing.

The layout of a file in the system's cache matters as much as the program: a file that was read from disk lies in large
pieces, one that was just written lies in the pieces in which it was written, 64 KiB with `cp` and 8 KiB with many
programs. All three are shown.
"""
import glob, os, re, shutil, statistics, subprocess, sys, tempfile, time

zoetrope, floor, films = sys.argv[1:4]
own = sys.argv[4:]
here = os.path.dirname(os.path.abspath(__file__))
pillow = [sys.executable, os.path.join(here, "peers/pillow_peer.py"), "count"]
TARGET = 105_000_000


def sub_blocks(data, size):
    """Rewrites image data, which follows the code size, in sub-blocks of `size` bytes."""
    payload, at = bytearray(), 1
    while data[at]:
        payload += data[at + 1:at + 1 + data[at]]
        at += 1 + data[at]
    parts = [payload[at:at + size] for at in range(0, len(payload), size)]
    return data[:1] + b"".join(bytes([len(part)]) + part for part in parts) + b"\0"


def frames(path, size):
    """The frames of a GIF, each with a graphic control and its own palette, in sub-blocks of `size` bytes or
    unchanged."""
    data = open(path, "rb").read()
    flags, at, shared = data[10], 13, b""
    if flags & 0x80:
        shared = data[13:13 + (6 << (flags & 7))]
        at += len(shared)

    def past(at):
        while data[at]:
            at += 1 + data[at]
        return at + 1

    found, control = [], b""
    while data[at] in (0x21, 0x2C):
        if data[at] == 0x21:
            end = past(at + 2)
            if data[at + 1] == 0xF9:
                control = data[at:end]
        else:
            head, palette = bytearray(data[at:at + 10]), shared
            start = at + 10
            if head[9] & 0x80:
                palette = data[start:start + (6 << (head[9] & 7))]
                start += len(palette)
            else:
                head[9] = head[9] & 0x40 | 0x80 | flags & 7
            end = past(start + 1)
            found.append(control + bytes(head) + palette
                         + (sub_blocks(data[start:end], size) if size else data[start:end]))
            control = b""
        at = end
    return int.from_bytes(data[6:8], "little"), int.from_bytes(data[8:10], "little"), found


def join(name, paths, block=None):
    """Writes a file of TARGET bytes by repeating the frames of `paths`, in sub-blocks of `block` bytes."""
    out = os.path.join(films, "info", name)
    if not os.path.exists(out):
        parts = [frames(path, block) for path in paths]
        width, height = max(part[0] for part in parts), max(part[1] for part in parts)
        pool = [frame for part in parts for frame in part[2]]
        with open(out + ".part", "wb") as file:
            file.write(b"GIF89a" + width.to_bytes(2, "little") + height.to_bytes(2, "little") + bytes(3))
            size = index = 0
            while size < TARGET:
                size += file.write(pool[index % len(pool)])
                index += 1
            file.write(b";")
        os.rename(out + ".part", out)
    return out


def many(name):
    """Writes 100,000 frames of a kilobyte."""
    out = os.path.join(films, "info", name)
    if not os.path.exists(out):
        frame = (b"\x21\xf9\x04\x04\x05\0\0\0" + b"\x2c\0\0\0\0\x03\0\x03\0\0" + b"\x02"
                 + (b"\xff" + bytes(255)) * 3 + b"\xdc" + bytes(220) + b"\0")
        with open(out, "wb") as file:
            file.write(b"GIF89a\x03\0\x03\0\xf1\0\0" + bytes(range(12)) + frame * 100_000 + b";")
    return out


def from_disk(path):
    """Drops the file from the cache and reads it again."""
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        while file.read(1 << 20):
            pass


def written(path, size):
    """Writes the file again, in pieces of `size` bytes."""
    with open(path, "rb") as old, open(path + ".part", "wb", buffering=0) as new:
        while piece := old.read(size):
            new.write(piece)
    os.rename(path + ".part", path)


def idle():
    """The time that processors have been idle so far, and the total time."""
    fields = [int(word) for word in open("/proc/stat").readline().split()[1:]]
    return fields[3] + fields[4], sum(fields[:8])


def settle():
    """Waits, for some seconds at most, until other programs leave the processors idle."""
    for _ in range(30):
        before = idle()
        time.sleep(0.06)
        after = idle()
        if (after[0] - before[0]) >= 0.9 * max(after[1] - before[1], 1):
            return


def wall(command):
    start = time.perf_counter()
    process = os.posix_spawnp(command[0], command, os.environ, file_actions=[
        (os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)])
    if os.waitpid(process, 0)[1] != 0:
        raise SystemExit(f"compare_info: {' '.join(command)} failed")
    return (time.perf_counter() - start) * 1e3


def compare(path, rounds, repeats):
    """Times whole programs in turn, each `repeats` times in a row. Returns the times of the first runs, and those from
    the fourth on."""
    commands = {"zoetrope": [tool, "info", path], "gifsicle": ["gifsicle", "--info", path],
                "Pillow": pillow + [path]}
    if not shutil.which("gifsicle"):
        del commands["gifsicle"]
    first, warm = ({name: [] for name in commands} for _ in range(2))
    for _ in range(rounds):
        for name, command in commands.items():
            settle()
            times = [wall(command) for _ in range(repeats)]
            first[name].append(times[0])
            warm[name] += times[3:]
    return first, warm


def number(text, pattern):
    return float(re.search(pattern, text).group(1))


def ratio(times, name, *kinds):
    if name not in times:
        return ""
    return " / ".join(f"{kind(times[name]) / kind(times['zoetrope']):.1f}" for kind in kinds)


def row(label, path, rounds, repeats):
    first, warm = compare(path, rounds, repeats)
    call = [number(subprocess.run(pillow + [path], capture_output=True, text=True).stdout, r"ms=([0-9.]+)")
            for _ in range(3)]
    mapped = ""
    if os.path.getsize(path) > 1 << 21:
        output = subprocess.run([floor, path], capture_output=True, text=True).stdout
        mapped = f"{number(output, r'map=[0-9.]+,([0-9.]+)') + nothing:.1f}"
    ours, kinds = warm["zoetrope"], (min, statistics.median)
    print(f"| {label} | {os.path.getsize(path) / 1e6:.1f} | {min(ours):.2f} / {statistics.median(ours):.2f} | {mapped} "
          f"| {ratio(warm, 'gifsicle', *kinds)} | {ratio(warm, 'Pillow', *kinds)} "
          f"| {ratio(first, 'Pillow', statistics.median)} | {min(call) / min(ours):.1f} |")
    sys.stdout.flush()


os.makedirs(os.path.join(films, "info"), exist_ok=True)
files = [("frames of a film", join("film.gif", [f"{films}/dithered.gif"])),
         ("large frames", join("large.gif", [f"{films}/large.gif"])),
         ("small changes", join("deltas.gif", [f"{films}/deltas.gif"])),
         # As written by ImageMagick and netpbm.
         ("sub-blocks of 254", join("blocks254.gif", [f"{films}/dithered.gif"], 254))]
if own:
    files.append(("frames of your files", join("own.gif", own)))
with tempfile.TemporaryDirectory() as folder:
    # Copied in one write, because a program starts slower right after it was linked.
    tool = os.path.join(folder, "zoetrope")
    with open(zoetrope, "rb") as old, open(tool, "wb", buffering=0) as new:
        new.write(old.read())
    os.chmod(tool, 0o755)
    empty = os.path.join(folder, "empty")
    subprocess.run(["cc", "-O2", "-o", empty, "-x", "c", "-"], input="int main(void) { return 0; }", text=True, check=True)
    nothing = min(wall([empty]) for _ in range(50))
    print("\n## `zoetrope info`, whole programs\n")
    print("| file | MB | our ms, least / median | floor | × gifsicle --info | × Pillow n_frames | first runs | × Pillow's call |")
    print("|---|---|---|---|---|---|---|---|")
    for label, path in files:
        from_disk(path)
        row(label + ", read from disk", path, 3, 13)
        if path == files[0][1] or path == files[2][1]:
            written(path, 64 << 10)
            row(label + ", written in 64 KiB", path, 3, 13)
            written(path, 8 << 10)
            row(label + ", written in 8 KiB", path, 3, 13)
    path = many("many.gif")
    row("100,000 frames", path, 2, 6)
    small = os.path.join(here, "../Fixtures/GIF/background-set.gif")
    row("2 frames, 72 bytes", small, 4, 53)
    print(f"\nA C program that does nothing takes {nothing:.2f} ms here.")
