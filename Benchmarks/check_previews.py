#!/usr/bin/env python3
"""Runs the recipes of Examples/Previews in real programs and terminals, and compares screenshots.

  check_previews.py [--rounds 10] [--in lf/kitty,fzf/tmux] [--ends 20] [--shots DIR] ZOETROPE

Each program starts on a file without a picture. In every round it moves to two animations and back. Each animation
must be drawn, must move, and must replace the other; in the end the screen must be as before, pixel for pixel. When the
program has ended, no part of the pictures may remain. --shots keeps the first and every failed screenshot of each pair.
Before all this, it measures --ends times how long a preview takes from SIGTERM to the last byte that removes its
picture: the median may be at most 50 ms.

Needs Xvfb and ImageMagick. Programs and terminals that are not installed are reported and skipped.
"""
import argparse, fcntl, os, select, shutil, signal, struct, subprocess, sys, tempfile, termios, time, tty
from check_stills import SIZE, Shot

RECIPES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "Examples", "Previews")
# The colours of the two animations' frames, each in the 256-colour palette. Nothing else is drawn in them.
COLORS = {"b.gif": [(255, 95, 0), (0, 95, 255)], "c.gif": [(255, 0, 135), (0, 175, 135)]}
SHOWN = 2000
RELAY = [sys.executable, os.path.abspath(__file__), "relay", "{folder}/keys"]
TERMINALS = {
    "kitty": ["kitty", "--config", "NONE", "-o", "remember_window_size=no", "-o", "initial_window_width=100c", "-o", "initial_window_height=30c",
              "-o", "cursor_blink_interval=0", "-o", "update_check_interval=0", *RELAY],
    "foot": ["sh", "-c", "weston --backend=x11-backend.so --shell=kiosk-shell.so --socket=previews --width=1200 --height=850 & "
             "while [ ! -S \"$XDG_RUNTIME_DIR/previews\" ]; do sleep .1; done; WAYLAND_DISPLAY=previews exec foot -o colors.background=000000 \"$@\"", "-", *RELAY],
    "vt340": ["xterm", "-ti", "vt340", "-xrm", "XTerm*numColorRegisters: 256", "-geometry", "100x30", "-bg", "black", "-fg", "white", "-e", *RELAY],
    "tmux": ["xterm", "-tn", "xterm-256color", "-geometry", "100x30", "-bg", "black", "-fg", "white", "-e", *RELAY,
             "tmux", "-L", "zoetrope-previews", "-f", "{folder}/tmux.conf", "new-session"],
}
OPTIONS = {"vt340": "--protocol sixel --fit shrink"}
NEEDED = {"foot": ["weston", "foot"], "vt340": ["xterm"], "tmux": ["xterm", "tmux"], "kitty": ["kitty"],
          "ranger": ["ranger"], "vifm": ["vifm"], "ranger-scope": ["ranger"], "lf": ["lf"], "fzf": ["fzf"], "popup": ["tmux"]}
# ranger shows root no previews unless they are enabled.
ROOT = ["--cmd=set preview_files true", "--cmd=set use_preview_script true"] if os.geteuid() == 0 else []
PROGRAMS = {
    # The command, and the keys that move to b.gif, from there to c.gif, and back, and that quit.
    "ranger": (["ranger", *ROOT, "{folder}/files"], "j", "j", "kk", "q"),
    "ranger-scope": (["ranger", *ROOT, "--cmd=set preview_images false", "{folder}/files"], "j", "j", "kk", "q"),
    "lf": (["lf", "-config", "{folder}/.config/lf/lfrc", "{folder}/files"], "j", "j", "kk", "q"),
    "vifm": (["vifm", "--select", "{folder}/files/a.txt"], "j", "j", "kk", ":q\r"),
    "fzf": (["sh", "-c", "exec \"$0\" files", RECIPES + "/fzf/pick-animation"], "\x15b.gif", "\x15c.gif", "\x15nothing", "\x1b"),
    "popup": (["sh", "-c", "echo a shell; exec cat"], "\x02Pfiles/b.gif\r", "q\x02Pfiles/c.gif\r", "q", "\x04"),
}
# fzf's preview and ranger's script show only one frame.
STILL = {"fzf", "ranger-scope"}
PAIRS = [(program, terminal) for program in ["ranger", "lf", "vifm"] for terminal in TERMINALS]
PAIRS += [("ranger-scope", "tmux"), ("fzf", "tmux"), ("fzf", "kitty"), ("popup", "tmux")]


