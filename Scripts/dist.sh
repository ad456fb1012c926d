#!/usr/bin/env bash
# dist.sh VERSION FOLDER: packs the downloads of a release from the built tool, library and wheel. Equal builds give
# equal files, because file times are that of the commit, or SOURCE_DATE_EPOCH.
set -euo pipefail
umask 022
cd "$(dirname "$0")/.."
version=$1 folder=$2
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
machine=$(uname -m)
architecture=$(dpkg --print-architecture)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tool=zoetrope-$version-linux-$machine library=libzoetrope-$version-linux-$machine
package=zoetrope_${version}_$architecture.deb

pack() { # NAME: a tar archive of one folder
  tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -C "$work" -c "$1" |
    gzip -9n >"$folder/$1.tar.gz"
}

make -s install-tool DESTDIR="$work/$tool" PREFIX= >&2
make -s install-lib DESTDIR="$work/$library" PREFIX= >/dev/null
for name in "$tool" "$library"; do
  install -Dm 644 LICENSE "$work/$name/share/doc/${name%%-*}/LICENSE"
  install -m 644 .build-static/lib/dist/THIRD-PARTY.txt "$work/$name/share/doc/${name%%-*}/"
  pack "$name"
done

# The package has the same files, in Debian's directories.
root=$work/package
mkdir -p "$root/DEBIAN" "$root/usr"
cp -r "$work/$tool/bin" "$work/$tool/share" "$root/usr/"
gzip -9n "$root"/usr/share/man/man1/*
mv "$root/usr/share/zsh/site-functions" "$root/usr/share/zsh/vendor-completions"
documents=$root/usr/share/doc/zoetrope
cat "$documents/LICENSE" "$documents/THIRD-PARTY.txt" >"$documents/copyright"
rm "$documents/LICENSE" "$documents/THIRD-PARTY.txt"
gzip -9nc CHANGELOG.md >"$documents/changelog.gz"
cat >"$root/DEBIAN/control" <<END
Package: zoetrope
Version: $version
Architecture: $architecture
Maintainer: The Zoetrope authors
Installed-Size: $(du -k --apparent-size -s "$root/usr" | cut -f1)
Section: graphics
Priority: optional
Description: inspect, extract, edit and play animated GIF and PNG
 Shows, checks, plays, converts and optimizes animations, and extracts their
 frames. Frames and delays are those that browsers show. The program is linked
 statically and depends on no other package.
END
(cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
dpkg-deb --root-owner-group -Zxz --build "$root" "$folder/$package" >/dev/null

cd "$folder"
wheel=$(ls "zoetrope-$version"-py3-*.whl)
sha256sum "$tool.tar.gz" "$package" "$library.tar.gz" "$wheel" | tee SHA256SUMS
