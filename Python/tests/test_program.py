"""The program, the library and types."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import typing
import zipfile
from pathlib import Path

import pytest

import zoetrope

HERE = Path(__file__).parent


def test_an_import_without_the_library_says_what_to_do(tmp_path):
    shutil.copytree(HERE.parent / "zoetrope", tmp_path / "zoetrope",
                    ignore=shutil.ignore_patterns("*.so*", "__pycache__"))
    environment = {k: v for k, v in os.environ.items() if k != "ZOETROPE_LIBRARY"}
    environment["PYTHONPATH"] = str(tmp_path)
    run = subprocess.run(
        [sys.executable, "-c", "import zoetrope"], env=environment, cwd=tmp_path, capture_output=True,
        text=True)
    assert run.returncode == 1 and "ImportError" in run.stderr and "make wheel" in run.stderr


def test_an_editable_wheel_leads_to_the_package(tmp_path, monkeypatch):
    library = Path(zoetrope._library.library._name)
    if not (library.parent / "glibc-floor").exists():
        pytest.skip("not the library of make lib")
    monkeypatch.setenv("ZOETROPE_LIBRARY_FOLDER", str(library.parent))
    monkeypatch.syspath_prepend(str(HERE.parent))
    import build_zoetrope

    name = build_zoetrope.build_editable(tmp_path)
    with zipfile.ZipFile(tmp_path / name) as wheel:
        assert wheel.read("zoetrope.pth").decode().strip() == str(HERE.parent)
        assert any(item.endswith("METADATA") for item in wheel.namelist())


def test_the_program_is_quiet_when_nobody_reads_on(delays):
    run = subprocess.run(
        f"set -o pipefail; '{sys.executable}' -m zoetrope info --json "
        + f"'{delays}' " * 1000 + " | head -n 1; exit $?",
        shell=True, executable="/bin/bash", capture_output=True, text=True)
    assert json.loads(run.stdout)["frames"] == 10
    assert run.stderr == ""


def is_open_in(process, path):
    folder = f"/proc/{process.pid}/fd"
    for entry in os.listdir(folder):
        try:
            if os.readlink(f"{folder}/{entry}") == str(path):
                return True
        except OSError:
            # Closed meanwhile.
            pass
    return False


def test_the_program_ends_quietly_with_ctrl_c(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    run = subprocess.Popen(
        [sys.executable, "-c", "import zoetrope.__main__ as m, sys; print(1, flush=True); sys.exit(m.run())",
         "info", str(pipe)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert run.stdout.readline() == "1\n"
    # It waits for a writer as soon as it has the pipe.
    end = time.monotonic() + 60
    while not is_open_in(run, pipe):
        assert time.monotonic() < end
        time.sleep(0.01)
    run.send_signal(signal.SIGINT)
    output, errors = run.communicate(timeout=60)
    assert (run.returncode, output, errors) == (130, "", "")


def test_hints_resolve():
    for function in [zoetrope.open, zoetrope.frames]:
        assert typing.get_type_hints(function)["return"]
    for name in ["__init__", "frame", "at", "read", "sample", "sample_indices", "png", "check",
                 "index_at", "decode", "png_with_damage", "__getitem__"]:
        assert "return" in typing.get_type_hints(getattr(zoetrope.Animation, name))
    for function in [
            zoetrope.Animation.convert, zoetrope.Animation.optimize, zoetrope.save, zoetrope.Writer.__init__,
            zoetrope.FrameStore.__init__, zoetrope.FrameStore.frames, zoetrope.StoredFrames.__getitem__]:
        assert "return" in typing.get_type_hints(function)
    for item in [zoetrope.FrameInfo, zoetrope.Damage, zoetrope.MetadataItem]:
        assert typing.get_type_hints(item)


def test_a_typed_client_passes_mypy():
    pytest.importorskip("mypy", reason="mypy is not installed")
    # Lines marked as wrong must be: an ignore without an error is one.
    run_mypy(str(HERE / "typed_client.py"))


def test_the_package_passes_mypy():
    # Clients that have the checkout in MYPYPATH see its errors, too.
    for name in ("mypy", "PIL", "imageio"):
        pytest.importorskip(name, reason=f"{name} is not installed")
    run_mypy("-p", "zoetrope")


def run_mypy(*arguments):
    command = [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "--cache-dir", os.devnull]
    environment = {**os.environ, "MYPYPATH": str(HERE.parent)}
    run = subprocess.run([*command, *arguments], env=environment, cwd=HERE, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
