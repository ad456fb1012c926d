#!/usr/bin/env python3
"""Draws still pictures in real terminals, and checks in screenshots that they are complete.

  check_stills.py [--runs 50] [--in kitty,foot,xterm,vt340,tmux,screen] [--shots DIR] ZOETROPE

Each terminal runs once, in Xvfb (foot in weston, in Xvfb). In every run two commands draw one picture each with
`play --frame 0`, one below the other. When the second command has ended, every part of both pictures must be visible in
its colour. --shots keeps the first and every failed screenshot of each terminal.

Needs Xvfb, ImageMagick, and the terminals; weston for foot.
"""
import argparse, os, random, shutil, signal, subprocess, sys, tempfile, time

os.environ["ZOETROPE_CONFIG"] = ""  # Ignore the user's own options.

GRID, BLOCK, SIZE, MARGIN = (8, 4), 30, (1300, 900), 100
COLORS = [(230, 60, 60), (60, 200, 60), (80, 110, 240), (230, 210, 60), (220, 80, 220), (60, 210, 210), (240, 240, 240), (240, 140, 40)]
# How each terminal is started to run the shell script %s. All inherit the setting for full colour.
TERMINALS = {
    "kitty": ["kitty", "--config", "NONE", "-o", "remember_window_size=no", "-o", "initial_window_width=80c", "-o", "initial_window_height=30c", "sh", "%s"],
    "foot": ["sh", "-c", "weston --backend=x11-backend.so --shell=kiosk-shell.so --socket=stills --width=1200 --height=850 & "
             "while [ ! -S \"$XDG_RUNTIME_DIR/stills\" ]; do sleep .1; done; WAYLAND_DISPLAY=stills foot -o colors.background=000000 sh '%s'"],
    "xterm": ["xterm", "-geometry", "80x50", "-bg", "black", "-fg", "white", "-e", "sh", "%s"],
    "vt340": ["xterm", "-ti", "vt340", "-geometry", "80x50", "-bg", "black", "-fg", "white", "-e", "sh", "%s"],
    "tmux": ["xterm", "-tn", "xterm-256color", "-geometry", "80x50", "-bg", "black", "-fg", "white", "-e", "tmux", "-L", "zoetrope-stills", "-f", "/dev/null", "new-session", "sh", "%s"],
    "screen": ["xterm", "-tn", "xterm-256color", "-geometry", "80x50", "-bg", "black", "-fg", "white", "-e", "screen", "-c", "/dev/null", "sh", "%s"],
}
# A file marks the end of each run. The next run begins when there is a file for it.
SCRIPT = """cd '%(folder)s'
run=0
while [ $run -lt %(runs)d ]; do
  printf '\\033[m\\033[H\\033[2J'
  [ %(kitty)d = 1 ] && printf '\\033_Ga=d,d=A,q=2\\033\\\\'
  '%(zoetrope)s' play --frame 0 --fit shrink a.gif; first=$?
  '%(zoetrope)s' play --frame 0 --fit shrink b.gif; second=$?
  printf '%%d %%d' $first $second >new && mv new done-$run
  while [ ! -e go-$run ]; do sleep 0.02; done
  run=$((run + 1))
done
"""


def grid_colors(seed):
    """The colours of the parts, row by row. No two neighbours are equal."""
    generator, colors = random.Random(seed), []
    for index in range(GRID[0] * GRID[1]):
        near = [colors[index - 1] if index % GRID[0] else None, colors[index - GRID[0]] if index >= GRID[0] else None]
        colors.append(generator.choice([color for color in COLORS if color not in near]))
    return colors


def write_picture(path, seed):
    """Writes a GIF of a grid with noise in it, so that it takes many chunks. Each of its codes is a byte long."""
    width, height = GRID[0] * BLOCK, GRID[1] * BLOCK
    colors, generator, palette, codes = grid_colors(seed), random.Random(seed + 1), bytearray(), bytearray()
    for color in COLORS:
        for step in range(16):
            palette += bytes(min(max(channel + generator.randrange(-20, 21), 0), 255) for channel in color)
    for pixel in range(width * height):
        if pixel % 64 == 0: codes.append(0x80)
        block = pixel // width // BLOCK * GRID[0] + pixel % width // BLOCK
        codes.append(COLORS.index(colors[block]) * 16 + generator.randrange(16))
    codes.append(0x81)
    with open(path, "wb") as file:
        file.write(b"GIF89a" + width.to_bytes(2, "little") + height.to_bytes(2, "little") + b"\xf6\0\0" + palette)
        file.write(b"\x2c\0\0\0\0" + width.to_bytes(2, "little") + height.to_bytes(2, "little") + b"\0\x07")
        for start in range(0, len(codes), 255):
            file.write(bytes([len(codes[start:start + 255])]) + codes[start:start + 255])
        file.write(b"\0\x3b")


