#!/usr/bin/env python3
"""Tests hostile files and terminals, each of which must be rejected or handled within a bound on memory and time.

    Scripts/hostile.py ZOETROPE

Each file is made here and passed to `info`, `check`, `still` and `still` of the last frame, each in a child process
with 1 GiB of address space. Their peak resident memory (wait4) and time are printed. A crash, more than 64 MB or more
than a second is a failure; files that draw a large canvas may take LARGE. The other commands have their own bounds, in
OTHERS. Commands that write animations may take any time, because 10,000 frames of 64 MB do, but Ctrl-C has to end them
at once. Then a file is played in terminals that claim absurd sizes, with every protocol: the first picture, and the end
after q, must come soon.

A call that takes too long is repeated up to twice, because other work on the machine counts as well.
"""
import fcntl, os, pty, resource, select, signal, struct, sys, tempfile, termios, time, zlib

LIMIT_KB, LIMIT_S = 64 << 10, 1.0
# The bounds for a canvas of 64 MB.
LARGE_KB, LARGE_S = 320 << 10, 10.0
# Commands that compute more per file, with their bounds in megabytes and seconds.
OTHERS = [
    ("extract", ["extract", "-o", "-", "--format", "rgba", "--max", "20", "-q"], 640, 10),
    ("unique", ["extract", "-o", "-", "--format", "rgba", "--unique", "--size", "64x", "--max", "1000", "-q"], 320, 20),
    ("sheet", ["sheet", "-o", "SHEET", "--force", "-q", "--max", "100"], 640, 20),
    ("distinct", ["sheet", "-o", "SHEET", "--force", "-q", "--distinct", "8", "--size", "64x"], 320, 20),
    ("rate", ["extract", "-o", "-", "--format", "rgba", "--fps", "1000", "--max", "20", "-q"], 640, 20),
    ("hashes", ["info", "--hashes"], 320, 60),
    ("explain", ["explain"], 640, 30),
    # Far more pixels than a canvas may have, and the maximum.
    ("huge", ["extract", "-o", "-", "--format", "rgba", "--size", "65535x65535", "--fit", "stretch", "--max", "2", "-q"], 64, 5),
    ("huge", ["still", "-o", "SHEET", "--force", "--size", "65535x65535", "--fit", "stretch"], 64, 5),
    ("huge", ["sheet", "-o", "SHEET", "--force", "-q", "--size", "65535x65535", "--fit", "stretch", "--max", "2"], 64, 5),
    ("large", ["still", "-o", "SHEET", "--force", "--size", "8192x8192", "--fit", "stretch"], 900, 60),
    ("wide", ["extract", "-o", "-", "--size", "65535x1", "--fit", "stretch", "--max", "20", "-q"], 320, 20),
    ("warm", ["cache", "warm", "--cache", "CACHE", "--cache-limit", "16M", "--size", "64x"], 640, 60),
    ("play", ["play", "--protocol", "none", "--duration", "1s"], 320, 10),
]
# Commands that write animations. After PATIENCE_S they get Ctrl-C, and must end within a second.
WRITERS = [
    ("speed", ["convert", "--speed", "2", "-o", "WRITTEN", "--force", "-q"]),
    ("reverse", ["convert", "--reverse", "-o", "WRITTEN", "--force", "-q"]),
    ("resize", ["convert", "--size", "64x", "-o", "WRITTEN", "--force", "-q"]),
    ("enlarge", ["convert", "--size", "65535x65535", "--fit", "stretch", "-o", "WRITTEN", "--force", "-q"]),
    ("budget", ["convert", "--max-bytes", "64K", "-o", "WRITTEN", "--force", "-q"]),
    ("optimize", ["optimize", "-o", "-", "-q"]),
    ("make", ["make", "--fps", "10", "-o", "WRITTEN", "--force", "-q"]),
]
PATIENCE_S, WRITER_KB = 0.5, 800 << 10
# A frame's hash covers the whole canvas, and 10,000 canvases of 64 MB take minutes.
SKIPPED = {"hashes": {"gif-10000-dots", "gif-10000-passing-dots", "apng-10000-dots"}}
# The rows, columns, width and height in pixels that a terminal claims.
SCREENS = [(24, 80, 65535, 65535), (24, 80, 20000, 10000), (500, 1000, 0, 0), (65535, 65535, 0, 0)]
PROTOCOLS = ["sixel", "kitty", "kitty-images", "iterm2", "fine", "half", "octants", "braille", "ascii"]
SCREEN_KB, SCREEN_S = 512 << 10, 5.0


