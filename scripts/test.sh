#!/bin/sh
# Everything CI runs, in the order in which it fails soonest. Prints each part's time.
set -eu
cd "$(dirname "$0")/.."
. scripts/lib.sh
use_venv

part() {
  part_name=$1
  shift
  part_start=$(date +%s)
  say ""
  say "== $part_name"
  "$@" || die "$part_name failed"
  say "== $part_name: $(($(date +%s) - part_start)) s"
}

part "linters" scripts/lint.sh
part "ansible-core 2.19 parses the playbooks too" scripts/syntax_2_19.sh
part "unit and contract tests" python scripts/pytest_at_least.py 1500 tests/unit tests/contract
part "container engine" scripts/engine.sh
part "what the simulated host is made of" python tests/standins/build.py
part "race tests inside the race image" scripts/test_race.sh
part "molecule: Debian 13, bare to proven" molecule test --scenario-name default
