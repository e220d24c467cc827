#!/bin/sh
# site | plan | verify | remove | clean, on $INVENTORY and $LIMIT.
set -eu
cd "$(dirname "$0")/.."
. scripts/lib.sh

action=$1
inventory=${INVENTORY:-inventory/simulated}
[ -e "$inventory" ] || die "there is no inventory $inventory: give INVENTORY= a folder or file (inventory/lab is a worked example)." 2
case ${RACE:-cached} in always | cached | never) ;; *) die "RACE=$RACE is not known: use always, cached or never." 2 ;; esac
case ${SERIAL:-1} in *[!0-9%]* | 0* | %*) die "SERIAL=$SERIAL is not known: give a number of hosts like 2, or a share like 25%." 2 ;; esac
case ${MAX_FAIL:-1} in *[!0-9]*) die "MAX_FAIL=$MAX_FAIL is not known: give a share in per cent, like 10." 2 ;; esac

use_venv
mkdir -p .cache

play() {
  playbook=$1
  shift
  ansible-playbook -i "$inventory" "playbooks/$playbook.yml" "$@"
}
# provision, so many hosts at a time, and no further once more than this share of them has failed.
provision() {
  rm -f "$GPU_HOST_PROVISIONED"
  ANSIBLE_CALLBACK_PLUGINS=plugins/callback${ANSIBLE_CALLBACK_PLUGINS:+:$ANSIBLE_CALLBACK_PLUGINS} \
    ANSIBLE_CALLBACKS_ENABLED=gpu_host_provisioned${ANSIBLE_CALLBACKS_ENABLED:+,$ANSIBLE_CALLBACKS_ENABLED} \
    limited provision ${SERIAL:+-e "gpu_host_serial=$SERIAL"} ${MAX_FAIL:+-e "gpu_host_max_fail_percentage=$MAX_FAIL"}
}
limited() {
  # localhost judges, whatever the limit is.
  if [ -n "${LIMIT:-}" ]; then play "$@" --limit "$LIMIT,localhost"; else play "$@"; fi
}
# again ACTION: the command that does it, with what this one was given.
again() {
  [ "$inventory" = inventory/simulated ] || set -- "$@" "INVENTORY=$inventory"
  [ -z "${LIMIT:-}" ] || set -- "$@" "LIMIT=$LIMIT"
  printf 'make %s' "$*"
}
# sudo's password is asked for once, though two playbooks and the judging suite need it.
ask_password() {
  case ${ANSIBLE_BECOME_ASK_PASS:-} in 1 | [Yy]es | [Tt]rue | TRUE) ;; *) return 0 ;; esac
  unset ANSIBLE_BECOME_ASK_PASS
  umask_before=$(umask)
  umask 077
  password_file=$(mktemp)
  umask "$umask_before"
  trap 'rm -f "$password_file"' EXIT
  trap 'exit 130' INT TERM HUP
  printf 'Password for sudo on the hosts: ' >&2
  stty -echo 2> /dev/null || true
  IFS= read -r password || password=
  stty echo 2> /dev/null || true
  printf '\n' >&2
  printf '%s\n' "$password" > "$password_file"
  ANSIBLE_BECOME_PASSWORD_FILE=$password_file
  export ANSIBLE_BECOME_PASSWORD_FILE
}
is_simulated() { ansible-inventory -i "$inventory" --list | grep -q '"simulated": {'; }

if [ -n "${LIMIT:-}" ] && [ "$action" != clean ]; then
  matched=$(ansible gpu_hosts -i "$inventory" --limit "$LIMIT" --list-hosts 2> /dev/null) || matched=
  case $matched in
    '' | *"hosts (0)"*) die "LIMIT=$LIMIT matches no host of the group gpu_hosts in $inventory: \`ansible-inventory -i $inventory --graph\` lists them." 2 ;;
  esac
fi
[ "$action" = clean ] || ask_password

case $action in
  site | verify | plan)
    if is_simulated; then
      scripts/engine.sh
      say "Simulated hosts (the first time takes some minutes: two small Debian systems and the race image are built)"
      python tests/standins/build.py > /dev/null
      play simulated_host > .cache/simulated_host.log 2>&1 || { tail -n 40 .cache/simulated_host.log >&2; die "the simulated hosts could not be made; the last lines of .cache/simulated_host.log stand above."; }
    fi
    ;;
esac

start=$(date +%s)
case $action in
  site | verify)
    rc=0
    # Two runs, because Ansible ends the first where every host failed: such hosts are recorded all the same.
    # What the first leaves undone is no pass in the second, though the host may do as it did before.
    if [ "$action" = site ]; then
      export GPU_HOST_PROVISIONED="$PWD/.cache/provisioned.json"
      provision || rc=$?
    fi
    limited verify -e "gpu_verify_race=${RACE:-cached}" || rc=$?
    # Nobody's own container starts on what is not proven.
    if [ "$action" = site ] && [ "$rc" = 0 ]; then limited workload || rc=$?; fi
    say ""
    gpu-verify report --from evidence || rc=1
    say "evidence/ holds what this rests on. Took $(($(date +%s) - start)) s."
    exit "$rc"
    ;;
  plan)
    rm -f .cache/plan.json
    say "Looking, and changing nothing (the whole dry run, with what would change in files: .cache/plan.log)"
    rc=0
    GPU_HOST_PLAN=.cache/plan.json ANSIBLE_CALLBACK_PLUGINS=plugins/callback ANSIBLE_CALLBACKS_ENABLED=gpu_host_plan \
      limited provision --check --diff > .cache/plan.log 2>&1 || rc=$?
    if ! python -m scripts.plan_table .cache/plan.json; then
      [ -s .cache/plan.json ] || tail -n 20 .cache/plan.log >&2
      [ "$rc" != 0 ] || rc=1
    fi
    [ "$rc" != 0 ] || say "\`$(again site)\` does it."
    exit "$rc"
    ;;
  remove) limited remove ;;
  clean)
    is_simulated || { say "$inventory has no simulated hosts: nothing to clean."; exit 0; }
    docker info > /dev/null 2>&1 || { say "no container engine answers: nothing to clean."; exit 0; }
    play simulated_host -e simulated_state=absent
    # Images by label too; one that another simulation's containers still use stays, and so does a parent until
    # its children are gone: hence twice. The cache brings them back quickly.
    for _ in children parents; do
      docker image ls -q --filter label=gpu-host.simulated=true | sort -u | xargs -r docker image rm -f > /dev/null 2>&1 || true
    done
    docker image prune -f --filter label=gpu-host.simulated=true > /dev/null
    ;;
esac