class Shot:
    def __init__(self, display, path):
        data = subprocess.run(["import", "-silent", "-window", "root", "-depth", "8", "ppm:-"], check=True, stdout=subprocess.PIPE,
                              env=os.environ | {"DISPLAY": display}).stdout
        magic, width, height, depth, rest = data.split(None, 4)
        self.width, self.height, self.path = int(width), int(height), path
        self.pixels, self.data = data[len(data) - self.width * self.height * 3:], data

    def keep(self, name):
        if self.path: subprocess.run(["convert", "ppm:-", os.path.join(self.path, name + ".png")], input=self.data)

    def mean(self, x, y, radius):
        found = [self.pixels[(line * self.width + column) * 3:(line * self.width + column) * 3 + 3]
                 for line in range(y - radius, y + radius) for column in range(x - radius, x + radius)]
        return [sum(pixel[channel] for pixel in found) / len(found) for channel in range(3)]

    def pictures(self):
        """The boxes of the pictures at the left: at least 60 rows in which most of a strip is not background."""
        strip = range(10, MARGIN)
        def is_drawn(x, y): return max(self.pixels[(y * self.width + x) * 3:(y * self.width + x) * 3 + 3]) > 110
        rows = [sum(is_drawn(x, y) for x in strip) > len(strip) * .7 for y in range(self.height)]
        boxes, start = [], None
        for y, drawn in enumerate(rows + [False]):
            if drawn and start is None: start = y
            if not drawn and start is not None:
                if y - start >= 60: boxes.append((start, y))
                start = None
        if not boxes: return 0, 0, 0, 0
        top, bottom = boxes[0][0], boxes[-1][1]
        middle = (top + bottom) // 4 * 2
        lines = range(top + 5, bottom - 5, 7)
        drawn = [x for x in range(self.width) if sum(is_drawn(x, y) for y in lines) > len(lines) * .5]
        return (drawn[0], top, drawn[-1] + 1, bottom) if drawn else (0, 0, 0, 0)

    def problem(self, grids):
        """A description of what is wrong with the grids below each other; None if nothing is."""
        left, top, right, bottom = self.pictures()
        rows = GRID[1] * len(grids)
        if right - left < 80 or bottom - top < 80: return f"nothing drawn: {left, top, right, bottom}"
        width, height = (right - left) / GRID[0], (bottom - top) / rows
        if not .4 < width / height < 2.5: return f"out of shape: {left, top, right, bottom}"
        colors = [color for grid in grids for color in grid]
        for index, color in enumerate(colors):
            x, y = left + width * (index % GRID[0] + .5), top + height * (index // GRID[0] + .5)
            found = self.mean(round(x), round(y), 3)
            if max(abs(a - b) for a, b in zip(found, color)) > 60:
                return f"part {index % GRID[0]}, {index // GRID[0]} is {[round(value) for value in found]} instead of {list(color)}"
        return None


def check(name, options, display, folder):
    """The problems of a terminal's runs."""
    grids = [grid_colors(1), grid_colors(2)]
    with open(os.path.join(folder, "script"), "w") as file:
        file.write(SCRIPT % {"folder": folder, "runs": options.runs, "zoetrope": os.path.abspath(options.zoetrope), "kitty": name == "kitty"})
    environment = {key: value for key, value in os.environ.items() if key not in ("TMUX", "STY", "WAYLAND_DISPLAY")}
    environment |= {"DISPLAY": display, "COLORTERM": "truecolor", "LIBGL_ALWAYS_SOFTWARE": "1",
                    "XDG_RUNTIME_DIR": folder, "LC_ALL": "C.UTF-8", "SHELL": "/bin/sh"}
    command = [word % os.path.join(folder, "script") if "%" in word else word for word in TERMINALS[name]]
    with open(os.path.join(folder, "log"), "w") as log:
        terminal = subprocess.Popen(command, env=environment, stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True)
    problems = []
    try:
        for run in range(options.runs):
            deadline = time.monotonic() + 30
            while not os.path.exists(os.path.join(folder, f"done-{run}")):
                if time.monotonic() > deadline or terminal.poll() is not None:
                    problems.append(f"run {run}: no end")
                    Shot(display, options.shots).keep(f"{name}-{run}-stuck")
                    return problems
                time.sleep(.02)
            statuses = open(os.path.join(folder, f"done-{run}")).read()
            # All bytes have arrived, but the terminal needs a moment to draw them.
            deadline = time.monotonic() + 3
            while True:
                shot = Shot(display, options.shots)
                problem = shot.problem(grids)
                if problem is None or time.monotonic() > deadline: break
                time.sleep(.1)
            if statuses != "0 0": problem = f"statuses {statuses}"
            if problem: problems.append(f"run {run}: {problem}")
            if problem or run == 0: shot.keep(f"{name}-{run}" + ("-failed" if problem else ""))
            open(os.path.join(folder, f"go-{run}"), "w").close()
    finally:
        if name == "tmux": subprocess.run(["tmux", "-L", "zoetrope-stills", "kill-server"], env=environment, stderr=subprocess.DEVNULL)
        os.killpg(terminal.pid, signal.SIGTERM)
        terminal.wait()
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("zoetrope")
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--in", dest="names", default=",".join(TERMINALS))
    parser.add_argument("--shots")
    options = parser.parse_args()
    if options.shots: os.makedirs(options.shots, exist_ok=True)
    failures = 0
    for name in options.names.split(","):
        needed = {"foot": ["weston", "foot"], "vt340": ["xterm"], "tmux": ["xterm", "tmux"], "screen": ["xterm", "screen"]}.get(name, [name])
        missing = [program for program in needed if not shutil.which(program)]
        if missing:
            print(f"{name:8} not installed: {', '.join(missing)}")
            continue
        reader, writer = os.pipe()
        server = subprocess.Popen(["Xvfb", "-displayfd", str(writer), "-screen", "0", "%dx%dx24" % SIZE], pass_fds=[writer], stderr=subprocess.DEVNULL)
        os.close(writer)
        display = ":" + os.read(reader, 20).decode().strip()
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o700)
            for number, file in enumerate(["a.gif", "b.gif"]): write_picture(os.path.join(folder, file), number + 1)
            try:
                problems = check(name, options, display, folder)
            finally:
                server.terminate()
                server.wait()
        failures += len(problems)
        print(f"{name:8} whole in {options.runs - len(problems)} of {options.runs}", flush=True)
        for problem in problems[:5]: print("  " + problem)
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
