#!/bin/bash
# api-check.sh [--write]: fails if the public API of the libraries lost or changed something since API/ was written,
# or if an existing type gained a case or a requirement. With --write, it writes API/.
#
# Does not use `swift package diagnose-api-breaking-changes`, which checks only the modules of a product itself, not
# those that Zoetrope re-exports, and treats `package` symbols as public.
set -euo pipefail
cd "$(dirname "$0")/.."
export LC_ALL=C
build=${BUILD:-.build}
mkdir -p API "$build/api"
status=0
for module in Zoetrope ZoetropeTerminal ZoetropeTestSupport; do
  Scripts/symbol-graphs.sh $module "$build" "$build/api/$module" >&2
  now=$build/api/$module.txt base=API/$module.txt
  python3 Scripts/api-list.py "$build/api/$module" >"$now"
  [ -s "$now" ] || { echo "$module has no symbols" >&2; exit 2; }
  if [ "${1:-}" = --write ]; then
    cp "$now" "$base"
    continue
  fi
  gone=$(comm -23 "$base" "$now")
  # New cases and requirements of existing types.
  demanding=$(comm -13 "$base" "$now" | grep -E ': (case .*|required)$' | while IFS= read -r line; do
    name=${line%%: *}
    ! grep -qF -- "${name%.*}: " "$base" || echo "$line"
  done || :)
  echo "$module: $(wc -l <"$base") lines of API, $(comm -13 "$base" "$now" | wc -l) new or changed"
  [ -z "$gone" ] || sed 's/^/  gone or changed: /' <<<"$gone"
  [ -z "$demanding" ] || sed 's/^/  breaks a switch or a conformance: /' <<<"$demanding"
  [ -z "$gone$demanding" ] || status=1
done
exit $status
