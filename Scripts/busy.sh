#!/usr/bin/env bash
# Runs a command beside as many busy loops as there are processors: busy.sh COMMAND...
# LOOPS sets another number. The loops end with the command, and when this script is ended in any way.
set -euo pipefail
started=()
trap 'kill "${started[@]}" 2>/dev/null || :' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
for ((count = ${LOOPS:-$(nproc)}; count > 0; count--)); do
  # Each looks whether this script is still there, which may have been killed.
  (
    trap - EXIT
    while kill -0 $$ 2>/dev/null; do for ((turn = 0; turn < 100000; turn++)); do :; done; done
  ) &
  started+=($!)
done
# In the background: a signal to this script would wait until a command in the foreground has ended.
"$@" <&0 &
command=$!
status=0
started+=("$command")
wait "$command" || status=$?
unset 'started[-1]'
exit "$status"
