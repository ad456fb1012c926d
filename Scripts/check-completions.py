#!/usr/bin/env python3
"""Types into bash, zsh and fish with the completions that `make install-tool` installs, and presses Tab.

  check-completions.py ZOETROPE [--in bash,fish]

Each case is a line to type and the line that must result after Tab, or the candidates that must be listed. The shells
run in a pseudo-terminal, without any configuration. A shell that is not installed is reported and skipped.
"""
import argparse, os, pty, re, select, shutil, signal, subprocess, sys, tempfile, time

PROMPT = "READY> "
# The text to type, and the words of the line after Tab.
LINES = [
    ("zoetrope expl", ["zoetrope", "explain"]),
    ("zoetrope extract --eff", ["zoetrope", "extract", "--effort"]),
    ("zoetrope extract --effort sm", ["zoetrope", "extract", "--effort", "small"]),
    ("zoetrope extract cat.gif --form", ["zoetrope", "extract", "cat.gif", "--format"]),
    ("zoetrope play --prot", ["zoetrope", "play", "--protocol"]),
    ("zoetrope play --protocol six", ["zoetrope", "play", "--protocol", "sixel"]),
    ("zoetrope explain --as imagem", ["zoetrope", "explain", "--as", "imagemagick"]),
    ("zoetrope explain --as chromium,pil", ["zoetrope", "explain", "--as", "chromium,pillow"]),
    ("zoetrope info ca", ["zoetrope", "info", "cat.gif"]),
    ("zoetrope check cat.gif sp", ["zoetrope", "check", "cat.gif", "spaced cat.gif"]),
    ("zoetrope info deep/in", ["zoetrope", "info", "deep/inner.png"]),
    ("zoetrope still --damage par", ["zoetrope", "still", "--damage", "partial"]),
    ("zoetrope cache ver", ["zoetrope", "cache", "verify"]),
    ("zoetrope cache warm --lin", ["zoetrope", "cache", "warm", "--linear-light"]),
    ("zoetrope conv", ["zoetrope", "convert"]),
    ("zoetrope convert cat.gif --back", ["zoetrope", "convert", "cat.gif", "--back-and-forth"]),
    ("zoetrope make --order gi", ["zoetrope", "make", "--order", "given"]),
    ("zoetrope cat", ["zoetrope", "cat.gif"]),
    ("zoetrope deep/in", ["zoetrope", "deep/inner.png"]),
    ("zoetrope play cat.gif --cache def", ["zoetrope", "play", "cat.gif", "--cache", "default"]),
]
# The text to type, words that must be listed, and words that must not.
LISTS = [
    ("zoetrope ex", ["extract", "explain"], ["still"]),
    ("zoetrope extract --format ", ["png", "rgba", "y4m", "ffconcat"], ["--json", "cat.gif"]),
    ("zoetrope convert --format ", ["gif", "apng"], ["--json", "cat.gif"]),
    ("zoetrope info --", ["--json", "--frames"], ["--effort"]),
    ("zoetrope info ", ["cat.gif", "deep/"], ["cat.txt"]),
    ("zoetrope ca", ["cache", "cat.gif"], ["cat.txt"]),
    ("zoetrope play --cache ", ["none", "default", "deep/"], ["cat.txt"]),
]


class Shell:
    """A shell in a pseudo-terminal, into which lines are typed."""

    def __init__(self, command, folder, environment):
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            os.chdir(folder)
            os.execvpe(command[0], command, environment)
        self.text = ""
        self.marks = 0

    def set_up(self, lines):
        for line in lines: self.type(line + "\n")
        self.run("true")

    def type(self, text): os.write(self.terminal, text.encode())

    def read_until(self, mark, seconds=60):
        """Everything up to `mark`, without control sequences."""
        deadline = time.monotonic() + seconds
        while mark not in (plain := re.sub(r"\x1b\][^\x07]*\x07|\x1b[\[(][0-9;?]*[A-Za-z]|\x1b[=>]|[\r\a]", "", self.text)):
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.terminal], [], [], left)[0]: raise TimeoutError(f"no {mark!r} in {plain!r}")
            self.text += os.read(self.terminal, 65536).decode(errors="replace")
        self.text = ""
        return plain

    def run(self, line):
        """The output of the line. A word that does not occur in the typed line marks its end."""
        self.marks += 1
        self.type(f"{line}; echo end''-{self.marks}-\n")
        return self.read_until(f"end-{self.marks}-")

    def words(self, line):
        """The words of the line after Tab, printed by a command that is inserted before them with Ctrl-A."""
        self.type(line + "\t")
        time.sleep(.4)
        self.type("\x01printf '<%s>' \n")
        return re.findall(r"<([^<>%]*)>", self.run("true"))

    def listed(self, line):
        self.type(line + "\t\t")
        time.sleep(.4)
        self.type("\x15")
        return set(re.split(r"\s+", self.run("true")))

    def end(self):
        os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)
        os.close(self.terminal)


