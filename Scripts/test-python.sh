#!/usr/bin/env bash
# test-python.sh PYTHON LIBRARY: runs the Python tests. If Python 3, pytest, NumPy or the library is missing, it reports
# that and succeeds. The library takes minutes to build, so `make test` leaves that to `make lib`.
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
ZOETROPE_LIBRARY=$(realpath "$library") PYTHONPATH=Python PYTHONDONTWRITEBYTECODE=1 timeout 600 \
  "$python" -m pytest -q -p no:cacheprovider Python/tests
