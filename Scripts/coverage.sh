#!/usr/bin/env bash
# coverage.sh tests|corpora [--list]: prints how many lines of the code that reads files are reached, by the tests, or
# by fuzzing: the inputs that the fuzzers gathered (.build-fuzz/corpus) and the fixtures. `--list` names the lines that
# were not reached.
set -euo pipefail
cd "$(dirname "$0")/.."
what=$1
shift
# Use the toolchain's tools, because the system's llvm-cov may be older than the profile's format.
tools=$(dirname "$(readlink -f "$(command -v swift)")")

if [ "$what" = tests ]; then
  build=.build-coverage
  # SwiftPM instruments Swift only. Counters are atomic: some counts are differences of others, so an increment lost
  # between two threads would show lines as missed that were not.
  swift build --build-tests --scratch-path $build --enable-code-coverage \
    -Xswiftc -Xllvm -Xswiftc -instrprof-atomic-counter-update-all \
    -Xcc -fprofile-instr-generate -Xcc -fcoverage-mapping -Xcc -fprofile-update=atomic >&2
  # Without `--enable-code-coverage`, with which `swift test` would write a report that includes tests and dependencies,
  # and takes longer than the tests. There is one profile per process, because tests kill some processes.
  rm -rf $build/profiles
  LLVM_PROFILE_FILE="$PWD/$build/profiles/%p.profraw" swift test --scratch-path $build --skip-build \
    --no-parallel --disable-xctest ${FILTER:+--filter "$FILTER"} >$build/tests.log 2>&1 ||
    { grep -E '✘|error:' $build/tests.log | tail -20 >&2; exit 1; }
  tail -1 $build/tests.log >&2
  profile=$build/tests.profdata
  # The tests, and the tool that some of them run as a child process.
  programs=("$build"/debug/*.xctest "$build/debug/zoetrope")
else
  build=.build-fuzz-coverage
  mkdir -p $build/profiles
  rm -f $build/profiles/*
  programs=()
  for target in FuzzScan FuzzGIF FuzzAPNG FuzzDifferential FuzzCompositor FuzzCursor; do
    swift build --package-path Fuzz --scratch-path "$PWD/$build" --product $target --sanitize=fuzzer \
      -Xswiftc -profile-generate -Xswiftc -profile-coverage-mapping >&2
    seeds=(.build-fuzz/corpus/$target)
    case $target in FuzzScan | FuzzGIF | FuzzAPNG | FuzzDifferential)
      seeds+=(Fixtures/GIF Fixtures/APNG Fixtures/Bad) ;;
    esac
    mkdir -p .build-fuzz/corpus/$target
    LLVM_PROFILE_FILE=$build/profiles/$target.profraw "$build/debug/$target" -runs=0 "${seeds[@]}" \
      >$build/$target.log 2>&1 || { tail -20 $build/$target.log >&2; exit 1; }
    programs+=("$build/debug/$target")
  done
  profile=$build/corpora.profdata
fi
# The profile of a killed process may be invalid.
"$tools/llvm-profdata" merge -sparse --failure-mode=all -o $profile $build/profiles/*.profraw 2>/dev/null
rm -rf $build/profiles

objects=()
for program in "${programs[@]}"; do objects+=(-object "$program"); done
"$tools/llvm-cov" export -format=lcov -instr-profile "$profile" "${objects[@]:1}" \
  Sources/ZoetropeCore Sources/ZoetropeCodec Sources/ZoetropeShims 2>/dev/null |
  python3 Scripts/coverage.py "$@"
