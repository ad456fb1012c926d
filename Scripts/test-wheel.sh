#!/usr/bin/env bash
# Installs a wheel on a Debian without Swift or any image library, reads files there, and fails if a frame, a
# time or damage differs from what the same wheel gives here: test-wheel.sh WHEEL FOLDER-OF-IMAGES [ROOT]. ROOT
# is a bare Debian, which is made by debootstrap if it is not there; needs root.
set -euo pipefail
wheel=$(realpath "$1") images=$(realpath "$2") root=${3:-.build-static/lib/bare}
if [ ! -x "$root/usr/bin/python3" ]; then
  debootstrap --variant=minbase --include=python3,python3-venv bookworm "$root" >/dev/null
fi
mkdir -p "$root/wheel" "$root/images"
cp "$wheel" "$root/wheel/"
cat >"$root/wheel/read.py" <<'EOF'
import hashlib, os, sys, zoetrope
digest, counts, folder = hashlib.sha256(), {}, sys.argv[1]
for name in sorted(os.listdir(folder)):
    for row in zoetrope.frames({"path": name, "bytes": open(f"{folder}/{name}", "rb").read()}):
        counts["frames" if row["frame"] else "errors"] = counts.get("frames" if row["frame"] else "errors", 0) + 1
        digest.update(repr((row["path"], row["index"], row["start_ms"], row["duration_ms"], row["damage"], row["tolerated"])).encode())
        digest.update(row["frame"] or b"")
print(zoetrope.__version__, counts, digest.hexdigest())
EOF
run='set -e
  if ls /opt /usr/lib/x86_64-linux-gnu | grep -iE "swift|libgif|libpng|libdeflate"; then exit 1; fi
  rm -rf /venv; python3 -m venv /venv
  /venv/bin/pip install -q --no-index --no-deps --disable-pip-version-check /wheel/'"$(basename "$wheel")"'
  /venv/bin/python -m zoetrope --version >&2
  /venv/bin/python /wheel/read.py /images'
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python=${PYTHON:-python3}
"$python" -m zipfile -e "$wheel" "$work"
here=$(env -u ZOETROPE_LIBRARY PYTHONPATH=$work "$python" "$root/wheel/read.py" "$images")
there=$(unshare --mount --net bash -c 'mount --bind "$1" "$2/images" && exec chroot "$2" /bin/sh -c "$3"' \
  bash "$images" "$(realpath "$root")" "$run")
echo "here:  $here"
echo "there: $there"
[ "$here" = "$there" ] || { echo "the bare Debian reads something else" >&2; exit 1; }
