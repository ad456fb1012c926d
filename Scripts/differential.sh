#!/usr/bin/env bash
# Compares the fast decoders with giflib and libpng under the address sanitizer:
#   [FORMATS=gif,apng] Scripts/differential.sh COUNT FIRST [FOLDER]
# Uses the fixtures and the files of FOLDER unchanged, and COUNT mutated inputs each of GIF and APNG that can be opened.
# Input N depends on the number N alone. An input that differs is left in .build-pixels/differences.
set -euo pipefail
cd "$(dirname "$0")/.."
build=.build-pixels
swift build --package-path Fuzz -c release --scratch-path "$PWD/$build" --product FuzzPixels \
  --sanitize=address -Xswiftc -enable-testing -Xswiftc -DSANITIZE_ADDRESS \
  -Xcc -fsanitize=undefined -Xcc -fno-sanitize-recover=undefined >&2
# A trap must end the process, because the backtracer would take minutes for the sanitizer's address space.
export SWIFT_BACKTRACE=enable=no
# `make sanitize` checks for leaks. A short quarantine and no stacks triple the rate.
export ASAN_OPTIONS=malloc_context_size=0:quarantine_size_mb=1:detect_leaks=0
files=(Fixtures/GIF/* Fixtures/APNG/* Fixtures/Bad/* Fixtures/Demo/*)
if [ -n "${3:-}" ]; then
  while IFS= read -r file; do files+=("$file"); done < <(find "$3" -name '*.gif' -o -name '*.png' -o -name '*.apng' | sort)
fi
exec nice -n 19 $build/release/FuzzPixels "$1" "$2" "${FORMATS:-gif,apng}" $build/differences "${files[@]}"
