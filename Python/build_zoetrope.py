"""Builds the wheel and the source distribution: a PEP 517 backend without dependencies, and the program behind `make wheel`.

The shared library is in the folder that `ZOETROPE_LIBRARY_FOLDER` names, by default that of
`make lib`, which a wheel built from a source distribution runs if there is a Swift toolchain. The wheel's
platform tag is the oldest libc that has all of the library's symbols.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent
#: The checkout, a part of which a source distribution holds.
CHECKOUT = ROOT / "checkout" if (ROOT / "checkout").is_dir() else ROOT.parent
#: What `make lib` needs of the checkout. SwiftPM looks for the folders of all targets.
PARTS = ["LICENSE", "Makefile", "Package.swift", "Package@*.swift", "Scripts", "Sources", "Tests", "Examples/Programs"]


def library_folder() -> Path:
    return Path(os.environ.get("ZOETROPE_LIBRARY_FOLDER", CHECKOUT / ".build-static/lib" / "dist"))


def version() -> str:
    text = (CHECKOUT / "Sources" / "CZoetrope" / "zoetrope.h").read_text()
    found = re.search(r'^#define ZOETROPE_VERSION "([^"]+)"$', text, re.MULTILINE)
    if not found:
        raise SystemExit("no version in Sources/CZoetrope/zoetrope.h")
    return found.group(1)


def platform_tag(folder: Path) -> str:
    major, minor = (folder / "glibc-floor").read_text().strip().split(".")[:2]
    return f"manylinux_{major}_{minor}_{platform.machine()}"


def library() -> Path:
    path = library_folder() / "libzoetrope.so.1"
    if not path.exists() and CHECKOUT != ROOT.parent and shutil.which("swift"):
        subprocess.run(["make", "-C", CHECKOUT, "lib"], check=True, stdout=sys.stderr)
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
    """A wheel that refers to this folder, in which the package finds the library of `make lib`."""
    library()
    return write_wheel(wheel_directory, [("zoetrope.pth", f"{ROOT}\n".encode())])


def metadata() -> str:
    classifiers = [
        "Development Status :: 4 - Beta", "Intended Audience :: Developers",
        "Intended Audience :: Science/Research", "Operating System :: POSIX :: Linux",
        "Programming Language :: Python :: 3", "Programming Language :: Python :: Implementation :: CPython",
        "Topic :: Multimedia :: Graphics", "Typing :: Typed",
    ]
    return (
        f"Metadata-Version: 2.4\nName: zoetrope\nVersion: {version()}\n"
        "Summary: Decode GIF and APNG with browser-exact frames\n"
        "Author: The Zoetrope authors\nLicense-Expression: MIT\nLicense-File: LICENSE\n"
        "Keywords: gif,apng,png,animation,frames,decoder,numpy\n"
        + "".join(f"Classifier: {classifier}\n" for classifier in classifiers)
        + "Requires-Python: >=3.8\nProvides-Extra: numpy\n"
        "Requires-Dist: numpy; extra == 'numpy'\n"
        "Description-Content-Type: text/markdown\n\n" + (ROOT / "README.md").read_text())


def write_wheel(wheel_directory, files):
    """Adds the metadata to `files`, and writes the wheel."""
    number = version()
    tag = f"py3-none-{platform_tag(library_folder())}"
    info = f"zoetrope-{number}.dist-info"
    files.append((f"{info}/METADATA", metadata().encode()))
    files.append((f"{info}/licenses/LICENSE", (CHECKOUT / "LICENSE").read_bytes()))
    # The licences of the code that the library contains, which `make dist` collects.
    notices = library_folder() / "THIRD-PARTY.txt"
    if notices.exists():
        files.append((f"{info}/licenses/{notices.name}", notices.read_bytes()))
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


def get_requires_for_build_sdist(config_settings=None):
    return []


def build_sdist(sdist_directory, config_settings=None):
    """The package and, in `checkout`, the files that Git tracks and the library is built from."""
    command = ["git", "-C", ROOT.parent, "ls-files", "-z", "--"]
    package = subprocess.run([*command, "Python"], check=True, capture_output=True).stdout
    parts = subprocess.run([*command, *PARTS], check=True, capture_output=True).stdout
    stem = f"zoetrope-{version()}"
    names = {name: f"{stem}/{name[len('Python/'):]}" for name in os.fsdecode(package).split("\0") if name}
    names.update({name: f"{stem}/checkout/{name}" for name in os.fsdecode(parts).split("\0") if name})
    target = Path(sdist_directory) / f"{stem}.tar.gz"
    temporary = target.with_name(f".{target.name}.new")
    with tarfile.open(temporary, "w:gz", format=tarfile.PAX_FORMAT) as archive:
        def add(name, data, mode):
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode, entry.mtime = len(data), mode, 1577836800
            archive.addfile(entry, io.BytesIO(data))

        add(f"{stem}/PKG-INFO", metadata().encode(), 0o644)
        for name, stored in sorted(names.items()):
            path = ROOT.parent / name
            add(stored, path.read_bytes(), 0o755 if os.access(path, os.X_OK) else 0o644)
    os.replace(temporary, target)
    return target.name


if __name__ == "__main__":
    target = Path(sys.argv[1] if len(sys.argv) > 1 else "dist")
    target.mkdir(parents=True, exist_ok=True)
    name = build_wheel(target)
    print(f"{target / name}: {(target / name).stat().st_size} bytes")
    if "--source" in sys.argv:
        name = build_sdist(target)
        print(f"{target / name}: {(target / name).stat().st_size} bytes")
