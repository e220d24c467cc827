#!/bin/sh
# The harnesses that kill runs, break what the roles depend on, undo everything and build kernel modules.
# usage: harness.sh short|long [NAME…]: short is what `make test` runs; names are of pytest's -k.
set -eu
cd "$(dirname "$0")/.."
. scripts/lib.sh
use_venv

length=${1:-short}
case $length in short | long) ;; *) die "harness.sh $length is not known: use short or long." 2 ;; esac
[ "$#" -eq 0 ] || shift
scripts/engine.sh
export GPU_HOST_HARNESS="$length"
if [ "$#" -gt 0 ]; then
  python -m pytest tests/harness -q -s -p no:cacheprovider -k "$*"
else
  # An empty run must not be a green one.
  python scripts/pytest_at_least.py 4 tests/harness -q -s -p no:cacheprovider --durations=0
fi