def gif(width, height, *blocks, trailer=b";"):
    return b"GIF89a" + struct.pack("<HH", width, height) + b"\x91\0\0" + bytes(12) + b"".join(blocks) + trailer


def image(x, y, width, height, data=b"\x02\x02\x4c\x01\0"):
    return b"," + struct.pack("<HHHH", x, y, width, height) + b"\0" + data


def chunk(kind, data, length=None):
    return struct.pack(">I", len(data) if length is None else length) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width, height, *chunks, depth=8, color=6):
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + b"".join(chunks) + chunk(b"IEND", b"")


def fctl(number, width, height, x=0, y=0):
    return chunk(b"fcTL", struct.pack(">IIIIIHHBB", number, width, height, x, y, 1, 10, 0, 0))


def lzw_bomb():
    """Codes that each stand for a longer string: 4096 of them, then the longest one repeated."""
    out, bits, count, width, code = bytearray(), 0, 0, 3, 6
    for number in range(30000):
        value = 4 if number == 0 else 0 if number == 1 else min(code - 1, 4095)
        if number > 1:
            code += 1
        bits |= value << count
        count += width
        while count >= 8:
            out.append(bits & 255)
            bits >>= 8
            count -= 8
        if code >= 1 << width and width < 12:
            width += 1
    return b"\2" + b"".join(bytes([len(out[i:i + 255])]) + out[i:i + 255] for i in range(0, len(out), 255)) + b"\0"


