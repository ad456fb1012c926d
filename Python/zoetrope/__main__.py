"""``python -m zoetrope info FILE...``: show the structure of files."""

from __future__ import annotations

import argparse
import io
import json
import os
import sys
from typing import Any, Dict, List, Optional

from . import Animation, ZoetropeError, __version__, open
from ._errors import LIMITS_HINT, printable


def report(animation: Animation) -> Dict[str, Any]:
    return {
        "file": animation.path, "format": animation.format, "size": animation.size,
        "frames": len(animation), "plays": animation.plays, "duration": animation.duration,
        "bytes": animation.byte_count,
        "damage": [item._asdict() for item in animation.damage],
        "metadata": [
            {"kind": item.kind, "key": item.key, "bytes": len(item.value)}
            for item in animation.metadata
        ],
    }


def main(arguments: Optional[List[str]] = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m zoetrope", description=__doc__)
    parser.add_argument("--version", action="version", version=f"zoetrope {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    info = commands.add_parser("info", help="show size, frames, plays, duration, metadata and damage")
    info.add_argument("files", nargs="+", metavar="FILE")
    info.add_argument("--json", action="store_true", help="print one line of JSON per file")
    options = parser.parse_args(arguments)
    failures = 0
    for path in options.files:
        try:
            with open(path) as animation:
                facts = report(animation)
        except ZoetropeError as error:
            failures += 1
            # This program has no option for limits.
            message = str(error).replace(LIMITS_HINT, "")
            if options.json:
                print(json.dumps({"file": path, "error": error.code, "message": message}))
            else:
                report_error(message)
            continue
        if options.json:
            print(json.dumps(facts))
        else:
            width, height = facts["size"]
            plays = facts["plays"] or "forever"
            print(
                f"{printable(path)}: {facts['format']} {width}x{height}, {facts['frames']} frames, "
                f"{facts['duration']:.3f} s, plays {plays}")
            for item in facts["metadata"]:
                key = f" {printable(item['key'])}" if item["key"] else ""
                print(f"  {item['kind']}{key}: {item['bytes']} bytes")
            for item in facts["damage"]:
                print(f"  {item['kind']}: {item['detail']}, byte {item['byte_offset']}")
    return 1 if failures else 0


def report_error(message: str) -> None:
    # Without standard error, `print` would write to standard output.
    if sys.stderr is not None:
        print(message, file=sys.stderr)


def run() -> int:
    """Run :func:`main`. Print no traceback after Ctrl-C or if the output cannot be written."""
    if sys.stdout is None:
        report_error("zoetrope: standard output is closed")
        return 1
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Print all file names, whatever the encoding, as Python does on standard error.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        try:
            status = main()
        except SystemExit as error:
            status = int(error.code or 0)
        sys.stdout.flush()
        return status
    except OSError as error:
        # Redirect standard output, because the interpreter flushes it again when it exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            report_error(f"zoetrope: standard output: {error.strerror}")
        return 1
    except KeyboardInterrupt:
        # This is the status that a shell reports after Ctrl-C.
        return 130


if __name__ == "__main__":
    sys.exit(run())
