"""Builds the wheel: a PEP 517 backend without dependencies, and the program behind `make wheel`.

The shared library is in the folder that `ZOETROPE_LIBRARY_FOLDER` names, by default that of
`make lib`. The wheel's platform tag is the oldest libc that has all of the library's symbols.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import os
import platform
import re
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent


def library_folder() -> Path:
    return Path(os.environ.get("ZOETROPE_LIBRARY_FOLDER", ROOT.parent / ".build-static/lib" / "dist"))


def version() -> str:
    text = (ROOT.parent / "Sources" / "ZoetropeC" / "Opening.swift").read_text()
    found = re.search(r'text: StaticString = "([^"]+)"', text)
    if not found:
        raise SystemExit("no version in Sources/ZoetropeC/Opening.swift")
    return found.group(1)


def platform_tag(folder: Path) -> str:
    major, minor = (folder / "glibc-floor").read_text().strip().split(".")[:2]
    return f"manylinux_{major}_{minor}_{platform.machine()}"


def library() -> Path:
    path = library_folder() / "libzoetrope.so.1"
    if not path.exists():
        raise SystemExit(f"{path} is missing: run `make lib`")
    return path


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    files = [
        (f"zoetrope/{path.name}", path.read_bytes())
        for path in sorted((ROOT / "zoetrope").iterdir())
        if path.suffix == ".py" or path.name == "py.typed"
    ]
    files.append(("zoetrope/libzoetrope.so.1", library().read_bytes()))
    return write_wheel(wheel_directory, files)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """A wheel that leads to this folder; the package then finds the library of `make lib`."""
    library()
    return write_wheel(wheel_directory, [("zoetrope.pth", f"{ROOT}\n".encode())])


def write_wheel(wheel_directory, files):
    """Adds the metadata to `files`, and writes the wheel."""
    number = version()
    tag = f"py3-none-{platform_tag(library_folder())}"
    info = f"zoetrope-{number}.dist-info"
    metadata = (
        f"Metadata-Version: 2.1\nName: zoetrope\nVersion: {number}\n"
        "Summary: Decode GIF and APNG with browser-exact frames\n"
        "Requires-Python: >=3.8\nProvides-Extra: numpy\n"
        "Requires-Dist: numpy; extra == 'numpy'\n"
        "Description-Content-Type: text/markdown\n\n" + (ROOT / "README.md").read_text())
    files.append((f"{info}/METADATA", metadata.encode()))
    files.append((f"{info}/licenses/LICENSE", (ROOT.parent / "LICENSE").read_bytes()))
    wheel = f"Wheel-Version: 1.0\nGenerator: zoetrope\nRoot-Is-Purelib: false\nTag: {tag}\n"
    files.append((f"{info}/WHEEL", wheel.encode()))
    record = io.StringIO()
    rows = csv.writer(record, lineterminator="\n")
    for name, data in files:
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        rows.writerow([name, f"sha256={digest}", len(data)])
    rows.writerow([f"{info}/RECORD", "", ""])
    files.append((f"{info}/RECORD", record.getvalue().encode()))
    name = f"zoetrope-{number}-{tag}.whl"
    target = Path(wheel_directory) / name
    temporary = target.with_name(f".{name}.new")
    with zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in files:
            # Fixed times, so that equal contents give equal wheels.
            entry = zipfile.ZipInfo(path, (2020, 1, 1, 0, 0, 0))
            entry.external_attr = (0o755 if path.endswith(".so.1") else 0o644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    os.replace(temporary, target)
    return name


def get_requires_for_build_wheel(config_settings=None):
    return []


def get_requires_for_build_editable(config_settings=None):
    return []


def build_sdist(sdist_directory, config_settings=None):
    raise SystemExit("build the wheel: the library is compiled by `make lib`")


if __name__ == "__main__":
    target = Path(sys.argv[1] if len(sys.argv) > 1 else "dist")
    target.mkdir(parents=True, exist_ok=True)
    name = build_wheel(target)
    print(f"{target / name}: {(target / name).stat().st_size} bytes")
