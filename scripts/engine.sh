#!/bin/sh
# Makes sure that a container engine answers on this controller: used if one does, else installed from the
# distribution and started where we are root, else one sentence that says what to do.
set -eu
cd "$(dirname "$0")/.."
. scripts/lib.sh

answers() { timeout 10 docker info > /dev/null 2>&1; }

if answers; then
  exit 0
fi
say "No container engine answers: setting one up"
if ! command -v dockerd > /dev/null; then
  can_apt || die "no container engine answers and this user cannot install one: install Docker Engine (Debian: docker.io, iptables), or join the group docker if one is running." 1
  apt_install docker.io iptables
fi
[ "$(id -u)" = 0 ] || die "Docker Engine is installed and does not answer: start it (systemctl start docker) and join the group docker." 1

if [ -d /run/systemd/system ]; then
  step "starting docker.service" systemctl start docker
else
  # No systemd: the engine runs detached and outlives this script; its log says why where it does not come up.
  log=/var/log/gpu-host-dockerd.log
  say "  … starting dockerd (no systemd here; log: $log)"
  rm -f /var/run/docker.pid
  setsid nohup dockerd > "$log" 2>&1 < /dev/null &
fi
waited=0
until answers; do
  waited=$((waited + 1))
  if [ "$waited" -ge 60 ]; then
    tail -n 20 /var/log/gpu-host-dockerd.log 2> /dev/null >&2 || true
    die "dockerd did not answer within a minute; its last lines stand above." 1
  fi
  sleep 0.5
done
say "  ✓ engine $(docker version --format '{{.Server.Version}}') answers"
