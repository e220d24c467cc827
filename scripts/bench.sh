#!/bin/sh
# Ratios, each measured in one run.
set -eu
cd "$(dirname "$0")/.."
for harness in benchmarks/*.py; do
  [ -e "$harness" ] || { echo "no benchmarks yet"; exit 0; }
  .venv/bin/python "$harness"
done
