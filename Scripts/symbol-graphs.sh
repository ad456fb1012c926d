#!/bin/bash
# symbol-graphs.sh MODULE BUILD GRAPHS: builds a module of the package in the current directory with the scratch
# path BUILD, and writes the graphs of its public symbols to GRAPHS.
#
# Zoetrope's graphs include what it re-exports, because most of its API is declared in the modules below it.
set -euo pipefail
module=$1 build=$2 graphs=$3

swift build --scratch-path "$build" --target "$module"
triple=$(swiftc -print-target-info | sed -n 's/^    "triple": "\(.*\)",/\1/p' | head -1)
includes=()
for folder in Sources/C* "$build"/checkouts/swift-system/Sources/CSystem/include; do
  includes+=(-I "$folder")
done
# SwiftPM writes a module map for the only C target, unless the target has its own.
map=$build/debug/ZoetropeShims.build/module.modulemap
if [ -e "$map" ]; then includes+=(-Xcc "-fmodule-map-file=$map"); else includes+=(-I Sources/ZoetropeShims/include); fi
# Other modules' graphs would repeat it.
exports=()
parts=(Core Codec Scaling Frames Caching Store Playback Remote Writing)
[ "$module" = Zoetrope ] && exports=(
  -experimental-allowed-reexported-modules="$(IFS=,; printf '%s' "${parts[*]/#/Zoetrope}" | tr ' ' ,)")
rm -rf "$graphs" && mkdir -p "$graphs"
swift symbolgraph-extract -module-name "$module" -target "$triple" -I "$build/debug/Modules" \
  "${includes[@]}" -minimum-access-level public -skip-synthesized-members -output-dir "$graphs" "${exports[@]}"
