#!/usr/bin/env bash
# test-dist.sh FOLDER ZOETROPE [ROOT]: installs, runs and removes each file of `make dist` on a Debian without Swift or
# image libraries, and fails if pixels, times or damage differ from those that ZOETROPE and the wheel give here. ROOT is
# the root of that Debian, which debootstrap creates if it does not exist; SUITE=trixie selects another release. IMAGES
# names a folder of additional images for the wheel. Without root or debootstrap, the files are unpacked and run here
# instead of installed.
set -euo pipefail
dist=$(realpath "$1") zoetrope=$(realpath "$2") suite=${SUITE:-bookworm}
root=${3:-.build-static/bare-$suite}
cd "$(dirname "$0")/.."
images=$(realpath "${IMAGES:-Fixtures/Demo}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The same files are used in both places.
mkdir "$work/try"
(cd "$dist" && sha256sum --quiet -c SHA256SUMS && cut -c67- SHA256SUMS | xargs cp -t "$work/try" SHA256SUMS)
cp Fixtures/Demo/variable-delay.gif "$work/try/sample.gif"
sed -n '/^```c$/,/^```$/{/^```/!p}' Sources/Zoetrope/Zoetrope.docc/CAndPython.md >"$work/try/sample.c"
cp Scripts/try-dist.sh Scripts/try-wheel.py "$work/try/"
"$zoetrope" extract "$work/try/sample.gif" --format rgba -o - | sha256sum >"$work/try/pixels"
python3 -m zipfile -e "$work"/try/*.whl "$work/wheel"
env -u ZOETROPE_LIBRARY PYTHONPATH="$work/wheel" python3 Scripts/try-wheel.py "$images" >"$work/try/frames"

if [ "$(id -u)" != 0 ] || ! { [ -e "$root/ready" ] || command -v debootstrap >/dev/null; }; then
  echo "not root, or no debootstrap: unpacked here"
  IMAGES=$images "$work/try/try-dist.sh" "$work/try"
  exit
fi
if [ ! -x "$root/usr/bin/apt-get" ]; then
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Codename: '"$(. /etc/os-release && echo "$VERSION_CODENAME")" | sed -n 1p)
  mkdir -p "$root"
  debootstrap --variant=minbase "$suite" "$root" ${mirror:+"$mirror"} >/dev/null
fi
inside=(chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive)
if [ ! -e "$root/ready" ]; then
  "${inside[@]}" apt-get install -y -qq --no-install-recommends \
    man-db bash-completion zsh fish gcc libc6-dev pkgconf cmake make python3-venv >/dev/null
  touch "$root/ready"
fi
if chroot "$root" dpkg-query -W -f '${Package}\n' | grep -E 'swift|libgif|libpng|libdeflate|zoetrope'; then
  echo "$root is not bare" >&2
  exit 1
fi
rm -rf "$root/try" && mkdir -p "$root/images" && cp -r "$work/try" "$root/try"
# Without a network, so that nothing can be downloaded.
unshare --mount --net bash -c 'mount --bind "$1" "$2/images" && mount -t proc proc "$2/proc" && shift 2 && exec "$@"' \
  bash "$images" "$root" "${inside[@]}" INSTALL=1 IMAGES=/images /try/try-dist.sh /try
