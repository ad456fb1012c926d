#!/usr/bin/env python3
"""frame-server.py SERVER ZOETROPE: tests Examples/FrameServer over loopback.

Compares a frame with the tool's, disconnects during one request, and requests files that are hostile, not animations,
or outside the directory. Afterwards the server must answer as before.
"""
import http.client, os, shutil, socket, struct, subprocess, sys, tempfile, time, zlib

server, tool = map(os.path.abspath, sys.argv[1:3])
demo = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../Fixtures/Demo")


def film(side, count):
    """An APNG in which each frame needs all previous ones: `count` frames with sides of `side` pixels."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    def control(sequence, width):
        return chunk(b"fcTL", struct.pack(">5I2H2B", sequence, width, side, 0, 0, 1, 10, 0, 0))

    pixels = [zlib.compress(bytes(1 + width) * side, 1) for width in (side, side - 1)]
    parts = [b"\x89PNG\r\n\x1a\n", chunk(b"IHDR", struct.pack(">2I5B", side, side, 8, 0, 0, 0, 0)),
             chunk(b"acTL", struct.pack(">2I", count, 0)), control(0, side), chunk(b"IDAT", pixels[0])]
    for index in range(1, count):
        parts += [control(2 * index - 1, side - 1),
                  chunk(b"fdAT", struct.pack(">I", 2 * index) + pixels[1])]
    return b"".join(parts) + chunk(b"IEND", b"")


def ask(query, timeout=60):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        connection.request("GET", "/frame?" + query)
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def check(name, found, wanted):
    print(f"{'ok' if found == wanted else 'FAILED'}: {name}: {found!r:.60}")
    if found != wanted:
        raise SystemExit(f"wanted {wanted!r:.60}")


folder = tempfile.mkdtemp()
for name in os.listdir(demo):
    shutil.copy(os.path.join(demo, name), folder)
giant = b"\xff\xff\xff\xff"
for name, data in [("giant.gif", b"GIF89a" + giant + bytes(3) + b"\x2c" + bytes(4) + giant + b"\0\x02\0;"),
                   ("text.gif", b"hello"), ("film.png", film(2000, 500))]:
    with open(os.path.join(folder, name), "wb") as file:
        file.write(data)
with socket.socket() as probe:
    probe.bind(("127.0.0.1", 0))
    port = probe.getsockname()[1]
log_path = os.path.join(folder, "log")
with open(log_path, "w") as log:
    process = subprocess.Popen([server, folder, str(port)], stdout=log, stderr=log)


def log_has(text, seconds=10):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        with open(log_path) as log:
            if text in log.read():
                return True
        time.sleep(0.02)
    return False


try:
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            break
        except OSError:
            time.sleep(0.05)
    # Frames must equal the tool's, whether decoded or cached.
    for name, at in [("variable-delay.gif", 1.5), ("spinner.png", 0.2), ("bouncing-ball.gif", 0.9)]:
        subprocess.run([tool, "still", os.path.join(folder, name), "--at", str(at), "--size", "64x", "--force",
                        "-o", os.path.join(folder, "tool.png")], check=True)
        with open(os.path.join(folder, "tool.png"), "rb") as file:
            still = file.read()
        for place in ["decoded", "cached"]:
            status, body = ask(f"file={name}&at={at}&width=64")
            check(f"{name} at {at}, {place}", (status, body == still), (200, True))
    # Disconnecting must stop the work: the last frame of the film requires all 500.
    start = time.monotonic()
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(b"GET /frame?file=film.png&at=49.95 HTTP/1.1\r\nHost: a\r\n\r\n")
        time.sleep(0.3)
    gone = time.monotonic()
    check("a client that goes away cancels", log_has("film.png: "), True)
    cancelled = time.monotonic() - gone
    with open(log_path) as log:
        check("which the log says", "cancelled" in log.read(), True)
    start = time.monotonic()
    check("the same frame for one who waits", ask("file=film.png&at=49.95")[0], 200)
    print(f"cancelled within {cancelled:.2f} s; the whole takes {time.monotonic() - start:.2f} s")
    check("a giant is refused", ask("file=giant.gif")[0], 413)
    check("a text is refused", ask("file=text.gif")[0], 422)
    check("a missing file", ask("file=none.gif")[0], 404)
    for query in ["file=..%2Flog", "file=..", "file=a%2Fb.gif", "file=spinner.png&width=100000",
                  "file=spinner.png&at=nan", "file=spinner.png&at=-1", ""]:
        check(f"refused: {query}", ask(query)[0], 400)
    check("and it still answers", ask("file=spinner.png")[0], 200)
    with open(f"/proc/{process.pid}/status") as status:
        peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) // 1024
    print(f"peak memory {peak} MB")
    check("within its budget", peak < 400, True)
finally:
    process.terminate()
    process.wait()
    shutil.rmtree(folder)
