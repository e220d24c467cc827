#!/bin/sh
# What the commands cost, measured and printed beside their goals; nothing fails where one is missed.
# The race's benchmarks run with PYTHON, or the first python3 on PATH that imports torch.
set -eu
cd "$(dirname "$0")/.."
. scripts/lib.sh
torch=$(torch_python) || [ $? = 1 ] || exit 2
# Some need the whole checkout: all run as modules of it.
for harness in benchmarks/*.py; do
  module=benchmarks.$(basename "$harness" .py)
  [ -e "$harness" ] || { echo "no benchmarks yet"; exit 0; }
  case $harness in
    benchmarks/race_*)
      if [ -n "$torch" ]; then
        "$torch" -m "$module"
      else
        say "$harness was not run: no python3 on PATH imports torch; PYTHON= names one that does."
      fi
      ;;
    *) .venv/bin/python -m "$module" ;;
  esac
done
