#!/bin/bash
# symbol-graphs.sh MODULE BUILD GRAPHS: builds a module of the package in the current directory with the scratch
# path BUILD, and writes the graphs of its public symbols to GRAPHS.
#
# Zoetrope's hold what it re-exports, too: most of what its users see is declared in ZoetropeCore and
# ZoetropeCodec.
set -euo pipefail
module=$1 build=$2 graphs=$3

swift build --scratch-path "$build" --target "$module"
triple=$(swiftc -print-target-info | sed -n 's/^    "triple": "\(.*\)",/\1/p' | head -1)
includes=()
for folder in Sources/C* "$build"/checkouts/swift-system/Sources/CSystem/include; do
  includes+=(-I "$folder")
done
# SwiftPM writes the module map of the one C target.
includes+=(-Xcc "-fmodule-map-file=$build/debug/ZoetropeShims.build/module.modulemap")
# The others would hold it once more.
exports=()
[ "$module" = Zoetrope ] && exports=(-experimental-allowed-reexported-modules=ZoetropeCore,ZoetropeCodec)
rm -rf "$graphs" && mkdir -p "$graphs"
swift symbolgraph-extract -module-name "$module" -target "$triple" -I "$build/debug/Modules" \
  "${includes[@]}" -minimum-access-level public -skip-synthesized-members -output-dir "$graphs" "${exports[@]}"