class Fish(Shell):
    """fish, which prints candidates itself, because they are hard to find on its screen."""

    def listed(self, line): return set(re.split(r"\s+", self.run(f"complete -C '{line}'")))


def start(name, script):
    """The command that starts a shell, and the lines that set it up."""
    if name == "fish": return ["fish", "--no-config", "-i"], ["source " + script]
    if name == "bash":
        return (["bash", "--norc", "--noprofile", "-i"],
                ["bind 'set bell-style none'; bind 'set enable-bracketed-paste off'; bind 'set show-all-if-ambiguous on'",
                 "bind 'set page-completions off'; bind 'set completion-query-items 0'; PS1=; source " + script])
    return (["zsh", "-f", "-i"],
            ["unsetopt beep zle_bracketed_paste prompt_sp 2>/dev/null; bindkey -e; PS1=; LISTMAX=0",
             f"fpath=({os.path.dirname(script)} $fpath); autoload -U compinit; compinit -u -D"])


def typed(name, script, folder, environment, problems, line, body):
    """Runs `body` with a new shell. If the shell ends or does not answer, returns None and adds to `problems`."""
    command, setup = start(name, script)
    shell = (Fish if name == "fish" else Shell)(command, folder, environment)
    try:
        shell.set_up(setup)
        return body(shell)
    except (TimeoutError, OSError) as error:
        problems.append(f"{line!r}: {error}")
    finally:
        shell.end()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("zoetrope")
    parser.add_argument("--in", dest="shells", default="bash,zsh,fish")
    options = parser.parse_args()
    for name in options.shells.split(","):
        if name not in ("bash", "zsh", "fish"): parser.error(f"no completions for {name!r}; there are bash, zsh and fish")
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        share, files = folder + "/share", folder + "/files"
        os.makedirs(files + "/deep")
        os.mkdir(folder + "/bin")
        os.symlink(os.path.abspath(options.zoetrope), folder + "/bin/zoetrope")
        for name in ["cat.gif", "cat.txt", "spaced cat.gif", "deep/inner.png"]: open(f"{files}/{name}", "w").close()
        installer = os.path.join(os.path.dirname(os.path.abspath(__file__)), "install-texts.sh")
        subprocess.run([installer, os.path.abspath(options.zoetrope), share], check=True)
        scripts = {"bash": share + "/bash-completion/completions/zoetrope", "zsh": share + "/zsh/site-functions/_zoetrope",
                   "fish": share + "/fish/vendor_completions.d/zoetrope.fish"}
        environment = {"PATH": f"{folder}/bin:{os.environ['PATH']}", "HOME": folder, "TERM": "dumb", "LC_ALL": "C.UTF-8", "COLUMNS": "100"}
        for name in options.shells.split(","):
            if not shutil.which(name):
                print(f"{name}: left out, not installed")
                continue
            problems = []
            for line, expected in LINES:
                words = typed(name, scripts[name], files, environment, problems, line, lambda shell: shell.words(line))
                if words not in (None, expected): problems.append(f"{line!r} gives {words}, not {expected}")
            for line, wanted, unwanted in LISTS:
                found = typed(name, scripts[name], files, environment, problems, line, lambda shell: shell.listed(line))
                if found is None: continue
                if missing := set(wanted) - found: problems.append(f"{line!r} does not list {sorted(missing)} in {sorted(found)[:40]}")
                if surplus := set(unwanted) & found: problems.append(f"{line!r} lists {sorted(surplus)}")
            failures += len(problems)
            print(f"{name}: {len(LINES) + len(LISTS)} lines, " + (f"{len(problems)} wrong" if problems else "all complete"))
            for problem in problems: print("  " + problem)
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