def write_files(folder):
    zeros = zlib.compress(bytes(64 << 20), 9)
    row = zlib.compress(bytes(1 + 4 * 64) * 64, 9)
    # Blocks that end at a byte boundary and refer to no earlier data can be repeated.
    packer = zlib.compressobj(9)
    block = packer.compress(bytes(64 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    files = {
        "gif-screen-65535": gif(65535, 65535, image(0, 0, 1, 1)),
        "gif-first-frame-65535": gif(1, 1, image(0, 0, 65535, 65535)),
        "gif-later-frame-65535": gif(1, 1, image(0, 0, 1, 1), image(0, 0, 65535, 65535)),
        "gif-35-bytes": gif(32767, 32767, image(0, 0, 65535, 32767)),
        "gif-screen-zero": gif(0, 0, image(0, 0, 0, 0)),
        "gif-million-empty-frames": gif(4, 4, image(0, 0, 0, 0) * 1_000_000),
        "gif-100000-empty-frames": gif(4, 4, image(0, 0, 0, 0) * 100_000),
        "gif-75000-canvas-frames": gif(1000, 1000, image(0, 0, 1000, 1000, b"\2\0") * 75_000),
        "gif-endless-extensions": gif(4, 4, b"!\xfe\x01x\0" * 2_000_000, image(0, 0, 1, 1)),
        "gif-endless-controls": gif(4, 4, b"!\xf9\x04\0\0\0\0\0" * 1_000_000, image(0, 0, 1, 1)),
        "gif-long-comment": gif(4, 4, b"!\xfe" + (b"\xff" + bytes(range(255))) * 40_000 + b"\0", image(0, 0, 1, 1)),
        "gif-long-data": gif(4, 4, image(0, 0, 4, 4, b"\2" + (b"\xff" + bytes(255)) * 40_000 + b"\0")),
        "gif-lzw-bomb": gif(2000, 2000, image(0, 0, 2000, 2000, lzw_bomb())),
        "png-65535": png(65535, 65535, chunk(b"IDAT", zeros)),
        "png-2147483647": png(2**31 - 1, 2**31 - 1, chunk(b"IDAT", zeros)),
        "png-inflate-bomb": png(64, 64, chunk(b"IDAT", zeros)),
        "png-inflate-bomb-of-6-gib": png(64, 64, chunk(b"IDAT", block + 100 * block[2:])),
        "png-profile-bomb": png(64, 64, chunk(b"iCCP", b"x\0\0" + zeros), chunk(b"IDAT", row)),
        "png-text-bombs": png(64, 64, chunk(b"zTXt", b"x\0\0" + zeros) * 200, chunk(b"IDAT", row)),
        "png-million-texts": png(64, 64, chunk(b"tEXt", b"a\0b") * 500_000, chunk(b"IDAT", row)),
        "apng-2147483647-frames": png(64, 64, chunk(b"acTL", struct.pack(">II", 2**31 - 1, 0)), fctl(0, 64, 64), chunk(b"IDAT", row)),
        "apng-million-controls": png(64, 64, chunk(b"acTL", struct.pack(">II", 2**31 - 1, 0)), fctl(0, 64, 64), chunk(b"IDAT", row), *[fctl(n, 64, 64) for n in range(1, 200_001)]),
        "apng-100000-frames": png(4, 4, chunk(b"acTL", struct.pack(">II", 100_000, 0)), fctl(0, 4, 4), chunk(b"IDAT", zlib.compress(bytes(68))), *[part for n in range(99_999) for part in (fctl(1 + 2 * n, 4, 4), chunk(b"fdAT", struct.pack(">I", 2 + 2 * n) + zlib.compress(bytes(68))))]),
        "png-chunk-length-huge": png(64, 64, chunk(b"tEXt", b"", 2**32 - 1), chunk(b"IDAT", row)),
        # Each frame covers the canvas but is damaged, so it shows the previous one, which shows the one before, and so
        # on.
        "gif-100000-damaged-frames": gif(1, 1, image(0, 0, 1, 1), image(0, 0, 1, 1, b"\2\1\x2c\0") * 99_999),
        # Each chunk is just within its limit; together they far exceed the total limit.
        "png-text-within-limit": png(64, 64, chunk(b"zTXt", b"x\0\0" + zlib.compress(b"\xe4" * (1 << 20), 9)) * 256, chunk(b"IDAT", row)),
        "empty": b"",
    }
    for count in (500, 10_000):
        places = [(n * 37 % 4096, n * 53 % 4096) for n in range(count)]
        files[f"gif-{count}-dots"] = gif(4096, 4096, *[image(x, y, 1, 1) for x, y in places])
        # Each frame is disposed of.
        files[f"gif-{count}-passing-dots"] = gif(4096, 4096, *[b"!\xf9\x04\x08\0\0\0\0" + image(x, y, 1, 1) for x, y in places])
        dot = zlib.compress(bytes(5))
        files[f"apng-{count}-dots"] = png(4096, 4096, chunk(b"acTL", struct.pack(">II", count, 0)), fctl(0, 4096, 4096), chunk(b"IDAT", zlib.compress(bytes(4096 * (1 + 4 * 4096)), 9)), *[part for n, (x, y) in enumerate(places[1:]) for part in (fctl(1 + 2 * n, 1, 1, x, y), chunk(b"fdAT", struct.pack(">I", 2 + 2 * n) + dot))])
    for name, data in files.items():
        with open(os.path.join(folder, name), "wb") as file:
            file.write(data)


def launch(program, words, path):
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
        # Shells make background jobs ignore SIGINT, and the tool would keep ignoring it.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        null = os.open("/dev/null", os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(null, number)
        os.execv(program, [program, *words, path])
    return child


def run(program, words, path):
    begin = time.monotonic()
    _, status, usage = os.wait4(launch(program, words, path), 0)
    return time.monotonic() - begin, usage.ru_maxrss, status


def interrupt(program, words, path):
    """Sends Ctrl-C after PATIENCE_S; returns the time that the command then takes, its peak and its status."""
    child, begin = launch(program, words, path), time.monotonic()
    while not (ended := os.wait4(child, os.WNOHANG))[0] and time.monotonic() < begin + PATIENCE_S:
        time.sleep(0.005)
    begin = time.monotonic()
    if not ended[0]:
        os.kill(child, signal.SIGINT)
        while not (ended := os.wait4(child, os.WNOHANG))[0]:
            # A command that ignores Ctrl-C has failed by this time.
            if time.monotonic() > begin + 60: os.kill(child, signal.SIGKILL)
            time.sleep(0.005)
    return time.monotonic() - begin, ended[2].ru_maxrss, ended[1]


def play(program, protocol, screen, path):
    """Plays in a terminal of that size until something is drawn, presses q; returns both times, the peak and the
    status."""
    rows, columns, width, height = screen
    child, terminal = pty.fork()
    if child == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, width, height))
        os.environ.update(TERM="xterm-256color", LC_ALL="C.UTF-8")
        resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
        os.execv(program, [program, "play", "--no-config", "--loops", "inf", "--protocol", protocol, path])
    start, first, count = time.monotonic(), None, 0
    while True:
        now = time.monotonic() - start
        if select.select([terminal], [], [], 0.02)[0]:
            try:
                count += len(os.read(terminal, 1 << 16))
            except OSError:
                pass
        if first is None and (count > 2000 or now > SCREEN_S):
            first = now
            os.write(terminal, b"q")
        if now > 12 * SCREEN_S: os.kill(child, 9)
        done, status, usage = os.wait4(child, os.WNOHANG)
        if done:
            os.close(terminal)
            return first or now, time.monotonic() - start - (first or 0), usage.ru_maxrss, status


