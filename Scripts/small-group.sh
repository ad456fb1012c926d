#!/usr/bin/env bash
# small-group.sh LIMIT-MIB PROGRAM...: runs a program in a control group with LIMIT-MIB of memory. Uses version 1 or 2
# of control groups, whichever has the memory controller; needs root. Prints the group's statistics, and exits with the
# program's status (137: killed because memory ran out).
set -euo pipefail
limit=$(($1 << 20))
shift
root=/sys/fs/cgroup
if grep -qw memory "$root/cgroup.controllers" 2>/dev/null; then
  version=2 group=$root/zoetrope-$$ file=memory.max
  echo +memory >"$root/cgroup.subtree_control"
elif [ -d "$root/memory" ]; then
  version=1 group=$root/memory/zoetrope-$$ file=memory.limit_in_bytes
else
  echo "small-group: no memory controller in $root" >&2
  exit 69
fi
mkdir "$group" || { echo "small-group: needs root, and control groups that may be written" >&2; exit 77; }
trap 'rmdir "$group"' EXIT
echo "$limit" >"$group/$file"
[ $version = 1 ] || echo 0 >"$group/memory.swap.max" 2>/dev/null || true

status=0
(echo "$BASHPID" >"$group/cgroup.procs" && exec "$@") || status=$?
if [ $version = 1 ]; then
  peak=$(<"$group/memory.max_usage_in_bytes") hits=$(<"$group/memory.failcnt")
  kills=$(awk '$1 == "oom_kill" { print $2 }' "$group/memory.oom_control")
else
  peak=$(cat "$group/memory.peak" 2>/dev/null || echo 0)
  hits=$(awk '$1 == "max" { print $2 }' "$group/memory.events")
  kills=$(awk '$1 == "oom_kill" { print $2 }' "$group/memory.events")
fi
echo "group version $version: limit $((limit >> 20)) MiB, peak $((peak >> 20)) MiB, limit reached $hits times, killed $kills times, status $status"
exit $status
