#!/usr/bin/env bash
# Runs the tests under sanitizers: Scripts/sanitize.sh [address] [thread]
# The address sanitizer comes with that of undefined behaviour for C, and with the leak check. FILTER and
# SKIP are regular expressions for the names of tests: the whole suite takes some ten minutes under the
# address sanitizer. Under that of threads, suites that compute on one thread or start programs leave
# themselves out (see ThreadedTests).
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- address thread
options=(--no-parallel --disable-xctest --filter "${FILTER:-.}")
[ -z "${SKIP:-}" ] || options+=(--skip "$SKIP")

# Tests ask for more memory than there is; without this the sanitizer ends the process for it. Tests that
# cannot run under it leave themselves out and are listed as skipped: two of InputFaultTests, which bound
# the address space of a child (the sanitizer's shadow alone is larger), and one of MemoryRefusalTests.
export ASAN_OPTIONS=${ASAN_OPTIONS:-allocator_may_return_null=1}
# Quiet, since tests look at what a child writes.
export LSAN_OPTIONS=${LSAN_OPTIONS:-suppressions=$PWD/Scripts/leaks.supp:print_suppressions=0}

# A trap must end the process: the backtracer itself trips over the sanitizer.
export SWIFT_BACKTRACE=enable=no

for sanitizer in "$@"; do
  case $sanitizer in
    # XCTest itself leaks a few hundred bytes, which the leak check would report.
    address)
      swift test --scratch-path .build-address --sanitize=address "${options[@]}" \
        -Xcc -fsanitize=undefined -Xcc -fno-sanitize-recover=undefined \
        -Xswiftc -DSANITIZE_ADDRESS ;;
    thread)
      swift test --scratch-path .build-thread --sanitize=thread "${options[@]}" \
        -Xswiftc -DSANITIZE_THREAD ;;
    *) echo "no sanitizer called $sanitizer" >&2; exit 2 ;;
  esac
done