def measure(seconds, call, *words):
    """The result of `call`, which begins with times. If one is too long, calls again, up to twice, and takes the
    best."""
    *best, peak, status = call(*words)
    for _ in range(2):
        if max(best) < seconds:
            break
        *again, more, status = call(*words)
        best, peak = [min(pair) for pair in zip(best, again)], max(peak, more)
    return *best, peak, status


def main():
    program = os.path.realpath(sys.argv[1])
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        # In a process of its own, because a child's peak includes the memory its parent had at the fork.
        writer = os.fork()
        if writer == 0:
            write_files(folder)
            os._exit(0)
        if os.waitpid(writer, 0)[1]:
            sys.exit("the files could not be made")
        names = sorted(os.listdir(folder))
        still = ["still", "-o", os.path.join(folder, "out.png"), "--force"]
        last = [*still, "--frame=-1"]
        for name in names:
            path = os.path.join(folder, name)
            most_kb, most_s = (LARGE_KB, LARGE_S) if name.endswith("-dots") else (LIMIT_KB, LIMIT_S)
            for words in (["info"], ["check"], still, last):
                seconds, peak, status = measure(most_s, run, program, words, path)
                crashed = os.WIFSIGNALED(status)
                ok = not crashed and seconds < most_s and peak < most_kb
                failed += not ok
                code = f"signal {os.WTERMSIG(status)}" if crashed else f"status {os.WEXITSTATUS(status)}"
                size = os.path.getsize(path)
                print(f"{'ok' if ok else 'FAILED':7}{name:28}{words[0] + (' -1' if words is last else ''):9}{size:>10} bytes {code:10}{seconds * 1000:8.0f} ms {peak >> 10:5} MB")
            for title, words, megabytes, most in OTHERS:
                words = [word.replace("SHEET", os.path.join(folder, "out.png")).replace("CACHE", os.path.join(folder, "cache")) for word in words]
                if name in SKIPPED.get(title, ()):
                    continue
                seconds, peak, status = measure(most, run, program, words, path)
                ok = not os.WIFSIGNALED(status) and seconds < most and peak < megabytes << 10
                failed += not ok
                print(f"{'ok' if ok else 'FAILED':7}{name:28}{title:9}{'status ' + str(os.waitstatus_to_exitcode(status)):>27}{seconds * 1000:8.0f} ms {peak >> 10:5} MB")
            for title, words in WRITERS:
                words = [word.replace("WRITTEN", os.path.join(folder, "out.gif")) for word in words]
                seconds, peak, status = measure(LIMIT_S, interrupt, program, words, path)
                # The tool's own statuses, or an end by the signal.
                ok = os.waitstatus_to_exitcode(status) in (*range(9), 130, -signal.SIGINT) and seconds < LIMIT_S and peak < WRITER_KB
                failed += not ok
                print(f"{'ok' if ok else 'FAILED':7}{name:28}{title:9}{'status ' + str(os.waitstatus_to_exitcode(status)):>27}{seconds * 1000:8.0f} ms {peak >> 10:5} MB")
        animation = os.path.join(folder, "play.gif")
        with open(animation, "wb") as file:
            file.write(gif(160, 120, *[image(0, 0, 160, 120, lzw_bomb()) for _ in range(2)], image(3, 5, 40, 50, lzw_bomb())))
        for screen in SCREENS:
            for protocol in PROTOCOLS:
                first, end, peak, status = measure(SCREEN_S, play, program, protocol, screen, animation)
                ok = status == 0 and first < SCREEN_S and end < SCREEN_S and peak < SCREEN_KB
                failed += not ok
                print(f"{'ok' if ok else 'FAILED':7}{'x'.join(map(str, screen)):28}{protocol:13}first {first * 1000:6.0f} ms, end {end * 1000:6.0f} ms {peak >> 10:5} MB, status {os.waitstatus_to_exitcode(status)}")
    print(f"{len(names)} files, {len(SCREENS) * len(PROTOCOLS)} screens, {failed} failures")
    sys.exit(failed > 0)


main()
