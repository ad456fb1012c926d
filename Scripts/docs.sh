#!/bin/bash
# docs.sh [MODULE]: documents a library (default: Zoetrope) in .build/docs; a warning is an error.
#
# Not the DocC plugin: it documents one module, and most of what users see of Zoetrope is declared in
# ZoetropeCore and ZoetropeCodec, which it re-exports.
set -euo pipefail
cd "$(dirname "$0")/.."

module=${1:-Zoetrope}
build=${BUILD:-.build}
graphs=$build/docs/$module.graphs
swift build --scratch-path "$build" --target "$module"
rm -rf "$graphs" && mkdir -p "$graphs"
triple=$(swiftc -print-target-info | sed -n 's/^    "triple": "\(.*\)",/\1/p' | head -1)
includes=()
for folder in Sources/C* "$build"/checkouts/swift-system/Sources/CSystem/include; do
  includes+=(-I "$folder")
done
# SwiftPM writes the module map of the one C target.
includes+=(-Xcc "-fmodule-map-file=$build/debug/ZoetropeShims.build/module.modulemap")
swift symbolgraph-extract -module-name "$module" -target "$triple" -I "$build/debug/Modules" \
  "${includes[@]}" -minimum-access-level public -skip-synthesized-members -output-dir "$graphs" \
  -experimental-allowed-reexported-modules=ZoetropeCore,ZoetropeCodec
catalog=Sources/$module/$module.docc
[ -d "$catalog" ] || catalog=
docc convert $catalog --additional-symbol-graph-dir "$graphs" --warnings-as-errors \
  --fallback-display-name "$module" --fallback-bundle-identifier "zoetrope.$module" \
  --output-path "$build/docs/$module.doccarchive"