def relay(keys, command):
    """Runs a command on its own terminal inside this one, and types what is written to the pipe `keys`."""
    size = fcntl.ioctl(1, termios.TIOCGWINSZ, bytes(8))
    before = termios.tcgetattr(0)
    tty.setraw(0)
    process, terminal = os.forkpty()
    if process == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, size)
        os.execvp(command[0], command)
    source = os.open(keys, os.O_RDWR)
    while True:
        for ready in select.select([0, terminal, source], [], [])[0]:
            try:
                data = os.read(ready, 65536)
            except OSError:
                data = b""
            if ready == terminal:
                if not data:
                    termios.tcsetattr(0, termios.TCSANOW, before)
                    os.waitpid(process, 0)
                    open(keys + "-ended", "w").close()
                    while True: signal.pause()
                while data: data = data[os.write(1, data):]
            elif data:
                os.write(terminal, data)


def write_animation(path, colors):
    """Writes a GIF of 160x120 pixels that shows each colour for 300 ms, forever."""
    width, height = 160, 120
    codes = bytearray()
    with open(path, "wb") as file:
        palette = b"".join(bytes(color) for color in colors) + bytes(128 * 3 - 3 * len(colors))
        file.write(b"GIF89a" + struct.pack("<HH", width, height) + b"\xf6\0\0" + palette)
        file.write(b"\x21\xff\x0bNETSCAPE2.0\x03\x01\0\0\0")
        for index in range(len(colors)):
            codes = bytearray()
            for pixel in range(width * height):
                if pixel % 64 == 0: codes.append(0x80)
                codes.append(index)
            codes.append(0x81)
            file.write(b"\x21\xf9\x04\0" + struct.pack("<H", 30) + b"\0\0\x2c\0\0\0\0" + struct.pack("<HH", width, height) + b"\0\x07")
            for start in range(0, len(codes), 255):
                file.write(bytes([len(codes[start:start + 255])]) + codes[start:start + 255])
            file.write(b"\0")
        file.write(b"\x3b")


def drawn(shot):
    """The animations' colours on the screen, sampled at every fourth pixel of every fourth row."""
    found = {}
    for start in range(0, shot.height, 4):
        row = shot.pixels[start * shot.width * 3:(start + 1) * shot.width * 3]
        for place in range(0, len(row), 12):
            pixel = row[place:place + 3]
            found[pixel] = found.get(pixel, 0) + 1
    return {color for colors in COLORS.values() for color in colors
            if sum(number for pixel, number in found.items() if all(abs(a - b) < 25 for a, b in zip(pixel, color))) > SHOWN / 16}


