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

# Side by side; the second half's output is kept until it has ended, so that neither is torn.
both_halves() {
  half_log=$(mktemp)
  python scripts/pytest_at_least.py 1500 tests/contract tests/unit/plugins tests/unit/scripts tests/unit/sharing > "$half_log" 2>&1 &
  half_pid=$!
  half_rc=0
  python scripts/pytest_at_least.py 1500 tests/unit --ignore=tests/unit/plugins --ignore=tests/unit/scripts --ignore=tests/unit/sharing || half_rc=$?
  wait "$half_pid" || { half_rc=$?; cat "$half_log" >&2; }
  tail -n 1 "$half_log" >&2
  rm -f "$half_log"
  return "$half_rc"
}

part "linters" scripts/lint.sh
part "ansible-core 2.19 parses the playbooks too" scripts/syntax_2_19.sh
part "a browser for the race's page" scripts/browser.sh
part "unit and contract tests" both_halves
part "container engine" scripts/engine.sh
part "what the simulated host is made of" python tests/standins/build.py
# After the build, which brings NVML's header.
part "the card's sampler on the stand-in NVML" scripts/test_sampler.sh
part "race tests inside the race image" scripts/test_race.sh
part "a fleet of sixteen: down, failing, hanging" python scripts/pytest_at_least.py 9 tests/fleet

# Two tracks side by side: the second one's output is kept until it has ended, so that neither is torn.
others() {
  scenario_log=$(mktemp)
  for scenario in debian12 families rented; do
    molecule test --scenario-name "$scenario" > "$scenario_log" 2>&1 || { cat "$scenario_log" >&2; return 1; }
    say "== molecule $scenario passed: $(grep -E '[0-9]+ passed' "$scenario_log" | tail -n 1 | tr -d '\042')"
  done
  rm -f "$scenario_log"
}
others &
others_pid=$!
# Whatever fails first: the other track takes its hosts away before this ends.
trap wait EXIT
part "molecule: Debian 13, bare to proven" molecule test --scenario-name default
part "molecule: Debian 12; Ubuntu and Rocky by stand-ins; rented (begun before)" wait "$others_pid"
part "kill points, faults, undo, module builds" scripts/harness.sh short
