#!/usr/bin/env python3
"""http-reader.py PROGRAM ZOETROPE: tests Examples/HTTPReader with a faulty server on loopback.

The first part of each path names a fault. Every frame must equal the tool's, or the program must fail and state why.
"""
import hashlib, http.server, os, random, select, shutil, socket, struct, subprocess, sys, tempfile, threading, time, zlib

program, tool = map(os.path.abspath, sys.argv[1:3])


def film(side, count):
    """An APNG of `count` frames of noise. Frames are larger than gaps that are read along, so each has its own
    range."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    noise = random.Random(1)
    parts = [b"\x89PNG\r\n\x1a\n", chunk(b"IHDR", struct.pack(">2I5B", side, side, 8, 2, 0, 0, 0)),
             chunk(b"acTL", struct.pack(">2I", count, 0))]
    for index in range(count):
        pixels = zlib.compress(b"".join(b"\0" + noise.randbytes(3 * side) for _ in range(side)), 1)
        parts.append(chunk(b"fcTL", struct.pack(">5I2H2B", max(0, 2 * index - 1), side, side, 0, 0, 1, 10, 0, 0)))
        parts.append(chunk(b"IDAT", pixels) if index == 0 else chunk(b"fdAT", struct.pack(">I", 2 * index) + pixels))
    return b"".join(parts) + chunk(b"IEND", b"")


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    lock = threading.Lock()
    # Counts by fault.
    requests, cancelled = {}, {}
    # Transient faults, with the ends of the ranges that they affected. Each fault affects each range once.
    met = set()

    def log_message(self, *_): pass

    def count(self, counts):
        with self.lock:
            counts[self.fault] = counts.get(self.fault, 0) + 1
            return counts[self.fault]

    def is_alone(self, seconds):
        """Whether the client closed the connection within that time."""
        if select.select([self.connection], [], [], seconds)[0] and not self.connection.recv(1, socket.MSG_PEEK):
            self.count(self.cancelled)
            self.close_connection = True
            return True
        return False

    def fail(self, status, **fields):
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_GET(self):
        _, self.fault, name = self.path.split("/")
        number = self.count(self.requests)
        data, fault = files[name], self.fault
        tag = '"%s"' % hashlib.sha256(data).hexdigest()[:16]
        if fault == "redirect":
            return self.fail(302, Location=f"/none/{name}")
        if fault == "missing":
            return self.fail(404)
        if fault == "busy":
            return self.fail(503)
        if fault.startswith("changed") and number > 3:
            data, tag = files["other.png"], '"other"'
        if fault == "weak":
            tag = "W/" + tag
        if fault == "changed" and self.headers["If-Match"] not in (None, tag):
            return self.fail(412)
        # A weak tag never matches.
        if fault == "weak" and self.headers["If-Match"]:
            return self.fail(412)
        first, last = map(int, self.headers["Range"].removeprefix("bytes=").split("-"))
        part = data[first:last + 1]
        with self.lock:
            is_new = (fault, last) not in self.met
            self.met.add((fault, last))
        if fault == "errors" and is_new:
            return self.fail(503, Retry_After="0")
        if fault == "stall" and is_new and self.is_alone(60):
            return
        if fault == "slow" and number > 1 and self.is_alone(0.3):
            return
        if fault == "reset" and is_new:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
            self.close_connection = True
            return
        if fault == "long" and number > 1:
            part += b"surplus"
        status, total = (200, len(data)) if fault == "whole" else (206, "*" if fault == "endless" else len(data))
        self.send_response(status)
        if status == 206:
            shift = 1 if fault == "shifted" and number > 1 else 0
            self.send_header("Content-Range", f"bytes {first + shift}-{last + shift}/{total}")
        if fault != "untagged":
            self.send_header("ETag", tag)
        # A response with a date and without a tag is validated by its date.
        self.send_header("Last-Modified", "Thu, 01 Jan 2026 00:00:00 GMT")
        self.send_header("Content-Length", str(len(data if fault == "whole" else part)))
        self.end_headers()
        if fault == "cut" and is_new and len(part) > 1:
            self.wfile.write(part[:len(part) // 2])
            self.close_connection = True
        else:
            self.wfile.write(data if fault == "whole" else part)


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 128

    def handle_error(self, request, address):
        # A client that cancels a request closes the connection.
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, address)


def check(name, found, wanted):
    print(f"{'ok' if found == wanted else 'FAILED'}: {name}: {found!r:.80}")
    if found != wanted:
        raise SystemExit(f"wanted {wanted!r:.80}")


def run(fault, frames, *options, name="film.png"):
    """The status and the messages of the program, and whether all frames that it wrote equal the tool's."""
    output = tempfile.mkdtemp(dir=folder)
    result = subprocess.run([program, *options, f"http://127.0.0.1:{port}/{fault}/{name}", output, *map(str, frames)],
                            capture_output=True, text=True, timeout=300)
    written = {frame: open(os.path.join(output, frame), "rb").read() for frame in os.listdir(output)}
    same = all(data == stills[name][int(frame.split(".")[0])] for frame, data in written.items())
    return result.returncode, result.stdout + result.stderr, len(written), same


