# shellcheck shell=sh
# Shared by the scripts: say what is being done and how long it took. Sourced, POSIX sh.
say() { printf '%s\n' "$*" >&2; }
die() { printf 'error: %s\n' "$1" >&2; exit "${2:-1}"; }

# step TEXT COMMAND…: the command's output is shown only where it fails.
step() {
  step_text=$1
  shift
  step_start=$(date +%s)
  printf '  … %s\n' "$step_text" >&2
  step_log=$(mktemp)
  if "$@" > "$step_log" 2>&1; then
    printf '  ✓ %s (%s s)\n' "$step_text" "$(($(date +%s) - step_start))" >&2
    rm -f "$step_log"
  else
    step_rc=$?
    tail -n 40 "$step_log" >&2
    rm -f "$step_log"
    die "$step_text failed with exit status $step_rc; its last lines stand above." 1
  fi
}

# apt_install PACKAGE…: only as root on a system with apt.
apt_install() {
  step "apt-get update" apt-get update -qq
  step "installing $*" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"
}

can_apt() { [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; }

# find_python: print GPU_HOST_PYTHON, or the newest Python that is new enough; exit status 1 where there is none.
# A name on PATH proves nothing (version managers leave names that do not run): each is asked for its version.
find_python() {
  for found_python in ${GPU_HOST_PYTHON:+"$GPU_HOST_PYTHON"} python3.14 python3.13 python3.12 python3 python3.11; do
    if "$found_python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2> /dev/null; then
      command -v "$found_python"
      return
    fi
  done
  return 1
}

# torch_python: print PYTHON, or the first python3 on PATH that imports torch; exit status 1 where there is none.
torch_python() {
  if [ -n "${PYTHON:-}" ]; then
    "$PYTHON" -c '' 2> /dev/null || die "PYTHON=$PYTHON does not run: give the path of a Python interpreter." 2
    printf '%s\n' "$PYTHON"
    return
  fi
  old_ifs=$IFS
  IFS=:
  for folder in $PATH; do
    if [ -x "$folder/python3" ] && "$folder/python3" -c 'import torch' > /dev/null 2>&1; then
      IFS=$old_ifs
      printf '%s\n' "$folder/python3"
      return
    fi
  done
  IFS=$old_ifs
  return 1
}

# use_venv: the project's own tools and configuration, wherever the script was called from.
use_venv() {
  PATH=$(pwd)/.venv/bin:$PATH
  ANSIBLE_CONFIG=$(pwd)/ansible.cfg
  export PATH ANSIBLE_CONFIG
}
