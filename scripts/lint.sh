#!/bin/sh
# Every linter, each command shown. Exits at the first that complains.
set -eu
cd "$(dirname "$0")/.."
. scripts/lib.sh
use_venv
set -x
ruff check .
ruff format --check .
mypy
yamllint --strict .
ansible-lint --offline --strict
git ls-files -- '*.sh' .ci/run | xargs shellcheck -x
for playbook in playbooks/*.yml; do
  ansible-playbook --syntax-check "$playbook"
done
scripts/lint_examples.sh
