#!/bin/sh
# Makes .venv/ with pinned dependencies, with the newest Python from 3.12 on that this machine has.
# Python 3.11 is the fallback (ansible-core 2.19). Does nothing where .venv already fits.
set -eu
cd "$(dirname "$0")/.."
. scripts/lib.sh

# A name on PATH proves nothing (version managers leave names that do not run): ask each for its version.
find_python() {
  for python in python3.14 python3.13 python3.12 \
    "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.14.*/bin/python3 "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.13.*/bin/python3 \
    "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.12.*/bin/python3 python3 python3.11; do
    if "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2> /dev/null; then
      printf '%s\n' "$python"
      return
    fi
  done
  die "no Python 3.11 or newer found: install python3.12 or newer (Debian 12's python3 is 3.11 and works too)." 1
}

python=${GPU_HOST_PYTHON:-$(find_python)}
version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
stamp=$(cat pyproject.toml constraints.txt scripts/venv.sh | sha256sum | cut -c1-16)-$version
if [ -x .venv/bin/python ] && [ "$(cat .venv/stamp 2> /dev/null)" = "$stamp" ]; then
  exit 0
fi

say "Setting up .venv with Python $version ($python)"
if [ "$version" = 3.11 ]; then
  say "  note: Python 3.12 or newer was not found, so this controller uses ansible-core 2.19, the last for 3.11."
fi
if ! "$python" -c 'import ensurepip' 2> /dev/null; then
  can_apt || die "Python $version has no ensurepip: install the package python3-venv." 1
  apt_install python3-venv
fi
step "virtual environment" "$python" -m venv --clear .venv
step "pip" .venv/bin/python -m pip install -q --disable-pip-version-check -c constraints.txt --upgrade pip
step "pinned dependencies (about 500 MB, most of it the collections)" \
  .venv/bin/python -m pip install -q --disable-pip-version-check -c constraints.txt --group control --group test -e .
# Nothing is fetched from Galaxy: the collections come with the PyPI package, and must satisfy requirements.yml.
step "collections satisfy requirements.yml" .venv/bin/ansible-galaxy collection install --offline -r requirements.yml
printf '%s\n' "$stamp" > .venv/stamp