folder = tempfile.mkdtemp()
try:
    demo = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../Fixtures/Demo")
    files = {"film.png": film(430, 12), "other.png": film(440, 12)}
    with open(os.path.join(demo, "bouncing-ball.gif"), "rb") as file:
        files["ball.gif"] = file.read()
    stills = {}
    for name, count in [("film.png", 12), ("ball.gif", 3)]:
        path = os.path.join(folder, name)
        with open(path, "wb") as file:
            file.write(files[name])
        stills[name] = []
        for index in range(count):
            subprocess.run([tool, "still", path, "--frame", str(index), "--force", "-o", path + ".still.png"], check=True)
            with open(path + ".still.png", "rb") as file:
                stills[name].append(file.read())
    server = Server(("127.0.0.1", 0), Handler)
    port = server.server_address[1]
    threading.Thread(target=server.serve_forever, daemon=True).start()

    check("a GIF", run("none", range(3), name="ball.gif")[::2], (0, 3))
    # Faults that are transient or must make no difference.
    for fault in ["none", "redirect", "untagged", "weak", "errors", "cut", "reset", "stall"]:
        status, words, written, same = run(fault, range(12), *(["--timeout", "2"] if fault == "stall" else []))
        check(f"{fault}: all frames", (status, written, same), (0, 12, True))
        print(f"    {words.strip()}; {Handler.requests[fault]} requests")
    check("a request that stalled was closed", Handler.cancelled.get("stall", 0) > 0, True)
    # Faults that retrying does not fix.
    for fault, reason in [("missing", "404"), ("busy", "503"), ("whole", "does not support ranges"),
                          ("endless", "does not tell the length"), ("shifted", "a range other than"),
                          ("long", "more than"), ("changed", "has changed"), ("changed-silently", "has changed")]:
        status, words, written, same = run(fault, range(12))
        check(f"{fault}: {reason}", (status != 0, reason in words, same), (True, True, True))
    check("a server that is busy gets five requests", Handler.requests["busy"], 5)
    check("one without ranges gets one", Handler.requests["whole"], 1)
    # As in scrubbing, each request is cancelled by the next one, and the last one is served.
    for turn in range(5):
        status, words, written, same = run("slow", [*range(12), *range(turn, 12), 2 * turn], "--scrub")
        check("scrubbing ends with the last frame", (status, written > 0, same), (0, True, True))
    check("requests were cancelled", Handler.cancelled.get("slow", 0) > 0, True)
    print(f"    {Handler.cancelled['slow']} of {Handler.requests['slow']} requests were closed before the answer")
finally:
    shutil.rmtree(folder)