class Check:
    def __init__(self, program, terminal, options, display, folder):
        self.name, self.display, self.folder, self.options = f"{program}-{terminal}", display, folder, options
        self.problems = []
        self.program = program
        command, self.to_first, self.to_second, self.back, self.quit = PROGRAMS[program]
        self.prepare()
        environment = {key: value for key, value in os.environ.items() if key not in ("TMUX", "STY", "WAYLAND_DISPLAY", "NO_COLOR")}
        environment |= {"DISPLAY": display, "COLORTERM": "truecolor", "LIBGL_ALWAYS_SOFTWARE": "1", "XDG_RUNTIME_DIR": folder, "HOME": folder,
                        "LC_ALL": "C.UTF-8", "SHELL": "/bin/sh", "PATH": folder + "/bin:" + os.environ["PATH"]}
        environment.pop("XDG_CONFIG_HOME", None)
        if terminal in OPTIONS: environment["ZOETROPE_PREVIEW"] = OPTIONS[terminal]
        self.environment = environment
        os.mkfifo(folder + "/keys")
        words = TERMINALS[terminal] + command
        with open(folder + "/log", "w") as log:
            self.process = subprocess.Popen([word.replace("{folder}", folder) for word in words], env=environment, cwd=folder, stdout=log, stderr=log,
                                            stdin=subprocess.DEVNULL, start_new_session=True)

    def prepare(self):
        folder = self.folder
        for path in ["bin", "files", ".cache", ".config/ranger/plugins", ".config/lf", ".config/vifm/scripts"]: os.makedirs(os.path.join(folder, path))
        os.symlink(os.path.abspath(self.options.zoetrope), folder + "/bin/zoetrope")
        with open(folder + "/files/a.txt", "w") as file: file.write("no picture\nhere\n" * 30)
        for name, colors in COLORS.items(): write_animation(f"{folder}/files/{name}", colors)
        shutil.copy(RECIPES + "/ranger/zoetrope_preview.py", folder + "/.config/ranger/plugins")
        shutil.copy(RECIPES + "/ranger/scope.sh", folder + "/.config/ranger/zoetrope-scope.sh")
        stock = next((path for path in ["/etc/ranger/data/scope.sh", "/usr/share/doc/ranger/config/scope.sh"] if os.path.exists(path)), None)
        if stock: shutil.copy(stock, folder + "/.config/ranger/scope.sh")
        with open(folder + "/.config/ranger/rc.conf", "w") as file:
            file.write("set preview_images true\nset preview_script ~/.config/ranger/zoetrope-scope.sh\nset display_free_space_in_status_bar false\n"
                       # By default, ranger drops keys that arrive while it draws.
                       "set flushinput false\n")
        for name in ["preview", "clean"]: shutil.copy(f"{RECIPES}/lf/{name}", folder + "/.config/lf")
        # lf reads the home directory from the user's account.
        with open(RECIPES + "/lf/lfrc") as recipe, open(folder + "/.config/lf/lfrc", "w") as file: file.write(recipe.read().replace("~", folder))
        shutil.copy(RECIPES + "/vifm/zoetrope-preview", folder + "/.config/vifm/scripts")
        with open(RECIPES + "/vifm/vifmrc") as recipe, open(folder + "/.config/vifm/vifmrc", "w") as file:
            file.write(recipe.read() + "\nset vifminfo=\nset nofollowlinks\nview\n")
        with open(folder + "/tmux.conf", "w") as file:
            file.write(f"source-file {RECIPES}/tmux/tmux.conf\nset -g status off\nset -g default-terminal tmux-256color\nset -ga terminal-overrides ',xterm*:Tc'\n")

    def type(self, keys):
        pipe = os.open(self.folder + "/keys", os.O_RDWR | os.O_NONBLOCK)
        for start in range(len(keys)):
            os.write(pipe, keys[start].encode())
            time.sleep(.03)
        os.close(pipe)

    def shot(self): return Shot(self.display, self.options.shots)

    def fail(self, text, shot):
        self.problems.append(text)
        shot.keep(f"{self.name}-{len(self.problems)}-failed")
        return False

    def wait(self, text, is_right, seconds=15):
        """Takes screenshots until one is right. If none is, records a problem and returns false."""
        deadline = time.monotonic() + seconds
        while True:
            shot = self.shot()
            if is_right(shot): return shot
            if time.monotonic() > deadline or self.process.poll() is not None: return self.fail(text, shot)
            time.sleep(.05)

    def still_screen(self):
        """The screen, once it has not changed for three seconds and is not empty."""
        last, since, deadline = None, 0, time.monotonic() + 30
        while time.monotonic() < deadline:
            shot = self.shot()
            if last is None or shot.pixels != last.pixels: last, since = shot, time.monotonic()
            elif time.monotonic() - since > 3 and max(shot.pixels[::3]) > 100: return shot
            time.sleep(.1)
        return self.fail("does not come to rest", last)

    def see(self, name):
        """Whether one animation, and nothing else, is drawn and moves."""
        ours = set(COLORS[name])
        first = self.wait(f"{name} is not drawn alone", lambda shot: (found := drawn(shot)) and found <= ours)
        if not first: return False
        if not self.problems and self.round == 0: first.keep(f"{self.name}-{name}")
        if self.program in STILL: return True
        color = drawn(first)
        return bool(self.wait(f"{name} does not move", lambda shot: (found := drawn(shot)) and found <= ours and found != color))

    def run(self):
        self.round = 0
        if self.program == "fzf":
            if not self.wait("nothing is drawn", drawn): return
            self.type(self.back)
        before = self.still_screen()
        if not before: return
        if drawn(before): return self.fail("a picture at the start", before)
        before.keep(self.name)
        for self.round in range(self.options.rounds):
            self.type(self.to_first)
            if not self.see("b.gif"): return
            self.type(self.to_second)
            if not self.see("c.gif"): return
            self.type(self.back)
            if not self.wait(f"round {self.round}: something is left", lambda shot: shot.pixels == before.pixels): return
        # The pictures must disappear with the program.
        self.type(self.to_first)
        if not self.see("b.gif"): return
        if self.program == "popup":
            self.type("q")
            self.wait("the popup does not close", lambda shot: not drawn(shot))
        self.type(self.quit)
        if not self.wait("does not end", lambda shot: os.path.exists(self.folder + "/keys-ended")): return
        self.wait("something is left at the end", lambda shot: not drawn(shot), 5)

    def end(self):
        if self.program == "lf": subprocess.run(["lf", "-remote", "quit"], env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if "tmux" in self.name:
            subprocess.run(["tmux", "-L", "zoetrope-previews", "kill-server"], env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.killpg(self.process.pid, signal.SIGTERM)
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


def time_of_end(zoetrope, protocol, folder):
    """The milliseconds from SIGTERM to the last byte of a preview. A pseudo-terminal takes bytes at once."""
    process, terminal = os.forkpty()
    if process == 0:
        os.environ["TERM"] = "xterm-256color"
        os.execv(zoetrope, [zoetrope, "play", "--place", "40x20@10,1", "--protocol", protocol, folder + "/b.gif"])
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 800, 480))
    begun, told, last = None, None, None
    try:
        while data := os.read(terminal, 65536):
            last = time.monotonic()
            begun = begun or last
            if told is None and last - begun > .1: told = os.kill(process, signal.SIGTERM) or time.monotonic()
    except OSError:
        pass
    os.waitpid(process, 0)
    os.close(terminal)
    return (last - told) * 1000


