#!/usr/bin/env bash
# kill-test.sh ROUNDS ZOETROPE [FILE]: kills an extraction at a random moment, ROUNDS times. After each kill, every file
# under a final name must be complete, and a run with --resume must complete the set, byte for byte as an undisturbed
# run writes it. Without FILE, extracts an animation made here, which takes long enough that most kills come in time.
set -euo pipefail
rounds=$1
zoetrope=$(realpath "$2")
work=$(mktemp -d /tmp/zoetrope-kill.XXXXXX)
trap 'rm -rf "$work"' EXIT
if [ $# -gt 2 ]; then
  file=$(realpath "$3")
else
  file=$work/noise.png
  python3 "$(dirname "$0")/noise-apng.py" 24 320 240 >"$file"
fi
cd "$work"

extract() { "$zoetrope" extract "$file" -o "$1/{index:04}.png" --quiet "${@:2}"; }
extract whole
names=$(ls whole | wc -l)
# The time of the fastest of three runs determines when a run is killed.
span=0
for _ in 1 2 3; do
  rm -rf timed
  start=$(date +%s%N)
  extract timed
  time=$(($(date +%s%N) - start))
  [ $span != 0 ] && [ $time -gt $span ] || span=$time
done

killed=0 partial=0 stale=0 failed=0
for ((round = 1; round <= rounds; round++)); do
  rm -rf out
  mkdir out
  # Called directly, not through the function, because the signal has to reach the tool, not a subshell.
  "$zoetrope" extract "$file" -o "out/{index:04}.png" --quiet &
  process=$!
  sleep "$(awk -v span=$span -v seed="$round" 'BEGIN { srand(seed); printf "%.6f", rand() * 0.75 * span / 1e9 }')"
  if kill -9 $process 2>/dev/null; then killed=$((killed + 1)); fi
  wait $process 2>/dev/null || true
  for name in $(ls out); do
    cmp -s "out/$name" "whole/$name" || { partial=$((partial + 1)); echo "round $round: out/$name is not whole"; }
  done
  [ -z "$(find out -name '.zoetrope-*' -print -quit)" ] || stale=$((stale + 1))
  if ! extract out --resume || ! diff -rq whole out >/dev/null; then
    failed=$((failed + 1))
    echo "round $round: the next run did not complete the set: $(diff -rq whole out | head -3)"
  fi
done
echo "$rounds rounds of $names files, $killed killed in time: $partial broken files under a final name, $stale times temporary files to sweep, $failed sets not completed"
[ $partial = 0 ] && [ $failed = 0 ]
