#!/usr/bin/env bash
# Prints which lines of the code that reads files are reached: Scripts/coverage.sh tests|corpora [--list]
# By the tests, or by the inputs that the fuzzers gathered (.build-fuzz/corpus) and the fixtures, which is
# another figure: what fuzzing reaches at all. `--list` names the lines that nothing reached.
set -euo pipefail
cd "$(dirname "$0")/.."
what=$1
shift
# Of the toolchain: the system's llvm-cov may be older than the profile's format.
tools=$(dirname "$(readlink -f "$(command -v swift)")")

if [ "$what" = tests ]; then
  build=.build-coverage
  swift test --scratch-path $build --enable-code-coverage --no-parallel ${FILTER:+--filter "$FILTER"} >&2
  profile=$build/debug/codecov/default.profdata
  # The tests and the tool that some of them run as a child.
  programs=("$build"/debug/*.xctest "$build/debug/zoetrope")
else
  build=.build-fuzz-coverage
  mkdir -p $build/profiles
  rm -f $build/profiles/*
  programs=()
  for target in FuzzScan FuzzGIF FuzzAPNG FuzzDifferential FuzzCompositor FuzzCursor; do
    ZOETROPE_FUZZ=1 swift build --scratch-path $build --product $target --sanitize=fuzzer \
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
  "$tools/llvm-profdata" merge -sparse -o $profile $build/profiles/*.profraw
fi

objects=()
for program in "${programs[@]}"; do objects+=(-object "$program"); done
"$tools/llvm-cov" export -format=lcov -instr-profile "$profile" "${objects[@]:1}" \
  Sources/Zoetrope/{Scanning,Decoding,Compositing,Sources,Model} Sources/ZoetropeShims 2>/dev/null |
  python3 Scripts/coverage.py "$@"
