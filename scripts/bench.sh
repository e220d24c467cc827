#!/bin/sh
# What the commands cost, measured and printed beside their goals; nothing fails where one is missed.
set -eu
cd "$(dirname "$0")/.."
for harness in benchmarks/*.py; do
  [ -e "$harness" ] || { echo "no benchmarks yet"; exit 0; }
  .venv/bin/python "$harness"
done