def check_ends(options):
    """Prints how fast previews remove their pictures; returns the number of failures."""
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, colors in COLORS.items(): write_animation(f"{folder}/{name}", colors)
        for protocol in ["half", "kitty", "sixel", "iterm2"]:
            times = sorted(time_of_end(os.path.abspath(options.zoetrope), protocol, folder) for _ in range(options.ends))
            median = times[len(times) // 2]
            failures += median > 50
            print(f"removed after SIGTERM, {protocol:6}: median {median:.1f} ms, longest {times[-1]:.1f} ms of {len(times)}")
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("zoetrope")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--in", dest="names")
    parser.add_argument("--ends", type=int, default=20)
    parser.add_argument("--shots")
    options = parser.parse_args()
    if options.shots: os.makedirs(options.shots, exist_ok=True)
    if missing := [program for program in ["Xvfb", "import"] if not shutil.which(program)]: sys.exit("needs " + ", ".join(missing))
    pairs = [tuple(name.split("/")) for name in options.names.split(",")] if options.names else PAIRS
    # After a signal, stop what was started, too.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(143))
    failures = check_ends(options) if options.ends > 0 else 0
    for program, terminal in pairs:
        missing = [name for name in NEEDED[program] + NEEDED[terminal] if not shutil.which(name)]
        if missing:
            print(f"{program:12} {terminal:6} left out, not installed: {', '.join(missing)}")
            continue
        reader, writer = os.pipe()
        server = subprocess.Popen(["Xvfb", "-displayfd", str(writer), "-screen", "0", "%dx%dx24" % SIZE], pass_fds=[writer], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(writer)
        display = ":" + os.read(reader, 20).decode().strip()
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o700)
            check = Check(program, terminal, options, display, folder)
            try:
                check.run()
            finally:
                check.end()
                server.terminate()
                server.wait()
        failures += len(check.problems)
        print(f"{program:12} {terminal:6} " + ("; ".join(check.problems) or f"drawn and cleared {2 * options.rounds} times, nothing left"), flush=True)
    sys.exit(failures > 0)


if __name__ == "__main__":
    if sys.argv[1:2] == ["relay"]:
        relay(sys.argv[2], sys.argv[3:])
    else:
        main()
