#!/bin/sh
# The fallback for controllers that have Python 3.11 only: ansible-core 2.19 must parse every playbook.
set -eu
cd "$(dirname "$0")/.."
. scripts/lib.sh
root=$(pwd)

for python in python3.11 python3 "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.11.*/bin/python3; do
  "$python" -c 'import sys, ensurepip; sys.exit(sys.version_info[:2] != (3, 11))' 2> /dev/null && break
  python=
done
if [ -z "$python" ]; then
  [ -z "${CI:-}" ] || die "no Python 3.11 with ensurepip here: CI must parse the playbooks with ansible-core 2.19 too (Debian 12: python3-venv)."
  say "no Python 3.11 here: not parsed with ansible-core 2.19 (Debian 12 has one)"
  exit 0
fi

pin=$(sed -n 's/^\(ansible-core==2\.19[0-9.]*\);.*/\1/p' constraints.txt)
venv=${XDG_CACHE_HOME:-$HOME/.cache}/gpu-host/venv-$pin
if [ ! -x "$venv/bin/ansible-playbook" ]; then
  step "virtual environment with $pin" "$python" -m venv --clear "$venv"
  step "$pin" "$venv/bin/pip" install -q --disable-pip-version-check -c constraints.txt ansible-core
fi
# The collections are found in .venv, beside the newer core.
collections=$(.venv/bin/python -c 'import ansible_collections, pathlib; print(pathlib.Path(list(ansible_collections.__path__)[0]).parent)')
for playbook in playbooks/*.yml; do
  ANSIBLE_CONFIG=$root/ansible.cfg ANSIBLE_COLLECTIONS_PATH=$collections "$venv/bin/ansible-playbook" --syntax-check "$playbook"
done
