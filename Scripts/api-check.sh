#!/bin/bash
# api-check.sh BASE: fails if the public API of the libraries lost or changed something since the commit BASE.
#
# Not `swift package diagnose-api-breaking-changes`: it looks only at the modules of a product itself, not at what
# Zoetrope re-exports, and takes `package` symbols for public ones.
set -euo pipefail
cd "$(dirname "$0")/.."
here=$PWD
base=$1
commit=$(git rev-parse --verify --quiet "$base^{commit}") || {
  echo "$base is no commit" >&2
  exit 2
}

folder=$here/.build-api
rm -rf "$folder/base"
mkdir -p "$folder/base"
git archive "$commit" | tar -x -C "$folder/base"
status=0
for module in Zoetrope ZoetropeTerminal ZoetropeTestSupport; do
  (cd "$folder/base" && "$here/Scripts/symbol-graphs.sh" $module "$folder/build" "$folder/$module.base")
  Scripts/symbol-graphs.sh $module "${BUILD:-.build}" "$folder/$module.now"
  python3 Scripts/api-changes.py $module "$folder/$module.base" "$folder/$module.now" || status=1
done
exit $status
