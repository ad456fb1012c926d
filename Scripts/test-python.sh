#!/usr/bin/env bash
# test-python.sh PYTHON LIBRARY [valgrind]: runs the Python tests, or those of the writers under valgrind. If Python 3,
# pytest, NumPy or the library is missing, it reports that and succeeds. The library takes minutes to build, so
# `make test` leaves that to `make lib`.
set -euo pipefail
python=$1 library=$2
cd "$(dirname "$0")/.."
skip() { echo "Python tests skipped: $1" && exit 0; }
command -v "$python" >/dev/null || skip "no $python"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 8))' || skip "$python is older than 3.8"
"$python" -c 'import pytest, numpy' 2>/dev/null || skip "no pytest or NumPy"
[ -f "$library" ] || skip "no $library: make lib"
[ -z "$(find Sources/CZoetrope Sources/Zoetrope{C,Core,Codec,Scaling,Frames,Caching,Store,Playback,Remote,Writing} Sources/Zoetrope -newer "$library" -print -quit)" ] ||
  skip "$library is older than its sources: make lib"
export PYTHONPATH=Python PYTHONDONTWRITEBYTECODE=1
ZOETROPE_LIBRARY=$(realpath "$library")
export ZOETROPE_LIBRARY
if [ "${3:-}" = valgrind ]; then
  # Python's own allocator would hide errors. Tests of times and of memory mean nothing here.
  PYTHONMALLOC=malloc timeout 1800 valgrind --quiet --error-exitcode=9 --suppressions=Scripts/valgrind.supp \
    --suppressions=Scripts/valgrind-python.supp "$python" -m pytest -q -p no:cacheprovider \
    -k "not timeout and not interrupt and not speed and not memory" \
    Python/tests/test_{writing,writing_arguments,destinations,conversions}.py
else
  timeout 600 "$python" -m pytest -q -p no:cacheprovider Python/tests
fi
