#!/usr/bin/env bash
# notices.sh BUILD: prints the licences of third-party code in the tool and the C library: the Swift runtime,
# the packages in BUILD/checkouts, and C libraries.
set -euo pipefail
checkouts=$1/checkouts
resources=$(swiftc -print-target-info | sed -n 's/.*"runtimeResourcePath": *"\(.*\)".*/\1/p')
print() { # TITLE FILE
  [ -s "$2" ] || { echo "no licence of $1: $2" >&2; exit 1; }
  printf '\n==== %s ====\n\n' "$1"
  cat "$2"
}
echo "The programs and libraries of Zoetrope contain the following software under its own licences."
print "The Swift runtime and Foundation" "$resources/../../share/swift/LICENSE.txt"
for package in swift-argument-parser swift-collections swift-log swift-system; do
  print "$package" "$checkouts/$package/LICENSE.txt"
done
for package in libgif-dev libpng-dev libdeflate-dev libxxhash-dev zlib1g-dev libc6-dev; do
  print "${package%-dev}" "/usr/share/doc/$package/copyright"
done
compiler=$(basename "$(dirname "$(cc -print-libgcc-file-name)")")
print "libstdc++ and libgcc" "/usr/share/doc/libstdc++-$compiler-dev/copyright"
