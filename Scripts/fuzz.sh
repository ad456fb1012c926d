#!/usr/bin/env bash
# fuzz.sh TIME [TARGET...]: builds the fuzzers and runs each for TIME seconds; TIME 0 only builds them. New inputs are
# collected in .build-fuzz/corpus. An input that causes a failure is left in .build-fuzz/artifacts, and the run fails.
# One line per target is added to .build-fuzz/runs.tsv, from which the ledger is written.
set -euo pipefail
cd "$(dirname "$0")/.."
time=$1
shift
targets=("$@")
[ $# -gt 0 ] || targets=(FuzzScan FuzzGIF FuzzAPNG FuzzDifferential FuzzStream FuzzCompositor FuzzCursor FuzzArguments FuzzEdits FuzzCompressor FuzzWriting)
build=.build-fuzz
# A trap must end the process, because the backtracer would take minutes for the sanitizer's address space.
export SWIFT_BACKTRACE=enable=no
# `make sanitize` checks for leaks. A short quarantine and no stacks triple the rate.
export ASAN_OPTIONS=malloc_context_size=0:quarantine_size_mb=1:detect_leaks=0

for target in "${targets[@]}"; do
  # The sanitizers are passed to swiftc again, in this order: if they are passed one by one, the last one other than the
  # fuzzer disables coverage, and the fuzzer runs blind. SwiftPM keeps them in a set; deterministic hashing fixes its
  # order, because another order would recompile everything.
  SWIFT_DETERMINISTIC_HASHING=1 swift build --package-path Fuzz -c release --scratch-path "$PWD/$build" --product "$target" \
    --sanitize=address --sanitize=fuzzer -Xswiftc -sanitize=fuzzer,address \
    -Xswiftc -enable-testing -Xswiftc -DSANITIZE_ADDRESS -Xcc -fsanitize=fuzzer-no-link,undefined >&2
  [ "$time" != 0 ] || continue

  mkdir -p "$build/corpus/$target" $build/artifacts $build/logs
  seeds=()
  length=256
  case $target in
    FuzzScan | FuzzGIF) seeds=(Fixtures/GIF Fixtures/Bad -dict=Fuzz/Dictionaries/gif.dict) ;;&
    FuzzScan | FuzzAPNG) seeds+=(Fixtures/APNG Fixtures/Bad -dict=Fuzz/Dictionaries/apng.dict) ;;
    FuzzDifferential | FuzzStream | FuzzEdits) seeds=(Fixtures/GIF Fixtures/APNG Fixtures/Bad) ;;
    FuzzArguments) seeds=(-dict=Fuzz/Dictionaries/arguments.dict) ;;
  esac
  case $target in FuzzAPNG | FuzzDifferential | FuzzStream | FuzzEdits) length=512 ;; esac
  log=$build/logs/$target-$(date +%s).log
  started=$SECONDS
  status=0
  nice -n 19 "$build/release/$target" -artifact_prefix="$build/artifacts/$target-" \
    -max_total_time="$time" -max_len="${LENGTH:-$length}" -timeout=5 -rss_limit_mb=1024 \
    "$build/corpus/$target" "${seeds[@]}" >"$log" 2>&1 || status=$?

  # The last line with statistics: "#RUNS DONE cov: EDGES ft: FEATURES corp: FILES/BYTES exec/s: RATE".
  read -r runs edges features files rate < <(
    awk '/^#[0-9]+.* cov: / { split($0, part, /[ \t]+/)
      for (i in part) { if (part[i] == "cov:") c = part[i+1]; if (part[i] == "ft:") f = part[i+1]
        if (part[i] == "corp:") g = part[i+1]; if (part[i] == "exec/s:") r = part[i+1] }
      n = substr(part[1], 2) } END { sub("/.*", "", g); print n+0, c+0, f+0, g+0, r+0 }' "$log")
  printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$(date +%F)" "$(git rev-parse --short HEAD)" "$target" \
    "$runs" "$((SECONDS - started))" "$files" "$edges" "$features" >>$build/runs.tsv
  echo "$target: $runs executions in $((SECONDS - started)) s ($rate a second), $edges edges, $features features, corpus $files"
  if [ $status != 0 ]; then
    tail -40 "$log" >&2
    echo "$target: status $status, see $log and $build/artifacts" >&2
    exit 1
  fi
done
