#!/bin/bash
# Puts a frame store under load: store-test.sh ROUNDS SECONDS TABLE-CHURN
#
# 1. Eight processes, readers and writers mixed, run for SECONDS. No frame is wrong, and the limit is kept.
# 2. ROUNDS writers are killed with SIGKILL at random moments while two readers run. After each kill, a new process
#    looks up every frame and checks its pixels.
# 3. Ten sizes in turn fill a store of 32 MB. Nine tenths of the latest frames are found.
# 4. 64 files of 99,001 frames each are loaded under a budget of 16 MiB. Memory grows by at most 64 MiB.
# 5. Eight processes hold all frames of one table of 64 MB. Prints how much memory each adds.
set -eu
rounds=${1:-2000} seconds=${2:-60} churn=$(realpath "$3")
dir=$(mktemp -d "${TMPDIR:-/tmp}/zoetrope-store-test-XXXXXX")
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$dir"' EXIT
limit=$(( (1 << 20) + 8 * 16384 ))

tables() { find "$dir/store" -maxdepth 1 -type f -printf '%b\n' 2> /dev/null | awk '{ sum += $1 * 512 } END { print sum + 0 }'; }

echo "eight processes, $seconds s"
pids=()
for number in 0 1 2 3 4 5 6 7; do
  mode=; [ "$number" -lt 5 ] || mode=readers
  "$churn" "$dir/store" "$number" "$seconds" $mode & pids+=($!)
done
end=$((SECONDS + seconds)) most=0
while [ $SECONDS -lt $end ]; do
  sleep 1
  now=$(tables); [ "$now" -le "$most" ] || most=$now
done
for pid in "${pids[@]}"; do wait "$pid"; done
echo "most bytes on disk: $most of $limit"
[ "$most" -le "$limit" ]

echo "$rounds kills"
"$churn" "$dir/store" 1000 1000000 readers > "$dir/reader1" & reader1=$!
"$churn" "$dir/store" 1001 1000000 readers > "$dir/reader2" & reader2=$!
found=0
for ((round = 1; round <= rounds; round++)); do
  "$churn" "$dir/store" "$round" 1000 > /dev/null & writer=$!
  sleep "0.0$((RANDOM % 90 + 10))"
  kill -9 "$writer"
  wait "$writer" 2> /dev/null || true
  count=$("$churn" "$dir/store" "$round" 0 check) || { echo "round $round: $count"; exit 1; }
  found=$((found + count))
  kill -0 "$reader1" && kill -0 "$reader2" || { cat "$dir"/reader?; exit 1; }
done
kill "$reader1" "$reader2"
wait "$reader1" "$reader2" 2> /dev/null || true
echo "$rounds kills, $found frames found afterwards, all right"

echo "ten sizes in turn"
"$churn" "$dir/sizes" 0 0 sizes

echo "64 files of 99,001 frames"
mkdir "$dir/long"
"$churn" "$dir/long" 0 0 long
"$churn" "$dir/long" 8 $((16 << 20)) load $((64 << 10))
rm -r "$dir/long"

echo "eight readers of one table of 64 MB"
"$churn" "$dir/held" 0 0 hold > /dev/null
for number in 1 2 3 4 5 6 7 8; do "$churn" "$dir/held" 0 5 hold & done
wait
