#!/usr/bin/env bash
# Installs the system libraries that Zoetrope links, if they are missing and apt is available.
set -euo pipefail

packages=(pkg-config libgif-dev libpng-dev libdeflate-dev libxxhash-dev)

has() { # PACKAGE: whether it is installed (asks dpkg, or pkg-config where there is no dpkg)
  if command -v dpkg-query >/dev/null; then
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
  else
    case $1 in pkg-config) command -v pkg-config >/dev/null ;; *) pkg-config --exists "${1%-dev}" ;; esac
  fi
}

missing=()
for package in "${packages[@]}" "$@"; do has "$package" || missing+=("$package"); done
[ ${#missing[@]} -eq 0 ] && exit 0

if ! command -v apt-get >/dev/null; then
  echo "missing: ${missing[*]} - install them with your package manager" >&2
  exit 1
fi
sudo=
[ "$(id -u)" -eq 0 ] || sudo=sudo
echo "installing ${missing[*]}" >&2
$sudo apt-get update -qq
DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
