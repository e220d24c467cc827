#!/bin/sh
# From a fresh instance to a proven one, on the instance itself: run this in a clone of the repository.
#
#   sh bootstrap.sh [--price 0.80] [--currency EUR] [--inventory PATH] [-e NAME=VALUE|@FILE]… [--setup]
#
#   --price N         what an hour of this instance costs: the end says what has been spent
#   --currency CUR    its currency (default EUR)
#   --inventory PATH  an Ansible inventory whose group variables hold for this machine
#   -e …              an Ansible variable, or a file of them, as ansible-playbook takes it; as often as needed
#   --setup           make Ansible's environment and this machine's inventory, and stop there
#
# It looks at the machine, installs what is missing of Python, puts Ansible into .cache/bootstrap (each file checked
# by its SHA-256), and runs playbooks/site.yml on localhost. Where Docker cannot be (a rented container), it judges
# the machine as it is, and races bare. Killed anywhere, the same command continues.
# Exit status: 0 proven, 1 not proven, 2 usage, 130 interrupted.
set -eu
cd "$(dirname "$0")"
. scripts/lib.sh

state=.cache/bootstrap
steps=$state/steps.tsv
venv=$state/venv
requirements=scripts/bootstrap/requirements.txt
wait_s=900
# What package managers lock while they are at work.
locks=${GPU_HOST_LOCKS:-/var/lib/dpkg/lock-frontend /var/lib/dpkg/lock /var/lib/apt/lists/lock /var/lib/rpm/.rpm.lock}
name=$(uname -n)
again="Run the same command again: it continues."

# note STEP: it begins now. The table at the end is made of these lines; Ansible's callback adds its own.
note() { printf '%s\t%s\n' "$(date +%s)" "$1" >> "$steps"; }

usage() { sed -n 's/^# \{0,1\}//; 2,/^Exit status/p' bootstrap.sh; }
usage_error() { die "$1. \`sh bootstrap.sh --help\` shows what there is." 2; }

# shellcheck disable=SC2329 # by the trap
stopped() {
  trap '' INT TERM HUP
  say "Interrupted. $again"
  exit 130
}

# --- Who else is at work? -------------------------------------------------------------------------------------------

# cloud-init does not end before what it started has ended: waiting for it from within would be for ever.
below_cloud_init() {
  pid=$$
  while [ "${pid:-1}" -gt 1 ]; do
    case $(tr '\0' ' ' < "/proc/$pid/cmdline" 2> /dev/null) in *bin/cloud-init*) return 0 ;; esac
    pid=$(sed -n 's/^PPid:[[:space:]]*//p' "/proc/$pid/status" 2> /dev/null)
  done
  return 1
}

# at_work: name who is waited for; nothing where nobody is at work.
at_work() {
  if command -v cloud-init > /dev/null && cloud-init status 2> /dev/null | grep -q '^status: running'; then
    printf 'cloud-init'
    return
  fi
  for lock in $locks; do
    inode=$(stat -c %i "$lock" 2> /dev/null) || continue
    pid=$(sed -n "s/^.* \(-\{0,1\}[0-9]*\) [0-9a-f]*:[0-9a-f]*:$inode .*/\1/p" /proc/locks | head -n 1)
    if [ -n "$pid" ]; then
      printf '%s (process %s), which holds %s' "$(cat "/proc/$pid/comm" 2> /dev/null || printf 'a process')" "$pid" "$lock"
      return
    fi
  done
}

wait_for_others() {
  note waiting
  waited=0
  while who=$(at_work) && [ -n "$who" ]; do
    [ "$waited" != 0 ] || say "Waiting for $who"
    [ "$waited" -lt "$wait_s" ] || die "still at work after $wait_s s: $who. Needed is its end; no lock is ever deleted. $again" 1
    sleep 2
    waited=$((waited + 2))
  done
}

# --- Python and Ansible, in a folder of their own -------------------------------------------------------------------

# install_python: as root with the system's package manager; otherwise say which package is missing.
install_python() {
  wanted=$1
  if command -v apt-get > /dev/null; then
    install="apt-get install -y --no-install-recommends"
  elif command -v dnf > /dev/null; then
    install="dnf install -y"
  else
    die "$wanted is missing, and there is neither apt-get nor dnf to install it with. Install it in the way of this system, and run again." 1
  fi
  [ "$(id -u)" = 0 ] || die "$wanted is missing, and this user ($(id -un)) may not install it. As root: $install $wanted" 1
  wait_for_others
  note setup
  if command -v apt-get > /dev/null; then
    step "apt-get update" apt-get update -qq
  fi
  # shellcheck disable=SC2086 # words on purpose: a command and the packages
  step "installing $wanted" env DEBIAN_FRONTEND=noninteractive $install $wanted
}

