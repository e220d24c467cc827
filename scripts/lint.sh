#!/bin/sh
# Every linter, each command shown. Exits at the first that complains.
set -eu
cd "$(dirname "$0")/.."
root=$(pwd)
PATH=$root/.venv/bin:$PATH
ANSIBLE_CONFIG=$root/ansible.cfg
export PATH ANSIBLE_CONFIG
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
