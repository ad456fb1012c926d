#!/usr/bin/env bash
# Runs the tests under sanitizers: [FOLDERS="Scaling ..."] Scripts/sanitize.sh [address] [thread]
# The address sanitizer comes with that of undefined behaviour for C, and with the leak check. The whole
# suite takes some ten minutes under it. FOLDERS names folders of Tests/ZoetropeTests whose suites alone
# run: this version of `swift test` selects by name only, not by tag, and a list of names would lose those
# that are renamed or new. FILTER and SKIP are regular expressions for names, for one's own use. Under the
# sanitizer of threads, suites that compute on one thread or start programs leave themselves out (see
# ThreadedTests).
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- address thread
if [ -n "${FOLDERS:-}" ]; then
  suites=$(cd Tests/ZoetropeTests && grep -rhoE '^(struct|@Suite.* struct|final class) \w+Tests\b' $FOLDERS |
    grep -oE '\w+Tests$' | sort -u | paste -sd '|')
  [ -n "$suites" ] || { echo "no suites in $FOLDERS" >&2; exit 2; }
  FILTER="^ZoetropeTests\.($suites)/"
fi
options=(--no-parallel --disable-xctest --filter "${FILTER:-.}")
[ -z "${SKIP:-}" ] || options+=(--skip "$SKIP")

# Tests ask for more memory than there is; without this the sanitizer ends the process for it. Tests that
# cannot run under it leave themselves out and are listed as skipped: two of InputFaultTests, which bound
# the address space of a child (the sanitizer's shadow alone is larger), and one of MemoryRefusalTests.
export ASAN_OPTIONS=${ASAN_OPTIONS:-allocator_may_return_null=1}
# Quiet, since tests look at what a child writes.
export LSAN_OPTIONS=${LSAN_OPTIONS:-suppressions=$PWD/Scripts/leaks.supp:print_suppressions=0}

# Optimized code reads in place what unoptimized code has the standard library read. The thread sanitizer then sees
# these reads, but not all that orders them, such as a continuation resumed before it is awaited, and reports races.
unset ZOETROPE_OPTIMIZE

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
