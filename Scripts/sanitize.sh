#!/usr/bin/env bash
# Runs the tests under the address sanitizer (with undefined behaviour in C) and the thread sanitizer.
set -euo pipefail
filter=${FILTER:-.}

# XCTest itself leaks a few hundred bytes, which the leak check would report.
swift test --scratch-path .build-address --sanitize=address --disable-xctest --no-parallel \
  -Xcc -fsanitize=undefined -Xcc -fno-sanitize-recover=undefined \
  -Xswiftc -DSANITIZE_ADDRESS --filter "$filter"
swift test --scratch-path .build-thread --sanitize=thread --disable-xctest --no-parallel \
  -Xswiftc -DSANITIZE_THREAD --filter "$filter"
