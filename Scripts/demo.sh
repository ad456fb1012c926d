#!/usr/bin/env bash
# Runs the main commands on the fixtures: prints their structure, extracts every frame as a PNG, and checks a bad file.
set -euo pipefail
zoetrope=$1
out=$(mktemp -d "${TMPDIR:-/tmp}/zoetrope-demo.XXXXXX")

for file in Fixtures/Demo/*; do
  case $file in
    *.gif | *.png)
      "$zoetrope" info "$file"
      "$zoetrope" extract "$file" -o "$out/{stem}-{index:04}.png" --manifest "$out/$(basename "$file").json"
      ;;
  esac
done
echo
# The last frame of this file is truncated, so the status is 1.
"$zoetrope" check Fixtures/Bad/gif-cut-in-frame-1.gif || test $? = 1
echo
echo "$(find "$out" -name '*.png' | wc -l) frames and $(find "$out" -name '*.json' | wc -l) manifests in $out"