# python_packages: which packages bring a Python that is new enough, on this system.
python_packages() {
  for minor in 13 12 11; do
    if command -v apt-get > /dev/null && apt-cache show "python3.$minor-venv" > /dev/null 2>&1; then
      printf 'python3.%s python3.%s-venv' "$minor" "$minor"
      return
    fi
  done
  if command -v dnf > /dev/null; then printf 'python3.12'; else printf 'python3.12 python3.12-venv'; fi
}

# A Python that can make an environment, or at least install into a folder.
can_venv() { "$python" -c 'import ensurepip' 2> /dev/null; }
can_pip() { "$python" -m pip --version > /dev/null 2>&1; }

set_up() {
  note setup
  printf '{"gpu_hosts": {"hosts": {"%s": {"ansible_connection": "local"}}}}\n' "$name" > "$state/hosts.json"
  if ! python=$(find_python); then
    install_python "$(python_packages)"
    python=$(find_python) || die "no Python 3.11 or newer was found after its installation; GPU_HOST_PYTHON=/path/to/python3 names one." 1
  fi
  version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  stamp="$version $(cat "$requirements" bootstrap.sh | sha256sum | cut -c1-16)"
  if [ "$(cat "$state/stamp" 2> /dev/null)" = "$stamp" ] && "$venv/bin/python" -c 'import ansible, pytest' 2> /dev/null; then
    return 0
  fi
  can_venv || can_pip || install_python "python$version-venv"
  rm -rf "$venv" "$state/stamp"
  if can_venv; then
    step "virtual environment, Python $version" "$python" -m venv "$venv"
    step "Ansible and what judges, each file by its SHA-256" "$venv/bin/python" -m pip install -q --disable-pip-version-check \
      --require-hashes --only-binary=:all: --no-compile -r "$requirements"
  else
    # No ensurepip, as in many rented containers: pip fills the environment from outside.
    step "virtual environment without pip, Python $version" "$python" -m venv --without-pip "$venv"
    step "Ansible and what judges, each file by its SHA-256" "$python" -m pip --python "$venv/bin/python" install -q \
      --disable-pip-version-check --require-hashes --only-binary=:all: --no-compile -r "$requirements"
  fi
  # The verify package is found from wherever Ansible's plugins are loaded.
  printf '%s\n' "$PWD" > "$venv/lib/python$version/site-packages/gpu-host.pth"
  printf '%s\n' "$stamp" > "$state/stamp"
}

# --- The three kinds of machine -------------------------------------------------------------------------------------

# Docker and systemd are there, or can be: site.yml, as for any host; it leaves out what is there already.
provision() {
  set_up
  if [ "$(id -u)" != 0 ]; then
    command -v sudo > /dev/null || die "this user ($(id -un)) is not root and there is no sudo: run it as root." 1
    say "This user ($(id -un)) is not root: what changes the system goes through sudo."
    if ! sudo -n true 2> /dev/null; then
      [ -t 0 ] || die "sudo asks for a password and there is no terminal to ask on: run it as root." 1
      ask=--ask-become-pass
    fi
  fi
  : > "$state/begun"
  rc=0
  play site "$@" || rc=$?
  # Ansible ends where the only host failed; its recording says why.
  if [ "$rc" != 0 ] && [ -z "$(find evidence -name run.json -newer "$state/begun" 2> /dev/null)" ]; then
    say "Not provisioned; recording why"
    play verify "$@" -e gpu_verify_race=never || true
  fi
  "$venv/bin/python" -m verify.cli report --from evidence || rc=1
  [ "$rc" = 0 ] || return 1
}

play() {
  playbook=$1
  shift
  # The last inventory wins: this machine is reached without a connection, whatever a group says.
  # Without a copy of what each module was told in the system's log.
  ANSIBLE_NO_TARGET_SYSLOG=1 GPU_HOST_STEPS="$PWD/$steps" ANSIBLE_CONFIG="$PWD/ansible.cfg" ANSIBLE_CALLBACK_PLUGINS="$PWD/plugins/callback" \
    ANSIBLE_CALLBACKS_ENABLED=gpu_host_steps "$venv/bin/ansible-playbook" ${inventory:+-i "$inventory"} -i "$state/hosts.json" \
    --limit "$name,localhost" ${ask:+"$ask"} "playbooks/$playbook.yml" "$@"
}

