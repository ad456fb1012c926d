#!/usr/bin/env python3
"""check-batch.py ZOETROPE [COUNT]: extracts a tree of COUNT mixed files with one command, and checks the results.

The tree has copies of Fixtures, damaged and broken ones, names that are not valid UTF-8, and hidden and linked
directories. On a terminal there must be one progress line, a line for each problem, and one summary. The manifest must
have every file once, with the right status; the pixels of every picture must be those of the frame that it names.
"""
import base64, collections, fcntl, glob, json, os, pty, random, re, shutil, struct, subprocess, sys, tempfile, termios, threading

tool, count = os.path.abspath(sys.argv[1]), int((sys.argv + ["500"])[2])
root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
chance = random.Random(1)
FOLDERS = [b".", b"cats", b"cats/black", b"dogs", b"new\nline", b"no text \xff\xfe", b"film.gif", "été".encode()]


def check(name, found, wanted):
    print(f"{'ok' if found == wanted else 'FAILED'}: {name}: {found!r:.90}")
    if found != wanted:
        raise SystemExit(f"wanted {wanted!r:.500}, found {found!r:.500}")


def make_tree(tree):
    """Writes the files and returns their paths."""
    sources = sorted(path for folder in ("Demo", "GIF", "APNG", "Bad") for path in glob.glob(f"{root}/Fixtures/{folder}/*.*")
                     if os.path.getsize(path) < 20_000 and path.endswith((".gif", ".png")))
    paths = []
    for number in range(count):
        source = sources[number % len(sources)] if number % 3 == 0 else chance.choice(sources)
        with open(source, "rb") as file:
            data = bytearray(file.read())
        match number % 8:
            case 1: data = data[:chance.randrange(len(data))]
            case 2: data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
            case 3 if number % 5 == 0: data = bytearray(b"no animation")
            case 4 if number % 5 == 0: data = bytearray()
        odd = [b"", b" \xff", b"\n", b"-r", b" {index}", "é".encode()][number % 6]
        ending = [source[-4:].encode(), source[-4:].upper().encode()][number % 7 == 0]
        paths.append(os.path.join(tree, FOLDERS[number % len(FOLDERS)], odd + b"-%03d" % number + ending))
        os.makedirs(os.path.dirname(paths[-1]), exist_ok=True)
        with open(paths[-1], "wb") as file:
            file.write(data)
    # None of these files is an input.
    os.makedirs(os.path.join(tree, b".hidden"))
    shutil.copy(sources[0], os.path.join(tree, b".hidden/a.gif"))
    os.symlink(b"cats", os.path.join(tree, b"link"))
    os.makedirs(os.path.join(tree, b"empty.png"))
    with open(os.path.join(tree, b"notes.txt"), "w") as file:
        file.write("notes")
    return paths


def on_terminal(*arguments):
    """The status of the tool, and its output on a terminal of 80 columns."""
    terminal, end = pty.openpty()
    fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("4H", 24, 80, 0, 0))
    process = subprocess.Popen([tool, *arguments], stderr=end, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
    os.close(end)
    written = bytearray()

    def read():
        try:
            while part := os.read(terminal, 65536):
                written.extend(part)
        except OSError:
            pass  # The tool has ended.

    reader = threading.Thread(target=read)
    reader.start()
    status = process.wait()
    reader.join()
    os.close(terminal)
    return status, bytes(written)


def records(*arguments):
    result = subprocess.run([tool, *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return [json.loads(line) for line in result.stdout.splitlines()]


def path(record, key):
    """A path from JSON, which also has the bytes of a name that is not valid UTF-8."""
    encoded = record.get(key + "_base64")
    return os.path.normpath(base64.b64decode(encoded) if encoded else record[key].encode())


folder = tempfile.mkdtemp().encode()
try:
    tree, output = os.path.join(folder, b"in"), os.path.join(folder, b"out")
    paths = [os.path.normpath(name) for name in make_tree(tree)]
    manifest = os.path.join(folder, b"manifest.jsonl")
    status, written = on_terminal("extract", "-r", tree, "-o", output + b"/{dir}/{stem}-{index}.png", "--manifest", manifest)
    with open(manifest, "rb") as file:
        rows = [json.loads(line) for line in file]
    check("every file is in the manifest once", sorted(path(row, "file") for row in rows), sorted(paths))
    # Compare with another command, which decodes everything and writes nothing.
    found = {path(row, "file"): row["status"] for row in records("check", "--json", "-r", tree)}
    check("check says the same of each", {path(row, "file"): row["status"] for row in rows}, found)
    states = collections.Counter(row["status"] for row in rows)
    check("the status is that of losses", status, 1)

    # The text that stays on the screen: the end of each line, after the last carriage return or erasure.
    lines = [re.sub(rb"\x1b\[[0-9;?]*[A-Za-z]", b"", re.split(rb"\r|\x1b\[2?K", line.rstrip(b"\r"))[-1]) for line in written.split(b"\n")]
    lines = [line.decode(errors="replace") for line in lines if line.strip()]
    summary = [line for line in lines if re.match(r"zoetrope: [\d,]+ files: ", line)]
    check("one summary, at the end", lines[-1:], summary)
    numbers = [int(number.replace(",", "")) for number in re.findall(r"([\d,]+) (?:files|intact|damaged|unreadable|frames)", summary[0])]
    pictures = [frame for row in rows for frame in row.get("frames", []) if "output" in frame]
    check(summary[0], numbers, [count, states["ok"], states["damaged"], states["unreadable"], len(pictures)])
    others = [line for line in lines[:-1] if not re.match(r"zoetrope: (warning|error): ", line)]
    check("the other lines are warnings and errors", others, [])
    check("an error for each file that is unreadable", sum(": error: " in line for line in lines), states["unreadable"])
    shown = {int(number) for number in re.findall(rb"\[(\d+)/%d\]" % count, written)}
    check("the progress line counts files", bool(shown) and shown <= set(range(1, count + 1)), True)

    # Compare the pixels of the written pictures with those of the frames that the manifest names.
    hashes = {path(row, "file"): [frame["hash"] for frame in row["frames"]]
              for name in (tree, output) for row in records("info", "--json", "--hashes", "-r", name) if "frames" in row}
    wrong = [frame["output"] for row in rows for frame in row.get("frames", []) if "output" in frame
             if hashes[path(frame, "output")] != [hashes[path(row, "file")][frame["index"]]]
             or os.path.getsize(path(frame, "output")) != frame["output_bytes"]]
    check(f"the pixels of {len(pictures)} pictures", wrong, [])
    there = sum(len(names) for _, _, names in os.walk(output))
    check("no other files", there, len({path(frame, "output") for frame in pictures}))
finally:
    shutil.rmtree(folder)
