#!/usr/bin/env bash
# Runs the tests under sanitizers: [FOLDERS="Scaling ..."] Scripts/sanitize.sh [address] [thread]
# The address sanitizer includes the leak check and, for C, the undefined-behaviour sanitizer. The whole suite takes
# some ten minutes with it. FOLDERS selects the suites in these folders of Tests/ZoetropeTests. Folders are used because
# this version of `swift test` selects by name only, not by tag, and a list of names would miss renamed and new suites.
# FILTER and SKIP are regular expressions for names, for interactive use. Under the thread sanitizer, suites that compute
# on one thread or start programs skip themselves (see ThreadedTests).
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- address thread
if [ -n "${FOLDERS:-}" ]; then
  suites=$(cd Tests/ZoetropeTests && grep -rhoE '^(struct|@Suite.* struct|final class) \w+Tests\b' $FOLDERS |
    grep -oE '\w+Tests$' | sort -u | paste -sd '|')
  [ -n "$suites" ] || { echo "no suites in $FOLDERS" >&2; exit 2; }
  FILTER="^ZoetropeTests\.($suites)/"
  export ZOETROPE_WITHOUT_TOOL=1
fi
options=(--no-parallel --disable-xctest --filter "${FILTER:-.}")
[ -z "${SKIP:-}" ] || options+=(--skip "$SKIP")

# Tests allocate more memory than there is. Without this setting the sanitizer would end the process. Tests that cannot
# run under it skip themselves: two of InputFaultTests, which limit the address space of a child (the sanitizer's shadow
# memory alone is larger), and one of MemoryRefusalTests.
export ASAN_OPTIONS=${ASAN_OPTIONS:-allocator_may_return_null=1}
# Quiet, because tests check what a child writes.
export LSAN_OPTIONS=${LSAN_OPTIONS:-suppressions=$PWD/Scripts/leaks.supp:print_suppressions=0}

# Not optimized: inlined code reads memory that the standard library otherwise reads. The thread sanitizer would see
# these reads, but not all that orders them, such as a continuation resumed before it is awaited, and report races.
unset ZOETROPE_OPTIMIZE

# A trap must end the process, because the backtracer fails under the sanitizer.
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