# A container: no Docker can be brought here, so nothing tries to.
bare() {
  rc=0
  mkdir -p evidence/here
  # In a shell of its own: the record and the race need nothing of what could not be installed.
  if (set_up); then
    note verification
    "$venv/bin/python" -m verify.cli record --out evidence/here/recording-host.json || rc=1
    "$venv/bin/python" -m verify.cli doctor --recording evidence/here/recording-host.json || rc=1
  else
    rc=1
    note verification
    say "The doctor is left out (the reason stands above); the recording can be judged elsewhere: gpu-verify doctor --recording FILE"
    python3 verify/recorder.py > evidence/here/recording-host.json || say "The recorder failed."
  fi
  note race
  if raced_by=$(torch_python); then
    PYTHON=$raced_by scripts/race_here.sh || rc=1
  else
    [ $? = 1 ] || exit 2
    say "No race: no python3 on PATH imports torch. PYTHON=/path/to/python3 names one that does."
    rc=1
  fi
  return "$rc"
}

# --- From here it runs ----------------------------------------------------------------------------------------------

price='' currency=EUR inventory='' ask='' only_setup=''
left=$#
while [ "$left" -gt 0 ]; do
  option=$1
  shift
  left=$((left - 1))
  case $option in
    --help | -h) usage; exit 0 ;;
    --setup) only_setup=yes; continue ;;
    --price | --currency | --inventory | -i | -e | --extra-vars) [ "$left" -gt 0 ] || usage_error "$option needs a value" ;;
    *) usage_error "$option is not known" ;;
  esac
  value=$1
  shift
  left=$((left - 1))
  case $option in
    --price) price=$value ;;
    --currency) currency=$value ;;
    --inventory | -i) inventory=$value ;;
    # For Ansible: kept, behind what is still to be read.
    *) set -- "$@" -e "$value" ;;
  esac
done
if [ -n "$price" ]; then
  printf '%s\n' "$price" | grep -Eq '^[0-9]*\.?[0-9]+$' && [ -n "$(printf '%s' "$price" | tr -d '0.')" ] ||
    usage_error "--price is $price; needed is a number above 0, as 0.80"
fi
[ -z "$inventory" ] || [ -e "$inventory" ] || usage_error "--inventory is $inventory, which is not there"
below_cloud_init && die "this was started by cloud-init itself, which ends only after it, and what it does waits for cloud-init's end. Start it as a unit of systemd, as examples/cloud-init does." 2

# Ansible insists on UTF-8, and a unit of systemd has neither that nor a home.
LC_ALL=C.UTF-8 HOME=${HOME:-/root}
export LC_ALL HOME
mkdir -p "$state"
trap stopped INT TERM HUP
# Of a run that was killed the playbook may still be at work.
exec 9> "$state/lock"
if command -v flock > /dev/null && ! flock -n 9; then
  say "Waiting for another run of this script to end"
  flock -w "$wait_s" 9 || die "another run of this script is still at work after $wait_s s: \`fuser $state/lock\` names it." 2
fi
if [ -s "$steps" ]; then
  say "An earlier run did not get to its end: continuing."
  # Its last line may have been cut off.
  printf '\n' >> "$steps"
fi
note start

mode=bare
if python3 -c '' 2> /dev/null; then
  mode=$(python3 scripts/bootstrap/machine.py) || die "the machine could not be looked at; its last lines stand above." 1
elif [ -d /run/systemd/system ]; then
  mode=full
  say "There is no Python yet: it is brought first."
fi
wait_for_others

rc=0
if [ -n "$only_setup" ]; then
  set_up
  say "Ansible is in $venv, this machine's inventory in $state/hosts.json."
elif [ "$mode" = bare ]; then
  bare || rc=$?
else
  provision "$@" || rc=$?
fi
note end
say ""
if [ -x "$venv/bin/python" ]; then table_python=$venv/bin/python; else table_python=python3; fi
set -- --currency "$currency"
[ -z "$price" ] || set -- "$@" --price "$price"
[ "$rc" = 0 ] || set -- "$@" --not-ready
"$table_python" scripts/bootstrap/steps.py "$steps" "$@" >&2 || rc=1
if [ "$rc" = 0 ]; then
  mv "$steps" "$steps.last"
else
  say "Not proven: the reasons stand above. $again"
fi
exit "$rc"
