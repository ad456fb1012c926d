#!/usr/bin/env python3
"""Runs every shell command of README.md as printed, in the order written, in a fresh clone.

  check-readme.py [--tool ZOETROPE] [--list]

The clone and its home directory are removed afterwards. --tool uses a built tool and skips the commands that call make,
and the line that adds an installed tool to PATH. --list only prints the commands.

A block of commands begins with ```sh. A comment before it can state that the block is not run, and why:

  <!-- not run: needs a terminal -->     skipped
  <!-- needs ffmpeg -->                  skipped if the program is not installed

A command with the comment `# status N` has to exit with N, all others with 0.
"""
import argparse, os, re, shutil, subprocess, sys, tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
REASONS = ("needs a terminal", "needs the network", "needs a release", "CI runs it by itself")


def blocks(text):
    """The blocks of commands, each with the preceding comment."""
    for match in re.finditer(r"(?:<!-- ([^>]*) -->\n)?```sh\n(.*?)```\n", text, re.S):
        yield match.group(1) or "", match.group(2)


def commands(block):
    """The commands of a block. A line that ends with a pipe continues on the next line."""
    command = ""
    for line in block.splitlines():
        command += ("\n" if command else "") + line
        if line.rstrip().endswith(("|", "\\", "&&")): continue
        if command.strip(): yield command
        command = ""
    if command.strip(): sys.exit(f"does not end: {command}")


def chosen(text, has_tool):
    """The commands to run, each with its expected status."""
    for comment, block in blocks(text):
        if comment.startswith("not run: "):
            if comment[len("not run: "):] not in REASONS: sys.exit(f"no reason for leaving it out: {comment}")
            continue
        if comment.startswith("needs ") and not shutil.which(comment[len("needs "):]):
            print(f"left out: {comment}")
            continue
        for command in commands(block):
            if has_tool and re.match(r"make |export PATH=", command): continue
            status = re.search(r"# status (\d+)", command)
            yield command, int(status.group(1)) if status else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file: text = file.read()
    found = list(chosen(text, options.tool))
    if options.list: return print("\n".join(command for command, _ in found))
    if len(found) < 10: sys.exit(f"only {len(found)} commands found in README.md")
    with tempfile.TemporaryDirectory(prefix="zoetrope-readme.") as folder:
        clone, home = os.path.join(folder, "zoetrope"), os.path.join(folder, "home")
        os.mkdir(home)
        # The checkout may belong to another user, as in a container.
        owner = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}
        subprocess.run(["git", "clone", "-q", ROOT, clone], check=True, env=dict(os.environ, **owner))
        environment = dict(os.environ, HOME=home)
        for name in list(environment):
            if name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME") or name.startswith("ZOETROPE_"): del environment[name]
        if options.tool:
            os.mkdir(os.path.join(home, "bin"))
            os.symlink(os.path.realpath(options.tool), os.path.join(home, "bin", "zoetrope"))
            environment["PATH"] = os.path.join(home, "bin") + ":" + environment["PATH"]
        # One shell runs them all, so that exported variables stay set.
        script = "set -o pipefail\n"
        for command, status in found:
            script += f"cat <<'COMMAND'\n\n$ {command}\nCOMMAND\n{command}\n"
            script += f"status=$?; [ $status = {status} ] || {{ echo \"status $status, not {status}\" >&2; exit 1; }}\n"
        subprocess.run(["bash", "-c", script], cwd=clone, env=environment, check=True, stdin=subprocess.DEVNULL)
    print(f"\n{len(found)} commands of README.md run as printed")


try: main()
except subprocess.CalledProcessError as error: sys.exit(f"{os.path.basename(error.cmd[0])} ended with {error.returncode}")
