#!/usr/bin/env bash
# busy.sh COMMAND...: runs a command while as many busy loops run as there are processors. LOOPS sets another number.
# The loops end with the command, and also if this script is ended or killed.
set -euo pipefail
started=()
trap 'kill "${started[@]}" 2>/dev/null || :' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
for ((count = ${LOOPS:-$(nproc)}; count > 0; count--)); do
  # Each loop checks whether this script still runs, because it may have been killed.
  (
    trap - EXIT
    while kill -0 $$ 2>/dev/null; do for ((turn = 0; turn < 100000; turn++)); do :; done; done
  ) &
  started+=($!)
done
# In the background, because a signal to this script would wait for a command in the foreground to end.
"$@" <&0 &
command=$!
status=0
started+=("$command")
wait "$command" || status=$?
unset 'started[-1]'
exit "$status"
